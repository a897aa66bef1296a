"""Who solves (15) for a generation on the rows of one split.

What is positive definite goes to a :class:`~ecselm.solvers.PopulationSolver`. What it does
not trust, and costs below zero, are solved one by one by a :class:`System`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError

from ecselm._typing import FloatArray
from ecselm.objectives.systems import BlockSystem, CostedRows, KernelSystem, System
from ecselm.solvers import PopulationSolver, blocks_solver, kernel_solver

# Beyond this ratio of costs, or where a cost is 0, 1/(C B) would swamp the kernel.
MOST_SPREAD = 1e9


class Trainer(Protocol):
    """Rows to train on, for a whole generation."""

    def betas(self, costs: FloatArray, C: FloatArray) -> FloatArray:
        """Return beta (P, m, L) for costs (P, g) and C (P,), NaN where there is none."""


@dataclass(frozen=True, slots=True)
class BlockTrainer:
    """Rows summed by cost group: a candidate costs nothing in N."""

    system: BlockSystem
    solver: PopulationSolver

    @classmethod
    def from_system(cls, system: BlockSystem) -> BlockTrainer:
        """Lay the sums out for whole generations."""
        return cls(system, blocks_solver(system.blocks))

    def betas(self, costs: FloatArray, C: FloatArray) -> FloatArray:
        """Return beta (P, m, L)."""
        beta = self.solver.solve(costs, 1.0 / C)
        beta[(costs < 0).any(axis=1)] = np.nan
        return one_by_one(self.system, costs, C, beta)


@dataclass(frozen=True, slots=True)
class DualTrainer:
    """Rows behind a kernel: only the diagonal of ``K + diag(1/(C B))`` is a candidate's own.

    The solution is alpha (P, m, N), with which the scores of the training rows are
    ``T - alpha / (C B)``: what is left over is (14).
    """

    system: KernelSystem
    solver: PopulationSolver

    @classmethod
    def from_kernel(
        cls, K: FloatArray, rows: CostedRows, n_candidates: int | None = None
    ) -> DualTrainer:
        """Take the kernel between the rows to train on, for so many candidates or any."""
        return cls(KernelSystem(K, rows), kernel_solver(K, rows.T, n_candidates))

    def betas(self, costs: FloatArray, C: FloatArray) -> FloatArray:
        """Return alpha (P, m, N)."""
        B, one = self.system.rows.vectors(costs), np.ones((len(costs), 1))
        regular = B.min(axis=1) * MOST_SPREAD > B.max(axis=1)
        with np.errstate(divide="ignore"):
            alpha = self.solver.solve(one, 1.0 / (C[:, np.newaxis] * B))
        alpha[~regular] = np.nan
        return one_by_one(self.system, costs, C, alpha)

    def fitted(self, costs: FloatArray, C: FloatArray, alpha: FloatArray) -> FloatArray:
        """Return the scores (P, m, N) of the training rows themselves, in the place of alpha."""
        B = self.system.rows.vectors(costs)
        if (B == 0).any():
            return alpha @ self.system.K
        alpha *= (-1.0 / (C[:, np.newaxis] * B))[:, np.newaxis]
        alpha += self.system.rows.T.T
        return alpha


@dataclass(frozen=True, slots=True)
class SystemTrainer:
    """Anything that solves for one candidate at a time."""

    system: System
    shape: tuple[int, int]  # (m, L)

    def betas(self, costs: FloatArray, C: FloatArray) -> FloatArray:
        """Return beta (P, m, L)."""
        return one_by_one(self.system, costs, C, np.full((len(costs), *self.shape), np.nan))


def one_by_one(system: System, costs: FloatArray, C: FloatArray, beta: FloatArray) -> FloatArray:
    """Fill in what is NaN in beta (P, m, L), where there is a solution."""
    for i in np.flatnonzero(np.isnan(beta[:, 0, 0])):
        try:
            beta[i] = system.solution(costs[i], float(C[i])).beta.T
        except LinAlgError:
            beta[i] = np.nan
    return beta
