"""What a model scores on labelled rows, by the metric asked for and by the usual ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.metrics import get_metric, get_scorer
from ecselm.metrics.confusion import ConfusionMetric

ALWAYS = ("accuracy", "balanced_accuracy", "gmean", "f1_macro", "matthews_corrcoef")


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores by metric and, of classes, the counts and costs that they come from."""

    scores: dict[str, float]
    counts: IntArray | None = None  # (k, k), rows are the truth
    costs: FloatArray | None = None  # (k, k), stated by the person

    @property
    def confusion(self) -> tuple[tuple[int, ...], ...]:
        """Return the counts as a card keeps them."""
        return () if self.counts is None else tuple(tuple(row) for row in self.counts.tolist())

    @property
    def total_cost(self) -> float | None:
        """Return what all mistakes cost by stated costs, None where none are."""
        if self.counts is None or self.costs is None:
            return None
        return float((self.counts * self.costs).sum())


def better(a: float, b: float, metric: str) -> bool:
    """Tell whether the score ``a`` is better than ``b``.

    Examples
    --------
    >>> better(0.9, 0.8, "gmean"), better(0.9, 0.8, "mae")
    (True, False)
    """
    return get_metric(metric).advantage(a, b) > 0


def known_codes(y: Any, classes: AnyArray) -> IntArray:
    """Return the position in ``classes`` of every label, or refuse those that are not there.

    A label written as text is the number it shows, and the other way round: files do not tell
    ``1`` from ``"1"``.

    Examples
    --------
    >>> known_codes(["1", 0], np.array([0, 1]))
    array([1, 0])
    """
    places: dict[Any, int] = {str(label): code for code, label in enumerate(classes.tolist())}
    places |= {label: code for code, label in enumerate(classes.tolist())}
    labels = np.asarray(y).tolist()
    found = [places.get(label, places.get(str(label), -1)) for label in labels]
    if -1 in found:
        unknown = list(
            dict.fromkeys(str(lab) for lab, at in zip(labels, found, strict=True) if at < 0)
        )
        known = [str(label) for label in classes.tolist()]
        close = get_close_matches(unknown[0], known, n=1)
        raise ValueError(
            f"y must hold classes that the model knows, {', '.join(known)}, got "
            f"{', '.join(unknown[:5])}" + (f"; did you mean {close[0]}?" if close else "")
        )
    return np.array(found, dtype=np.intp)


def confusion_counts(truth: IntArray, told: IntArray, n_classes: int) -> IntArray:
    """Return how often each class (rows) was taken for each (columns).

    Examples
    --------
    >>> confusion_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    pairs = np.bincount(truth * n_classes + told, minlength=n_classes**2)
    return pairs.reshape(n_classes, n_classes)


def count_metric(
    metric: str | None, classes: AnyArray, costs: FloatArray | None = None
) -> ConfusionMetric | None:
    """Return a metric as a function of counts, None where it is no such function.

    Greater is always better here.
    """
    return get_metric(metric).confusion_metric(classes, costs)


def scored_classes(model: Any, X: Any, truth: IntArray, metric: str | None, stated: Any) -> Scored:
    """Score a classifier on rows whose classes are at the positions ``truth`` (n,)."""
    classes = np.asarray(model.classes_)
    costs = None if stated is None else parse_cost(stated, classes)
    told = known_codes(model.predict(X), classes)
    counts = confusion_counts(truth, told, len(classes))
    names = dict.fromkeys([*_named(metric), *ALWAYS, *([] if costs is None else ["mean_cost"])])
    scores = {}
    for name in names:
        counted = count_metric(name, classes, costs)
        if counted is None:
            scores[name] = _by_scorer(model, X, classes[truth], name)
        else:
            scores[name] = _counted(counted, counts, name)
    return Scored(_defined(scores), counts, costs)


def scored_numbers(model: Any, X: Any, truth: FloatArray, metric: str | None) -> Scored:
    """Score a regressor on rows with the targets ``truth`` (n,)."""
    told = np.asarray(model.predict(X), dtype=np.float64)
    scores: dict[str, float | None] = dict.fromkeys(_named(metric))
    scores["mae"] = float(mean_absolute_error(truth, told))
    scores["rmse"] = float(root_mean_squared_error(truth, told))
    if len(truth) > 1:
        scores["r2"] = float(r2_score(truth, told))
    for name in _named(metric):
        if scores[name] is None:
            scores[name] = _by_scorer(model, X, truth, name)
    return Scored(_defined(scores))


def _named(metric: str | None) -> Sequence[str]:
    return [] if metric is None else [metric]


def _counted(metric: ConfusionMetric, counts: IntArray, name: str) -> float | None:
    try:
        value = float(metric(counts[np.newaxis].astype(np.float64))[0])
    except ValueError:  # savings, where no answer costs anything
        return None
    return value if get_metric(name).greater_is_better else abs(value)


def _by_scorer(model: Any, X: Any, y: AnyArray, name: str) -> float | None:
    """Return the score, None where these rows or this model do not allow for it."""
    scorer = get_scorer(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return float(scorer(model, X, y))
    except (AttributeError, ValueError):  # no probabilities, or a class without rows
        return None


def _defined(scores: dict[str, float | None]) -> dict[str, float]:
    return {
        name: value for name, value in scores.items() if value is not None and np.isfinite(value)
    }
