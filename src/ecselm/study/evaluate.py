"""Evaluate a model on test rows, and compare it with baselines on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.metrics import (
    auc,
    average_precision_score,
    mean_absolute_error,
    precision_recall_curve,
    r2_score,
    roc_curve,
    root_mean_squared_error,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.costs.parse import numbers
from ecselm.estimators import CostDecisionClassifier
from ecselm.estimators._policy import Decisions
from ecselm.estimators.cost_search import fitted
from ecselm.metrics import PairedDifference, get_metric, get_scorer, paired_difference
from ecselm.metrics.intervals import (
    RecordedClassifier,
    RecordedRegressor,
    confusion_difference,
    from_effects,
    jackknife_difference,
    jackknife_scores,
)
from ecselm.study.card import Baseline, Curve, Difference, Estimate, Evaluation
from ecselm.study.decisions import (
    asking_results,
    decisions_of,
    is_half_known,
    operating_points,
    unknown_costs,
)
from ecselm.study.models import BASELINES, MODELS, ModelSettings, one_thread
from ecselm.tables.schema import Task

ALWAYS = ("accuracy", "balanced_accuracy", "gmean", "f1_macro", "matthews_corrcoef")
MAX_POINTS = 200  # of a curve
MAX_BINS = 10
ROWS_PER_BIN = 25  # with fewer, the observed share is mostly sampling error
BEST_CONSTANT = "best constant answer"
MOST_CONSTANTS = 100  # classes of which each is tried as the answer to all rows
CONFIDENCE = 0.95  # of the intervals of all baselines together
CONSTANT = (BEST_CONSTANT, "mean", "median")  # baselines with one prediction for all rows


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    cost: Any = None,
    sample_cost: Any = None,
    groups: Any = None,
    decisions: Decisions | None = None,
    positive: str | None = None,
) -> Evaluation:
    """Return results of a fitted model on rows that it was not fitted on.

    Labels that the model does not know are refused by name. Results that these rows do not
    define, such as the recall of a class without rows, are omitted.

    Parameters
    ----------
    model : classifier or regressor
        Fitted. Curves need ``predict_proba`` or ``decision_function``.
    X : array, sparse matrix or dataframe of shape (n, m), or what the model takes
    y : array of shape (n,)
        True labels or numbers.
    metric : str or None, default=None
        A score in addition to the usual ones, see :func:`ecselm.metrics.get_scorer`.
    cost : CostConstraints, array, DataFrame, dict or None, default=None
        Costs of mistakes, in any form the estimators take, arrays in the order of
        ``classes_``. Mistakes are counted by the mean of half-known ones.
    sample_cost : array of shape (n, k, k), default=None
        Known costs of the rows, by which the model decides and mistakes are counted.
    groups : array of shape (n,), default=None
        Labels of rows that belong together.
    decisions : Decisions or None, default=None
        Decisions on the rows by other costs than those of the model.
    positive : str or None, default=None
        The class of interest, of which operating points and, with two classes, curves are.

    Returns
    -------
    results : Evaluation
        With two classes, curves are of the rarer one unless ``positive`` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> results = evaluate(model, X[1::2], y[1::2], metric="gmean")
    >>> results.scores["gmean"] > 0.9, [recall.n for recall in results.recalls]
    (True, [25, 25, 25])
    """
    check_is_fitted(model)
    if metric is not None:
        get_scorer(metric)  # refuse an unknown name before any work
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y)
    if not len(y):
        raise ValueError("y must have at least one row, got none")
    if decisions is None and not is_regressor(model):
        decisions = decisions_of(model, X, sample_cost)
    recorded = record_predictions(model, X, decisions)
    if isinstance(recorded, RecordedRegressor):
        y_true = numbers(y, "y")
        scores = number_scores(recorded, y_true, metric)
        return Evaluation(scores, cumulative=cumulative_curve(y_true - recorded.y_pred))
    codes = known_codes(y, recorded.classes)
    return evaluate_recorded(
        recorded,
        codes,
        decisions,
        metric=metric,
        cost=cost,
        sample_cost=sample_cost,
        groups=groups,
        positive=positive,
    )


def evaluate_recorded(
    recorded: RecordedClassifier,
    codes: IntArray,
    decisions: Decisions | None,
    *,
    metric: str | None = None,
    cost: Any = None,
    sample_cost: Any = None,
    groups: Any = None,
    positive: str | None = None,
) -> Evaluation:
    """Return results of predictions of rows whose true classes are at positions ``codes`` (n,).

    Parameters
    ----------
    recorded : RecordedClassifier
    codes : array of shape (n,)
    decisions : Decisions or None
        By which the predictions were made.
    metric, cost, sample_cost, groups, positive :
        As in :func:`evaluate`.
    """
    scored = class_scores(recorded, codes, metric, cost, sample_cost)
    curves = _CurveScores.of(recorded, codes, positive)
    known = cost.for_classes(recorded.classes) if is_half_known(cost) else None
    by_row = sample_cost is not None
    return Evaluation(
        scored.scores,
        scored.confusion,
        None if scored.costs is None else _nested(scored.costs),
        scored.total_cost,
        _recalls(scored.counts, recorded.classes),
        () if curves is None else curves.drawn(roc_points),
        () if curves is None else curves.drawn(precision_recall_points),
        None
        if curves is None
        else curves.reliability(known_codes(recorded.y_pred, curves.classes)),
        cost_low=None if known is None else _nested(known.low),
        cost_high=None if known is None else _nested(known.high),
        unknown=None
        if decisions is None
        else unknown_costs(decisions, are_stated=cost is not None, by_row=by_row),
        asking=None if decisions is None else asking_results(decisions, codes, groups),
        operating=None
        if decisions is None
        else operating_points(
            decisions,
            codes,
            recorded.classes,
            are_stated=cost is not None or by_row,
            positive=positive,
        ),
    )


def _nested(matrix: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def record_predictions(
    model: Any, X: Any, decisions: Decisions | None = None
) -> RecordedClassifier | RecordedRegressor:
    """Return the predictions of a model, with probabilities and decision values it gives.

    Rows that are left to a person have the best class as their prediction.
    """
    if is_regressor(model):
        return RecordedRegressor(np.asarray(model.predict(X)).astype(np.float64))
    classes = np.asarray(model.classes_)
    values = None
    if hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(X), dtype=np.float64)
        is_asking = values.ndim == 2 and values.shape[1] == len(classes) + 1
        values = None if is_asking else values  # asking is no class, which scorers expect
    if decisions is not None:
        y_pred = classes[decisions.classes()]
        return RecordedClassifier(classes, y_pred, decisions.probabilities, values)
    P = np.asarray(model.predict_proba(X), np.float64) if hasattr(model, "predict_proba") else None
    return RecordedClassifier(classes, np.asarray(model.predict(X)), P, values)


# Scores.


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Scores by metric, with the confusion matrix and the costs that they come from."""

    scores: dict[str, float]
    counts: IntArray  # (k, k), rows are the truth
    costs: FloatArray | None = None  # (k, k), stated, or the mean of those by row
    by_row: FloatArray | None = None  # (n,), of the predictions, where costs are known by row

    @property
    def confusion(self) -> tuple[tuple[int, ...], ...]:
        """Return the counts as a card stores them."""
        return tuple(tuple(row) for row in self.counts.tolist())

    @property
    def total_cost(self) -> float | None:
        """Return the cost of all mistakes, None where no costs are stated."""
        if self.by_row is not None:
            return float(self.by_row.sum())
        return None if self.costs is None else float((self.counts * self.costs).sum())


