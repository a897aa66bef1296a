"""Costs, savings, and errors of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import outcome_costs, parse_cost
from ecselm.costs.parse import (
    by_label,
    check_row_costs,
    check_two_classes,
    has_reject_column,
    numbers,
    parse_reject_cost,
    parse_with_reject_column,
    stated_once,
)
from ecselm.costs.weights import label_codes
from ecselm.metrics.confusion import share_saved
from ecselm.metrics.recognition import class_recalls


def total_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
    reject_label: Any = "auto",
    reject_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the total cost of predictions.

    Parameters
    ----------
    y_true, y_pred : array of shape (N,)
    cost : array, DataFrame, dict or None, default=None
        Costs of mistakes by class, in any form the estimators take; None is 1 each. Costs of
        correct predictions, on the diagonal, are subtracted first. The shape (k, k + 1) has
        the costs of rejected predictions, by true class, in its last column.
    sample_cost : array of shape (N, k), (N, k, k), (N, k, k + 1) or (N,), default=None
        Costs by row instead of ``cost``: of predicting each class; of predicting each class
        (last axis) if each class is true, of which the true one counts, and after them
        possibly of a rejected prediction; or of any mistake. Costs of correct predictions
        count.
    tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
        Costs by outcome instead, for two classes, of which the second is the positive one;
        None is 0 for correct predictions and 1 for mistakes.
    reject_label : object, default="auto"
        The prediction that stands for none of the classes, where ``reject_cost`` or ``cost``
        states what it costs. ``"auto"`` is ``"reject"`` if the classes are text, otherwise
        None, for which a missing number stands as well.
    reject_cost : float, array of shape (k,) or (N,), or dict, default=None
        Cost of a rejected prediction: one for all, by true class or by row. It stands beside
        ``cost`` after the subtraction of the diagonal. None: no prediction is rejected.
    labels : array of shape (k,), default=None
        All classes, in the order of ``cost`` and ``sample_cost``; None takes those that
        occur in ``y_true`` or ``y_pred``, sorted.
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> total_cost(["ill", "well"], ["well", "ill"], cost={("ill", "well"): 10})
    11.0
    >>> total_cost(["ill", "well"], ["reject", "ill"], reject_cost=0.25)
    1.25
    >>> total_cost([0, 1, 1], [1, 1, 0], fn_cost=[50.0, 80.0, 20.0])
    21.0
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    per_row, _ = _row_costs(
        y_true, y_pred, labels, cost=cost, sample_cost=sample_cost, tp_cost=tp_cost,
        tn_cost=tn_cost, fp_cost=fp_cost, fn_cost=fn_cost, reject_label=reject_label,
        reject_cost=reject_cost,
    )  # fmt: skip
    return float(per_row.sum() if sample_weight is None else per_row @ np.asarray(sample_weight))


def mean_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
    reject_label: Any = "auto",
    reject_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the mean cost of a prediction.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, tp_cost, tn_cost, fp_cost, fn_cost, reject_label :
        As in :func:`total_cost`.
    reject_cost, labels, sample_weight :
        As in :func:`total_cost`.

    Examples
    --------
    >>> mean_cost(["ill", "well"], ["well", "ill"], cost={("ill", "well"): 10})
    5.5
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    per_row, _ = _row_costs(
        y_true, y_pred, labels, cost=cost, sample_cost=sample_cost, tp_cost=tp_cost,
        tn_cost=tn_cost, fp_cost=fp_cost, fn_cost=fn_cost, reject_label=reject_label,
        reject_cost=reject_cost,
    )  # fmt: skip
    return float(np.average(per_row, weights=sample_weight))


@dataclass(frozen=True, slots=True)
class _Costs:
    """Predicting class j for row n costs ``scale[n] table[rows[n], j]``."""

    table: FloatArray  # (r, k)
    rows: IntArray  # (N,)
    scale: FloatArray  # (N,)

    def of(self, predicted: IntArray) -> FloatArray:
        """Return the costs (N,) of predictions."""
        return self.scale * self.table[self.rows, predicted]

    def of_constants(self, weight: FloatArray) -> FloatArray:
        """Return the costs (k,) of predicting each class for all rows."""
        sums = np.bincount(self.rows, weights=weight * self.scale, minlength=len(self.table))
        return sums @ self.table


def _row_costs(
    y_true: Any,
    y_pred: Any,
    labels: Any,
    *,
    cost: Any,
    reject_label: Any,
    reject_cost: Any,
    **by_row: Any,
) -> tuple[FloatArray, _Costs]:
    """Return the cost (N,) of each prediction, and those of all others."""
    by_row, column = _without_reject_column(by_row)
    may_reject = reject_cost is not None or has_reject_column(cost) or column is not None
    if not may_reject and not _is_auto(reject_label):
        raise ValueError(
            "reject_cost must be given with reject_label, or a last column of cost, got "
            f"reject_label={reject_label!r} alone"
        )
    truth = column_or_1d(y_true)
    if may_reject:
        predictions, rejected = _split_rejected(truth, y_pred, reject_label, labels)
    else:
        predictions, rejected = column_or_1d(y_pred), np.zeros(len(truth), dtype=bool)
    classes = _all_classes(truth, predictions, labels)
    codes = _codes(truth, classes, "y_true")
    price = None if reject_cost is None else _reject_prices(reject_cost, codes, classes)
    if price is not None and (has_reject_column(cost) or column is not None):
        name = "cost" if column is None else "sample_cost"
        raise ValueError(f"costs must be stated once, got reject_cost and a last column of {name}")
    if has_reject_column(cost):
        cost, by_class = parse_with_reject_column(cost, classes)
        price = by_class[codes]
    if column is not None:
        price = column[np.arange(len(codes)), codes]
    costs = _stated(codes, classes, cost, **by_row)
    predicted = codes.copy()
    predicted[~rejected] = _codes(predictions, classes, "y_pred")
    spent = costs.of(predicted)
    return spent if price is None else np.where(rejected, price, spent), costs


def _without_reject_column(by_row: dict[str, Any]) -> tuple[dict[str, Any], FloatArray | None]:
    """Return costs by row without those of rejected predictions (N, k), and these."""
    shape = np.shape(by_row["sample_cost"])
    if len(shape) != 3 or shape[2] != shape[1] + 1:
        return by_row, None
    values = numbers(by_row["sample_cost"], "sample_cost")
    column = check_row_costs(values[:, :, -1], "sample_cost")
    return {**by_row, "sample_cost": values[:, :, :-1]}, column


def _stated(
    codes: IntArray, classes: AnyArray, cost: Any, sample_cost: Any, **outcomes: Any
) -> _Costs:
    """Return the costs of rows of the classes ``codes``, from whichever argument states them."""
    by_outcome = stated_once({"cost": cost, "sample_cost": sample_cost}, outcomes)
    N, k = len(codes), len(classes)
    each, ones = np.arange(N), np.ones(N)
    if by_outcome:
        check_two_classes(by_outcome, k, "or labels where a class does not occur")
        return _Costs(outcome_costs(codes, **outcomes), each, ones)
    if sample_cost is None:
        return _Costs(parse_cost(cost, classes), codes, ones)
    values = numbers(by_label(sample_cost, classes), "sample_cost")
    if values.shape == (N, k, k):
        return _Costs(values.reshape(N * k, k), each * k + codes, ones)
    if values.shape == (N, k):
        return _Costs(values, each, ones)
    if values.shape in {(N,), (N, 1)}:
        of_mistakes = check_row_costs(values.ravel(), "sample_cost")
        return _Costs(1.0 - np.eye(k), codes, of_mistakes)
    raise ValueError(
        f"sample_cost must have the shape ({N}, {k}), one cost per row and class, ({N}, {k}, {k}), "
        f"the same for each true class, or ({N},), one cost per row, got {values.shape}"
    )


def _reject_prices(reject_cost: Any, codes: IntArray, classes: AnyArray) -> FloatArray:
    """Return the cost (N,) of rejecting each row; as many rows as classes are by class."""
    N, k = len(codes), len(classes)
    labelled = hasattr(reject_cost, "to_dict") and set(reject_cost.index) == set(classes.tolist())
    if not isinstance(reject_cost, Mapping) and not labelled:
        values = check_row_costs(reject_cost, "reject_cost")
        if values.shape in {(N,), (N, 1)} and values.shape != (k,):
            return values.ravel()
        if values.shape not in {(), (k,)}:
            raise ValueError(
                f"reject_cost must be one number, one per class, shape ({k},), or one per row, "
                f"({N},), got {values.shape}"
            )
        reject_cost = values
    return parse_reject_cost(reject_cost, classes)[codes]


def _is_auto(reject_label: Any) -> bool:
    return isinstance(reject_label, str) and reject_label == "auto"


def _split_rejected(
    truth: AnyArray, y_pred: Any, reject_label: Any, labels: Any
) -> tuple[AnyArray, AnyArray]:
    """Return the predictions that are classes, and which rows are rejected (N,)."""
    known = truth if labels is None else np.asarray(labels)
    if _is_auto(reject_label):
        reject_label = "reject" if _is_text(known) else None
    if reject_label is not None and reject_label in set(known.tolist()):
        raise ValueError(f"reject_label must not be a class, got {reject_label!r}")
    # A list of numbers and text would become text, and None is no label to scikit-learn.
    kind = None if hasattr(y_pred, "__array__") else object
    predictions: Any = np.asarray(y_pred, dtype=kind).reshape(len(truth)).astype(object)
    if reject_label is None:
        rejected = (predictions == np.array(None)) | (predictions != predictions)  # noqa: PLR0124
    else:
        rejected = predictions == reject_label
    return np.array(predictions[~rejected].tolist()), rejected


def _is_text(labels: AnyArray) -> bool:
    return labels.dtype.kind == "U" or all(isinstance(label, str) for label in labels.tolist())


def _all_classes(truth: AnyArray, predictions: AnyArray, labels: Any) -> AnyArray:
    """Return ``labels``, or the classes of both, sorted."""
    if labels is not None:
        return np.asarray(labels)
    return unique_labels(truth, predictions) if len(predictions) else unique_labels(truth)


def _codes(y: AnyArray, classes: AnyArray, name: str) -> IntArray:
    """Return the position of each label in ``classes``, by binary search where types agree."""
    kinds = {y.dtype.kind, classes.dtype.kind}
    if kinds == {"U"} or kinds <= set("biuf"):
        order = np.argsort(classes)
        places = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(order) - 1)]
        known = classes[places] == y
    else:
        positions = {label: code for code, label in enumerate(classes.tolist())}
        places = np.array([positions.get(label, -1) for label in y.tolist()], dtype=np.intp)
        known = places >= 0
    return places if known.all() else label_codes(y.tolist(), classes, name)  # raises


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
    tp_cost: Any = None,
    tn_cost: Any = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
    reject_label: Any = "auto",
    reject_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the share of the cost of the best trivial decision that predictions save.

    ``1 - cost(predictions) / min_j cost(always j)`` (Bahnsen, Aouada and Ottersten 2015,
    there for two classes): 1 is perfect, 0 no better than the cheapest constant prediction,
    negative worse than that.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, tp_cost, tn_cost, fp_cost, fn_cost, reject_label :
        As in :func:`total_cost`.
    reject_cost, labels, sample_weight :
        As in :func:`total_cost`. Constant predictions are all of ``labels``.

    Examples
    --------
    Always predicting "ill" costs 3 and always "well" 10; here one mistake is left.

    >>> y_true, y_pred = ["ill", "well", "well", "well"], ["ill", "ill", "well", "well"]
    >>> round(savings_score(y_true, y_pred, cost={("ill", "well"): 10}), 3)
    0.667
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    per_row, costs = _row_costs(
        y_true, y_pred, labels, cost=cost, sample_cost=sample_cost, tp_cost=tp_cost,
        tn_cost=tn_cost, fp_cost=fp_cost, fn_cost=fn_cost, reject_label=reject_label,
        reject_cost=reject_cost,
    )  # fmt: skip
    weight = np.ones(len(per_row)) if sample_weight is None else np.asarray(sample_weight)
    constant = costs.of_constants(weight).min(keepdims=True)
    return float(share_saved(np.array(per_row @ weight), constant)[0])
