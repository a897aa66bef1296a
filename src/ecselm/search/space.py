"""The box in which a search takes place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Protocol

import numpy as np
from scipy.stats import qmc

from ecselm._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Box:
    """Lower and upper bounds of D coordinates; equal bounds hold a coordinate fixed.

    Examples
    --------
    >>> import numpy as np
    >>> box = Box.from_bounds([(0, 1), (-2, 2)])
    >>> box.sample(3, np.random.default_rng(0)).shape
    (3, 2)
    """

    low: FloatArray  # (D,)
    high: FloatArray  # (D,)

    def __post_init__(self) -> None:
        if self.low.ndim != 1 or self.low.shape != self.high.shape or not len(self.low):
            raise ValueError(
                "bounds must be one lower and one upper bound per coordinate, got shapes "
                f"{self.low.shape} and {self.high.shape}"
            )
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise ValueError("bounds must be finite, got an infinite or NaN one")
        if (self.low > self.high).any():
            j = int(np.flatnonzero(self.low > self.high)[0])
            raise ValueError(
                f"bounds must have low <= high, got {self.low[j]:g} > {self.high[j]:g} "
                f"in coordinate {j}"
            )

    @classmethod
    def from_bounds(cls, bounds: Any) -> Box:
        """Read a sequence of pairs (low, high), or SciPy's ``Bounds``."""
        if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
            low, high = np.broadcast_arrays(
                np.atleast_1d(np.asarray(bounds.lb, dtype=np.float64)),
                np.atleast_1d(np.asarray(bounds.ub, dtype=np.float64)),
            )
            return cls(low.copy(), high.copy())
        pairs = np.asarray(bounds, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"bounds must be pairs (low, high), got the shape {pairs.shape}")
        return cls(pairs[:, 0].copy(), pairs[:, 1].copy())

    def __len__(self) -> int:
        return len(self.low)

    def contains(self, X: FloatArray) -> bool:
        """Tell whether every row of ``X`` lies in the box."""
        return bool(((self.low <= X) & (self.high >= X)).all())

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw ``size`` points uniformly (23)."""
        return self.scaled(rng.random((size, len(self))))

    def opposite(self, X: FloatArray) -> FloatArray:
        """Return the reflection of points in the centre of the box, within its bounds."""
        reflected: FloatArray = self.low + self.high - X
        return np.clip(reflected, self.low, self.high, out=reflected)  # rounding only

    def scaled(self, unit: FloatArray) -> FloatArray:
        """Map points of the unit cube into the box."""
        return self.low + unit * (self.high - self.low)

    def repair(
        self,
        V: FloatArray,
        rng: np.random.Generator,
        columns: IntArray | EllipsisType = ...,
    ) -> FloatArray:
        """Bring entries outside back in; overwrites ``V``.

        A coin for each such entry decides between the bound it broke and a fresh
        uniform draw. Read literally, (30) redraws entries inside as well, which makes
        the search a random one; see ``literal_bounds`` of :class:`BacktrackingSearch`.
        The last axis of ``V`` holds all coordinates, or those of ``columns``.
        """
        low, high = self.low[columns], self.high[columns]
        outside = np.flatnonzero((low > V) | (high < V))
        np.minimum(np.maximum(V, low, out=V), high, out=V)
        # One draw is both: below 1/2 the coin says bound, above it where the entry goes.
        u = rng.random(len(outside))
        tails = np.flatnonzero(u >= 0.5)
        entries = outside[tails]
        j = entries % len(low)
        np.put(V, entries, low[j] + (2.0 * u[tails] - 1.0) * (high - low)[j])
        return V

    def repair_literally(self, V: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Apply (30) as printed: whatever is not set to a bound is redrawn."""
        to_bound = rng.random(V.shape) < rng.random(V.shape)
        fresh = self.scaled(rng.random(V.shape))
        repaired = np.where(to_bound & (self.low > V), self.low, fresh)
        return np.where(to_bound & (self.high < V), self.high, repaired)


WIDE = 2**10  # coordinates from which on selecting row by row beats sorting all rows