def class_scores(
    recorded: RecordedClassifier,
    codes: IntArray,
    metric: str | None,
    cost: Any,
    sample_cost: FloatArray | None = None,
) -> ClassScores:
    """Score the predictions of rows whose true classes are at positions ``codes`` (n,)."""
    classes = recorded.classes
    predicted = known_codes(recorded.y_pred, classes)
    counts = confusion_counts(codes, predicted, len(classes))
    costs, by_row = None if cost is None else parse_cost(cost, classes), None
    if sample_cost is not None:
        costs = _mean_costs(sample_cost, codes)
        by_row = sample_cost[np.arange(len(codes)), codes, predicted]
    requested = [] if metric is None else [metric]
    counted_costs = ["mean_cost"] if sample_cost is None else ["mean_cost", "savings"]
    names = dict.fromkeys([*requested, *ALWAYS, *([] if costs is None else counted_costs)])
    scores = {}
    for name in names:
        counted = get_metric(name).confusion_metric(classes, costs)
        try:
            of_costs = get_metric(name).function if get_metric(name).uses_cost else None
            if by_row is not None and of_costs is not None:
                y_true, y_pred = classes[codes], classes[predicted]
                scores[name] = of_costs(y_true, y_pred, sample_cost=sample_cost, labels=classes)
                continue
            if counted is None:
                value = _scorer_value(recorded, classes[codes], name)
            else:
                value = float(counted(counts[np.newaxis].astype(np.float64))[0])
        except (AttributeError, ValueError):  # no probabilities, a class without rows, no savings
            continue
        # Confusion metrics are negated where less is better; cards hold the plain value.
        is_negated = counted is not None and not get_metric(name).greater_is_better
        scores[name] = abs(value) if is_negated else value
    return ClassScores(_finite(scores), counts, costs, by_row)


