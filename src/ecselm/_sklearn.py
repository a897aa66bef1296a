"""The only door to scikit-learn's private names, and the random stream of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from ecselm._typing import FloatArray, Matrix

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "as_generator",
    "check_weights",
    "fit_context",
]


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn scikit-learn's ``random_state`` into the one generator of a fit.

    A ``RandomState`` instance is advanced, so that two fits with it differ, as
    scikit-learn's users expect; global state is never read.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


def check_weights(sample_weight: Any, X: Matrix) -> FloatArray | None:
    """Return one finite weight >= 0 per row of ``X``, or None when there are none."""
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=X.dtype)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got {weights.min()}")
    return weights
