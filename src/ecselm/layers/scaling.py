"""Scales of the inputs: by their range, their moments or their ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from ecselm import _native as compiled
from ecselm._threads import one_blas_thread, row_blocks
from ecselm._typing import BoolArray, FloatArray, Matrix

SCALES = ("standard", "minmax")
N_KNOTS = 100
FARTHEST = 3.0  # standard deviations
MOMENT_SHARE = 2  # blocks of half a cache: each is passed over twice


@dataclass(frozen=True, slots=True)
class InputScale:
    """Centre and width of every feature; a constant feature has the width 1."""

    center: FloatArray
    width: FloatArray

    @classmethod
    def identity(cls, n_features: int) -> InputScale:
        """Return the scale that changes nothing."""
        return cls(np.zeros(n_features), np.ones(n_features))

    def __call__(self, X: Matrix) -> Matrix:
        """Return ``(x - center) / width``; sparse rows stay sparse and are not centred."""
        if sparse.issparse(X):
            return X.multiply(1.0 / self.width.astype(X.dtype)).tocsr()
        return (X - self.center.astype(X.dtype)) / self.width.astype(X.dtype)


def measure_scale(
    X: Matrix, kind: str | None, sample_weight: FloatArray | None = None
) -> InputScale:
    """Measure the scale of the rows of ``X``.

    Parameters
    ----------
    X : array or sparse matrix of shape (N, n)
    kind : {"standard", "minmax"} or None
        Mean 0 and standard deviation 1, or the range mapped to [-1, 1], or nothing.
    sample_weight : array of shape (N,), default=None
        A row of weight 2 counts as two rows, a row of weight 0 as none.

    Examples
    --------
    >>> import numpy as np
    >>> measure_scale(np.array([[0.0], [4.0]]), "minmax")
    InputScale(center=array([2.]), width=array([2.]))
    """
    if kind is None:
        return InputScale.identity(X.shape[1])
    if kind == "minmax":
        return _range_scale(*_extremes(X if sample_weight is None else X[sample_weight > 0]))
    return _standard_scale(*_moments(X, sample_weight), float(np.finfo(X.dtype).eps))


@dataclass(frozen=True, slots=True)
class ScaleSum:
    """What the scale of rows needs to know of them, added up over blocks.

    Means and variances of blocks are merged by Chan's formula, which loses no digits: any division
    of the rows into blocks gives the scale that :func:`measure_scale` measures on all of
    them, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [4.0], [8.0]])
    >>> (ScaleSum.of(X[:1]) + ScaleSum.of(X[1:])).scale("minmax")
    InputScale(center=array([4.]), width=array([4.]))
    """

    weight: float
    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,)
    low: FloatArray  # (n,)
    high: FloatArray  # (n,)
    eps: float  # of the rows

    @classmethod
    def of(cls, X: Matrix, sample_weight: FloatArray | None = None) -> ScaleSum:
        """Measure the rows of one block."""
        weight = X.shape[0] if sample_weight is None else float(np.sum(sample_weight))
        if not weight:
            return cls.none(X.shape[1])
        used = X if sample_weight is None else X[sample_weight > 0]
        eps = float(np.finfo(X.dtype).eps)
        return cls(weight, *_moments(X, sample_weight), *_extremes(used), eps)

    @classmethod
    def none(cls, n_features: int) -> ScaleSum:
        """Return what is known of no rows."""
        zeros, far = np.zeros(n_features), np.full(n_features, np.inf)
        return cls(0.0, zeros, zeros, far, -far, 0.0)

    def __add__(self, other: ScaleSum) -> ScaleSum:
        """Return what is known of the rows of both."""
        if not (self.weight and other.weight):
            return other if other.weight else self
        total = self.weight + other.weight
        share, shift = other.weight / total, other.mean - self.mean
        return ScaleSum(
            total,
            self.mean + share * shift,
            (1 - share) * self.variance + share * other.variance + share * (1 - share) * shift**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            max(self.eps, other.eps),
        )

    def scale(self, kind: str | None) -> InputScale:
        """Return the scale of all rows."""
        if kind is None:
            return InputScale.identity(len(self.mean))
        if kind == "minmax":
            return _range_scale(self.low, self.high)
        return _standard_scale(self.mean, self.variance, self.eps)

    def gamma(self, scale: InputScale) -> float:
        """Return the width ``1 / (n var(X))`` of a kernel for all rows on a scale."""
        means = (self.mean - scale.center) / scale.width
        variances = self.variance / scale.width**2
        variance = float((variances + (means - means.mean()) ** 2).mean())
        return 1.0 / (len(means) * variance) if variance > 0 else 1.0


def _extremes(X: Matrix) -> tuple[FloatArray, FloatArray]:
    return _dense(X.min(axis=0)), _dense(X.max(axis=0))


def _range_scale(low: FloatArray, high: FloatArray) -> InputScale:
    return InputScale((low + high) / 2.0, _no_zero((high - low) / 2.0, high == low))


def _moments(X: Matrix, sample_weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of every feature."""
    share = _shares(X.shape[0], sample_weight)
    if sparse.issparse(X):
        return _sparse_moments(X.tocsc(copy=True), share)
    return _dense_moments(X, share)


