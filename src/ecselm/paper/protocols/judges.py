"""What predictions are judged by, in tidy form: a metric, the place in it, a number."""

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
from ecselm.paper.protocols.store import Measured

FALSE_POSITIVES = np.round(np.linspace(0.0, 1.0, 101), 2)


def judge_levels(model: Any, X: FloatArray, y: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    """Judge classes in an order: rates, cumulative scores (35), and the confusion matrix.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([0, 1, 1, 2])
    >>> model = DummyClassifier(strategy="most_frequent").fit(X, y)
    >>> data = Dataset("levels", X, y, "Made here.", np.arange(3))
    >>> [row.value for row in judge_levels(model, X, y, data) if row.metric == "cum_score"]
    [0.5, 1.0, 1.0]
    """
    told, classes = model.predict(X), known_classes(data)
    rates, scores = _rates(y, told), _cumulative(y, told, classes)
    return (*rates, *scores, *_confusion(y, told, data))


def judge_persons(model: Any, X: FloatArray, y: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    """Judge many classes: rates, and the cumulative scores of figure 6.

    Persons have no order: those scores depend on how they are numbered, and are here only
    because the paper draws them.
    """
    told = model.predict(X)
    return (*_rates(y, told), *_cumulative(y, told, known_classes(data)))


def judge_classes(model: Any, X: FloatArray, y: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    """Judge classes without an order: rates, costs if there are, recalls, and who is confused.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
    >>> model = DummyClassifier(strategy="most_frequent").fit(X, y)
    >>> data = Dataset("rare", X, y, "Made here.", np.arange(2))
    >>> [(row.metric, row.value) for row in judge_classes(model, X, y, data)][:4]
    [('accuracy', 0.75), ('arr', 0.5), ('trr', 0.75), ('gmean', 0.0)]
    """
    told, classes = model.predict(X), known_classes(data)
    recalls = tuple(
        Measured("recall", float(np.mean(told[y == label] == label)), name)
        for label, name in zip(classes, _names(data), strict=True)
        if (y == label).any()
    )
    gmean = Measured("gmean", geometric_mean_score(y, told))
    costs = _costs(y, told, data)
    return (*_rates(y, told), gmean, *costs, *recalls, *_confusion(y, told, data))


def judge_scores(
    model: Any,
    X: FloatArray,
    y: AnyArray,
    data: Dataset,  # noqa: ARG001  judges are called alike
) -> tuple[Measured, ...]:
    """Judge estimated scores by their mean absolute error."""
    return (Measured("mae", float(mean_absolute_error(y, model.predict(X)))),)


def judge_pairs(model: Any, X: FloatArray, y: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    """Judge pairs: accuracy, area under the ROC curve, and the curve on a grid.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> data = Dataset("pairs", X, y, "Made here.", np.arange(2))
    >>> judged = judge_pairs(LogisticRegression().fit(X, y), X, y, data)
    >>> judged[0].value, judged[1].value, len(judged)
    (1.0, 1.0, 103)
    """
    likeness, same = _likeness(model, X), y == known_classes(data)[1]
    false, true, _ = roc_curve(same, likeness)
    reached = np.interp(FALSE_POSITIVES, false, true)  # the upper end where it is vertical
    curve = (
        Measured("tpr", float(value), f"{at:.2f}")
        for at, value in zip(FALSE_POSITIVES, reached, strict=True)
    )
    accuracy = Measured("accuracy", total_recognition_rate(y, model.predict(X)))
    return (accuracy, Measured("auc", float(roc_auc_score(same, likeness))), *curve)


def known_classes(data: Dataset) -> AnyArray:
    """Return the classes of data that have some."""
    if data.classes is None:
        raise ValueError(f"the data must have classes, got the scores of {data.name}")
    return data.classes


def _costs(y: AnyArray, told: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    """Return the mean cost by the matrix of the data, and what it saves, or nothing."""
    if data.cost is None:
        return ()
    cost, saved = (
        score(y, told, cost=data.cost, labels=data.classes) for score in (mean_cost, savings_score)
    )
    return (Measured("mean_cost", cost), Measured("savings", saved))


def _likeness(model: Any, X: FloatArray) -> FloatArray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X))[:, 1]


def _rates(y: AnyArray, told: AnyArray) -> tuple[Measured, ...]:
    total = total_recognition_rate(y, told)
    mean = average_recognition_rate(y, told)
    return (Measured("accuracy", total), Measured("arr", mean), Measured("trr", total))


def _cumulative(y: AnyArray, told: AnyArray, classes: AnyArray) -> tuple[Measured, ...]:
    """Return (35) for all tolerances: the share of rows at most so many classes off."""
    off: IntArray = np.abs(
        label_codes(y.tolist(), classes, "y") - label_codes(told.tolist(), classes, "y_pred")
    )
    return tuple(
        Measured("cum_score", float(np.mean(off <= tolerance)), str(tolerance))
        for tolerance in range(len(classes))
    )


def _confusion(y: AnyArray, told: AnyArray, data: Dataset) -> tuple[Measured, ...]:
    counts, names = confusion_matrix(y, told, labels=known_classes(data)), _names(data)
    return tuple(
        Measured("confusion", float(count), f"{names[i]},{names[j]}")
        for (i, j), count in np.ndenumerate(counts)
    )


def _names(data: Dataset) -> tuple[str, ...]:
    """Return what classes are called, by their labels where they have no names."""
    return data.class_names or tuple(str(label) for label in known_classes(data))
