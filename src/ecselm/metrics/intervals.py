"""Intervals of means, and of the difference of two models on the same rows.

Whether two models differ by more than chance is decided in one way everywhere. If both were
equally good, their predictions could be swapped on any row: the difference of the metric
would then vary by the sum of squares of what the rows add to it. The interval is Student's,
with as many degrees of freedom as rows carry the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.costs.weights import label_codes
from ecselm.metrics.confusion import ConfusionMetric
from ecselm.metrics.registry import get_metric, get_scorer

METHODS = ("BCa", "basic", "percentile")
_AT_ONCE = 500  # resamples in memory
STEP = 1e-6  # share of all rows by which a count is moved to differentiate a metric
MIN_ROWS = 6  # that carry a difference which has an interval
MAX_BLOCKS = 100  # of rows that a jackknife leaves out in turn


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds, one pair or one per column."""

    low: FloatArray
    high: FloatArray


def bootstrap_interval(
    values: Any,
    *,
    statistic: Callable[..., Any] = np.mean,
    confidence: float = 0.95,
    method: str = "BCa",
    n_resamples: int = 9999,
    rng: Any = 0,
) -> Interval:
    """Return the bootstrap interval of a statistic of the rows of ``values``.

    Rows are drawn with replacement, the same ones for all columns, so that the interval of
    a column does not depend on the others. Constant columns have intervals without width,
    where BCa (Efron 1987) is not defined.

    Parameters
    ----------
    values : array of shape (n,) or (n, m)
    statistic : callable, default=numpy.mean
        Takes an array and ``axis``.
    confidence : float, default=0.95
    method : {"BCa", "basic", "percentile"}, default="BCa"
    n_resamples : int, default=9999
    rng : int or numpy.random.Generator, default=0
        A number gives the same interval every time.

    Examples
    --------
    >>> found = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0], rng=1)
    >>> bool(1.0 < found.low < 3.0 < found.high < 5.0)
    True
    """
    V = np.asarray(values, dtype=np.float64)
    _check(V, confidence, method, n_resamples)
    columns = V.reshape(len(V), -1)
    low = np.array(statistic(columns, axis=0), dtype=np.float64)
    high, varies = low.copy(), np.ptp(columns, axis=0) > 0
    if varies.any():
        found = stats.bootstrap(
            (columns[:, varies],),
            statistic,
            axis=0,
            vectorized=True,
            confidence_level=confidence,
            method=method,
            n_resamples=n_resamples,
            batch=_AT_ONCE,
            rng=np.random.default_rng(rng),
        ).confidence_interval
        low[varies], high[varies] = found.low, found.high
    return Interval(low.reshape(V.shape[1:])[()], high.reshape(V.shape[1:])[()])


def _check(V: FloatArray, confidence: float, method: str, n_resamples: int) -> None:
    if V.ndim not in {1, 2} or len(V) < 2:
        raise ValueError(f"values must have the shape (n,) or (n, m), n >= 2, got {V.shape}")
    if not np.isfinite(V).all():
        raise ValueError(f"values must be finite, got {V[~np.isfinite(V)][0]}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be >= 1, got {n_resamples}")


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Difference of a metric between two models on the same rows.

    Examples
    --------
    >>> PairedDifference(0.07, 0.026, 7.0).beyond_chance()
    True
    >>> PairedDifference(0.05, 0.022, 5.0).beyond_chance()
    False
    """

    difference: float  # of the first model over the second, positive if the first is better
    std_error: float  # if both models were equally good
    n_effective: float  # number of rows that carry the difference

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval of the difference, unbounded if fewer than six rows carry it.

        Rows on which both models agree say nothing about their difference, however many
        they are, so only the others count as degrees of freedom. Fewer than six cannot show a
        difference, even if all of them favour one model.
        """
        if self.n_effective < MIN_ROWS:
            return -np.inf, np.inf
        quantile = stats.t.ppf(0.5 + confidence / 2.0, self.n_effective - 1.0)
        half = float(quantile * self.std_error)
        return self.difference - half, self.difference + half

    def beyond_chance(self, confidence: float = 0.95) -> bool:
        """Return whether the interval excludes 0."""
        low, high = self.interval(confidence)
        return low > 0.0 or high < 0.0


