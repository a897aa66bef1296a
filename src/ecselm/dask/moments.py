"""Means and spreads of inputs that can be added up over partitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ecselm._threads import row_blocks
from ecselm._typing import FloatArray
from ecselm.hidden import InputScale


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean, squared deviations and range of every feature of some rows.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [7.0]])
    >>> both = Moments.of_rows(X[:1], None) + Moments.of_rows(X[1:], None)
    >>> both.mean, both.squares
    (array([3.]), array([26.]))
    """

    weight: float
    mean: FloatArray  # (n,)
    squares: FloatArray  # (n,), weighted deviations from the mean
    low: FloatArray  # (n,), of rows of positive weight
    high: FloatArray  # (n,)

    @classmethod
    def of_rows(cls, X: FloatArray, weight: FloatArray | None) -> Moments:
        """Measure rows X (N, n) with weights (N,), a block at a time."""
        blocks = row_blocks(len(X), X.shape[1])
        parts = [_of_block(X[rows], None if weight is None else weight[rows]) for rows in blocks]
        return reduce(Moments.__add__, parts, cls.none(X.shape[1]))

    @classmethod
    def none(cls, n_features: int) -> Moments:
        """Return the moments of no rows."""
        zeros, far = np.zeros(n_features), np.full(n_features, np.inf)
        return cls(0.0, zeros, zeros, far, -far)

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both.

        Where both means are equal nothing is lost, so a constant feature stays constant.
        """
        if not (self.weight and other.weight):
            return other if other.weight else self
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        return Moments(
            weight,
            self.mean + apart * (other.weight / weight),
            self.squares + other.squares + apart**2 * (self.weight * other.weight / weight),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scale(self, kind: str | None, dtype: np.dtype[np.floating]) -> InputScale:
        """Return what :func:`~ecselm.hidden.measure_scale` returns for these rows."""
        if kind is None:
            return InputScale.identity(len(self.mean))
        if kind == "minmax":
            spread = (self.high - self.low) / 2.0
            return InputScale((self.low + self.high) / 2.0, np.where(spread == 0, 1.0, spread))
        spread = np.sqrt(self.squares / self.weight)
        constant = spread <= 4 * np.finfo(dtype).eps * np.abs(self.mean)
        return InputScale(self.mean, np.where(constant | (spread == 0), 1.0, spread))

    def gamma(self, scale: InputScale) -> float:
        """Return the width ``1 / (n var(X))`` of a kernel for these rows on a scale."""
        means = (self.mean - scale.center) / scale.spread
        variances = self.squares / (self.weight * scale.spread**2)
        variance = float((variances + (means - means.mean()) ** 2).mean())
        return 1.0 / (len(means) * variance) if variance > 0 else 1.0


def _of_block(X: FloatArray, weight: FloatArray | None) -> Moments:
    w = np.ones(len(X)) if weight is None else weight.astype(np.float64)
    total = float(w.sum())
    if total == 0:
        return Moments.none(X.shape[1])
    # Deviations from a row that counts keep the digits of what lies far from zero.
    origin = X[np.argmax(w)].astype(np.float64)
    values = X - origin
    mean = w @ values / total
    values -= mean
    values *= values
    counted = X if weight is None else X[weight > 0]
    low, high = (np.asarray(end, dtype=np.float64) for end in (counted.min(0), counted.max(0)))
    return Moments(total, origin + mean, w @ values, low, high)
