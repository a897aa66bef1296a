"""Leave-one-out in closed form, for a whole generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from ecselm._typing import FloatArray
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.engines import BATCH
from ecselm.objectives.systems import (
    CostedRows,
    KernelSystem,
    System,
    TrainingKernel,
    layer_system,
)
from ecselm.solvers import left_out_scores


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

    def __str__(self) -> str:
        return "leave-one-out in closed form (LAPACK)"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, N, m)."""
        every = range(len(candidates))
        return np.stack(
            [self._left_out(candidates.costs[i], *candidates.numbers(i)) for i in every]
        )

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
