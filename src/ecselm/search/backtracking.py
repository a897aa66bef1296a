"""Backtracking search on a box (paper, Algorithm 2, eqs. 23-34)."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray
from ecselm.search.population import PopulationSearch, first_population
from ecselm.search.space import Box
from ecselm.search.variation import crossover_mask


class BacktrackingSearch(PopulationSearch):
    """Minimise by ask and tell, remembering one past population.

    ``P`` is the population, ``Q`` its history, ``F`` the fitness; rows are individuals.
    The caller owns ``rng``: the search never seeds it.

    Parameters
    ----------
    space : Box
    size : int
        Number of individuals.
    rng : numpy.random.Generator
    mixrate : float, default=1.0
        Largest share of coordinates that a trial takes from its mutant.
    initial : array of shape (n, D), default=None
        Points in the first population; the rest is drawn.
    redraw_memory : bool, default=False
        Redraw ``Q`` in every generation, as Algorithm 2 prints step 2.1 inside its loop.
        The published algorithm draws it once, because memory must persist.
    literal_bounds : bool, default=False
        Apply (30) as printed, which redraws every entry that lies inside the bounds.

    Examples
    --------
    >>> import numpy as np
    >>> search = BacktrackingSearch(
    ...     Box.from_bounds([(-5, 5)] * 3), 20, np.random.default_rng(0)
    ... )
    >>> for _ in range(200):
    ...     search.tell((search.ask() ** 2).sum(axis=1))
    >>> search.best[1] < 1e-3
    True
    """

    def __init__(
        self,
        space: Box,
        size: int,
        rng: np.random.Generator,
        *,
        mixrate: float = 1.0,
        initial: FloatArray | None = None,
        redraw_memory: bool = False,
        literal_bounds: bool = False,
    ) -> None:
        if not 0 < mixrate <= 1:
            raise ValueError(f"mixrate must lie in (0, 1], got {mixrate}")
        super().__init__()
        self._space, self._rng, self._mixrate = space, rng, mixrate
        self._redraw_memory, self._literal_bounds = redraw_memory, literal_bounds
        self._P = first_population(space, size, rng, initial)  # (23)
        self._Q = space.sample(size, rng)  # (25), drawn once: memory must persist
        self._F = np.full(size, np.inf)

    def _propose(self) -> FloatArray:
        return self._P if self.generation == 0 else self._recombine()

    def _select(self, points: FloatArray, values: FloatArray) -> None:
        wins = values < self._F  # (32)
        self._P = np.where(wins[:, np.newaxis], points, self._P)
        self._F = np.where(wins, values, self._F)

    def _recombine(self) -> FloatArray:
        P, rng = self._P, self._rng
        if self._redraw_memory:
            self._Q = self._space.sample(len(P), rng)  # (25) as printed
        if rng.random() < rng.random():  # (26)
            self._Q = P
        self._Q = rng.permutation(self._Q)  # (27)
        amplitude = 3.0 * rng.standard_normal()
        step = amplitude * crossover_mask(P.shape, rng, self._mixrate)  # (28)
        trials = P + step * (self._Q - P)  # (29)
        if self._literal_bounds:
            return self._space.repair_literally(trials, rng)  # (30) as printed
        return self._space.repair(trials, rng)  # (30)
