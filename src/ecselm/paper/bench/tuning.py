"""Fit candidates, score their predictions, and choose the best by cross-validation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.metrics import get_metric, get_scorer
from ecselm.paper.bench.methods import BenchMethod
from ecselm.paper.bench.probabilities import (
    Sigmoids,
    class_values,
    fit_sigmoids,
    has_probabilities,
    log_loss,
)
from ecselm.paper.datasets import Dataset
from ecselm.paper.methods import get_method
from ecselm.paper.protocols.evaluation import data_classes
from ecselm.paper.protocols.protocol import subsample

DIGITS = 12  # candidates that differ by rounding only are equal
FIT_ERRORS = (ValueError, ArithmeticError, RuntimeError)  # raised by fits on too few rows
LOG_LOSS = "log_loss"  # the target that is scored by probabilities
SCORINGS = {LOG_LOSS: "neg_log_loss"}  # names of scorers that differ from their target's
N_FOLDS = 5
MAX_ROWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Rows with their classes and, where they are known, costs."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,), in 0..k-1
    n_classes: int
    matrix: FloatArray | None = None  # (k, k), costs by class
    sample_cost: FloatArray | None = None  # (n, k), costs by row

    def take(self, rows: IntArray) -> LabelledRows:
        """Return some of the rows."""
        sample_cost = None if self.sample_cost is None else self.sample_cost[rows]
        return LabelledRows(self.X[rows], self.y[rows], self.n_classes, self.matrix, sample_cost)

    def scaled(self, scaler: Any) -> LabelledRows:
        """Return the rows transformed by a fitted scaler."""
        X = scaler.transform(self.X)
        return LabelledRows(X, self.y, self.n_classes, self.matrix, self.sample_cost)

    @property
    def present_sample_cost(self) -> FloatArray | None:
        """Return the costs (n, c) by row of the c classes that occur, if they are known."""
        return None if self.sample_cost is None else self.sample_cost[:, np.unique(self.y)]

    @property
    def present_cost(self) -> FloatArray:
        """Return the costs (c, c) of the c classes that occur; means of costs by row, if any."""
        present = np.unique(self.y)
        if self.sample_cost is not None:
            means = [self.sample_cost[self.y == label].mean(axis=0) for label in present]
            return np.vstack(means)[:, present]
        return self._matrix[np.ix_(present, present)]

    @property
    def decision_costs(self) -> FloatArray:
        """Return the cost (n, k) of predicting each class for each row."""
        return self._matrix[self.y] if self.sample_cost is None else self.sample_cost

    @property
    def _matrix(self) -> FloatArray:
        return 1.0 - np.eye(self.n_classes) if self.matrix is None else self.matrix


def label_rows(data: Dataset) -> LabelledRows:
    """Return all rows of a data set, classes by their position."""
    classes = data_classes(data)
    y = np.searchsorted(classes, data.y)
    return LabelledRows(data.X, y, len(classes), data.cost, data.sample_cost)


def scores(
    target: str,
    y_pred: Sequence[IntArray] | AnyArray,
    rows: LabelledRows,
    shares: FloatArray | None = None,
) -> FloatArray:
    """Return the scores (P,) of P predictions of the same rows; greater is better.

    Parameters
    ----------
    target : str
        ``"mean_cost"`` or ``"log_loss"``, which are negated, or a metric of confusion
        matrices.
    y_pred : array of shape (P, n), or (P, n, k) for the log loss
        Classes, or the probabilities of all classes.
    rows : LabelledRows
    shares : array of shape (k,) or None, default=None
        Shares of the classes that rows are weighted to; None leaves them as they are.

    Examples
    --------
    >>> rows = LabelledRows(np.zeros((4, 1)), np.array([0, 0, 1, 1]), 2)
    >>> scores("accuracy", np.array([[0, 0, 1, 0], [0, 0, 1, 1]]), rows)
    array([0.75, 1.  ])
    """
    if target == LOG_LOSS:
        proba = np.asarray(y_pred, dtype=np.float64).reshape(-1, len(rows.y), rows.n_classes)
        return -np.round([log_loss(one, rows.y) for one in proba], DIGITS)
    predictions = np.atleast_2d(np.asarray(y_pred))
    if target == "mean_cost":
        costs = rows.decision_costs
        return -np.round([costs[np.arange(len(one)), one].mean() for one in predictions], DIGITS)
    k = rows.n_classes
    counts = np.stack([np.bincount(rows.y * k + one, minlength=k * k) for one in predictions])
    matrices = counts.reshape(-1, k, k).astype(np.float64)
    if shares is not None:
        matrices *= (shares / np.maximum(np.bincount(rows.y, minlength=k), 1))[:, np.newaxis]
    metric = get_metric(target).confusion_metric(np.arange(k))
    if metric is None:
        raise ValueError(f"target must be a metric of confusion matrices, got {target!r}")
    return np.round(metric(matrices), DIGITS)


@dataclass(frozen=True, slots=True)
class Fitter:
    """Fit the candidates of a method on any rows.

    Parameters
    ----------
    method : BenchMethod
    by_cost : bool
        Whether the target is a cost. Only then methods get any costs.
    seed : int
        Random state of the method.
    """

    method: BenchMethod
    by_cost: bool
    seed: int

    def fit(
        self, candidate: Mapping[str, Any], rows: LabelledRows, target: str | None = None
    ) -> Any:
        """Return a model fitted to rows, for the target if it tunes itself.

        Costs by row go to methods that take them in ``fit``; others get their class means.
        """
        params = {**self.method.params, **candidate}
        if target is not None:
            params["scoring"] = SCORINGS.get(target, target)
        name = self.method.tuned_as or self.method.name
        model = self._seeded(get_method(name, "classification", **params))
        if not self.by_cost:
            return model.fit(rows.X, rows.y)
        takes_rows = "sample_cost" in inspect.signature(model.fit).parameters
        if rows.sample_cost is not None and takes_rows:
            return model.fit(rows.X, rows.y, sample_cost=rows.present_sample_cost)
        names = [name for name in model.get_params() if name.rpartition("__")[2] == "cost"]
        model.set_params(**dict.fromkeys(names, rows.present_cost))
        return model.fit(rows.X, rows.y)

    def fit_threshold(
        self, candidate: Mapping[str, Any], rows: LabelledRows, target: str, folds: Any
    ) -> Any:
        """Return a model whose threshold is tuned for the target in the given folds."""
        params = {**candidate, "cv": folds, "n_jobs": 1, "estimator__n_jobs": 1}
        name = self.method.name
        if rows.sample_cost is None:
            cost = rows.present_cost if self.by_cost else None
            model = get_method(name, "classification", scoring=target, cost=cost, **params)
            return self._seeded(model).fit(rows.X, rows.y)
        with config_context(enable_metadata_routing=True):
            scorer = get_scorer(target, labels=list(range(rows.n_classes)))
            scorer.set_score_request(sample_cost=True)
            model = get_method(name, "classification", scoring=scorer, **params)
            return self._seeded(model).fit(rows.X, rows.y, sample_cost=rows.sample_cost)

    def _seeded(self, model: Any) -> Any:
        names = [name for name in model.get_params() if name.endswith("random_state")]
        return model.set_params(**dict.fromkeys(names, self.seed))


def inner_folds(y: IntArray, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Return the folds in which all methods are tuned.

    Five, or as many as the smallest class has rows, but two at least: a class of one row is
    then missing from the training rows of one of them.

    Examples
    --------
    >>> len(inner_folds(np.array([0] * 9 + [1] * 3), 0))
    3
    """
    _, counts = np.unique(y, return_counts=True)
    n_folds = int(np.clip(counts.min(), 2, N_FOLDS))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros((len(y), 1)), y))


