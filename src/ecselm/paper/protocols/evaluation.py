"""Metrics of predictions, as tidy measurements."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, mean_absolute_error, roc_auc_score, roc_curve

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.weights import label_codes
from ecselm.metrics import (
    average_recognition_rate,
    geometric_mean_score,
    mean_cost,
    savings_score,
    total_recognition_rate,
)
from ecselm.paper.datasets import Dataset
from ecselm.paper.jobs import Measurement

FALSE_POSITIVES = np.round(np.linspace(0.0, 1.0, 101), 2)


def evaluate_levels(
    model: Any, X: FloatArray, y: AnyArray, data: Dataset
) -> tuple[Measurement, ...]:
    """Evaluate ordered classes: rates, cumulative scores (35), and the confusion matrix.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([0, 1, 1, 2])
    >>> model = DummyClassifier(strategy="most_frequent").fit(X, y)
    >>> data = Dataset("levels", X, y, "Made here.", np.arange(3))
    >>> [row.value for row in evaluate_levels(model, X, y, data) if row.metric == "cum_score"]
    [0.5, 1.0, 1.0]
    """
    y_pred, classes = model.predict(X), data_classes(data)
    rates, scores = _rates(y, y_pred), _cumulative(y, y_pred, classes)
    return (*rates, *scores, *_confusion(y, y_pred, data))


def evaluate_persons(
    model: Any, X: FloatArray, y: AnyArray, data: Dataset
) -> tuple[Measurement, ...]:
    """Evaluate many classes: rates, and the cumulative scores of figure 6.

    Persons have no order: those scores depend on their numbers, and are here only because
    the paper draws them. They go to the number of persons of the split, who are all of the
    data unless a budget takes fewer.
    """
    y_pred = model.predict(X)
    classes = data_classes(data)
    present = classes[np.isin(classes, np.concatenate([y, y_pred]))]
    return (*_rates(y, y_pred), *_cumulative(y, y_pred, present))


def evaluate_classes(
    model: Any, X: FloatArray, y: AnyArray, data: Dataset
) -> tuple[Measurement, ...]:
    """Evaluate unordered classes: rates, costs if known, recalls and the confusion matrix.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
    >>> model = DummyClassifier(strategy="most_frequent").fit(X, y)
    >>> data = Dataset("rare", X, y, "Made here.", np.arange(2))
    >>> [(row.metric, row.value) for row in evaluate_classes(model, X, y, data)][:4]
    [('accuracy', 0.75), ('arr', 0.5), ('trr', 0.75), ('gmean', 0.0)]
    """
    y_pred, classes = model.predict(X), data_classes(data)
    recalls = tuple(
        Measurement("recall", float(np.mean(y_pred[y == label] == label)), name)
        for label, name in zip(classes, _names(data), strict=True)
        if (y == label).any()
    )
    gmean = Measurement("gmean", geometric_mean_score(y, y_pred))
    costs = _costs(y, y_pred, data)
    return (*_rates(y, y_pred), gmean, *costs, *recalls, *_confusion(y, y_pred, data))


def evaluate_scores(
    model: Any,
    X: FloatArray,
    y: AnyArray,
    data: Dataset,  # noqa: ARG001  the signature of Evaluate
) -> tuple[Measurement, ...]:
    """Evaluate estimated scores by their mean absolute error."""
    return (Measurement("mae", float(mean_absolute_error(y, model.predict(X)))),)


def evaluate_pairs(
    model: Any, X: FloatArray, y: AnyArray, data: Dataset
) -> tuple[Measurement, ...]:
    """Evaluate pairs: accuracy, area under the ROC curve, and the curve on a grid.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> data = Dataset("pairs", X, y, "Made here.", np.arange(2))
    >>> found = evaluate_pairs(LogisticRegression().fit(X, y), X, y, data)
    >>> found[0].value, found[1].value, len(found)
    (1.0, 1.0, 103)
    """
    similarity, same = _similarity(model, X), y == data_classes(data)[1]
    false, true, _ = roc_curve(same, similarity)
    reached = np.interp(FALSE_POSITIVES, false, true)  # the upper end where it is vertical
    curve = (
        Measurement("tpr", float(value), f"{at:.2f}")
        for at, value in zip(FALSE_POSITIVES, reached, strict=True)
    )
    accuracy = Measurement("accuracy", total_recognition_rate(y, model.predict(X)))
    return (accuracy, Measurement("auc", float(roc_auc_score(same, similarity))), *curve)


def data_classes(data: Dataset) -> AnyArray:
    """Return the classes of data that have some."""
    if data.classes is None:
        raise ValueError(f"the data must have classes, got the scores of {data.name}")
    return data.classes


def _costs(y: AnyArray, y_pred: AnyArray, data: Dataset) -> tuple[Measurement, ...]:
    """Return mean cost and savings by the cost matrix of the data, if it has one."""
    if data.cost is None:
        return ()
    cost, saved = (
        score(y, y_pred, cost=data.cost, labels=data.classes)
        for score in (mean_cost, savings_score)
    )
    return (Measurement("mean_cost", cost), Measurement("savings", saved))


def _similarity(model: Any, X: FloatArray) -> FloatArray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X))[:, 1]


def _rates(y: AnyArray, y_pred: AnyArray) -> tuple[Measurement, ...]:
    total = total_recognition_rate(y, y_pred)
    mean = average_recognition_rate(y, y_pred)
    return (Measurement("accuracy", total), Measurement("arr", mean), Measurement("trr", total))


def _cumulative(y: AnyArray, y_pred: AnyArray, classes: AnyArray) -> tuple[Measurement, ...]:
    """Return (35) for all tolerances: the share of rows at most so many classes off."""
    off: IntArray = np.abs(
        label_codes(y.tolist(), classes, "y") - label_codes(y_pred.tolist(), classes, "y_pred")
    )
    return tuple(
        Measurement("cum_score", float(np.mean(off <= tolerance)), str(tolerance))
        for tolerance in range(len(classes))
    )


def _confusion(y: AnyArray, y_pred: AnyArray, data: Dataset) -> tuple[Measurement, ...]:
    counts, names = confusion_matrix(y, y_pred, labels=data_classes(data)), _names(data)
    return tuple(
        Measurement("confusion", float(count), f"{names[i]},{names[j]}")
        for (i, j), count in np.ndenumerate(counts)
    )


def _names(data: Dataset) -> tuple[str, ...]:
    """Return the names of classes, or their labels where they have none."""
    return data.class_names or tuple(str(label) for label in data_classes(data))
