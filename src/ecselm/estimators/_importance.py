"""Permutation importance of columns, in the unit of a metric or of costs.

Breiman, "Random forests", Machine Learning 45 (2001): the values of a column are permuted
between rows, and the loss of a fitted model on these rows is what the column is worth to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.base import is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm._wording import brief, did_you_mean
from ecselm.costs import parse_cost, row_matrices
from ecselm.costs.parse import numbers
from ecselm.costs.weights import label_codes
from ecselm.estimators._policy import CostDecisionMixin, Decisions
from ecselm.metrics import Metric, get_metric, get_scorer
from ecselm.metrics.confusion import ConfusionMetric
from ecselm.metrics.intervals import (
    MIN_ROWS,
    RecordedClassifier,
    RecordedRegressor,
    confusion_slopes,
)

MAX_ROWS = 1000  # on which predictions are compared
MAX_COLUMNS = 50  # that are measured, those with the largest effect in a first pass
MAX_CELLS = 5_000_000  # of all repetitions of a table, unless this leaves too few rows
FIRST_ROWS = 200  # of the first pass, and the least number in wide tables
SINGLY = 400  # columns up to which the first pass permutes each alone
N_GROUPS = 100  # of columns that are permuted together, where they are more
N_BLOCKS = 10  # of rows that a jackknife leaves out in turn
SUMS = {"total_cost": "mean_cost"}  # metrics that are the number of rows times another
LONGEST = 40  # characters of a name in a plot


class UndefinedMetricError(ValueError):
    """The metric is not defined on the rows, such as the AUC of one class."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Loss by permuting a column on some rows, with its 95 % interval."""

    value: float  # increase of the cost or error, or loss of the score: positive if needed
    low: float | None  # None if fewer than six rows carry the effect
    high: float | None
    n: int  # rows


