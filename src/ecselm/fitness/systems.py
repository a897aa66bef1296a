"""Training rows, ready to be solved for any costs (paper, eq. 15)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError

from ecselm._typing import FloatArray, IntArray
from ecselm.costs.levels import CostLevel, SampleLevel
from ecselm.layers import KernelMap
from ecselm.linalg import (
    GramBlocks,
    PopulationSolver,
    Solution,
    blocks_solver,
    kernel_solver,
    solve_weighted,
)
from ecselm.linalg.ridge import dual_solution, primal_solution

BLOCK_ENTRIES = 1 << 25  # Gram blocks by group up to 256 MiB, otherwise sums over rows
# Beyond this ratio of costs, or where a cost is 0, 1/(C B) would swamp the kernel.
MAX_COST_RATIO = 1e9


@dataclass(frozen=True, slots=True)
class CostedRows:
    """Targets of N rows, the groups of equal cost they belong to, and their weights."""

    T: FloatArray  # (N, m)
    groups: IntArray  # (N,), in 0..n_groups-1
    n_groups: int
    weight: FloatArray | None = None  # (N,)

    @classmethod
    def at_level(
        cls,
        level: CostLevel,
        T: FloatArray,
        codes: IntArray,
        n_classes: int,
        weight: FloatArray | None,
        shares: FloatArray | None = None,
    ) -> CostedRows:
        """Return rows of the classes ``codes``, grouped by what has a cost of its own.

        ``shares`` are costs of rows relative to others of their group; they act as weights.
        """
        if shares is not None:
            weight = shares if weight is None else weight * shares
        if isinstance(level, SampleLevel):
            return cls(T, np.arange(len(T)), len(T), weight)
        return cls(T, codes, n_classes, weight)

    def __len__(self) -> int:
        return len(self.T)

    @property
    def has_own_costs(self) -> bool:
        """Tell whether every row is a group of its own, in their order."""
        return np.array_equal(self.groups, np.arange(self.n_groups))

    def taken(self, rows: IntArray) -> CostedRows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return CostedRows(self.T[rows], self.groups[rows], self.n_groups, weight)

    def vector(self, costs: FloatArray) -> FloatArray:
        """Return B times the sample weights (N,), for costs by group (g,)."""
        B = costs[self.groups]
        return B if self.weight is None else B * self.weight

    def vectors(self, costs: FloatArray) -> FloatArray:
        """Return B times the sample weights (P, N), for costs of P candidates (P, g)."""
        B = costs[:, self.groups]
        return B if self.weight is None else B * self.weight

    def masses(self) -> FloatArray:
        """Return the weighted size of every group (g,)."""
        sums = np.bincount(self.groups, weights=self.weight, minlength=self.n_groups)
        return np.asarray(sums, dtype=np.float64)


class System(Protocol):
    """Rows to train on, solved for any costs."""

    def solution(self, costs: FloatArray, C: float) -> Solution:
        """Return beta of (15) for costs by group (g,), or raise LinAlgError."""


@dataclass(frozen=True, slots=True)
class BlockSystem:
    """Normal equations by cost group: a candidate costs nothing in N."""

    blocks: GramBlocks

    @classmethod
    def from_rows(cls, H: FloatArray, rows: CostedRows) -> BlockSystem:
        """Sum over the rows of every group."""
        parts = []
        for group in range(rows.n_groups):
            mine = np.flatnonzero(rows.groups == group)
            weight = None if rows.weight is None else rows.weight[mine]
            parts.append(GramBlocks.from_rows(H[mine], rows.T[mine], weight))
        return cls(GramBlocks.stack(parts))

    def solution(self, costs: FloatArray, C: float) -> Solution:
        """Return beta of (15) in the hidden units."""
        return primal_solution(self.blocks.weighted(costs), C, signed=bool((costs < 0).any()))


@dataclass(frozen=True, slots=True)
class RowSystem:
    """Rows behind a hidden layer, where groups are many or rows are few."""

    H: FloatArray  # (N, L)
    rows: CostedRows

    def solution(self, costs: FloatArray, C: float) -> Solution:
        """Return beta of (15) in hidden units or samples, whichever are fewer."""
        return solve_weighted(self.H, self.rows.T, self.rows.vector(costs), C)


@dataclass(frozen=True, slots=True)
class TakenRows:
    """The same for some of the rows, taken anew for every candidate: nothing is kept."""

    H: FloatArray  # (N, L)
    rows: CostedRows
    train: IntArray  # positions

    def solution(self, costs: FloatArray, C: float) -> Solution:
        """Return beta of (15)."""
        return RowSystem(self.H[self.train], self.rows.taken(self.train)).solution(costs, C)


@dataclass(frozen=True, slots=True)
class KernelSystem:
    """Rows behind a kernel."""

    K: FloatArray  # (N, N)
    rows: CostedRows

    def solution(self, costs: FloatArray, C: float) -> Solution:
        """Return alpha of (15) with the kernel in the place of H H'."""
        return dual_solution(self.K, self.rows.T, self.rows.vector(costs), C)


def layer_system(H: FloatArray, rows: CostedRows) -> BlockSystem | RowSystem:
    """Return what solves fastest for these rows."""
    L = H.shape[1]
    if len(rows) >= L and rows.n_groups * L * L <= BLOCK_ENTRIES and rows.n_groups < len(rows):
        return BlockSystem.from_rows(H, rows)
    return RowSystem(H, rows)


@dataclass(frozen=True, slots=True)
class TrainingKernel:
    """The kernel matrix of the training rows, for the width of the map or any other."""

    map: KernelMap
    K: FloatArray  # (N, N) for the width of the map

    @classmethod
    def from_map(cls, kernel: KernelMap) -> TrainingKernel:
        """Evaluate the kernel between the rows of the map."""
        return cls(kernel, _between_rows(kernel))

    def __call__(self, gamma: float | None) -> FloatArray:
        """Return K (N, N) for the width ``gamma``, None for that of the map."""
        if gamma is None or gamma == self.map.gamma:
            return self.K
        return _between_rows(replace(self.map, gamma=gamma))


def _between_rows(kernel: KernelMap) -> FloatArray:
    # The rows of the map are scaled already.
    K = replace(kernel, scale=None)(kernel.rows)
    return K.astype(np.float64, copy=False)


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
        regular = B.min(axis=1) * MAX_COST_RATIO > B.max(axis=1)
        if regular.any():
            with np.errstate(divide="ignore"):
                alpha = self.solver.solve(one, 1.0 / (C[:, np.newaxis] * B))
            alpha[~regular] = np.nan
        else:
            alpha = np.full((len(costs), *self.system.rows.T.T.shape), np.nan)
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
