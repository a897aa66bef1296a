"""The objective of the search: from points in a box to losses (paper, eqs. 20-21)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.objectives.encoding import CostEncoding
from ecselm.objectives.engines import Engine
from ecselm.objectives.judges import Judge


@dataclass(frozen=True, slots=True)
class CostObjective:
    """What a search minimises: candidates are decoded, scored and judged.

    A candidate without a solution, or without finite scores, gets an infinite loss.
    """

    encoding: CostEncoding
    engine: Engine
    judge: Judge

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the loss (P,) of points (P, D)."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows loses below
            Z = self.engine.scores(self.encoding.decode(points))
            solved = np.isfinite(Z).all(axis=(1, 2))
            losses = np.full(len(points), np.inf)
            if solved.any():
                losses[solved] = -self.judge(Z[solved])
        return np.where(np.isnan(losses), np.inf, losses)