def _mean_costs(sample_cost: FloatArray, codes: IntArray) -> FloatArray:
    """Return the mean costs (k, k) of rows, those of every true class from its rows."""
    means = np.zeros(sample_cost.shape[1:])
    for c in range(len(means)):
        mine = codes == c
        means[c] = sample_cost[mine if mine.any() else slice(None), c].mean(axis=0)
    return means


def number_scores(
    recorded: RecordedRegressor, y_true: FloatArray, metric: str | None
) -> dict[str, float]:
    """Score the predictions of rows with the targets ``y_true`` (n,)."""
    y_pred = recorded.y_pred
    scores: dict[str, float] = {} if metric is None else {metric: np.nan}  # keeps it first
    scores["mae"] = float(mean_absolute_error(y_true, y_pred))
    scores["rmse"] = float(root_mean_squared_error(y_true, y_pred))
    if len(y_true) > 1:
        scores["r2"] = float(r2_score(y_true, y_pred))
    if metric is not None and np.isnan(scores[metric]):
        try:
            scores[metric] = _scorer_value(recorded, y_true, metric)
        except (AttributeError, ValueError):
            del scores[metric]
    return _finite(scores)


def known_codes(y: Any, classes: AnyArray) -> IntArray:
    """Return the position in ``classes`` of every label, or refuse unknown labels.

    A label written as text equals the number it shows, and vice versa: files do not
    distinguish ``1`` from ``"1"``.

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


def confusion_counts(y_true: IntArray, y_pred: IntArray, n_classes: int) -> IntArray:
    """Return how often each class (rows) was predicted as each (columns).

    Examples
    --------
    >>> confusion_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    pairs = np.bincount(y_true * n_classes + y_pred, minlength=n_classes**2)
    return pairs.reshape(n_classes, n_classes)


def recall_estimate(name: str, n_correct: int, n: int) -> Estimate:
    """Return the share of rows of a class that are recognised, with its interval.

    In a resample of n rows the number of correct predictions is binomial, so the percentile
    bootstrap needs no sampling. Where all predictions are correct, or none, all resamples are
    equal and the interval would have no width: there it is the exact one of Clopper and
    Pearson.

    Examples
    --------
    >>> one = recall_estimate("ill", 1, 1)
    >>> one.value, round(one.low, 3), one.high
    (1.0, 0.025, 1.0)
    """
    if n_correct in {0, n}:
        exact = stats.binomtest(n_correct, n).proportion_ci(0.95, method="exact")
        low, high = exact.low, exact.high
    else:
        low, high = stats.binom.ppf([0.025, 0.975], n, n_correct / n) / n
    return Estimate(name, n_correct / n, float(low), float(high), n)


def _recalls(counts: IntArray, classes: AnyArray) -> tuple[Estimate, ...]:
    seen = zip(
        classes.tolist(), counts.diagonal().tolist(), counts.sum(axis=1).tolist(), strict=True
    )
    return tuple(recall_estimate(str(name), correct, n) for name, correct, n in seen if n)