def crossover_mask(
    shape: tuple[int, int], rng: np.random.Generator, mixrate: float = 1.0
) -> BoolArray:
    """Draw the binary map of (28), True where a trial takes the mutant.

    The paper leaves the map open; this is the published one (Civicioglu 2013): row i takes
    ``ceil(mixrate u_i D)`` random coordinates with ``u_i ~ U(0, 1)``. In the other half of
    the generations a trial takes exactly one, for which no map is needed.

    Examples
    --------
    >>> import numpy as np
    >>> mask = crossover_mask((4, 6), np.random.default_rng(0))
    >>> bool((mask.sum(axis=1) >= 1).all())
    True
    """
    size, D = shape
    u = 1.0 - rng.random(size)  # never 0: each row takes at least one
    return random_subsets(np.ceil(mixrate * u * D).astype(np.intp), D, rng)


def random_subsets(counts: IntArray, D: int, rng: np.random.Generator) -> BoolArray:
    """Mark ``counts[i]`` of D coordinates in row i, every such subset equally likely.

    The smallest of random keys are marked. A row that ties at its last one would have
    too many and is drawn again, which favours no subset.

    Examples
    --------
    >>> import numpy as np
    >>> random_subsets(np.array([1, 5, 3]), 5, np.random.default_rng(0)).sum(axis=1).tolist()
    [1, 5, 3]
    """
    # Halves of 64 bits, which come faster than 32 at a time.
    draws = rng.integers(2**64, size=(len(counts), (D + 1) // 2), dtype=np.uint64)
    keys = draws.view(np.uint32)[:, :D]
    mask = keys <= _last_taken(keys, counts)[:, np.newaxis]
    tied = np.flatnonzero(mask.sum(axis=1) != counts)
    if len(tied):
        mask[tied] = random_subsets(counts[tied], D, rng)
    return mask


def _last_taken(keys: IntArray, counts: IntArray) -> IntArray:
    """Return the ``counts[i]``-th smallest key of row i."""
    if keys.shape[1] < WIDE:
        return np.sort(keys, axis=1)[np.arange(len(keys)), counts - 1]
    return np.array([np.partition(row, k)[k] for row, k in zip(keys, counts - 1, strict=True)])


class AskTell(Protocol):
    """A search by ask and tell: it proposes points and takes their fitness, smaller is better."""

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


def _latin_hypercube(space: Box, size: int, rng: np.random.Generator) -> FloatArray:
    return space.scaled(qmc.LatinHypercube(d=len(space), rng=rng).random(size))


def _sobol(space: Box, size: int, rng: np.random.Generator) -> FloatArray:
    if len(space) > qmc.Sobol.MAXDIM:
        raise ValueError(
            f"init='sobol' must have at most {qmc.Sobol.MAXDIM} coordinates, got {len(space)}; "
            "use init='latinhypercube'"
        )
    points = qmc.Sobol(d=len(space), scramble=True, rng=rng)
    return space.scaled(points.random(1 << (size - 1).bit_length())[:size])


INITS: dict[str, Callable[[Box, int, np.random.Generator], FloatArray]] = {
    "uniform": Box.sample,
    "latinhypercube": _latin_hypercube,
    "sobol": _sobol,
}


def first_population(
    space: Box,
    size: int,
    rng: np.random.Generator,
    initial: FloatArray | None,
    init: str = "uniform",
) -> FloatArray:
    """Draw the first population, with the rows of ``initial`` in front.

    Parameters
    ----------
    space : Box
    size : int
    rng : numpy.random.Generator
    initial : array of shape (n, D) or None
    init : {"uniform", "latinhypercube", "sobol"}, default="uniform"
        Independent points, (23); one point in each of ``size`` equal intervals of every
        coordinate; or the first points of a scrambled Sobol sequence.

    Examples
    --------
    >>> import numpy as np
    >>> box = Box.from_bounds([(0, 4)])
    >>> P = first_population(box, 4, np.random.default_rng(0), None, "latinhypercube")
    >>> np.sort(np.floor(P[:, 0]))
    array([0., 1., 2., 3.])
    """
    if size < 1:
        raise ValueError(f"population_size must be at least 1, got {size}")
    P = INITS[init](space, size, rng)
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
