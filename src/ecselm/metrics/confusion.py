"""Metrics of confusion matrices, for many matrices at once.

Each takes counts (P, k, k), rows are the truth, and returns (P,); greater is better. They
equal scikit-learn's functions of the same names on whole counts and are also defined for
smoothed ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ecselm._typing import FloatArray

ConfusionMetric = Callable[[FloatArray], FloatArray]


def accuracy(counts: FloatArray) -> FloatArray:
    """Return the share of correct predictions.

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
    variances = (total**2 - (truth**2).sum(axis=1)) * (total**2 - (predicted**2).sum(axis=1))
    return _ratio(covariance, np.sqrt(np.maximum(variances, 0.0)), 0.0)


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
    """Return the share saved of the cost of the best constant prediction, ``cost`` is (k, k)."""
    trivial = (counts.sum(axis=2) @ cost).min(axis=1)
    return share_saved(-neg_total_cost(counts, cost), trivial)


def share_saved(spent: FloatArray, trivial: FloatArray) -> FloatArray:
    """Return ``1 - spent / trivial``, where ``trivial`` must cost something."""
    if (trivial <= 0).any():
        raise ValueError(
            "savings must have a best constant prediction that costs more than 0, got "
            f"{trivial.min():g}: against that nothing can be saved"
        )
    return 1.0 - spent / trivial


def macro_average(counts: FloatArray, per_class: ConfusionMetric) -> FloatArray:
    """Return the mean of a metric over the classes that occur or are predicted."""
    seen = (counts.sum(axis=2) + counts.sum(axis=1)) > 0
    return (per_class(counts) * seen).sum(axis=1) / seen.sum(axis=1)


def weighted_average(counts: FloatArray, per_class: ConfusionMetric) -> FloatArray:
    """Return the mean of a metric over the classes, weighted by their rows."""
    return (per_class(counts) * counts.sum(axis=2)).sum(axis=1) / counts.sum(axis=(1, 2))


def positive_class(counts: FloatArray, per_class: ConfusionMetric) -> FloatArray:
    """Return the metric of the second of two classes, the positive one."""
    return per_class(counts)[:, 1]


def _right(counts: FloatArray) -> FloatArray:
    return np.diagonal(counts, axis1=1, axis2=2)


def _ratio(above: FloatArray, below: FloatArray, otherwise: float) -> FloatArray:
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0)
