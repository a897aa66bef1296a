"""Weights W of the classes, from how often they occur (paper, eqs. 9-10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs.labels import label_codes

GOLDEN = 0.618  # as printed in (10)


def _balanced(n: FloatArray) -> FloatArray:
    return n.sum() / (len(n) * n)


def _w1(n: FloatArray) -> FloatArray:
    return 1.0 / n  # (9)


def _w2(n: FloatArray) -> FloatArray:
    return np.where(n > n.mean(), GOLDEN, 1.0) / n  # (10)


_FORMULAS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "balanced": _balanced,
    "w1": _w1,
    "w2": _w2,
}
WEIGHTINGS = tuple(_FORMULAS)


def class_weights(weighting: str | Mapping[Any, float] | None, n: Any, classes: Any) -> FloatArray:
    """Return W_cc (k,), one weight per class.

    Parameters
    ----------
    weighting : {"w1", "w2", "balanced"}, dict or None
        ``"w1"`` is (9), ``1/n_c``; ``"w2"`` is (10), ``0.618/n_c`` for classes larger
        than the average; ``"balanced"`` is scikit-learn's ``N/(k n_c)``; a dict gives
        the weights by class label, 1 for classes it leaves out; None is 1 for all.
    n : array of shape (k,)
        Class counts; a sum of sample weights where there are any. With a formula, a
        class that never occurs gets the weight 0, as there is nothing to weigh.
    classes : array of shape (k,)

    Examples
    --------
    >>> class_weights("w2", [6, 2], ["many", "few"])
    array([0.103, 0.5  ])
    """
    counts = np.asarray(n, dtype=np.float64)
    if weighting is None:
        return np.ones(len(counts))
    if isinstance(weighting, Mapping):
        return _from_labels(weighting, np.asarray(classes))
    seen = counts > 0
    weights = np.zeros(len(counts))
    weights[seen] = _FORMULAS[weighting](counts[seen])
    return weights


def _from_labels(weighting: Mapping[Any, float], classes: AnyArray) -> FloatArray:
    weights = np.ones(len(classes))
    codes = label_codes(list(weighting), classes, "weighting")
    try:
        weights[codes] = [float(value) for value in weighting.values()]
    except (TypeError, ValueError) as error:
        raise ValueError(f"weighting must hold numbers only, got {dict(weighting)}") from error
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"weighting must hold finite weights >= 0, got {dict(weighting)}")
    if not weights.any():
        raise ValueError(f"weighting must not be 0 for every class, got {dict(weighting)}")
    return weights