@dataclass(frozen=True, slots=True)
class Importance:
    """What a column is worth to a model."""

    column: str
    whole: Effect  # on all rows
    not_settled: Effect | None = None  # on rows whose best answer depends on unknown costs


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: Any,
    cost: Any = None,
    sample_cost: Any = None,
    rows: int | None = None,
    n_repeats: int = 5,
    rng: Any,
    columns: Sequence[Any] | None = None,
) -> tuple[Importance, ...]:
    """Return how much a fitted model loses if the values of a column are permuted.

    Columns are permuted one at a time, before any step of the model sees them. Only
    predictions are needed. Columns that carry the same information replace each other, so that
    each alone may be worth nothing.

    The interval is over rows. A row counts twice, as the one whose value is replaced and as
    the one whose value replaces others. Means over rows and metrics of confusion matrices have
    the interval of what rows add to the difference, to first order; others that of a jackknife
    over ten blocks.

    Parameters
    ----------
    model : classifier or regressor
        Fitted.
    X : dataframe, array or sparse matrix of shape (N, m)
        Rows that the model was not fitted on.
    y : array of shape (N,)
    metric : str or callable
        Its loss is measured, see :func:`ecselm.metrics.get_scorer`; ``"mean_cost"`` gives the
        cost of a row, in the unit of ``cost``. Rows that are left to a person count with the best
        class.
    cost : CostConstraints, array, DataFrame, dict or None, default=None
        Costs of mistakes, for metrics that count them; None is 1 each. Of half-known costs,
        the mean.
    sample_cost : array of shape (N, k, k) or (N,), default=None
        Known costs of the rows, by which the model decides and mistakes are counted.
    rows : int or None, default=None
        Most rows to use, drawn at random; None is 1000, and down to 200 in wide tables.
    n_repeats : int, default=5
        Permutations, the same ones for all columns.
    rng : int or numpy.random.Generator
    columns : sequence of str or int, default=None
        Names of columns of a dataframe, or positions. None measures all, or, of more than 50,
        those whose permutation changes predictions most in a first pass.

    Returns
    -------
    importances : tuple of Importance
        The most important first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ELMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> found = permutation_importance(model, X[1::2], y[1::2], metric="accuracy", rng=0)
    >>> found[0].column, found[0].whole.low > 0
    ('petal length (cm)', True)
    """
    check_is_fitted(model)
    get_scorer(metric)  # refuse an unknown name before any work
    for name, value, least in (("rows", rows, 2), ("n_repeats", n_repeats, 1)):
        if value is not None and value < least:
            raise ValueError(f"{name} must be >= {least}, got {value}")
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y)
    if len(y) < 2:
        raise ValueError(f"y must have two rows or more, got {len(y)}")
    rng, names = np.random.default_rng(rng), column_names(X)
    stated = None if columns is None else _positions(columns, names)
    # Rows, and how often they count in sums over all rows.
    affordable = max(MAX_CELLS // (n_repeats * len(names)), FIRST_ROWS)
    n = min(len(y), min(MAX_ROWS, affordable) if rows is None else rows)
    kept = np.sort(rng.choice(len(y), n, replace=False))
    table, factor = taken(X, kept), len(y) / n
    answering = _Answering.of(
        model, metric, y[kept], cost, _by_row(model, sample_cost, len(y)), kept
    )
    order = rng.permuted(np.tile(np.arange(n), (n_repeats, 1)), axis=1)  # (R, n)
    base = answering.answers(table, 1)
    chosen = _first_pass(answering, table, rng) if stated is None else stated
    # All repetitions are predicted at once.
    repeated = taken(table, np.tile(np.arange(n), n_repeats))
    opened = np.zeros(n, dtype=bool) if base.settled is None else ~base.settled
    found = []
    for j in chosen:
        permuted = answering.answers(replaced(repeated, table, [j], order.ravel()), n_repeats)
        whole = answering.effect(base, permuted, order, np.ones(n, dtype=bool), factor)
        if whole is None:
            raise UndefinedMetricError(
                f"metric must be defined on the rows, got {metric!r}, which is not"
            )
        part = answering.effect(base, permuted, order, opened, factor) if opened.any() else None
        found.append(Importance(names[j], whole, part))
    return tuple(sorted(found, key=lambda one: -one.whole.value))


def _by_row(model: Any, sample_cost: Any, n_rows: int) -> FloatArray | None:
    if sample_cost is None:
        return None
    if is_regressor(model):
        raise ValueError("sample_cost must be left out where numbers are predicted")
    return row_matrices(n_rows, np.asarray(model.classes_), sample_cost=sample_cost)


# Tables.


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a dataframe, or ``x0``, ``x1`` and so on.

    Examples
    --------
    >>> column_names(np.ones((1, 2)))
    ['x0', 'x1']
    """
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must have the shape (N, m), got {shape}")
    return [f"x{j}" for j in range(shape[1])]


def _positions(columns: Sequence[Any], names: list[str]) -> list[int]:
    found: list[int] = []
    for one in [columns] if isinstance(columns, str) else columns:
        if str(one) in names:
            found += [j for j, name in enumerate(names) if name == str(one)]
        elif isinstance(one, int | np.integer) and 0 <= one < len(names):
            found.append(int(one))
        else:
            raise ValueError(
                f"columns must name columns of X, got {brief(str(one))!r}"
                f"{did_you_mean(str(one), names)}"
            )
    return list(dict.fromkeys(found))


def taken(X: Any, rows: IntArray) -> Any:
    """Return some rows of a table, as a table of its kind; sparse ones become dense."""
    if hasattr(X, "iloc"):
        return X.iloc[rows].reset_index(drop=True)
    if hasattr(X, "with_columns"):  # polars
        return X[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows].toarray()
    return np.asarray(X)[rows]


def replaced(X: Any, source: Any, columns: Sequence[int], rows: IntArray) -> Any:
    """Return a table whose columns have the values of some rows of another.

    Examples
    --------
    >>> replaced(np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]), [1], np.array([1, 0]))
    array([[0., 4.],
           [0., 2.]])
    """
    if hasattr(X, "iloc"):
        made = X.copy(deep=False)
        for j in columns:
            made.isetitem(j, source.iloc[:, j].array.take(rows))
        return made
    if hasattr(X, "with_columns"):
        return X.with_columns(*(source.to_series(j)[rows] for j in columns))
    made = X.copy()
    made[:, list(columns)] = source[np.ix_(rows, np.asarray(columns))]
    return made


def _first_pass(answering: _Answering, table: Any, rng: np.random.Generator) -> list[int]:
    """Return the columns whose permutation changes predictions most, at most 50.

    Where columns are many, groups of them are permuted together, and only those in the quarter
    of the groups with the largest effect remain, until they can be permuted one by one.
    """
    n, m = table.shape
    columns = np.arange(m)
    if m <= MAX_COLUMNS:
        return columns.tolist()
    few = np.sort(rng.choice(n, min(n, FIRST_ROWS), replace=False))
    part, order = taken(table, few), rng.permutation(len(few))
    base = answering.signal(part, few)

    def change(group: IntArray) -> float:
        moved = answering.signal(replaced(part, part, group.tolist(), order), few)
        return float(np.abs(moved - base).mean())

    while len(columns) > SINGLY:
        groups = np.array_split(columns, N_GROUPS)
        effects = np.array([change(group) for group in groups])
        best = np.argsort(-effects, kind="stable")[: N_GROUPS // 4]
        columns = np.concatenate([groups[g] for g in np.sort(best)])
    effects = np.array([change(columns[i : i + 1]) for i in range(len(columns))])
    return columns[np.argsort(-effects, kind="stable")[:MAX_COLUMNS]].tolist()


# Answers, and what they are worth.


@dataclass(frozen=True, slots=True)
class _Answers:
    """Predictions of a table, once or repeated with other values."""

    predicted: AnyArray  # (R, n), positions of classes, or numbers
    scores: FloatArray | None = None  # (R, n, k) or (R, n), probabilities or decision values
    settled: BoolArray | None = None  # (n,), None where no costs are half known


@dataclass(frozen=True, slots=True)
class _Answering:
    """A model with the rows that it answers, and the metric of its answers."""

    model: Any
    metric: Metric
    scoring: Any
    y: AnyArray  # (n,), positions of classes, or numbers
    classes: AnyArray | None  # None: numbers
    by_row: FloatArray | None  # (n, k, k)
    counted: ConfusionMetric | None  # the metric as a function of confusion matrices
    known: dict[bytes, FloatArray] = field(default_factory=dict)  # scores of the base, by rows

    @classmethod
    def of(
        cls, model: Any, scoring: Any, y: AnyArray, cost: Any, by_row: Any, kept: IntArray
    ) -> _Answering:
        """Return the rows with their costs, which are those of the rows ``kept`` of a table."""
        metric = get_metric(SUMS.get(scoring, scoring) if isinstance(scoring, str) else scoring)
        if is_regressor(model):
            if cost is not None:
                raise ValueError("cost must be left out where numbers are predicted")
            return cls(model, metric, scoring, numbers(y, "y"), None, None, None)
        classes = np.asarray(model.classes_)
        matrix = parse_cost(cost, classes) if metric.uses_cost and by_row is None else None
        counted = metric.confusion_metric(classes, matrix)
        return cls(
            *(model, metric, scoring, label_codes(y.tolist(), classes, "y"), classes),
            None if by_row is None else by_row[kept],
            None if by_row is not None and metric.uses_cost else counted,
        )

    @property
    def needs_scores(self) -> bool:
        """Return whether the metric may be of probabilities or of decision values."""
        by_cost = self.by_row is not None and self.metric.uses_cost
        return self.classes is not None and self.counted is None and not by_cost

    def answers(self, X: Any, n_repeats: int, rows: IntArray | None = None) -> _Answers:
        """Return the predictions of the rows, repeated so often one after the other."""
        if self.classes is None:
            return _Answers(np.asarray(self.model.predict(X), np.float64).reshape(n_repeats, -1))
        by_row = self.by_row if rows is None or self.by_row is None else self.by_row[rows]
        costs = None if by_row is None else np.tile(by_row, (n_repeats, 1, 1))
        decisions, scores, settled = _decisions_of(self.model, X, costs), None, None
        if decisions is not None:
            predicted, scores = decisions.classes(), decisions.probabilities
            if n_repeats == 1 and not (costs is not None or decisions.policy.region.is_point):
                settled = decisions.settled()
        else:
            labels = np.asarray(self.model.predict(X)).tolist()
            predicted = label_codes(labels, self.classes, "predictions")
            if self.needs_scores or n_repeats == 1:
                scores = _scores_of(self.model, X)
        if scores is not None:
            scores = scores.reshape(n_repeats, -1, *scores.shape[1:])
        return _Answers(predicted.reshape(n_repeats, -1), scores, settled)

    def signal(self, X: Any, rows: IntArray) -> FloatArray:
        """Return what shows a change of predictions best: scores, or numbers, or classes."""
        if self.classes is None:
            return np.asarray(self.model.predict(X), dtype=np.float64)
        if not isinstance(self.model, CostDecisionMixin | Pipeline):
            scores = _scores_of(self.model, X)  # costs less than predictions and scores
            if scores is not None:
                return scores
        answers = self.answers(X, 1, rows)
        if answers.scores is not None:
            return answers.scores[0]
        return np.eye(len(self.classes))[answers.predicted[0]]

    def effect(
        self, base: _Answers, permuted: _Answers, order: IntArray, among: BoolArray, factor: float
    ) -> Effect | None:
        """Return the loss on the rows ``among`` (n,) all, None where the metric is not defined.

        Parameters
        ----------
        base, permuted : _Answers
        order : array of shape (R, n)
            Row whose value each row has in ``permuted``.
        among : boolean array of shape (n,)
        factor : float
            How many rows each stands for, in sums.
        """
        n = int(among.sum())
        is_sum = isinstance(self.scoring, str) and self.scoring in SUMS
        scale = factor * n if is_sum else 1.0
        compared = [(base.predicted, permuted.predicted)]
        if self.needs_scores and base.scores is not None and permuted.scores is not None:
            compared.append((base.scores, permuted.scores))
        if all((one[:, among] == other[:, among]).all() for one, other in compared):
            return Effect(0.0, 0.0, 0.0, n)
        if self.counted is not None:
            value, u, v = self._by_counts(self.counted, base, permuted, among)
        else:
            losses = self._losses()
            if losses is None:
                return self._jackknifed(base, permuted, order, among)
            u, v = losses(base.predicted)[0], losses(permuted.predicted)
            value = float(v[:, among].mean() - u[among].mean())
            u, v = ((one - one[..., among].mean()) * among / n for one in (u, v))
        if not np.isfinite(value):
            return None
        half = _half_width(u, v, order)
        if half is None:
            return Effect(scale * value, None, None, n)
        low, high = scale * (value - half), scale * (value + half)
        return Effect(scale * value, low, high, n)

    def _losses(self) -> Callable[[AnyArray], FloatArray] | None:
        """Return the losses of predictions (R, n) by row, None if the metric is no mean of them."""
        by_row, from_residuals = self.by_row, self.metric.from_residuals
        if self.classes is None:
            return None if from_residuals is None else lambda of: from_residuals(self.y - of)
        if by_row is None or self.metric.name != "mean_cost":
            return None
        return lambda of: by_row[np.arange(len(self.y)), self.y, of]

    def _by_counts(
        self, metric: ConfusionMetric, base: _Answers, permuted: _Answers, among: BoolArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss of a metric of confusion matrices, and what rows add to the losses.

        That is minus the derivative by the cell of each row (n,) and (R, n).
        """
        k, truth = len(np.asarray(self.classes)), self.y[among]
        counts = np.zeros((1 + len(permuted.predicted), k, k))
        answers = np.concatenate([base.predicted, permuted.predicted])
        for one, predicted in zip(counts, answers[:, among], strict=True):
            np.add.at(one, (truth, predicted), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = metric(counts)
            slopes = [confusion_slopes(metric, one) for one in (counts[0], counts[1:].mean(axis=0))]
        u, v = -slopes[0][self.y, base.predicted[0]], -slopes[1][self.y, permuted.predicted]
        return float(values[0] - values[1:].mean()), u * among, v * among

    def _jackknifed(
        self, base: _Answers, permuted: _Answers, order: IntArray, among: BoolArray
    ) -> Effect | None:
        """Return the loss of any score, all repetitions scored as one table."""
        n, n_repeats, n_among = len(self.y), len(permuted.predicted), int(among.sum())
        # Neighbours among rows sorted by class go to different blocks: all have all classes.
        sort = np.arange(n) if self.classes is None else np.argsort(self.y, kind="stable")
        blocks = np.empty(n, dtype=np.intp)
        blocks[np.r_[sort[among[sort]], sort[~among[sort]]]] = np.arange(n) % N_BLOCKS
        own, donors = np.tile(blocks, n_repeats), blocks[order.ravel()]
        everywhere, left_out = np.tile(among, n_repeats), range(-1, N_BLOCKS)
        before, after = self._scored(base), self._scored(permuted)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                key = among.tobytes()
                if key not in self.known:
                    kept = [np.flatnonzero(among & (blocks != g)) for g in left_out]
                    self.known[key] = np.array([before(rows) for rows in kept])
                kept = [np.flatnonzero(everywhere & (own != g) & (donors != g)) for g in left_out]
                value, *without = self.known[key] - [after(rows) for rows in kept]
        except (AttributeError, ValueError):  # no probabilities, a class without rows
            return None
        if not np.isfinite(value):
            return None
        std_error = np.sqrt((N_BLOCKS - 1) * np.var(without))
        half = float(stats.t.ppf(0.975, N_BLOCKS - 1) * std_error)
        if n_among < 2 * N_BLOCKS or not np.isfinite(half):
            return Effect(float(value), None, None, n_among)
        return Effect(float(value), float(value - half), float(value + half), n_among)

    def _scored(self, answers: _Answers) -> Callable[[IntArray], float]:
        """Return the score of some of the rows (R n,), greater is better."""
        n_repeats, predicted = len(answers.predicted), answers.predicted.ravel()
        truth = np.tile(self.y, n_repeats)
        if self.classes is None:
            recorded: Any = RecordedRegressor(predicted)
        else:
            scores = answers.scores
            flat = None if scores is None else scores.reshape(-1, *scores.shape[2:])
            are_shares = hasattr(self.model, "predict_proba")
            recorded = RecordedClassifier(
                self.classes,
                self.classes[predicted],
                *((flat, None) if are_shares else (None, flat)),
            )
            truth = self.classes[truth]
            function = self.metric.function
            if self.by_row is not None and self.metric.uses_cost and function is not None:
                costs, sign = self.by_row, 1.0 if self.metric.greater_is_better else -1.0
                return lambda rows: (
                    sign
                    * function(
                        *(truth[rows], recorded.y_pred[rows]),
                        sample_cost=costs[rows % len(costs)],
                        labels=recorded.classes,
                    )
                )
        scorer = get_scorer(self.scoring)
        return lambda rows: float(scorer(recorded, rows[:, np.newaxis], truth[rows]))


def _half_width(u: FloatArray, v: FloatArray, order: IntArray) -> float | None:
    """Return half the width of the 95 % interval of the loss, None if few rows carry it.

    The loss is a mean over pairs of rows: one that has the value, and one that it replaces.
    Its variance is that of what a row adds in both places.

    Parameters
    ----------
    u, v : array of shape (n,) and (R, n)
        What rows add to the loss before and after permuting, both with the sum 0.
    order : array of shape (R, n)
    """
    own = v.mean(axis=0) - u
    given = np.empty_like(v)  # by the row that the value comes from
    np.put_along_axis(given, order, v, axis=1)
    squares = own**2
    if not squares.any() or squares.sum() ** 2 < MIN_ROWS * (squares**2).sum():
        return None
    variance, R = float(((own + given.mean(axis=0)) ** 2).sum()), len(v)
    if R > 1:  # means of few repetitions vary by themselves
        variance -= float(given.var(axis=0, ddof=1).sum()) / R
    n_effective = squares.sum() ** 2 / (squares**2).sum()
    std_error = np.sqrt(max(variance, float(squares.sum())))
    return float(stats.t.ppf(0.975, n_effective - 1.0) * std_error)


def _decisions_of(model: Any, X: Any, by_row: FloatArray | None) -> Decisions | None:
    """Return the decisions of a classifier of this package, or of a pipeline that ends with one."""
    decider = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(decider, CostDecisionMixin):
        return None
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
    return decider._decisions(X, decider._with_asking(X, by_row))


def _scores_of(model: Any, X: Any) -> FloatArray | None:
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=np.float64)
    return None