def _scorer_value(recorded: Any, y: AnyArray, name: str) -> float:
    with _undefined_metrics_ignored():
        return float(get_scorer(name)(recorded, np.arange(len(y))[:, np.newaxis], y))


@contextmanager
def _undefined_metrics_ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        yield


def _finite(scores: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in scores.items() if np.isfinite(value)}


# Curves.


@dataclass(frozen=True, slots=True)
class _CurveScores:
    """Scores (n, k) by which curves are drawn."""

    classes: AnyArray
    codes: IntArray
    scores: FloatArray
    are_probabilities: bool
    positive: str | None = None

    @classmethod
    def of(
        cls, recorded: RecordedClassifier, codes: IntArray, positive: str | None = None
    ) -> _CurveScores | None:
        """Return the probabilities, else the decision values, None where there are neither."""
        if recorded.probabilities is not None:
            return cls(recorded.classes, codes, recorded.probabilities, True, positive)
        scores = recorded.decisions
        if scores is None:
            return None
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        if scores.shape[1] != len(recorded.classes):  # one column per pair of classes
            return None
        return cls(recorded.classes, codes, scores, False, positive)

    @property
    def shown(self) -> list[int]:
        """Return the classes that have curves: of two one, as the other is its mirror."""
        if len(self.classes) == 2 and self.positive is not None:
            return [[str(name) for name in self.classes.tolist()].index(self.positive)]
        n = np.bincount(self.codes, minlength=len(self.classes))
        if len(n) == 2:
            return [0 if n[0] < n[1] else 1]
        return list(range(len(n)))

    def drawn(self, points: Callable[[str, BoolArray, FloatArray], Curve | None]) -> Any:
        """Return the curves of the classes that have one."""
        names = self.classes.tolist()
        made = [points(str(names[c]), self.codes == c, self.scores[:, c]) for c in self.shown]
        return tuple(one for one in made if one is not None)

    def reliability(self, predicted: IntArray) -> Curve | None:
        """Return the calibration of the class shown, or of the ``predicted`` classes (n,)."""
        if not self.are_probabilities:
            return None
        if len(self.classes) == 2:
            (shown,) = self.shown
            name = str(self.classes.tolist()[shown])
            return reliability_points(name, self.scores[:, shown], self.codes == shown)
        chosen = self.scores[np.arange(len(predicted)), predicted]
        return reliability_points("the predicted class", chosen, self.codes == predicted)


def roc_points(name: str, positive: BoolArray, score: FloatArray) -> Curve | None:
    """Return true against false positive rates over all thresholds, and the area below.

    None where all rows are positive or none is, or where a score is not finite.

    Examples
    --------
    >>> roc_points("ill", np.array([False, True, True]), np.array([0.1, 0.4, 0.9])).area
    1.0
    """
    if positive.all() or not positive.any() or not np.isfinite(score).all():
        return None
    fpr, tpr, _ = roc_curve(positive, score)
    return _thinned(name, fpr, tpr, float(auc(fpr, tpr)))


def precision_recall_points(name: str, positive: BoolArray, score: FloatArray) -> Curve | None:
    """Return precision against recall over all thresholds, and the average precision.

    None where no row is positive, or where a score is not finite.

    Examples
    --------
    >>> precision_recall_points("ill", np.array([False, True]), np.array([0.1, 0.4])).area
    1.0
    """
    if not positive.any() or not np.isfinite(score).all():
        return None
    precision, recall, _ = precision_recall_curve(positive, score)
    area = float(average_precision_score(positive, score))
    return _thinned(name, recall[::-1], precision[::-1], area)


