"""Recognition rates, of predictions and of ranked scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes


def total_recognition_rate(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the share of correct predictions: TRR, the paper's rank-1 recognition rate.

    Parameters
    ----------
    y_true, y_pred : array of shape (N,)
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> total_recognition_rate(["CO", "CO", "CO", "NO2"], ["CO", "CO", "NO2", "NO2"])
    0.75
    """
    return float(accuracy_score(y_true, y_pred, sample_weight=sample_weight))


def average_recognition_rate(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the mean of the recalls of all classes in ``y_true``: ARR.

    ``1/k sum_c (correct predictions of class c) / (rows of class c)``, section VI of the paper.

    Parameters
    ----------
    y_true, y_pred : array of shape (N,)
    sample_weight : array of shape (N,), default=None

    Examples
    --------
    >>> round(average_recognition_rate(["CO", "CO", "CO", "NO2"], ["CO", "CO", "NO2", "NO2"]), 3)
    0.833
    """
    return float(np.mean(class_recalls(y_true, y_pred, sample_weight)))


def class_recalls(y_true: Any, y_pred: Any, sample_weight: Any = None) -> FloatArray:
    """Return the recall of every class in ``y_true``, in the order of the labels.

    Examples
    --------
    >>> class_recalls([0, 0, 1], [0, 1, 2]).tolist()
    [0.5, 0.0]
    """
    check_consistent_length(y_true, y_pred, sample_weight)
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    classes = unique_labels(y_true, y_pred)
    truth, predicted = (
        label_codes(y.tolist(), classes, name)
        for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))
    )
    w = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    rows = np.bincount(truth, weights=w)
    right = np.bincount(truth, weights=w * (truth == predicted))
    return right[rows > 0] / rows[rows > 0]


def cmc_curve(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None
) -> FloatArray:
    """Return the share of rows whose true class is among the r best, for r = 1 to k.

    The cumulative match characteristic. Of equal scores the earlier class is the better,
    as ``argmax`` has it, so that the first value is the share of correct predictions. It needs
    no order of the classes, which :func:`cumulative_score` does.

    Parameters
    ----------
    y_true : array of shape (N,)
    y_score : array of shape (N, k), or (N,) for two classes
        Greater for what is likelier: decision values or probabilities. A single column
        is a decision function, positive for the second class.
    labels : array of shape (k,), default=None
        The classes in the order of the columns, ``classes_`` of a model; None takes those
        that occur in ``y_true``, sorted.
    sample_weight : array of shape (N,), default=None

    Returns
    -------
    shares : array of shape (k,)
        Never falling; the last is 1.

    Examples
    --------
    >>> cmc_curve(["a", "b", "c"], [[3, 2, 1], [3, 2, 1], [3, 2, 1]]).round(3)
    array([0.333, 0.667, 1.   ])
    """
    check_consistent_length(y_true, y_score, sample_weight)
    y_true = column_or_1d(y_true)
    classes = unique_labels(y_true) if labels is None else np.asarray(labels)
    scores = _columns(y_score, classes)
    ranks = _ranks(scores, label_codes(y_true.tolist(), classes, "y_true"))
    share = np.bincount(ranks, weights=sample_weight, minlength=len(classes))
    # Divided by the last of the sums, which makes the last share 1 without rounding.
    reached: FloatArray = np.cumsum(share, dtype=np.float64)
    return reached / reached[-1]


def match_rate(
    y_true: Any, y_score: Any, *, rank: int = 1, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the share of rows whose true class is among the ``rank`` best.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight :
        As in :func:`cmc_curve`, of which this is one point.
    rank : int, default=1

    Examples
    --------
    >>> match_rate(["a", "b", "c", "a"], [[3, 2, 1]] * 4, rank=2)
    0.75
    """
    curve = cmc_curve(y_true, y_score, labels=labels, sample_weight=sample_weight)
    if rank not in range(1, len(curve) + 1):
        raise ValueError(
            f"rank must be a whole number from 1 to the number of classes, {len(curve)}, "
            f"got {rank!r}"
        )
    return float(curve[rank - 1])


def _columns(y_score: Any, classes: AnyArray) -> FloatArray:
    scores, k = numbers(y_score, "y_score"), len(classes)
    if scores.ndim == 1 and k == 2:
        return np.column_stack([-scores, scores])
    if scores.ndim != 2 or scores.shape[1] != k:
        raise ValueError(
            f"y_score must have the shape ({len(scores)}, {k}), one column per class "
            f"{classes.tolist()}, got {scores.shape}; name the classes of its columns in labels"
        )
    return scores


def _ranks(scores: FloatArray, truth: IntArray) -> IntArray:
    """Return how many classes come before the true one, by row."""
    own = scores[np.arange(len(truth)), truth][:, np.newaxis]
    earlier = np.arange(scores.shape[1]) < truth[:, np.newaxis]
    return ((scores > own) | ((scores == own) & earlier)).sum(axis=1)
