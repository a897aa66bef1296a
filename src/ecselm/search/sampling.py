"""Searches that learn nothing, as yardsticks: random and low-discrepancy points."""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from ecselm._typing import FloatArray
from ecselm.search.space import Box, PopulationSearch, first_population


class RandomSearch(PopulationSearch):
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
        super().__init__()
        self._space, self._size, self._rng = space, size, rng
        self._first = first_population(space, size, rng, initial)

    def _propose(self) -> FloatArray:
        return self._first if self.generation == 0 else self._draw()

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
