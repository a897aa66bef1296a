"""Metrics of confusion matrices, for many matrices at once.

Each takes counts (P, k, k), rows the truth, and returns (P,); greater is better. They
equal scikit-learn's functions of the same names on whole counts and also make sense of
smoothed ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ecselm._typing import FloatArray

Metric = Callable[[FloatArray], FloatArray]


def accuracy(counts: FloatArray) -> FloatArray:
    """Return the share of right answers.

    Examples
    --------
    >>> import numpy as np
    >>> accuracy(np.array([[[3.0, 1.0], [0.0, 4.0]]]))
    array([0.875])
    """
    return _right(counts).sum(axis=1) / counts.sum(axis=(1, 2))


def recalls(counts: FloatArray) -> FloatArray:
    """Return the recall of every class (P, k), NaN for one that never occurs."""
    return _ratio(_right(counts), counts.sum(axis=2), np.nan)


def balanced_accuracy(counts: FloatArray) -> FloatArray:
    """Return the mean recall of the classes that occur."""
    return np.nanmean(recalls(counts), axis=1)


def gmean(counts: FloatArray) -> FloatArray:
    """Return the geometric mean of the recalls of the classes that occur."""
    values = recalls(counts)
    with np.errstate(divide="ignore"):
        return np.exp(np.nanmean(np.log(values), axis=1))


def matthews_corrcoef(counts: FloatArray) -> FloatArray:
    """Return the correlation between truth and prediction, 0 where one is constant."""
    truth, predicted, total = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    covariance = _right(counts).sum(axis=1) * total - (truth * predicted).sum(axis=1)
    spread = (total**2 - (truth**2).sum(axis=1)) * (total**2 - (predicted**2).sum(axis=1))
    return _ratio(covariance, np.sqrt(np.maximum(spread, 0.0)), 0.0)


def precision(counts: FloatArray) -> FloatArray:
    """Return the precision of every class (P, k)."""
    return _ratio(_right(counts), counts.sum(axis=1), 0.0)


def recall(counts: FloatArray) -> FloatArray:
    """Return the recall of every class (P, k)."""
    return _ratio(_right(counts), counts.sum(axis=2), 0.0)


def f1(counts: FloatArray) -> FloatArray:
    """Return the F1 score of every class (P, k)."""
    return _ratio(2.0 * _right(counts), counts.sum(axis=2) + counts.sum(axis=1), 0.0)


def neg_total_cost(counts: FloatArray, cost: FloatArray) -> FloatArray:
    """Return minus the cost of all rows under the matrix ``cost`` (k, k)."""
    return -(counts * cost).sum(axis=(1, 2))


def neg_mean_cost(counts: FloatArray, cost: FloatArray) -> FloatArray:
    """Return minus the mean cost of a row under the matrix ``cost`` (k, k)."""
    return neg_total_cost(counts, cost) / counts.sum(axis=(1, 2))


def savings(counts: FloatArray, cost: FloatArray) -> FloatArray:
    """Return the share saved of what the best constant answer costs, ``cost`` being (k, k)."""
    trivial = (counts.sum(axis=2) @ cost).min(axis=1)
    return share_saved(-neg_total_cost(counts, cost), trivial)


def share_saved(spent: FloatArray, trivial: FloatArray) -> FloatArray:
    """Return ``1 - spent / trivial``, where ``trivial`` must cost something."""
    if (trivial <= 0).any():
        raise ValueError(
            "savings must have a best constant answer that costs more than 0, got "
            f"{trivial.min():g}: against that nothing can be saved"
        )
    return 1.0 - spent / trivial


def _macro(counts: FloatArray, by_class: Metric) -> FloatArray:
    """Return the mean over the classes that occur or are predicted."""
    seen = (counts.sum(axis=2) + counts.sum(axis=1)) > 0
    return (by_class(counts) * seen).sum(axis=1) / seen.sum(axis=1)


def _weighted(counts: FloatArray, by_class: Metric) -> FloatArray:
    """Return the mean over classes by how often they occur."""
    return (by_class(counts) * counts.sum(axis=2)).sum(axis=1) / counts.sum(axis=(1, 2))


def _of_second(counts: FloatArray, by_class: Metric) -> FloatArray:
    """Return the value of the second of two classes, the positive one."""
    return by_class(counts)[:, 1]


COUNTED: dict[str, Metric] = {
    "accuracy": accuracy,
    "arr": balanced_accuracy,
    "balanced_accuracy": balanced_accuracy,
    "gmean": gmean,
    "matthews_corrcoef": matthews_corrcoef,
    "rank_1": accuracy,
    "trr": accuracy,
}
BINARY: dict[str, Metric] = {}
for _name, _by_class in (("f1", f1), ("precision", precision), ("recall", recall)):
    BINARY[_name] = partial(_of_second, by_class=_by_class)
    COUNTED[f"{_name}_macro"] = partial(_macro, by_class=_by_class)
    COUNTED[f"{_name}_weighted"] = partial(_weighted, by_class=_by_class)
    COUNTED[f"{_name}_micro"] = accuracy


def _right(counts: FloatArray) -> FloatArray:
    return np.diagonal(counts, axis1=1, axis2=2)


def _ratio(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0)
