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


class Turns:
    """Keep ask and tell in turn, and let no fitness win that is not finite."""

    def __init__(self) -> None:
        self._pending: FloatArray | None = None

    def give(self, points: FloatArray) -> FloatArray:
        """Remember the points that are out, and return a copy of them."""
        if self._pending is not None:
            raise RuntimeError("ask() called twice; tell() the pending fitness first")
        self._pending = points
        return points.copy()

    def take(self, fitness: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the points that were out and their fitness, +inf where it is not finite."""
        if self._pending is None:
            raise RuntimeError("tell() called before ask()")
        values = np.array(fitness, dtype=np.float64)
        if values.shape != (len(self._pending),):
            raise ValueError(
                f"fitness must have the shape ({len(self._pending)},), got {values.shape}"
            )
        points, self._pending = self._pending, None
        return points, np.where(np.isfinite(values), values, np.inf)


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
    if not space.contains(rows):
        raise ValueError("x0 must lie within the bounds")
    P[: len(rows)] = rows[:size]
    return P
