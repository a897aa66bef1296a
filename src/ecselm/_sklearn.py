"""The only module that imports private names of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.metrics._scorer import _Scorer as Scorer
from sklearn.tree._tree import Tree
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import (
    _is_numpy_namespace,
    get_namespace_and_device,
    move_to,
)
from sklearn.utils._metadata_requests import _routing_enabled as routing_enabled
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if as _available_if
from sklearn.utils.validation import _check_sample_weight

from ecselm._typing import FloatArray, Matrix

__all__ = [
    "HasMethods",
    "Interval",
    "Scorer",
    "StrOptions",
    "Tree",
    "array_namespace",
    "available_if",
    "check_parameters",
    "check_weights",
    "fit_context",
    "move_to",
    "response_method",
    "routing_enabled",
    "safe_indexing",
    "to_numpy",
]

OWN_ARRAYS = (np.ndarray, np.generic)
Method = TypeVar("Method", bound=Callable[..., Any])


# scikit-learn has no types: its decorators would make every ``fit`` return Any.
def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Validate parameters before a method runs."""
    decorate: Callable[[Method], Method] = _fit_context(
        prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return decorate


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Offer a method only where ``check`` of the estimator is true."""
    decorate: Callable[[Method], Method] = _available_if(check)
    return decorate


def check_parameters(estimator: Any) -> None:
    """Raise for parameters of an estimator that violate its constraints."""
    estimator._validate_params()


def check_weights(sample_weight: Any, X: Matrix, *, may_be_zero: bool = False) -> FloatArray | None:
    """Return one finite weight >= 0 per row of ``X``, or None if ``sample_weight`` is None.

    All weights may be 0 only if ``may_be_zero``, as in a block of a stream.
    """
    if sample_weight is None:
        return None
    if may_be_zero and np.shape(sample_weight) == (X.shape[0],) and not np.any(sample_weight):
        return np.zeros(X.shape[0], dtype=X.dtype)
    rows = np.empty((X.shape[0], 0), dtype=X.dtype)  # X itself may be of another namespace
    weights: FloatArray = _check_sample_weight(sample_weight, rows, dtype=X.dtype)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got {weights.min()}")
    return weights


def response_method(scorer: Any) -> str:
    """Return what a scorer asks of a model; any callable may ask for predictions."""
    method = getattr(scorer, "_response_method", "predict")
    return method if isinstance(method, str) else str(method[0])


def array_namespace(array: Any) -> tuple[Any, Any] | None:
    """Return the namespace and the device of an array that is not NumPy's.

    None for everything else, and without ``array_api_dispatch``: then scikit-learn converts.
    """
    if isinstance(array, OWN_ARRAYS) or not hasattr(array, "__dlpack__"):
        return None
    if not get_config()["array_api_dispatch"]:
        return None
    xp, _, device = get_namespace_and_device(array)
    return None if _is_numpy_namespace(xp) else (xp, device)


def to_numpy(values: Any) -> Any:
    """Return an array of another namespace as NumPy's, and everything else as it is."""
    return values if array_namespace(values) is None else move_to(values, xp=np, device="cpu")
