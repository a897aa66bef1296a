"""From scores of the judged rows to the fitness of candidates; greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.objectives.confusion import (
    confusion_counts,
    decided_classes,
    smoothed_confusion,
    smoothed_decisions,
)
from ecselm.objectives.judged import Solved

TIE_BREAK = 1e-3  # how much the squared error counts beside a score that is flat


class Judge(Protocol):
    """What gives candidates their fitness."""

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,) of scores (P, n, m); greater is better."""


@runtime_checkable
class QuickJudge(Protocol):
    """A judge that may do with less than scores."""

    @property
    def is_quick(self) -> bool:
        """Tell whether it does."""

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,), NaN for candidates without a solution."""


@dataclass(frozen=True, slots=True)
class CountJudge:
    """A metric of the confusion matrix, part counted and part smoothed.

    ``(1 - smoothing) metric(counted) + smoothing metric(smoothed)``.
    """

    y: IntArray  # (n,)
    n_classes: int
    weight: FloatArray | None
    metric: Callable[[FloatArray], FloatArray]  # (P, k, k) -> (P,)
    smoothing: float

    @property
    def is_quick(self) -> bool:
        """Tell whether counts are enough."""
        return self.smoothing == 0

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,) from counts, NaN where there are none."""
        counts = solved.confusions(self.y, self.n_classes, self.weight)
        known = ~np.isnan(counts[:, 0, 0])
        fitness = np.full(len(counts), np.nan)
        fitness[known] = self.metric(counts[known])
        return fitness

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,)."""
        known = self.y, self.n_classes, self.weight
        fitness = np.zeros(len(Z))
        if self.smoothing < 1:
            fitness += (1.0 - self.smoothing) * self.metric(confusion_counts(Z, *known))
        if self.smoothing > 0:
            fitness += self.smoothing * self.metric(smoothed_confusion(Z, *known))
        return fitness


@dataclass(frozen=True, slots=True)
class RowCostJudge:
    """Minus the mean of costs known by row, part counted and part smoothed."""

    y: IntArray  # (n,)
    costs: FloatArray  # (n, k), of predicting each class
    weight: FloatArray | None
    smoothing: float

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,)."""
        per_row = np.zeros(Z.shape[:2])
        if self.smoothing < 1:
            decided = np.take_along_axis(self.costs[np.newaxis], decided_classes(Z)[..., None], 2)
            per_row += (1.0 - self.smoothing) * decided[..., 0]
        if self.smoothing > 0:
            shares = smoothed_decisions(Z, self.y, self.weight)
            per_row += self.smoothing * np.einsum("pnk,nk->pn", shares, self.costs)
        return -np.average(per_row, axis=1, weights=self.weight)


@dataclass(frozen=True, slots=True)
class ErrorJudge:
    """Minus the mean of a function of the residuals, ``t - z``."""

    T: FloatArray  # (n, m)
    weight: FloatArray | None
    size: Callable[[FloatArray], FloatArray]

    @property
    def is_quick(self) -> bool:
        """Tell whether sums of squares are enough."""
        return self.size is np.square

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,) from squared errors summed over rows and outputs."""
        n = len(self.T) if self.weight is None else float(self.weight.sum())
        return -solved.squares() / (n * self.T.shape[1])

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,)."""
        sizes = self.size(self.T - Z).mean(axis=2)
        return -np.average(sizes, axis=1, weights=self.weight)


@dataclass(frozen=True, slots=True)
class TieBreakingJudge:
    """Another judge's fitness, less a little of the squared error where that is flat."""

    judge: Judge
    T: FloatArray  # (n, m)
    weight: FloatArray | None
    squares: ErrorJudge = field(init=False)
    share: float = field(init=False)

    def __post_init__(self) -> None:
        scale = max(float(self.T.var()), np.finfo(np.float64).tiny)
        object.__setattr__(self, "squares", ErrorJudge(self.T, self.weight, np.square))
        object.__setattr__(self, "share", TIE_BREAK / scale)

    @property
    def is_quick(self) -> bool:
        """Tell whether the other judge can do without scores."""
        return isinstance(self.judge, QuickJudge) and self.judge.is_quick

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,) without scores."""
        quick: QuickJudge = self.judge  # type: ignore[assignment]  # or is_quick says no
        return quick.of_solved(solved) + self.share * self.squares.of_solved(solved)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,)."""
        return self.judge(Z) + self.share * self.squares(Z)
