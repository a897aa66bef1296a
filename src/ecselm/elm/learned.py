"""What a search of costs is about, and what it settles on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.elm.powers import PowerPath
from ecselm.objectives import CostEncoding


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is searched: the code of its points, and those to begin with."""

    encoding: CostEncoding
    seeds: dict[str, FloatArray]
    path: PowerPath | None = None  # costs that the metric may ask for


@dataclass(frozen=True, slots=True)
class LearnedCosts:
    """The costs a search has settled on, in the person's unit if there is one."""

    entries: FloatArray  # (E,)
    costs: FloatArray  # (g,) by group of rows, the B of (15)
    weights: FloatArray  # (g,) the same as they were judged, with a mean of 1 if normalised
    C: float
    gamma: float | None

    def completed(self, trained: IntArray, codes: IntArray) -> LearnedCosts:
        """Give rows that no candidate was trained on the mean cost of their class.

        Their own costs took no part in any fitness: they stand where they were drawn. A
        class that was never trained on gets the mean of all others.
        """
        if len(self.costs) != len(codes) or len(trained) == len(codes):
            return self
        seen = np.zeros(len(codes), dtype=bool)
        seen[trained] = True
        costs, weights = self.costs.copy(), self.weights.copy()
        for c in np.unique(codes[~seen]):
            mine = seen & (codes == c)
            for values in (costs, weights):
                values[~seen & (codes == c)] = values[mine if mine.any() else seen].mean()
        return replace(self, costs=costs, weights=weights)
