"""Inputs by their ranks: what is skewed or has outliers comes to look normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ecselm._typing import FloatArray

N_KNOTS = 100
FARTHEST = 3.0  # standard deviations


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