def paired_difference(
    scoring: str,
    y_true: Any,
    y_pred_a: Any,
    y_pred_b: Any,
    *,
    cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> PairedDifference:
    """Return how much better the predictions of one model are than those of another.

    Parameters
    ----------
    scoring : str
        Name of a metric of predictions, see :func:`get_scorer_names`.
    y_true, y_pred_a, y_pred_b : array of shape (N,)
    cost : array, DataFrame, dict or None, default=None
        Costs of mistakes for metrics that count them, as in :func:`total_cost`.
    labels : array of shape (k,), default=None
        All classes; None takes those that occur.
    sample_weight : array of shape (N,), default=None
    groups : array of shape (N,), default=None
        Rows of one group are not independent, such as those of a patient.

    Returns
    -------
    difference : PairedDifference
        Positive if the first model is better.

    Examples
    --------
    >>> y = np.repeat(["ill", "well"], 50)
    >>> never_ill = np.repeat(["well"], 100)
    >>> found = paired_difference("gmean", y, y, never_ill)
    >>> found.difference, found.beyond_chance()
    (1.0, True)
    """
    y, a, b = (column_or_1d(one) for one in (y_true, y_pred_a, y_pred_b))
    check_consistent_length(y, a, b, sample_weight, groups)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    metric = get_metric(scoring)
    if metric.from_confusion is not None:
        classes = unique_labels(y, a, b) if labels is None else np.asarray(labels)
        matrix = parse_cost(cost, classes) if metric.uses_cost else None
        counted = metric.confusion_metric(classes, matrix)
        if counted is not None:
            codes, *decided = (
                label_codes(one.tolist(), classes, name)
                for one, name in ((y, "y_true"), (a, "y_pred_a"), (b, "y_pred_b"))
            )
            shares = np.eye(len(classes))
            return confusion_difference(
                counted, codes, shares[decided[0]], shares[decided[1]], weight, groups
            )
    if metric.from_residuals is not None:  # a mean over rows needs no jackknife
        w = np.ones(len(y)) if weight is None else weight
        losses_a, losses_b = (metric.from_residuals(y - one) for one in (a, b))
        effects = w * (losses_b - losses_a) / w.sum()
        return _from_effects(float(effects.sum()), effects, groups)
    if y.dtype.kind == "f":
        models: list[Any] = [RecordedRegressor(a), RecordedRegressor(b)]
    else:
        models = [RecordedClassifier(unique_labels(y, a, b), one) for one in (a, b)]
    return jackknife_difference(
        *(jackknife_scores(scoring, y, one, weight, groups) for one in models)
    )


def confusion_difference(
    metric: ConfusionMetric,
    y: IntArray,
    decisions_a: FloatArray,
    decisions_b: FloatArray,
    weight: FloatArray | None = None,
    groups: AnyArray | None = None,
) -> PairedDifference:
    """Return the difference of a metric of confusion matrices.

    Parameters
    ----------
    metric : callable
        From counts (P, k, k) to values (P,), greater is better.
    y : array of shape (n,)
        Codes of the true classes.
    decisions_a, decisions_b : array of shape (n, k)
        Share of each row that is predicted as each class.
    weight, groups : array of shape (n,), default=None
    """
    w = np.ones(len(y)) if weight is None else weight
    k = decisions_a.shape[1]
    counts = np.zeros((2, k, k))
    for one, decisions in zip(counts, (decisions_a, decisions_b), strict=True):
        np.add.at(one, y, decisions * w[:, np.newaxis])
    values = metric(counts)
    # Derivatives at the mean of both matrices: if the models are equally good, it is the
    # best estimate of either, and unlike theirs it is not singular where one misses a class.
    slopes = confusion_slopes(metric, counts.mean(axis=0))
    effects = w * np.einsum("nj,nj->n", decisions_a - decisions_b, slopes[y])
    return _from_effects(float(values[0] - values[1]), effects, groups)


def confusion_slopes(metric: ConfusionMetric, counts: FloatArray) -> FloatArray:
    """Return the derivatives (k, k) of a metric by the cells of a confusion matrix (k, k)."""
    k, step = len(counts), STEP * counts.sum()
    moved = np.empty((k, k))
    for c in range(k):  # all cells at once would need room for k^4 counts
        more = np.zeros((k, k, k))
        more[np.arange(k), c, np.arange(k)] = step
        moved[c] = metric(counts + more)
    slopes: FloatArray = (moved - metric(counts[np.newaxis])) / step
    return slopes


def jackknife_scores(
    scoring: Any,
    y: AnyArray,
    model: RecordedClassifier | RecordedRegressor,
    weight: FloatArray | None = None,
    groups: AnyArray | None = None,
) -> FloatArray:
    """Return the score of all rows, and those without each block of rows (1 + n_blocks,).

    Blocks are single rows, or groups, as long as there are not more than 100.
    """
    scorer, n = get_scorer(scoring), len(y)

    def score(rows: IntArray) -> float:
        given = {} if weight is None else {"sample_weight": weight[rows]}
        return float(scorer(model, rows[:, np.newaxis], y[rows], **given))

    if groups is None:
        # Neighbours among rows sorted by class go to different blocks: all have all classes.
        units = np.empty(n, dtype=np.intp)
        is_class = isinstance(model, RecordedClassifier)
        units[np.argsort(y, kind="stable") if is_class else np.arange(n)] = np.arange(n)
    else:
        units = np.unique(groups, return_inverse=True)[1].reshape(-1)
    n_blocks = min(int(units.max()) + 1, MAX_BLOCKS)
    blocks = units % n_blocks
    without = [score(np.flatnonzero(blocks != g)) for g in range(n_blocks)]
    return np.array([score(np.arange(n)), *without])


def jackknife_difference(scores_a: FloatArray, scores_b: FloatArray) -> PairedDifference:
    """Return the difference of any score from those of :func:`jackknife_scores`.

    What a block adds to the difference is its share of the pseudovalues of Tukey's jackknife.
    """
    whole, *without = scores_a - scores_b
    effects = whole - (1.0 - 1.0 / len(without)) * np.array(without)
    return _from_effects(float(whole), effects, None)


def _from_effects(
    difference: float, effects: FloatArray, groups: AnyArray | None
) -> PairedDifference:
    """Return the difference whose rows or blocks add ``effects`` to it."""
    if groups is not None:
        members = np.unique(groups, return_inverse=True)[1].reshape(-1)
        effects = np.bincount(members, weights=effects).astype(np.float64)
    squares = effects**2
    total, fourth = float(squares.sum()), float((squares**2).sum())
    n_effective = total**2 / fourth if fourth > 0.0 else 0.0
    return PairedDifference(difference, float(np.sqrt(total)), n_effective)


class RecordedRegressor(RegressorMixin, BaseEstimator):
    """A fitted model whose inputs are positions in recorded predictions."""

    def __init__(self, y_pred: AnyArray) -> None:
        self.y_pred = y_pred

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: IntArray) -> AnyArray:
        """Return the recorded predictions at positions (n, 1)."""
        return self.y_pred[X[:, 0]]


