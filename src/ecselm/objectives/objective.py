"""The objective of the search: from points in a box to losses (paper, eqs. 20-21)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._threads import Workers
from ecselm._typing import FloatArray
from ecselm.objectives.encoding import Candidates, CostEncoding
from ecselm.objectives.engines import Counting, Engine, Remembering, Squaring
from ecselm.objectives.judges import CountJudge, ErrorJudge, Judge


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
        candidates = self.encoding.decode(points, scaled=False)
        step = self.engine.batch(len(points))
        starts = range(0, len(points), step)
        batches = [candidates.part(slice(start, start + step)) for start in starts]
        if self.workers is None:
            return np.concatenate([self._losses(batch) for batch in batches])
        return np.concatenate(self.workers.map(self._losses, batches))

    def _losses(self, candidates: Candidates) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows loses below
            losses = -self._fitness(candidates)
        return np.where(np.isnan(losses), np.inf, losses)

    def _fitness(self, candidates: Candidates) -> FloatArray:
        """Return the fitness (P,) from as little as the judge can do with."""
        engine, judge = self.engine, self.judge
        if isinstance(engine, Counting) and isinstance(judge, CountJudge) and judge.only_counts:
            known = judge.y, judge.n_classes, judge.weight
            return judge.of_counts(engine.confusions(candidates, *known))
        if isinstance(engine, Squaring) and isinstance(judge, ErrorJudge) and judge.only_squares:
            return judge.of_squares(engine.squares(candidates))
        Z = engine.scores(candidates)
        solved = np.isfinite(Z.sum(axis=(1, 2)))
        if solved.all():
            return judge(Z)
        fitness = np.full(len(Z), np.nan)
        if solved.any():
            fitness[solved] = judge(Z[solved])
        return fitness
