"""Rows behind a kernel: a candidate changes the diagonal of one matrix (paper, eq. 15)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ecselm import compiled
from ecselm._typing import FloatArray, IntArray
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.engines import BATCH
from ecselm.objectives.folds import Split, is_every_row
from ecselm.objectives.systems import CostedRows, TrainingKernel
from ecselm.objectives.trainers import DualTrainer


@dataclass(frozen=True, slots=True)
class DualEngine:
    """Rows of which products, or kernel values, with each other are known."""

    trainers: list[DualTrainer]
    between: list[FloatArray | None]  # K (n_train, n_test), None to judge by the training rows
    path: str = field(default_factory=compiled.path_name)

    @classmethod
    def from_rows(
        cls, K: FloatArray, rows: CostedRows, splits: list[Split], n_candidates: int | None = None
    ) -> DualEngine:
        """Cut K (N, N) to the rows of every split."""
        trainers = [
            DualTrainer.from_kernel(
                _cut(K, split.train, split.train), rows.taken(split.train), n_candidates
            )
            for split in splits
        ]
        between = [
            None if np.array_equal(split.train, split.test) else _cut(K, split.train, split.test)
            for split in splits
        ]
        return cls(trainers, between)

    def __str__(self) -> str:
        n = max(len(trainer.system.rows) for trainer in self.trainers)
        return f"diagonals of a matrix of {n} rows ({self.path})"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        costs, C, parts = candidates.costs, candidates.C, []
        for trainer, between in zip(self.trainers, self.between, strict=True):
            alpha = trainer.betas(costs, C)
            if between is None:
                parts.append(trainer.fitted(costs, C, alpha))
            else:
                P, m, N = alpha.shape
                parts.append((alpha.reshape(P * m, N) @ between).reshape(P, m, -1))
        Z = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Z.swapaxes(1, 2)


@dataclass(frozen=True, slots=True)
class WidthEngine:
    """Rows behind a kernel whose width is a candidate's own."""

    kernel: TrainingKernel
    rows: CostedRows
    splits: list[Split]

    def __str__(self) -> str:
        return f"a kernel of {len(self.rows)} rows for every width (LAPACK)"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        parts = []
        for i in range(len(candidates)):
            K = self.kernel(candidates.numbers(i)[1])
            engine = DualEngine.from_rows(K, self.rows, self.splits, n_candidates=1)
            parts.append(engine.scores(candidates.one(i)))
        return np.concatenate(parts)


def kernel_engine(
    kernel: TrainingKernel, rows: CostedRows, splits: list[Split], *, searched: bool = False
) -> DualEngine | WidthEngine:
    """Return the engine for rows behind a kernel, whose width may be ``searched``."""
    if searched:
        return WidthEngine(kernel, rows, splits)
    return DualEngine.from_rows(kernel.K, rows, splits)


def _cut(K: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    whole = is_every_row(rows, len(K)) and is_every_row(columns, len(K))
    return K if whole else np.ascontiguousarray(K[np.ix_(rows, columns)])
