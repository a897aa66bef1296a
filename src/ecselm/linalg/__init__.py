"""Weighted ridge regression: from H, T and B to beta (paper, eqs. 5 and 15)."""

from ecselm.linalg.batched import (
    PopulationSolver,
    RowChange,
    RowProducts,
    blocks_solver,
    kernel_solver,
    reduced_units,
    row_products,
)
from ecselm.linalg.factors import Factor, factor_shifted
from ecselm.linalg.gram import GramBlocks, GramSum
from ecselm.linalg.loo import loo_scores
from ecselm.linalg.path import LooRows, RidgePath
from ecselm.linalg.ridge import Solution, solve_dual, solve_weighted

__all__ = [
    "Factor",
    "GramBlocks",
    "GramSum",
    "LooRows",
    "PopulationSolver",
    "RidgePath",
    "RowChange",
    "RowProducts",
    "Solution",
    "blocks_solver",
    "factor_shifted",
    "kernel_solver",
    "loo_scores",
    "reduced_units",
    "row_products",
    "solve_dual",
    "solve_weighted",
]
