"""Searches that learn nothing, as yardsticks: random and low-discrepancy points."""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from ecselm._typing import FloatArray
from ecselm.search.population import Turns, first_population
from ecselm.search.space import Box


class RandomSearch:
    """Draw every population anew, uniformly, and keep the best point.

    Parameters
    ----------
    space : Box
    size : int
    rng : numpy.random.Generator
    initial : array of shape (n, D), default=None
        Points in the first population; the rest is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> search = RandomSearch(Box.from_bounds([(0, 1)]), 8, np.random.default_rng(0))
    >>> search.tell(search.ask()[:, 0])
    >>> search.best[1] < 0.2
    True
    """

    def __init__(
        self,
        space: Box,
        size: int,
        rng: np.random.Generator,
        *,
        initial: FloatArray | None = None,
    ) -> None:
        self._space, self._size, self._rng = space, size, rng
        self._first = first_population(space, size, rng, initial)
        self._best = self._first[0], np.inf
        self._turns = Turns()
        self.generation = 0

    def ask(self) -> FloatArray:
        """Return the points to evaluate, shape (size, D)."""
        return self._turns.give(self._first if self.generation == 0 else self._draw())

    def tell(self, fitness: FloatArray) -> None:
        """Keep the best point."""
        points, values = self._turns.take(fitness)
        i = int(values.argmin())
        if values[i] < self._best[1]:
            self._best = points[i], float(values[i])
        self.generation += 1

    @property
    def best(self) -> tuple[FloatArray, float]:
        """Best point so far and its fitness."""
        point, value = self._best
        return point.copy(), value

    def _draw(self) -> FloatArray:
        return self._space.sample(self._size, self._rng)


class SobolSearch(RandomSearch):
    """Draw every population from one scrambled Sobol sequence.

    Parameters
    ----------
    space, size, rng, initial :
        As in :class:`RandomSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> search = SobolSearch(Box.from_bounds([(0, 1)]), 8, np.random.default_rng(0))
    >>> search.tell(search.ask()[:, 0])
    >>> search.best[1] < 0.125
    True
    """

    def __init__(
        self,
        space: Box,
        size: int,
        rng: np.random.Generator,
        *,
        initial: FloatArray | None = None,
    ) -> None:
        super().__init__(space, size, rng, initial=initial)
        self._sequence = qmc.Sobol(d=len(space), scramble=True, rng=rng)
        given = 0 if initial is None else len(np.atleast_2d(initial))
        self._first[given:] = self._draw()[given:]

    def _draw(self) -> FloatArray:
        # SciPy warns of a first draw that is not a power of two; one point is.
        points = [self._sequence.random(1), self._sequence.random(self._size - 1)]
        return self._space.scaled(np.vstack(points))
