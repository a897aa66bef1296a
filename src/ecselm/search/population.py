"""What every search on a box does: ask for a population, be told its fitness."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ecselm._typing import FloatArray
from ecselm.search.space import Box


class AskTell(Protocol):
    """A search that is asked for points and told their fitness; smaller is better."""

    generation: int

    def ask(self) -> FloatArray:
        """Return the points to evaluate, shape (size, D), a copy."""

    def tell(self, fitness: FloatArray) -> None:
        """Take the fitness of the points asked for last, shape (size,)."""

    @property
    def best(self) -> tuple[FloatArray, float]:
        """Return the best point so far and its fitness."""


class PopulationSearch:
    """Keep ask and tell in turn, and the best point; subclasses propose and select.

    No fitness wins that is not finite: subclasses see +inf in its place.
    """

    def __init__(self) -> None:
        self._pending: FloatArray | None = None
        self._best: tuple[FloatArray, float] | None = None
        self.generation = 0

    def ask(self) -> FloatArray:
        """Return the points to evaluate, shape (size, D), a copy."""
        if self._pending is not None:
            raise RuntimeError("ask() called twice; tell() the pending fitness first")
        self._pending = self._propose()
        return self._pending.copy()

    def tell(self, fitness: FloatArray) -> None:
        """Take the fitness of the points asked for last, shape (size,)."""
        if self._pending is None:
            raise RuntimeError("tell() called before ask()")
        values = np.array(fitness, dtype=np.float64)
        if values.shape != (len(self._pending),):
            raise ValueError(
                f"fitness must have the shape ({len(self._pending)},), got {values.shape}"
            )
        points, self._pending = self._pending, None
        values = np.where(np.isfinite(values), values, np.inf)
        self._select(points, values)
        i = int(values.argmin())
        if self._best is None or values[i] < self._best[1]:
            self._best = points[i].copy(), float(values[i])
        self.generation += 1

    @property
    def best(self) -> tuple[FloatArray, float]:
        """Best point so far and its fitness, eqs. (33)-(34)."""
        if self._best is None:
            raise RuntimeError("there is no best point before the first tell()")
        point, value = self._best
        return point.copy(), value

    def _propose(self) -> FloatArray:
        """Return the points of the next generation."""
        raise NotImplementedError

    def _select(self, points: FloatArray, values: FloatArray) -> None:
        """Learn from the fitness of the points proposed last."""


def first_population(
    space: Box, size: int, rng: np.random.Generator, initial: FloatArray | None
) -> FloatArray:
    """Draw the first population (23), with the rows of ``initial`` in front."""
    if size < 1:
        raise ValueError(f"population_size must be at least 1, got {size}")
    P = space.sample(size, rng)
    if initial is None:
        return P
    rows = np.atleast_2d(np.asarray(initial, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != len(space):
        raise ValueError(f"x0 must have {len(space)} columns, got the shape {rows.shape}")
    if len(rows) > size:
        raise ValueError(f"x0 must have at most population_size={size} rows, got {len(rows)}")
    if not space.contains(rows):
        raise ValueError("x0 must lie within the bounds")
    P[: len(rows)] = rows
    return P
