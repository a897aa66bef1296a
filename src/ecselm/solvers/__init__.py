"""Weighted ridge regression: from H, T and B to beta (paper, eqs. 5 and 15)."""

from ecselm.solvers.basis import reduced_units
from ecselm.solvers.dual import solve_dual
from ecselm.solvers.factors import Factor, factor_shifted
from ecselm.solvers.gram import GramBlocks, GramSum
from ecselm.solvers.left_out import left_out_scores
from ecselm.solvers.population import PopulationSolver, blocks_solver, kernel_solver
from ecselm.solvers.products import RowChange, RowProducts, row_products
from ecselm.solvers.weighted import Solution, solve_weighted

__all__ = [
    "Factor",
    "GramBlocks",
    "GramSum",
    "PopulationSolver",
    "RowChange",
    "RowProducts",
    "Solution",
    "blocks_solver",
    "factor_shifted",
    "kernel_solver",
    "left_out_scores",
    "reduced_units",
    "row_products",
    "solve_dual",
    "solve_weighted",
]
