"""The compiled path: a small C library that solves and counts whole populations.

It is optional. Without a compiler at build time, or with ``ECSELM_COMPILED=0``, LAPACK
solves everything, with the same results up to rounding.
"""

from ecselm._native.calls import (
    activate,
    add_gram,
    add_moments,
    add_products,
    add_rows,
    compare,
    count,
    count_checked,
    disabled,
    is_available,
    is_wide,
    path_name,
    project,
    smooth,
    solve_groups,
    solve_matrices,
    squared_norms,
    tiled,
)

__all__ = [
    "activate",
    "add_gram",
    "add_moments",
    "add_products",
    "add_rows",
    "compare",
    "count",
    "count_checked",
    "disabled",
    "is_available",
    "is_wide",
    "path_name",
    "project",
    "smooth",
    "solve_groups",
    "solve_matrices",
    "squared_norms",
    "tiled",
]
