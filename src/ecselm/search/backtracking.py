"""Backtracking search on a box (paper, Algorithm 2, eqs. 23-34)."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.search.space import INITS, Box, PopulationSearch, crossover_mask, first_population

OPPOSITION = "opposition"


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
    init : {"uniform", "opposition", "latinhypercube", "sobol"}, default="uniform"
        How the first population is drawn, which the paper leaves to its reference [73].
        ``"uniform"`` is (23). ``"opposition"`` draws it so, proposes the reflections of its
        points in the centre of the box in the next generation, and keeps the best of both
        (Rahnamayan, Tizhoosh and Salama 2007). ``"latinhypercube"`` and ``"sobol"`` cover
        every coordinate evenly. The memory ``Q`` is uniform (25) for all.
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
        init: str = "uniform",
        redraw_memory: bool = False,
        literal_bounds: bool = False,
    ) -> None:
        if not 0 < mixrate <= 1:
            raise ValueError(f"mixrate must lie in (0, 1], got {mixrate}")
        if init != OPPOSITION and init not in INITS:
            raise ValueError(f"init must be one of {[OPPOSITION, *INITS]}, got {init!r}")
        super().__init__()
        self._space, self._rng, self._mixrate = space, rng, mixrate
        self._redraw_memory, self._literal_bounds = redraw_memory, literal_bounds
        self._opposes = init == OPPOSITION
        drawn = "uniform" if self._opposes else init
        self._P = first_population(space, size, rng, initial, drawn)  # (23)
        self._Q = space.sample(size, rng)  # (25), drawn once: memory must persist
        self._V = np.zeros_like(self._P)  # the trials, overwritten in every generation
        self._F = np.full(size, np.inf)

    def _propose(self) -> FloatArray:
        if self.generation == 0:
            return self._P
        if self._opposes and self.generation == 1:
            return self._space.opposite(self._P)
        return self._recombine()

    def _select(self, points: FloatArray, values: FloatArray) -> None:
        if self._opposes and self.generation == 1:
            both, fitness = np.vstack([self._P, points]), np.concatenate([self._F, values])
            best = np.argsort(fitness, kind="stable")[: len(points)]
            self._P, self._F = both[best], fitness[best]
            return
        wins = values < self._F  # (32)
        self._P[wins], self._F[wins] = points[wins], values[wins]

    def _recombine(self) -> FloatArray:
        P, rng = self._P, self._rng
        if self._redraw_memory:
            self._Q = self._space.sample(len(P), rng)  # (25) as printed
        if rng.random() < rng.random():  # (26)
            self._Q[:] = P
        partners = rng.permutation(len(P))  # (27), by index: in any order Q is the same memory
        amplitude = 3.0 * rng.standard_normal()
        cross = self._cross_many if rng.random() < rng.random() else self._cross_one
        V = cross(partners, amplitude)
        if self._literal_bounds:
            return self._space.repair_literally(V, rng)  # (30) as printed, for all entries
        return V

    def _cross_many(self, partners: IntArray, amplitude: float) -> FloatArray:
        """Move each trial in many coordinates."""
        P, V = self._P, self._V
        # In place, because memory that is new costs more time than the arithmetic; any
        # mode but the default one lets take() do without a buffer.
        np.take(self._Q, partners, axis=0, out=V, mode="clip")
        V -= P
        V *= amplitude
        V *= crossover_mask(P.shape, self._rng, self._mixrate)  # (28)
        V += P  # (29)
        return V if self._literal_bounds else self._space.repair(V, self._rng)  # (30)

    def _cross_one(self, partners: IntArray, amplitude: float) -> FloatArray:
        """Move each trial in one coordinate; no other entry is computed."""
        P, V, rows = self._P, self._V, np.arange(len(self._P))
        columns = self._rng.integers(P.shape[1], size=len(P))  # (28)
        v = P[rows, columns]
        v += amplitude * (self._Q[partners, columns] - v)  # (29)
        V[:] = P
        V[rows, columns] = (
            v if self._literal_bounds else self._space.repair(v, self._rng, columns)  # (30)
        )
        return V
