"""The compiled path: whole populations solved and counted by a small library in C.

It is optional. Where the package was built without a compiler, or ``ECSELM_COMPILED=0``
is set, everything is solved through LAPACK instead, to the same results up to rounding.
"""

from ecselm._native.calls import (
    add_products,
    add_rows,
    compare,
    count,
    count_checked,
    disabled,
    is_available,
    path_name,
    radbas,
    smooth,
    solve_groups,
    solve_matrices,
    tiled,
)

__all__ = [
    "add_products",
    "add_rows",
    "compare",
    "count",
    "count_checked",
    "disabled",
    "is_available",
    "path_name",
    "radbas",
    "smooth",
    "solve_groups",
    "solve_matrices",
    "tiled",
]
