"""How far a mean could lie from where it was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ecselm._typing import FloatArray

METHODS = ("BCa", "basic", "percentile")
_AT_ONCE = 500  # resamples in memory


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds, one pair or one per column."""

    low: FloatArray
    high: FloatArray


def bootstrap_interval(
    values: Any,
    *,
    statistic: Callable[..., Any] = np.mean,
    confidence: float = 0.95,
    method: str = "BCa",
    n_resamples: int = 9999,
    rng: Any = 0,
) -> Interval:
    """Return the bootstrap interval of a statistic of the rows of ``values``.

    Rows are drawn with replacement, the same ones for all columns, so that the interval of
    a column does not depend on the others. Columns without spread have intervals without
    width, where BCa (Efron 1987) is not defined.

    Parameters
    ----------
    values : array of shape (n,) or (n, m)
    statistic : callable, default=numpy.mean
        Takes an array and ``axis``.
    confidence : float, default=0.95
    method : {"BCa", "basic", "percentile"}, default="BCa"
    n_resamples : int, default=9999
    rng : int or numpy.random.Generator, default=0
        A number gives the same interval every time.

    Examples
    --------
    >>> found = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0], rng=1)
    >>> bool(1.0 < found.low < 3.0 < found.high < 5.0)
    True
    """
    V = np.asarray(values, dtype=np.float64)
    _check(V, confidence, method, n_resamples)
    columns = V.reshape(len(V), -1)
    low = np.array(statistic(columns, axis=0), dtype=np.float64)
    high, varies = low.copy(), np.ptp(columns, axis=0) > 0
    if varies.any():
        found = stats.bootstrap(
            (columns[:, varies],),
            statistic,
            axis=0,
            vectorized=True,
            confidence_level=confidence,
            method=method,
            n_resamples=n_resamples,
            batch=_AT_ONCE,
            rng=np.random.default_rng(rng),
        ).confidence_interval
        low[varies], high[varies] = found.low, found.high
    return Interval(low.reshape(V.shape[1:])[()], high.reshape(V.shape[1:])[()])


def _check(V: FloatArray, confidence: float, method: str, n_resamples: int) -> None:
    if V.ndim not in {1, 2} or len(V) < 2:
        raise ValueError(f"values must have the shape (n,) or (n, m), n >= 2, got {V.shape}")
    if not np.isfinite(V).all():
        raise ValueError(f"values must be finite, got {V[~np.isfinite(V)][0]}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be >= 1, got {n_resamples}")
