"""Scores of the judged rows for a whole generation of candidates (paper, eqs. 15, 18, 21).

For every candidate an engine solves (15) on the rows of each split and scores the rows
that the split judges by. A candidate whose system is singular, which happens for negative
costs, gets NaN. Not every judge needs scores: engines of a hidden layer return what is
:class:`Solved`, of which counts and squared errors are to be had for less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ecselm._typing import FloatArray
from ecselm.compiled.calls import LANES
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.folds import Split, is_every_row
from ecselm.objectives.judged import JudgedFeatures, Solved
from ecselm.objectives.trainers import Trainer

BATCH = 16  # candidates at a time, whatever the number of threads
SCORES_MEMORY = 1 << 28  # bytes of scores at a time: more would only leave the cache


class Engine(Protocol):
    """What gives the scores of the judged rows."""

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), NaN for candidates without a solution."""

    def batch(self, n_candidates: int) -> int:
        """Return how many candidates to give at a time; it depends on sizes alone."""

    def __str__(self) -> str:
        """Say how it solves."""


@runtime_checkable
class Solving(Protocol):
    """An engine that has beta before it has scores."""

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""


@runtime_checkable
class Remembering(Protocol):
    """An engine whose last digits depend on what it was asked before."""

    def forget(self) -> None:
        """Make what comes depend on nothing that was."""


@dataclass(frozen=True, slots=True)
class LayerEngine:
    """Rows behind a hidden layer, split by split."""

    trainers: list[Trainer]
    judged: list[JudgedFeatures]
    name: str
    memory: int = SCORES_MEMORY  # bytes for the scores of a batch

    def __str__(self) -> str:
        return self.name

    def batch(self, n_candidates: int) -> int:
        """Return enough candidates for a product that BLAS likes, in whole lanes."""
        m, n = self.judged[0].T.shape[1], sum(len(rows.H) for rows in self.judged)
        wanted = max(BATCH, min(n_candidates / 2, 48 / m))
        fitting = min(self.memory, SCORES_MEMORY) / (8 * m * n)
        return max(LANES, LANES * int(np.ceil(min(wanted, fitting) / LANES)))

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        return self.solved(candidates).scores()

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""
        betas = [trainer.betas(candidates.costs, candidates.C) for trainer in self.trainers]
        return Solved(self.judged, betas)


@dataclass(frozen=True, slots=True)
class ExpectedCostEngine:
    """Decide for the least expected cost: a candidate is a decision matrix.

    The scores are the negative expected costs, ``-P M``, under probabilities P that
    ``probabilities`` makes of a machine's own scores (n, m).
    """

    machine: Engine
    probabilities: Callable[[FloatArray], FloatArray]

    def __str__(self) -> str:
        return f"decisions on {self.machine}"

    def batch(self, n_candidates: int) -> int:
        """Return what the machine likes."""
        return self.machine.batch(n_candidates)

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the negative expected costs (P, n, k), in units of the mean cost."""
        if candidates.matrices is None:
            raise ValueError("candidates must hold decision matrices, got none")
        known: dict[tuple[float, float | None], FloatArray] = {}
        scored = []
        for i in range(len(candidates)):
            key = candidates.numbers(i)
            if key not in known:
                known[key] = self.probabilities(self.machine.scores(candidates.one(i))[0])
            M = candidates.matrices[i]
            scored.append(-(known[key] @ M) / M.mean())
        return np.stack(scored)


@dataclass(frozen=True, slots=True)
class RememberedScores:
    """A machine whose scores do not depend on the candidate."""

    Z: FloatArray  # (n, m)

    def __str__(self) -> str:
        return "scores made once"

    def batch(self, n_candidates: int) -> int:
        """Return any number."""
        return BATCH

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return the same scores for every candidate, (P, n, m)."""
        return np.broadcast_to(self.Z, (len(candidates), *self.Z.shape))


def judged_features(
    H: FloatArray, T: FloatArray, weight: FloatArray | None, splits: list[Split], halved: bool
) -> list[JudgedFeatures]:
    """Return the rows of H that each split judges by."""
    return [
        JudgedFeatures(
            H if is_every_row(split.test, len(H)) else H[split.test],
            T[split.test],
            None if weight is None else weight[split.test],
            halved,
        )
        for split in splits
    ]