def reliability_points(name: str, predicted: FloatArray, observed: BoolArray) -> Curve | None:
    """Return observed shares against predicted probabilities, in bins of equal counts.

    The area is the expected calibration error, the mean distance of both over the rows. Rows
    of equal probability share a bin.

    Examples
    --------
    >>> predicted, observed = np.full(50, 0.5), np.arange(50) < 30
    >>> curve = reliability_points("ill", predicted, observed)
    >>> curve.x, curve.y, round(curve.area, 3)
    ((0.5,), (0.6,), 0.1)
    """
    if not len(predicted) or not np.isfinite(predicted).all():
        return None
    n_bins = int(np.clip(len(predicted) // ROWS_PER_BIN, 1, MAX_BINS))
    edges = np.quantile(predicted, np.linspace(0.0, 1.0, n_bins + 1)[1:-1])
    places = np.unique(np.searchsorted(edges, predicted, side="right"), return_inverse=True)[1]
    sizes = np.bincount(places)
    x, y = np.bincount(places, predicted) / sizes, np.bincount(places, observed) / sizes
    area = float(sizes @ np.abs(x - y) / len(predicted))
    return Curve(name, _five_digits(x), _five_digits(y), area)


def cumulative_curve(errors: FloatArray) -> Curve | None:
    """Return the share of rows whose absolute error is at most x (35).

    Examples
    --------
    >>> cumulative_curve(np.array([0.0, 2.0, -1.0, 1.0]))
    Curve(name='share of rows within an error', x=(0.0, 1.0, 2.0), y=(0.25, 0.75, 1.0), area=None)
    """
    if not len(errors) or not np.isfinite(errors).all():
        return None
    sizes, counts = np.unique(np.abs(errors), return_counts=True)
    shares = counts.cumsum() / len(errors)
    if sizes[0] > 0:
        sizes, shares = np.r_[0.0, sizes], np.r_[0.0, shares]
    return _thinned("share of rows within an error", sizes, shares, None)


def _thinned(name: str, x: FloatArray, y: FloatArray, area: float | None) -> Curve:
    """Keep points at even distances along the curve; the area is that of all points."""
    if len(x) > MAX_POINTS:
        steps = np.abs(np.diff(x)) / (np.ptp(x) or 1.0) + np.abs(np.diff(y)) / (np.ptp(y) or 1.0)
        length = np.r_[0.0, steps.cumsum()]
        stops = np.searchsorted(length, np.linspace(0.0, length[-1], MAX_POINTS))
        chosen = np.unique(np.r_[0, stops.clip(max=len(x) - 1), len(x) - 1])
        x, y = x[chosen], y[chosen]
    return Curve(name, _five_digits(x), _five_digits(y), area)


def _five_digits(values: FloatArray) -> tuple[float, ...]:
    """Return points with five digits, finer than any chart shows."""
    return tuple(float(f"{value:.5g}") for value in values.tolist())


# Baselines.


@dataclass(frozen=True, slots=True)
class Baselines:
    """Fitted baselines by name, and a sentence for each that could not be fitted."""

    models: dict[str, Any]
    notes: tuple[str, ...] = ()

    def recorded(
        self, X: Any, sample_cost: FloatArray | None = None
    ) -> dict[str, RecordedClassifier | RecordedRegressor]:
        """Return the predictions of each on test rows, whose costs may be known by row."""
        found = {}
        for name, model in self.models.items():
            decides = isinstance(model, CostDecisionClassifier)
            with one_thread():
                decisions = decisions_of(model, X, sample_cost) if decides else None
                found[name] = record_predictions(model, X, decisions)
        return found

    def compared(
        self,
        X: Any,
        y: Any,
        *,
        metric: str | None = None,
        cost: Any = None,
        sample_cost: FloatArray | None = None,
        model: RecordedClassifier | RecordedRegressor | None = None,
        groups: Any = None,
        recorded: Mapping[str, Any] | None = None,
    ) -> tuple[Baseline, ...]:
        """Return the scores of each on test rows, and how a model differs from them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, m)
        y : array of shape (n,)
        metric : str or None, default=None
        cost : CostConstraints, array, DataFrame, dict or None, default=None
        sample_cost : array of shape (n, k, k), default=None
            Known costs of the rows.
        model : RecordedClassifier, RecordedRegressor or None, default=None
            Predictions of the same rows to compare with. Intervals of the differences hold
            for all baselines together, as the best of several leads by luck more easily.
        groups : array of shape (n,), default=None
            Labels of rows that belong together.
        recorded : mapping of str to predictions, default=None
            What :meth:`recorded` returns for these rows, where it is at hand.
        """
        confidence = 1.0 - (1.0 - CONFIDENCE) / max(len(self.models), 1)
        paired = None
        if model is not None and metric is not None:
            paired = _Comparison(model, y, metric, cost, sample_cost, groups)
        found = []
        predictions = self.recorded(X, sample_cost) if recorded is None else recorded
        for name, predicted in predictions.items():
            if isinstance(predicted, RecordedRegressor):
                scores = number_scores(predicted, np.asarray(y, dtype=np.float64), metric)
                one = Baseline(name, scores)
            else:
                codes = known_codes(y, predicted.classes)
                scored = class_scores(predicted, codes, metric, cost, sample_cost)
                one = Baseline(name, scored.scores, scored.confusion, scored.total_cost)
            if paired is not None and metric in one.scores:
                one = replace(one, difference=paired.difference(predicted, confidence))
            found.append(one)
        return tuple(found)


class _Comparison:
    """Paired differences of one model from others on the same test rows."""

    def __init__(
        self, model: Any, y: Any, metric: str, cost: Any, sample_cost: Any, groups: Any
    ) -> None:
        self._model, self._y, self._metric, self._groups = model, np.asarray(y), metric, groups
        self._cost, self._sample_cost = cost, sample_cost
        self._own: FloatArray | None = None  # scores of the jackknife, the same for all others

    def difference(self, other: Any, confidence: float) -> Difference | None:
        """Return the difference with its interval, None where the metric is not defined."""
        try:
            with _undefined_metrics_ignored():
                found = self._paired(other)
        except (AttributeError, ValueError):  # as in the scores; or a block had all of a class
            return None
        if not np.isfinite([found.difference, found.std_error]).all():
            return None
        low, high = (one if np.isfinite(one) else None for one in found.interval(confidence))
        return Difference(found.difference, low, high, found.beyond_chance(confidence))

    def _paired(self, other: Any) -> PairedDifference:
        model, metric, groups = self._model, self._metric, self._groups
        if isinstance(model, RecordedRegressor):
            y = self._y.astype(np.float64)
            return paired_difference(metric, y, model.y_pred, other.y_pred, groups=groups)
        classes = model.classes
        costs = None if self._cost is None else parse_cost(self._cost, classes)
        codes = known_codes(self._y, classes)
        if self._sample_cost is not None and get_metric(metric).uses_cost:
            return self._paired_costs(codes, known_codes(other.y_pred, classes))
        counted = get_metric(metric).confusion_metric(classes, costs)
        if counted is not None:
            shares = np.eye(len(classes))
            a, b = (shares[known_codes(one.y_pred, classes)] for one in (model, other))
            return confusion_difference(counted, codes, a, b, groups=groups)
        y = classes[codes]
        if self._own is None:
            self._own = jackknife_scores(metric, y, model, groups=groups)
        return jackknife_difference(self._own, jackknife_scores(metric, y, other, groups=groups))

    def _paired_costs(self, codes: IntArray, other: IntArray) -> PairedDifference:
        """Return the difference in costs by row, in the unit of the metric."""
        rows, costs = np.arange(len(codes)), self._sample_cost
        own = known_codes(self._model.y_pred, self._model.classes)
        effects = costs[rows, codes, other] - costs[rows, codes, own]
        if self._metric == "savings":
            effects = effects / costs[rows, codes].sum(axis=0).min()
        elif self._metric == "mean_cost":
            effects = effects / len(rows)
        return from_effects(float(effects.sum()), effects, self._groups)


def fit_baselines(
    X: Any,
    y: Any,
    *,
    task: Task = "classes",
    seed: int = 0,
    sample_weight: Any = None,
    metric: str | None = None,
    cost: Any = None,
    sample_cost: FloatArray | None = None,
    without: str | None = None,
) -> Baselines:
    """Fit the baselines of a task, tuned on the same rows.

    Where costs are stated and the metric counts them, all decide by these costs, with calibrated
    probabilities. For other metrics, the models of scikit-learn decide by the costs that the
    metric implies, see :func:`~ecselm.study.models.implied_costs`.

    Parameters
    ----------
    X : array or sparse matrix of shape (N, n)
        Numbers, as they reach the last step of a pipeline.
    y : array of shape (N,)
    task : {"classes", "numbers"}, default="classes"
    seed : int, default=0
    sample_weight : array of shape (N,), default=None
    metric : str or None, default=None
        By which they will be compared.
    cost : CostConstraints, array, DataFrame, dict or None, default=None
        Stated costs of mistakes.
    sample_cost : array of shape (N, k, k), default=None
        Known costs of the rows instead.
    without : str or None, default=None
        Name of a model that is left out, as it is no baseline of itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> list(fit_baselines(*load_iris(return_X_y=True)).models)
    ['ELM', 'W1-ELM', 'logistic regression', 'boosting', 'best constant answer']
    """
    y, measured = np.asarray(y), get_metric(metric)
    decides = measured.uses_cost and (cost is not None or sample_cost is not None)
    settings = ModelSettings(
        task,
        "accuracy" if metric is None else metric,
        cost if decides and sample_cost is None else None,
        by_row=decides and sample_cost is not None,
        # Probabilities that only costs of the metric decide by need no rows of their own.
        calibration="auto" if decides else None,
        seed=seed,
    )
    models: dict[str, Any] = {}
    notes = []
    for name, registered in BASELINES[task].items():
        if registered == without:
            continue
        try:
            model = MODELS[task][registered](settings, X, y)
            with one_thread(), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                models[name] = fitted(model, X, y, sample_weight)
        except (ValueError, MemoryError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            notes.append(f"{name} could not be fitted for comparison: {reason}")
            continue
        if any(issubclass(one.category, ConvergenceWarning) for one in caught):
            notes.append(f"{name} did not converge, and may be better than it is shown.")
    if task == "classes":
        answer = best_constant(y, sample_weight, metric=metric, cost=cost, sample_cost=sample_cost)
        models[BEST_CONSTANT] = answer.fit(X, y, sample_weight=sample_weight)
    else:
        for name in ("mean", "median"):
            models[name] = DummyRegressor(strategy=name).fit(X, y, sample_weight=sample_weight)
    return Baselines(models, tuple(notes))


def best_constant(
    y: AnyArray,
    sample_weight: Any = None,
    *,
    metric: str | None = None,
    cost: Any = None,
    sample_cost: FloatArray | None = None,
) -> DummyClassifier:
    """Return the one answer to all rows that is the best on training rows, not fitted.

    That is the class of least cost, or of the best metric, and of equal ones the most frequent;
    for metrics of probabilities, the shares of the classes.

    Parameters
    ----------
    y : array of shape (N,)
    sample_weight : array of shape (N,), default=None
    metric, cost, sample_cost :
        As in :func:`fit_baselines`.

    Examples
    --------
    >>> best_constant(["ill", "well", "well"], metric="mean_cost", cost={("ill", "well"): 5})
    DummyClassifier(constant='ill', strategy='constant')
    """
    classes, codes = np.unique(y, return_inverse=True)
    n, k = np.bincount(codes, sample_weight).astype(np.float64), len(classes)
    measured = get_metric(metric)
    costs = None if cost is None else parse_cost(cost, classes)
    scores: FloatArray = np.zeros(k)
    if measured.uses_cost and sample_cost is not None:
        w = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight)
        scores = -(w @ sample_cost[np.arange(len(codes)), codes])
    elif measured.uses_cost and costs is not None:
        scores = -(n @ costs)
    elif metric is not None and k <= MOST_CONSTANTS:
        counted = measured.confusion_metric(classes)
        if counted is None:
            return DummyClassifier(strategy="prior")
        with np.errstate(all="ignore"):
            scores = np.nan_to_num(counted(n[:, np.newaxis] * np.eye(k)[:, np.newaxis, :]))
    best = np.flatnonzero(scores >= scores.max() - 1e-12 * abs(scores).max())
    label = classes.tolist()[int(best[n[best].argmax()])]
    return DummyClassifier(strategy="constant", constant=label)
