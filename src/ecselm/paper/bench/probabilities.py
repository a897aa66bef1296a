"""Probabilities of all classes from fitted models, and their log loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from ecselm._typing import FloatArray, IntArray

FLOOR = 1e-6  # least probability, so that no single row dominates the mean
WEAK = 1e6  # penalty C of the sigmoids, whose targets keep them finite


def log_loss(probabilities: FloatArray, y: IntArray) -> float:
    """Return the mean negative logarithm of the probability of the true class.

    Probabilities are raised to 1e-6 at least and divided by their sum.

    Parameters
    ----------
    probabilities : array of shape (n, k)
    y : array of shape (n,)
        Positions of the true classes.

    Examples
    --------
    >>> round(log_loss(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 0])), 4)
    0.3993
    """
    clipped = np.maximum(probabilities, FLOOR)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return float(-np.log(clipped[np.arange(len(y)), y]).mean())


def has_probabilities(model: Any) -> bool:
    """Tell whether a model returns probabilities, or decision values only."""
    return hasattr(model, "predict_proba")


def class_values(model: Any, X: FloatArray, n_classes: int) -> FloatArray:
    """Return a value (n, k) of every class: its probability, or else its decision value.

    Classes that the model was not trained on have the probability 0, or the least decision
    value of the row.

    Parameters
    ----------
    model : classifier
        Trained on classes out of 0..k-1.
    X : array of shape (n, d)
    n_classes : int
    """
    known = np.asarray(model.classes_, dtype=np.intp)
    if has_probabilities(model):
        found = np.asarray(model.predict_proba(X), dtype=np.float64)
        values = np.zeros((len(X), n_classes))
    else:
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        values = np.repeat(found.min(axis=1, keepdims=True), n_classes, axis=1)
    if not np.isfinite(found).all():
        raise ValueError("the values of a model must be finite, got others")
    values[:, known] = found
    return values


@dataclass(frozen=True, slots=True, eq=False)
class Sigmoids:
    """A logistic curve from the decision values of every class to its probability.

    Parameters
    ----------
    slopes, offsets : array of shape (k,)
    """

    slopes: FloatArray
    offsets: FloatArray

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return probabilities (n, k) that sum to 1."""
        each = 1.0 / (1.0 + np.exp(-np.clip(self.slopes * values + self.offsets, -500.0, 500.0)))
        return each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)


def fit_sigmoids(values: FloatArray, y: IntArray) -> Sigmoids:
    """Return sigmoids fitted class by class to decision values of rows not trained on.

    Targets are Platt's (1999): (p + 1) / (p + 2) for the p rows of the class and
    1 / (n - p + 2) for the others, which keeps the curves finite for separable classes.

    Parameters
    ----------
    values : array of shape (n, k)
    y : array of shape (n,)
        Positions of the true classes.
    """
    k = values.shape[1]
    slopes, offsets = np.zeros(k), np.zeros(k)
    labels = np.repeat([1, 0], len(y))
    for j in range(k):
        own = y == j
        targets = np.where(own, (own.sum() + 1.0) / (own.sum() + 2.0), 1.0 / ((~own).sum() + 2.0))
        model = LogisticRegression(C=WEAK)
        column = values[:, j, np.newaxis]
        spread = float(column.std()) or 1.0  # lbfgs needs inputs of about this size
        weights = np.concatenate([targets, 1.0 - targets])
        model.fit(np.vstack([column, column]) / spread, labels, sample_weight=weights)
        slopes[j], offsets[j] = model.coef_[0, 0] / spread, model.intercept_[0]
    return Sigmoids(slopes, offsets)