class RecordedClassifier(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose inputs are positions in recorded predictions.

    Parameters
    ----------
    classes : array of shape (k,)
    y_pred : array of shape (N,)
    probabilities : array of shape (N, k) or None, default=None
    decisions : array of shape (N,) or (N, k) or None, default=None
        Of the decision function.
    """

    def __init__(
        self, classes: AnyArray, y_pred: AnyArray, probabilities: Any = None, decisions: Any = None
    ) -> None:
        self.classes, self.y_pred = classes, y_pred
        self.probabilities, self.decisions = probabilities, decisions

    @property
    def classes_(self) -> AnyArray:
        """Return the classes."""
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: IntArray) -> AnyArray:
        """Return the recorded predictions at positions (n, 1)."""
        return self.y_pred[X[:, 0]]

    # Scorers look for methods: one exists only if its values were recorded.
    @available_if(lambda self: self.probabilities is not None)
    def predict_proba(self, X: IntArray) -> AnyArray:
        """Return the recorded probabilities at positions (n, 1)."""
        return np.asarray(self.probabilities)[X[:, 0]]

    @available_if(lambda self: self.decisions is not None)
    def decision_function(self, X: IntArray) -> AnyArray:
        """Return the recorded decision values at positions (n, 1)."""
        return np.asarray(self.decisions)[X[:, 0]]