def tuning_rows(rows: LabelledRows, seed: int) -> LabelledRows:
    """Return at most about 2000 rows, the same share of every class."""
    every = np.arange(len(rows.y))
    return rows.take(subsample(every, rows.y, MAX_ROWS, np.random.default_rng(seed)))


def predict_classes(model: Any, X: FloatArray) -> IntArray:
    """Return the predicted classes (n,); CatBoost's are a column where there are many."""
    return np.asarray(model.predict(X), dtype=np.intp).reshape(len(X))


def rank_candidates(
    fitter: Fitter,
    candidates: Sequence[Mapping[str, Any]],
    rows: LabelledRows,
    targets: Sequence[str],
) -> dict[str, tuple[int, ...]]:
    """Return the positions of the candidates by target, the best first.

    Candidates are scored by the predictions of all folds together, and one pass over folds
    and candidates serves all targets. A candidate that cannot be fitted in some fold comes
    last; ties go to the earlier candidate.

    Parameters
    ----------
    fitter : Fitter
    candidates : sequence of mapping
    rows : LabelledRows
        Training rows, not scaled yet.
    targets : sequence of str
    """
    if len(candidates) == 1:
        return dict.fromkeys(targets, (0,))
    y_pred = np.zeros((len(candidates), len(rows.y)), dtype=np.intp)
    n_values = len(candidates) if LOG_LOSS in targets else 0
    proba = np.zeros((n_values, len(rows.y), rows.n_classes))
    failed = np.zeros(len(candidates), dtype=bool)
    uncalibrated = np.zeros(len(candidates), dtype=bool)
    for train, validation in inner_folds(rows.y, fitter.seed):
        train_rows, validation_rows = _scaled(rows, train, validation)
        for i, candidate in enumerate(candidates):
            try:
                model = fitter.fit(candidate, train_rows)
                y_pred[i, validation] = predict_classes(model, validation_rows.X)
                if n_values:
                    proba[i, validation] = class_values(model, validation_rows.X, rows.n_classes)
                    uncalibrated[i] = not has_probabilities(model)
            except FIT_ERRORS:
                failed[i] = True
    for i in np.flatnonzero(uncalibrated & ~failed).tolist():
        # Two numbers per class, fitted to the rows they are scored on: the order hardly suffers.
        proba[i] = fit_sigmoids(proba[i], rows.y).probabilities(proba[i])
    order = {}
    for target in targets:
        found = scores(target, proba if target == LOG_LOSS else y_pred, rows)
        values = np.where(failed, -np.inf, found)
        order[target] = tuple(np.argsort(-values, kind="stable").tolist())
    return order


def calibrate(fitter: Fitter, candidate: Mapping[str, Any], rows: LabelledRows) -> Sigmoids:
    """Return sigmoids for the decision values of a candidate, fitted in the inner folds.

    Parameters
    ----------
    fitter : Fitter
    candidate : mapping
    rows : LabelledRows
        All training rows.
    """
    values = np.zeros((len(rows.y), rows.n_classes))
    for train, validation in inner_folds(rows.y, fitter.seed):
        train_rows, validation_rows = _scaled(rows, train, validation)
        model = fitter.fit(candidate, train_rows)
        values[validation] = class_values(model, validation_rows.X, rows.n_classes)
    return fit_sigmoids(values, rows.y)


def _scaled(
    rows: LabelledRows, train: IntArray, validation: IntArray
) -> tuple[LabelledRows, LabelledRows]:
    """Return the rows of a fold, both parts scaled as the training part requires."""
    scaler = StandardScaler().fit(rows.X[train])
    return rows.take(train).scaled(scaler), rows.take(validation).scaled(scaler)
