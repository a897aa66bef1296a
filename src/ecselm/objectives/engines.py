"""Scores of the judged rows for a whole generation of candidates (paper, eqs. 15, 18, 21).

For every candidate an engine solves (15) on the rows of each split and scores the rows
that the split judges by. A candidate whose system is singular, which happens for negative
costs, gets NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError

from ecselm._typing import FloatArray
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.folds import Split
from ecselm.objectives.systems import (
    CostedRows,
    KernelSystem,
    System,
    TrainingKernel,
    layer_system,
)
from ecselm.solvers import left_out_scores


class Engine(Protocol):
    """What gives the scores of the judged rows."""

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), NaN for candidates without a solution."""


@dataclass(frozen=True, slots=True)
class LayerEngine:
    """Rows behind a hidden layer, split by split."""

    systems: list[System]
    judged: list[FloatArray]  # rows of H by split
    n_outputs: int

    @classmethod
    def from_rows(cls, H: FloatArray, rows: CostedRows, splits: list[Split]) -> LayerEngine:
        """Prepare every split."""
        return cls(
            [layer_system(H[split.train], rows.taken(split.train)) for split in splits],
            [H[split.test] for split in splits],
            rows.T.shape[1],
        )

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        parts = []
        for system, H in zip(self.systems, self.judged, strict=True):
            betas = [
                _beta(system, costs, C, (H.shape[1], self.n_outputs))
                for costs, C, _ in _single(candidates)
            ]
            Z = H @ np.hstack(betas)  # all candidates in one product
            parts.append(Z.reshape(len(H), len(betas), self.n_outputs))
        return np.moveaxis(np.concatenate(parts), 1, 0)


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """Rows behind a kernel, whose width may be a candidate's own, split by split."""

    kernel: TrainingKernel
    rows: CostedRows
    splits: list[Split]

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        return np.stack([self._one(*candidate) for candidate in _single(candidates)])

    def _one(self, costs: FloatArray, C: float, gamma: float | None) -> FloatArray:
        K, parts = self.kernel(gamma), []
        for split in self.splits:
            rows = self.rows.taken(split.train)
            system = KernelSystem(K[np.ix_(split.train, split.train)], rows)
            alpha = _beta(system, costs, C, rows.T.shape)
            parts.append(K[np.ix_(split.test, split.train)] @ alpha)
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class LeaveOneOutEngine:
    """Score every row as if it had been left out, in closed form."""

    features: FloatArray | TrainingKernel  # H (N, L), or the kernel
    rows: CostedRows
    system: System

    @classmethod
    def from_layer(cls, H: FloatArray, rows: CostedRows) -> LeaveOneOutEngine:
        """Prepare rows behind a hidden layer."""
        return cls(H, rows, layer_system(H, rows))

    @classmethod
    def from_kernel(cls, kernel: TrainingKernel, rows: CostedRows) -> LeaveOneOutEngine:
        """Prepare rows behind a kernel."""
        return cls(kernel, rows, KernelSystem(kernel.K, rows))

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, N, m)."""
        return np.stack([self._left_out(*candidate) for candidate in _single(candidates)])

    def _left_out(self, costs: FloatArray, C: float, gamma: float | None) -> FloatArray:
        F, system = self._prepared(gamma)
        try:
            solution = system.solution(costs, C)
        except LinAlgError:
            return np.full(self.rows.T.shape, np.nan)
        B = self.rows.vector(costs)
        return left_out_scores(F, self.rows.T, solution, B, self.rows.weight)

    def _prepared(self, gamma: float | None) -> tuple[FloatArray, System]:
        if not isinstance(self.features, TrainingKernel):
            return self.features, self.system
        K = self.features(gamma)
        return K, self.system if K is self.features.K else KernelSystem(K, self.rows)


@dataclass(frozen=True, slots=True)
class ExpectedCostEngine:
    """Decide for the least expected cost: a candidate is a decision matrix.

    The scores are the negative expected costs, ``-P M``, under probabilities P that
    ``probabilities`` makes of a machine's own scores (n, m).
    """

    machine: Engine
    probabilities: Callable[[FloatArray], FloatArray]

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the negative expected costs (P, n, k), in units of the mean cost."""
        if candidates.matrices is None:
            raise ValueError("candidates must hold decision matrices, got none")
        known: dict[tuple[float, float | None], FloatArray] = {}
        scored = []
        for i, (_, C, gamma) in enumerate(_single(candidates)):
            if (C, gamma) not in known:
                Z = self.machine.scores(candidates.one(i))[0]
                known[C, gamma] = self.probabilities(Z)
            M = candidates.matrices[i]
            scored.append(-(known[C, gamma] @ M) / M.mean())
        return np.stack(scored)


@dataclass(frozen=True, slots=True)
class RememberedScores:
    """A machine whose scores do not depend on the candidate."""

    Z: FloatArray  # (n, m)

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the same scores for every candidate, (P, n, m)."""
        return np.broadcast_to(self.Z, (len(candidates), *self.Z.shape))


def _single(candidates: Candidates) -> list[tuple[FloatArray, float, float | None]]:
    gamma = candidates.gamma
    return [
        (candidates.costs[i], float(candidates.C[i]), None if gamma is None else float(gamma[i]))
        for i in range(len(candidates))
    ]


def _beta(system: System, costs: FloatArray, C: float, shape: tuple[int, int]) -> FloatArray:
    """Return beta, NaN where there is none."""
    try:
        return system.solution(costs, C).beta
    except LinAlgError:
        return np.full(shape, np.nan)
