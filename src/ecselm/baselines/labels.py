"""Labelled rows as the compared classifiers take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ecselm._sklearn import check_weights
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.elm.labels import class_codes


@dataclass(frozen=True, slots=True)
class Labelled:
    """N rows, the position of their class in ``classes``, and their weights, if any."""

    X: Matrix  # (N, n)
    y: IntArray  # (N,), in 0..k-1
    classes: AnyArray  # (k,), sorted
    weight: FloatArray | None = None  # (N,), >= 0

    @property
    def n_classes(self) -> int:
        """Return k."""
        return len(self.classes)

    @property
    def one_hot(self) -> FloatArray:
        """Return the indicators (N, k) of the classes."""
        return np.eye(self.n_classes)[self.y]

    def counts(self) -> FloatArray:
        """Return the number of rows of every class."""
        return np.bincount(self.y, minlength=self.n_classes).astype(np.float64)


def read_labels(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, sparse: bool = True
) -> Labelled:
    """Return what ``fit`` was given, checked; ``estimator`` learns its number of features."""
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        order="C",
    )
    weight = check_weights(sample_weight, X)
    classes, codes = class_codes(y, weight)
    return Labelled(X, codes, classes, weight)


def read_rows(estimator: Any, X: Any, *, sparse: bool = True) -> Matrix:
    """Return rows to predict, checked against those of ``fit``."""
    return validate_data(
        estimator,
        X,
        reset=False,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        order="C",
    )


def margins(scores: FloatArray) -> FloatArray:
    """Return scores (N, k) as scikit-learn's ``decision_function`` gives them.

    Two classes become one column, positive where it speaks for the second.
    """
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
