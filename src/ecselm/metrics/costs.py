"""Costs, savings, and errors of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import parse_cost
from ecselm.costs.parse import by_label, numbers
from ecselm.costs.weights import label_codes
from ecselm.metrics.confusion import share_saved
from ecselm.metrics.recognition import class_recalls


def total_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the total cost of predictions.

    Parameters
    ----------
    y_true, y_pred : array of shape (N,)
    cost : array, DataFrame, dict or None, default=None
        Costs of mistakes by class, in any form the estimators take; None is 1 each. Costs of
        correct predictions, on the diagonal, are subtracted first.
    sample_cost : array of shape (N, k), default=None
        Cost of predicting each class, by row, instead of ``cost``.
    labels : array of shape (k,), default=None
        All classes, in the order of ``cost`` and ``sample_cost``; None takes those that
        occur in ``y_true`` or ``y_pred``, sorted.
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> total_cost(["ill", "well"], ["well", "ill"], cost={("ill", "well"): 10})
    11.0
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    per_row = _row_costs(y_true, y_pred, cost, sample_cost, labels)
    return float(per_row.sum() if sample_weight is None else per_row @ np.asarray(sample_weight))


def mean_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the mean cost of a prediction.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, labels, sample_weight :
        As in :func:`total_cost`.

    Examples
    --------
    >>> mean_cost(["ill", "well"], ["well", "ill"], cost={("ill", "well"): 10})
    5.5
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    per_row = _row_costs(y_true, y_pred, cost, sample_cost, labels)
    return float(np.average(per_row, weights=sample_weight))


def _row_costs(y_true: Any, y_pred: Any, cost: Any, sample_cost: Any, labels: Any) -> FloatArray:
    truth, predictions, classes = all_classes(y_true, y_pred, labels)
    predicted = label_codes(predictions.tolist(), classes, "y_pred")
    if sample_cost is None:
        return parse_cost(cost, classes)[label_codes(truth.tolist(), classes, "y_true"), predicted]
    if cost is not None:
        raise ValueError("costs must be stated once, got cost and sample_cost")
    return row_class_costs(sample_cost, len(truth), classes)[np.arange(len(truth)), predicted]


def all_classes(y_true: Any, y_pred: Any, labels: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return labels, predictions, and ``labels`` or the classes of both."""
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    return y_true, y_pred, unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)


def row_class_costs(sample_cost: Any, n_rows: int, classes: AnyArray) -> FloatArray:
    """Return the validated costs (N, k) of predicting each class, by row."""
    costs = numbers(by_label(sample_cost, classes), "sample_cost")
    if costs.shape != (n_rows, len(classes)):
        raise ValueError(
            f"sample_cost must have the shape ({n_rows}, {len(classes)}), one cost per row "
            f"and class, got {costs.shape}"
        )
    return costs


def geometric_mean_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the geometric mean of the recalls of all classes in ``y_true``.

    Parameters
    ----------
    y_true, y_pred : array of shape (N,)
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> round(geometric_mean_score([0, 0, 1, 1], [0, 0, 1, 0]), 3)
    0.707
    """
    with np.errstate(divide="ignore"):
        logs = np.log(class_recalls(y_true, y_pred, sample_weight))
    return float(np.exp(logs.mean()))


def cumulative_score(
    y_true: Any, y_pred: Any, *, tolerance: float = 1.0, sample_weight: Any = None
) -> float:
    """Return the share of predictions within ``tolerance`` of the truth (35).

    The text says "less than", but its formula and ``CumScore(0)`` being the recognition
    rate need "at most". For numbers: scores, or levels in their order.

    Parameters
    ----------
    y_true, y_pred : array of numbers, shape (N,) or (N, m)
    tolerance : float, default=1.0
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> cumulative_score([1, 2, 3, 4], [1, 3, 5, 4], tolerance=1)
    0.75
    """
    truth, predicted = (np.asarray(y, dtype=np.float64) for y in (y_true, y_pred))
    check_consistent_length(truth, predicted, sample_weight)
    truth, predicted = (y.reshape(len(y), -1) for y in (truth, predicted))
    if truth.shape != predicted.shape:
        raise ValueError(
            f"y_pred must have as many columns as y_true, {truth.shape[1]}, got "
            f"{predicted.shape[1]}"
        )
    if tolerance < 0:
        raise ValueError(f"tolerance must be >= 0, got {tolerance}")
    shares = (np.abs(truth - predicted) <= tolerance).mean(axis=1)
    return float(np.average(shares, weights=sample_weight))


def savings_score(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the share of the cost of the best trivial decision that predictions save.

    ``1 - cost(predictions) / min_j cost(always j)`` (Bahnsen, Aouada and Ottersten 2015,
    there for two classes): 1 is perfect, 0 no better than the cheapest constant prediction,
    negative worse than that.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, labels, sample_weight :
        As in :func:`total_cost`. Constant predictions are all of ``labels``.

    Examples
    --------
    Always predicting "ill" costs 3 and always "well" 10; here one mistake is left.

    >>> y_true, y_pred = ["ill", "well", "well", "well"], ["ill", "ill", "well", "well"]
    >>> round(savings_score(y_true, y_pred, cost={("ill", "well"): 10}), 3)
    0.667
    """
    stated = {"cost": cost, "sample_cost": sample_cost, "labels": labels}
    spent = total_cost(y_true, y_pred, **stated, sample_weight=sample_weight)
    constant = _constant_costs(y_true, y_pred, **stated, sample_weight=sample_weight)
    return float(share_saved(np.array(spent), constant.min(keepdims=True))[0])


def _constant_costs(
    y_true: Any, y_pred: Any, cost: Any, sample_cost: Any, labels: Any, sample_weight: Any
) -> FloatArray:
    """Return the costs (k,) of predicting each class for all rows."""
    truth, _, classes = all_classes(y_true, y_pred, labels)
    w = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    if sample_cost is not None:
        return w @ row_class_costs(sample_cost, len(truth), classes)
    codes = label_codes(truth.tolist(), classes, "y_true")
    return np.bincount(codes, weights=w, minlength=len(classes)) @ parse_cost(cost, classes)
