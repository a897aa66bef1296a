"""From ``scoring``, a name or a scorer, to the fitness of candidates."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.estimators._calibration import residual_slope, softmax_probabilities
from ecselm.fitness import (
    ConfusionFitness,
    ErrorFitness,
    Fitness,
    RowCostFitness,
    TieBreakingFitness,
)
from ecselm.metrics import get_metric, get_scorer


@dataclass(frozen=True, slots=True)
class ValidationRows:
    """The rows that candidates are validated on, split after split."""

    X: Matrix
    y: AnyArray  # (n,) or (n, m), as the user gave it
    T: FloatArray | None  # (n, m), None where scores are logarithms of probabilities
    weight: FloatArray | None


@dataclass(frozen=True, slots=True)
class ValidationClasses:
    """Class codes of the validation rows, and the stated costs."""

    codes: IntArray  # (n,)
    classes: AnyArray  # (k,)
    matrix: FloatArray | None  # (k, k), costs by class
    by_row: FloatArray | None  # (n, k), costs by row
    decides: bool = False  # scores are expected costs, with a minus sign


def class_fitness(
    scoring: Any, rows: ValidationRows, known: ValidationClasses, smoothing: float
) -> Fitness:
    """Return the fitness of scores of classes; None stands for the error of (21)."""
    name = "accuracy" if scoring is None else scoring
    metric = get_metric(name)
    if metric.uses_cost and known.by_row is not None:
        if name != "mean_cost":
            raise ValueError(
                f"scoring must be 'mean_cost' where costs are known by row, got {name!r}; both "
                "put candidates in the same order"
            )
        return RowCostFitness(known.codes, known.by_row, rows.weight, smoothing)
    counted = metric.confusion_metric(known.classes, known.matrix)
    if counted is not None:
        return ConfusionFitness(known.codes, len(known.classes), rows.weight, counted, smoothing)
    scored = ScorerFitness(name, rows, known)
    return scored if known.decides else _tie_breaking(scored, rows, smoothing)


@dataclass(frozen=True, slots=True)
class ConstantFitness:
    """The fitness of whatever decisions where they do not matter."""

    value: float

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the same value for every candidate."""
        return np.full(len(Z), self.value)


def probability_score(
    scoring: Any, rows: ValidationRows, P: FloatArray, classes: AnyArray
) -> float:
    """Return the score of probabilities (n, k) of rows."""
    known = ValidationClasses(np.searchsorted(classes, rows.y), classes, None, None)
    scored = ScorerFitness(scoring, replace(rows, T=None), known)
    return float(scored(np.log(np.maximum(P, np.finfo(float).tiny))[np.newaxis])[0])


def target_fitness(scoring: Any, rows: ValidationRows, smoothing: float) -> Fitness:
    """Return the fitness of real predictions; None stands for the mean absolute error."""
    name = "neg_mean_absolute_error" if scoring is None else scoring
    size = get_metric(name).from_residuals
    if size is not None and rows.T is not None:
        return ErrorFitness(rows.T, rows.weight, size)
    return _tie_breaking(ScorerFitness(name, rows, None), rows, smoothing)


def _tie_breaking(fitness: Fitness, rows: ValidationRows, smoothing: float) -> Fitness:
    if smoothing == 0 or rows.T is None:
        return fitness
    return TieBreakingFitness(fitness, rows.T, rows.weight)


class ScorerFitness:
    """Any scorer of scikit-learn's kind, called with a model of known predictions.

    The predictions of all splits are scored together, so that a class missing from one
    split does no harm.
    """

    def __init__(self, scoring: Any, rows: ValidationRows, known: ValidationClasses | None) -> None:
        self._scoring, self._scorer = scoring, get_scorer(scoring)
        self._rows, self._known = rows, known
        self._options = {}
        function = getattr(self._scorer, "_score_func", None)
        takes = {} if function is None else inspect.signature(function).parameters
        if rows.weight is not None and "sample_weight" in takes:
            self._options = {"sample_weight": rows.weight}

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the score (P,) of every candidate."""
        return np.array([self._score(scores) for scores in Z], dtype=np.float64)

    def _score(self, Z: FloatArray) -> float:
        rows, known = self._rows, self._known
        model: Any
        if known is None:
            model = RecallingRegressor(rows.X, Z if np.ndim(rows.y) > 1 else Z[:, 0])
        else:
            model = RecallingClassifier(rows.X, Z, known.classes, rows.T, known.decides)
        try:
            value = self._scorer(model, rows.X, rows.y, **self._options)
        except ValueError as error:
            raise ValueError(
                f"scoring must be able to judge these rows, got {self._scoring!r}: {error}"
            ) from error
        if np.ndim(value) or isinstance(value, dict):
            raise ValueError(f"scoring must return one number, got {value!r}")
        return float(value)


class RecallingRegressor(RegressorMixin, BaseEstimator):
    """A fitted model that knows the predictions of one set of rows only."""

    def __init__(self, X: Any, predictions: Any) -> None:
        self.X, self.predictions = X, predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the known predictions."""
        _check_same(X, self.X)
        return self.predictions


class RecallingClassifier(ClassifierMixin, BaseEstimator):
    """A fitted model that knows the scores of one set of rows only."""

    def __init__(
        self, X: Any, Z: FloatArray, classes: AnyArray, T: FloatArray | None, decides: bool = False
    ) -> None:
        self.X, self.Z, self.classes, self.T, self.decides = X, Z, classes, T, decides

    @property
    def classes_(self) -> AnyArray:
        """Return the classes."""
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores, in one column for two classes."""
        Z = self._columns(X)
        return Z[:, 1] - Z[:, 0] if len(self.classes) == 2 else Z

    def predict(self, X: Any) -> AnyArray:
        """Return the class of the largest score."""
        return self.classes[self._columns(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities with the slope that the residuals give."""
        Z = self._columns(X)
        if self.decides:
            raise ValueError(
                "it asks for probabilities, which costs of decisions do not change; costs that "
                "weight the training rows do"
            )
        if self.T is None:  # logarithms of probabilities, or a decision function
            P = np.exp(Z)
            return P if np.allclose(P.sum(axis=1), 1.0) else softmax_probabilities(Z, 1.0)
        return softmax_probabilities(Z, residual_slope(self.Z, self.T, len(self.classes)))

    def _columns(self, X: Any) -> FloatArray:
        _check_same(X, self.X)
        return np.hstack([-self.Z, self.Z]) if self.Z.shape[1] == 1 else self.Z


def _check_same(X: Any, known: Any) -> None:
    if X is not known:
        raise ValueError("scoring must ask for predictions of the rows it was given, unchanged")
