"""Every method of the paper's tables, and established methods of other libraries, by name."""

from ecselm.paper.methods.method import Method, Shape
from ecselm.paper.methods.registry import (
    find_method,
    get_method,
    list_methods,
    methods_table,
    tuned_method,
)

__all__ = [
    "Method",
    "Shape",
    "find_method",
    "get_method",
    "list_methods",
    "methods_table",
    "tuned_method",
]
