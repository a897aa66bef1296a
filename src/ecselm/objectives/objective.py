"""The objective of the search: from points in a box to losses (paper, eqs. 20-21)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ecselm._threads import Workers
from ecselm._typing import FloatArray
from ecselm.compiled.calls import LANES
from ecselm.objectives.encoding import Candidates, CostEncoding
from ecselm.objectives.engines import Engine, Remembering, Solving
from ecselm.objectives.judges import Judge, QuickJudge
from ecselm.objectives.shrinkage import Shrinkage


def batches_of(n_candidates: int, engine: Engine) -> list[slice]:
    """Cut a generation into batches of about the size that the engine likes, in whole lanes.

    Examples
    --------
    >>> from ecselm.objectives import RememberedScores
    >>> batches_of(50, RememberedScores(np.zeros((1, 1))))
    [slice(0, 16, None), slice(16, 32, None), slice(32, 50, None)]
    """
    n = max(1, round(n_candidates / max(LANES, engine.batch(n_candidates))))
    edges = [LANES * round(i * n_candidates / (n * LANES)) for i in range(n)]
    return [slice(*edge) for edge in pairwise([*edges, n_candidates])]


@dataclass(frozen=True, slots=True)
class CostObjective:
    """What a search minimises: candidates are decoded, scored and judged.

    A candidate without a solution, or without finite scores, gets an infinite loss. The
    engine is given batches, the same ones whatever the number of workers.
    """

    encoding: CostEncoding
    engine: Engine
    judge: Judge
    workers: Workers | None = None  # where the engine does not see to threads itself
    shrinkage: Shrinkage | None = None

    @property
    def remembers(self) -> bool:
        """Tell whether last digits depend on what was asked before."""
        return isinstance(self.engine, Remembering)

    def forget(self) -> None:
        """Make what comes depend on nothing that was."""
        if isinstance(self.engine, Remembering):
            self.engine.forget()

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the loss (P,) of points (P, D)."""
        fitness = self._fitness()
        return self._losses(points, lambda batch: fitness(batch)[np.newaxis])[0]

    def of_judges(self, points: FloatArray, judges: Sequence[Judge]) -> FloatArray:
        """Return the losses (J, P) of points (P, D) for several judges of the same scores."""

        def fitness(batch: Candidates) -> FloatArray:
            Z = self.engine.scores(batch)
            return np.stack([_judged(judge, Z) for judge in judges])

        return self._losses(points, fitness)

    def _losses(
        self, points: FloatArray, fitness: Callable[[Candidates], FloatArray]
    ) -> FloatArray:
        candidates = self.encoding.decode(points, scaled=False)
        batches = [candidates.part(some) for some in batches_of(len(points), self.engine)]

        def losses(batch: Candidates) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows loses below
                values = -fitness(batch)
            return np.where(np.isnan(values), np.inf, values)

        run = map if self.workers is None else self.workers.map
        values = np.concatenate(list(run(losses, batches)), axis=1)
        if self.shrinkage is None:
            return values
        return values + self.shrinkage(self.encoding.entries(points))

    def _fitness(self) -> Callable[[Candidates], FloatArray]:
        """Return what gives the fitness (P,) from as little as the judge can do with."""
        engine, judge = self.engine, self.judge
        if isinstance(engine, Solving) and isinstance(judge, QuickJudge) and judge.is_quick:
            return lambda batch: judge.of_solved(engine.solved(batch))
        return lambda batch: _judged(judge, engine.scores(batch))


def _judged(judge: Judge, Z: FloatArray) -> FloatArray:
    """Return the fitness (P,), NaN for candidates without finite scores."""
    solved = np.isfinite(Z.sum(axis=(1, 2)))
    if solved.all():
        return judge(Z)
    fitness = np.full(len(Z), np.nan)
    if solved.any():
        fitness[solved] = judge(Z[solved])
    return fitness
