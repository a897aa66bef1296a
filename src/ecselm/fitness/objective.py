"""The objective of the search: from points in a box to losses (paper, eqs. 20-21)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ecselm._native.calls import LANES
from ecselm._threads import Workers
from ecselm._typing import FloatArray, IntArray
from ecselm.fitness.confusion import (
    confusion_counts,
    decided_classes,
    smoothed_confusion,
    smoothed_decisions,
)
from ecselm.fitness.encoding import Candidates, CostEncoding
from ecselm.fitness.engines import Engine, Remembering, Solved, Solving

TIE_BREAK = 1e-3  # how much the squared error counts beside a score that is flat


class Fitness(Protocol):
    """A function of the scores of validation rows."""

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,) of scores (P, n, m); greater is better."""


@runtime_checkable
class QuickFitness(Protocol):
    """A fitness that may need output weights only, not scores."""

    @property
    def is_quick(self) -> bool:
        """Tell whether output weights are enough."""

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,), NaN for candidates without a solution."""


@dataclass(frozen=True, slots=True)
class ConfusionFitness:
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
class RowCostFitness:
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
class ErrorFitness:
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
class TieBreakingFitness:
    """Another fitness, less a little of the squared error where that is flat."""

    fitness: Fitness
    T: FloatArray  # (n, m)
    weight: FloatArray | None
    squares: ErrorFitness = field(init=False)
    share: float = field(init=False)

    def __post_init__(self) -> None:
        scale = max(float(self.T.var()), np.finfo(np.float64).tiny)
        object.__setattr__(self, "squares", ErrorFitness(self.T, self.weight, np.square))
        object.__setattr__(self, "share", TIE_BREAK / scale)

    @property
    def is_quick(self) -> bool:
        """Tell whether the other fitness can do without scores."""
        return isinstance(self.fitness, QuickFitness) and self.fitness.is_quick

    def of_solved(self, solved: Solved) -> FloatArray:
        """Return the fitness (P,) without scores."""
        quick: QuickFitness = self.fitness  # type: ignore[assignment]  # or is_quick says no
        return quick.of_solved(solved) + self.share * self.squares.of_solved(solved)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,)."""
        return self.fitness(Z) + self.share * self.squares(Z)


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """The penalty in fitness for leaving the prior costs.

    The strength times the squared logarithm of the factor by which the ratio of two costs
    differs from the prior's, in the mean over all pairs of costs.

    Examples
    --------
    >>> import numpy as np
    >>> penalty = Shrinkage(np.array([1.0, 4.0]), strength=0.01)
    >>> penalty(np.array([[2.0, 8.0], [1.0, 1.0]])).round(4)
    array([0.    , 0.0192])
    """

    center: FloatArray  # (E,), positive
    strength: float

    def __call__(self, entries: FloatArray) -> FloatArray:
        """Return the penalty (P,) of cost entries (P, E)."""
        logs = np.log(entries / self.center)
        logs -= logs.mean(axis=1, keepdims=True)
        return self.strength * 2.0 * np.einsum("pe,pe->p", logs, logs) / (logs.shape[1] - 1)


def batches_of(n_candidates: int, engine: Engine) -> list[slice]:
    """Divide a generation into batches of about the size that suits the engine, in whole lanes.

    Examples
    --------
    >>> from ecselm.fitness import RememberedScores
    >>> batches_of(50, RememberedScores(np.zeros((1, 1))))
    [slice(0, 16, None), slice(16, 32, None), slice(32, 50, None)]
    """
    n = max(1, round(n_candidates / max(LANES, engine.batch(n_candidates))))
    edges = [LANES * round(i * n_candidates / (n * LANES)) for i in range(n)]
    return [slice(*edge) for edge in pairwise([*edges, n_candidates])]


@dataclass(frozen=True, slots=True)
class CostObjective:
    """The loss that a search minimises: candidates are decoded, scored and evaluated.

    A candidate without a solution, or without finite scores, gets an infinite loss. The
    engine is given batches that do not depend on the number of workers.
    """

    encoding: CostEncoding
    engine: Engine
    fitness: Fitness
    workers: Workers | None = None  # None for an engine that has threads of its own
    shrinkage: Shrinkage | None = None

    @property
    def remembers(self) -> bool:
        """Tell whether the last digits depend on earlier calls."""
        return isinstance(self.engine, Remembering)

    def forget(self) -> None:
        """Make later calls independent of earlier ones."""
        if isinstance(self.engine, Remembering):
            self.engine.forget()

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the loss (P,) of points (P, D)."""
        quick = (
            isinstance(self.engine, Solving)
            and isinstance(self.fitness, QuickFitness)
            and self.fitness.is_quick
        )
        return self.losses(points, [self.fitness], quick=quick)[0]

    def losses(
        self, points: FloatArray, fitnesses: Sequence[Fitness], *, quick: bool = False
    ) -> FloatArray:
        """Return the losses (F, P) of points (P, D) for several functions of the same scores.

        If ``quick``, scores are not computed: output weights are enough for the functions.
        """
        # Unscaled costs that are equal stay equal, which lets engines reuse their sums.
        candidates = self.encoding.decode(points, scaled=False)
        batches = [candidates.part(some) for some in batches_of(len(points), self.engine)]
        engine: Any = self.engine

        def evaluate(batch: Candidates) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):  # infinite losses below
                if quick:
                    solved = engine.solved(batch)
                    values = -np.stack([one.of_solved(solved) for one in fitnesses])  # type: ignore[attr-defined]
                else:
                    Z = engine.scores(batch)
                    values = -np.stack(list(map(_finite_fitness, fitnesses, repeat(Z))))
            return np.where(np.isnan(values), np.inf, values)

        run = map if self.workers is None else self.workers.map
        values = np.concatenate(list(run(evaluate, batches)), axis=1)
        if self.shrinkage is None:
            return values
        return values + self.shrinkage(self.encoding.entries(points))


def _finite_fitness(fitness: Fitness, Z: FloatArray) -> FloatArray:
    """Return the fitness (P,), NaN for candidates without finite scores."""
    solved = np.isfinite(Z.sum(axis=(1, 2)))
    if solved.all():
        return fitness(Z)
    values = np.full(len(Z), np.nan)
    if solved.any():
        values[solved] = fitness(Z[solved])
    return values
