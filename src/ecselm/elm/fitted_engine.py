"""Scores of the judged rows by any classifier that takes sample weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.objectives import Candidates, CostedRows, Split

LEAST_PROBABILITY = np.finfo(np.float64).eps  # as in the log loss of scikit-learn


@dataclass(frozen=True, slots=True)
class FittedEngine:
    """Fit a clone for every candidate and split; a candidate is a vector of weights.

    There is no C for an estimator of any kind: the one of a candidate scales its weights.
    """

    estimator: Any
    X: Any
    y: AnyArray  # labels
    classes: AnyArray
    rows: CostedRows
    splits: list[Split]
    n_jobs: int | None

    def __str__(self) -> str:
        return f"{type(self.estimator).__name__}, fitted for every candidate"

    def batch(self, n_candidates: int) -> int:
        """Return all: they are shared out here."""
        return n_candidates

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, k), the splits one after the other."""
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(split_scores)(
                self.estimator, self.X, self.y, self.classes, self.rows.vector(C * costs), split
            )
            for costs, C in zip(candidates.costs, candidates.C, strict=True)
            for split in self.splits
        )
        n = len(self.splits)
        return np.stack([np.concatenate(parts[i : i + n]) for i in range(0, len(parts), n)])


def split_probabilities(
    estimator: Any,
    X: Any,
    y: AnyArray,
    classes: AnyArray,
    weights: FloatArray | None,
    split: Split,
) -> FloatArray:
    """Fit on the rows of the split, and return probabilities of those it judges by."""
    model = _split_model(estimator, X, y, weights, split)
    return class_probabilities(model, safe_indexing(X, split.test), classes)


def split_scores(
    estimator: Any,
    X: Any,
    y: AnyArray,
    classes: AnyArray,
    weights: FloatArray | None,
    split: Split,
) -> FloatArray:
    """Fit on the rows of the split, and return the scores of those it judges by."""
    model = _split_model(estimator, X, y, weights, split)
    return class_scores(model, safe_indexing(X, split.test), classes)


def _split_model(
    estimator: Any, X: Any, y: AnyArray, weights: FloatArray | None, split: Split
) -> Any:
    kept = None if weights is None else weights[split.train]
    return fitted(estimator, safe_indexing(X, split.train), y[split.train], kept)


def fitted(estimator: Any, X: Any, y: AnyArray, weights: FloatArray | None) -> Any:
    """Return a clone, fitted."""
    options = {} if weights is None else {weight_parameter(estimator): weights}
    return clone(estimator).fit(X, y, **options)


def weight_parameter(estimator: Any) -> str:
    """Return the name under which ``fit`` takes sample weights, or refuse the estimator."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if get_config()["enable_metadata_routing"]:
        if get_routing_for_object(estimator).consumes("fit", ["sample_weight"]):
            return "sample_weight"
    elif isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    raise ValueError(
        "estimator must take sample_weight in fit (with metadata routing: request it), got "
        f"{estimator!r}; with cost_level='decision' it need not"
    )


def class_scores(model: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Return one column per class, whose largest is the class that the model predicts.

    Logarithms of probabilities if the model has any, else its decision function.
    """
    if hasattr(model, "predict_proba"):
        P = class_probabilities(model, X, classes)
        Z = np.log(np.maximum(P, LEAST_PROBABILITY))
    elif hasattr(model, "decision_function"):
        D = np.asarray(model.decision_function(X), dtype=np.float64)
        Z = _by_class(np.column_stack([-D, D]) if D.ndim == 1 else D, model, classes, D.min() - 1.0)
    else:
        Z = np.zeros((np.shape(X)[0], len(classes)))
    winners = np.searchsorted(classes, model.predict(X))
    rows = np.flatnonzero(Z.argmax(axis=1) != winners)
    Z[rows, winners[rows]] = Z[rows].max(axis=1) + 1e-9  # ties, and machines that vote
    return Z


def class_probabilities(model: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Return probabilities (n, k), 0 for classes the model has never seen."""
    P = np.asarray(model.predict_proba(X), dtype=np.float64)
    if len(model.classes_) == 1:  # some answer with two columns even so
        P = np.ones((len(P), 1))
    return _by_class(P, model, classes, 0.0)


def _by_class(values: FloatArray, model: Any, classes: AnyArray, unseen: float) -> FloatArray:
    """Return the columns of ``values`` in the order of all classes."""
    columns: IntArray = np.searchsorted(classes, model.classes_)
    every = np.full((len(values), len(classes)), unseen)
    # One-versus-one scores have no column per class: predictions alone count then.
    every[:, columns] = values if values.shape[1] == len(columns) else 0.0
    return every
