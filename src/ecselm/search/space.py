"""The box in which a search takes place."""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np

from ecselm._typing import FloatArray, IntArray


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
