"""Covariance matrix adaptation (CMA-ES) on a box, by the package ``cmaes``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.search.space import Box, PopulationSearch, first_population

WORST = 1e300  # stands for a fitness that is not finite


class CovarianceAdaptation(PopulationSearch):
    """Minimise by ask and tell with a normal law that learns its covariance.

    The search takes place in the unit cube; coordinates of equal bounds stay fixed.
    Needs the extra ``cma``.

    Parameters
    ----------
    space : Box
        With at least two coordinates that are free.
    size : int
        Number of points in a generation, at least 3.
    rng : numpy.random.Generator
    initial : array of shape (n, D), default=None
        The first of them becomes the mean of the law; the others are evaluated in the
        first generation.
    sigma : float, default=0.3
        First standard deviation, in units of the box.
    """

    def __init__(
        self,
        space: Box,
        size: int,
        rng: np.random.Generator,
        *,
        initial: FloatArray | None = None,
        sigma: float = 0.3,
    ) -> None:
        try:
            from cmaes import CMA  # noqa: PLC0415
        except ImportError as error:
            raise ImportError(
                'CovarianceAdaptation needs the extra "cma": pip install "ecselm[cma]"'
            ) from error
        super().__init__()
        self._space = space
        self._free = np.flatnonzero(space.high > space.low)
        if len(self._free) < 2 or size < 3:
            raise ValueError(
                "CMA-ES must have at least 2 free coordinates and a population_size of at "
                f"least 3, got {len(self._free)} and {size}"
            )
        self._given = None if initial is None else first_population(space, size, rng, initial)
        mean = 0.5 * np.ones(len(self._free)) if self._given is None else self._unit(self._given[0])
        cube = np.tile([0.0, 1.0], (len(self._free), 1))
        seed = int(rng.integers(2**31))
        self._cma: Any = CMA(mean, sigma, bounds=cube, seed=seed, population_size=size)
        self._n_given = 0 if initial is None else min(size, len(np.atleast_2d(initial)))

    def _propose(self) -> FloatArray:
        unit = np.array([self._cma.ask() for _ in range(self._cma.population_size)])
        points = np.tile(self._space.low, (len(unit), 1))
        width = (self._space.high - self._space.low)[self._free]
        points[:, self._free] += unit * width
        if self.generation == 0 and self._given is not None:
            points[: self._n_given] = self._given[: self._n_given]
        return np.clip(points, self._space.low, self._space.high)

    def _select(self, points: FloatArray, values: FloatArray) -> None:
        """Move and reshape the law."""
        ranked = np.where(np.isfinite(values), values, WORST)
        units = [self._unit(point) for point in points]
        self._cma.tell(list(zip(units, ranked.tolist(), strict=True)))

    def _unit(self, point: FloatArray) -> FloatArray:
        low, high = self._space.low[self._free], self._space.high[self._free]
        return (point[self._free] - low) / (high - low)

    def __getstate__(self) -> dict[str, Any]:
        """Keep all of ``cmaes``, which would itself seed a new stream when unpickled."""
        return {**self.__dict__, "_cma": (type(self._cma), dict(self._cma.__dict__))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kind, inside = state["_cma"]
        self.__dict__.update(state)
        self._cma = kind.__new__(kind)
        self._cma.__dict__.update(inside)
