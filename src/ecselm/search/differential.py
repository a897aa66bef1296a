"""Differential evolution on a box: DE/rand/1/bin."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.search.space import Box, PopulationSearch, first_population


class DifferentialEvolution(PopulationSearch):
    """Minimise by ask and tell with differences of individuals.

    A mutant is ``r1 + F (r2 - r3)`` with three individuals other than its parent and F
    drawn from [0.5, 1) in every generation; a trial takes each coordinate from it with
    the probability ``crossover``, and at least one.

    Parameters
    ----------
    space : Box
    size : int
        Number of individuals, at least 4.
    rng : numpy.random.Generator
    crossover : float, default=0.9
    initial : array of shape (n, D), default=None
        Points in the first population; the rest is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> search = DifferentialEvolution(
    ...     Box.from_bounds([(-5, 5)] * 3), 20, np.random.default_rng(0)
    ... )
    >>> for _ in range(100):
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
        crossover: float = 0.9,
        initial: FloatArray | None = None,
    ) -> None:
        if size < 4:
            raise ValueError(f"population_size must be at least 4, got {size}")
        if not 0 <= crossover <= 1:
            raise ValueError(f"crossover must lie in [0, 1], got {crossover}")
        super().__init__()
        self._space, self._rng, self._crossover = space, rng, crossover
        self._P = first_population(space, size, rng, initial)
        self._F = np.full(size, np.inf)

    def _propose(self) -> FloatArray:
        return self._P if self.generation == 0 else self._recombine()

    def _select(self, points: FloatArray, values: FloatArray) -> None:
        """Keep every trial that is no worse than its parent: plateaus can be crossed."""
        wins = (values <= self._F) & np.isfinite(values)
        self._P = np.where(wins[:, np.newaxis], points, self._P)
        self._F = np.where(wins, values, self._F)

    def _recombine(self) -> FloatArray:
        P, rng = self._P, self._rng
        size, D = P.shape
        first, second, third = self._others()
        mutants = P[first] + rng.uniform(0.5, 1.0) * (P[second] - P[third])
        mask = rng.random((size, D)) < self._crossover
        mask[np.arange(size), rng.integers(D, size=size)] = True
        return self._space.repair(np.where(mask, mutants, P), rng)

    def _others(self) -> IntArray:
        """Return three different individuals, none of them itself, for each (3, size)."""
        size = len(self._P)
        keys = self._rng.random((size, size - 1))
        chosen = np.argpartition(keys, 2, axis=1)[:, :3]
        # Skipping the parent: positions from its own on stand for the next individual.
        return (chosen + (chosen >= np.arange(size)[:, np.newaxis])).T