def _standard_scale(mean: FloatArray, variance: FloatArray, eps: float) -> InputScale:
    std = np.sqrt(variance)
    return InputScale(mean, _no_zero(std, std <= 4 * eps * np.abs(mean)))


def _dense_moments(X: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance, as deviations from a row that counts.

    Far from zero that keeps the digits of float32, and a constant column's variance is 0.
    """
    origin = X[np.argmax(share)]
    mean = _weighted_sum(X, share, origin)
    return origin + mean, _weighted_sum(X, share, origin, mean)


def _weighted_sum(
    X: FloatArray, share: FloatArray, origin: FloatArray, mean: FloatArray | None = None
) -> FloatArray:
    """Return ``sum_i share_i (x_i - origin)``, or of ``(x_i - origin - mean)^2``.

    The C library sums in float64; NumPy sums blocks in the precision of X.
    """
    total = np.zeros(X.shape[1])
    if compiled.is_wide() and X.dtype in (np.float64, np.float32):
        where = origin if mean is None else origin + mean
        compiled.add_moments(np.ascontiguousarray(X), share, where, total, squared=mean is not None)
        return total
    share = share.astype(X.dtype)
    blocks = row_blocks(len(X), MOMENT_SHARE * X.shape[1])
    place = np.empty((blocks[0].stop, X.shape[1]), dtype=X.dtype)
    with one_blas_thread():
        for rows in blocks:
            values = np.subtract(X[rows], origin, out=place[: rows.stop - rows.start])
            if mean is not None:
                values -= mean.astype(X.dtype)
                values *= values
            total += share[rows] @ values
    return total


def _sparse_moments(X: Matrix, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre the stored entries; every entry that is not stored adds ``mean^2``."""
    X.sum_duplicates()
    N, n = X.shape
    stored = np.diff(X.indptr)
    column, shares = np.repeat(np.arange(n), stored), share[X.indices]
    full = stored == N
    # Deviations from an entry where none is missing: a constant column's variance is 0.
    origin = np.zeros(n)
    origin[full] = X.data[X.indptr[:-1][full]]
    values = X.data.astype(np.float64) - origin[column]
    mean = np.bincount(column, shares * values, n)
    missing = np.where(full, 0.0, np.maximum(1.0 - np.bincount(column, shares, n), 0.0))
    variance = np.bincount(column, shares * (values - mean[column]) ** 2, n) + missing * mean**2
    return origin + mean, variance


def _shares(n_rows: int, sample_weight: FloatArray | None) -> FloatArray:
    if sample_weight is None:
        return np.full(n_rows, 1.0 / n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    return weights / weights.sum()


def _no_zero(width: FloatArray, constant: BoolArray) -> FloatArray:
    return np.where(constant | (width == 0), 1.0, width)


def _dense(row: Matrix) -> FloatArray:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


@dataclass(frozen=True, slots=True)
class RankScale:
    """The normal score of the rank that every input has among the rows it was measured on.

    Ranks between the knots are interpolated, equal values share the middle of their ranks.

    Examples
    --------
    >>> import numpy as np
    >>> scale = RankScale.measured(np.array([[1.0], [10.0], [100.0]]))
    >>> scale(np.array([[10.0], [1000.0]])).ravel()
    array([0., 3.])
    """

    knots: FloatArray  # (q, n), quantiles of every feature
    levels: FloatArray  # (q,), from 0 to 1

    @classmethod
    def measured(cls, X: FloatArray) -> RankScale:
        """Return the scale of the rows of ``X``."""
        levels = np.linspace(0.0, 1.0, min(N_KNOTS, max(2, len(X))))
        knots = np.quantile(X.astype(np.float64), levels, axis=0)
        # Interpolation may leave equal quantiles out of order by a rounding.
        return cls(np.maximum.accumulate(knots, axis=0), levels)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the normal scores of the rows of ``X``."""
        shares = np.empty(X.shape)
        for j, knots in enumerate(self.knots.T):
            upward = np.interp(X[:, j], knots, self.levels)
            downward = np.interp(-X[:, j], -knots[::-1], -self.levels[::-1])
            shares[:, j] = (upward - downward) / 2.0
        return np.clip(ndtri(shares), -FARTHEST, FARTHEST)
