"""The only door to scikit-learn's private names."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from ecselm._typing import FloatArray, Matrix

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_weights",
    "fit_context",
]


def check_weights(sample_weight: Any, X: Matrix) -> FloatArray | None:
    """Return one finite weight >= 0 per row of ``X``, or None when there are none."""
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=X.dtype)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got {weights.min()}")
    return weights
