"""The small data sets of the golden record, five with classes and five with real targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to be asked about, with what some estimators take besides.

    Everything is a function of the rows' positions, so that a configuration needs no random
    numbers of its own.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def classes(self) -> list[Any]:
        """Return the labels in order, as Python's own values."""
        return np.unique(self.y).tolist()

    @property
    def cost(self) -> dict[Any, float]:
        """Return costs in which two confusions are dear, unequally so."""
        first, last = self.classes[0], self.classes[-1]
        return {(first, last): 5.0, (last, first): 2.0}

    @property
    def weights(self) -> np.ndarray:
        """Return weights of the rows, some of them 0."""
        return np.arange(len(self.y)) % 4 * 0.75

    @property
    def groups(self) -> np.ndarray:
        """Return labels of groups of four rows each."""
        return np.arange(len(self.y)) // 4

    @property
    def row_costs(self) -> np.ndarray:
        """Return a positive cost of every row."""
        return 1.0 + np.arange(len(self.y)) % 5

    @property
    def prediction_costs(self) -> np.ndarray:
        """Return what each class costs as the prediction for each row, shape (N, k)."""
        k = len(self.classes)
        costs = 1.0 + (np.arange(len(self.y))[:, np.newaxis] + 2 * np.arange(k)) % 7
        return np.where(self.y[:, np.newaxis] == np.array(self.classes), 0.0, costs)


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Two classes with text for labels, inputs of very unequal scales."""
    bunch = load_breast_cancer()
    return bunch.data, bunch.target_names[bunch.target]


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Three equal classes with text for labels; some rows are equal."""
    bunch = load_iris()
    return bunch.data, bunch.target_names[bunch.target]


def wine() -> tuple[np.ndarray, np.ndarray]:
    """Three classes."""
    return load_wine(return_X_y=True)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Ten classes in few rows; some inputs are constant."""
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def imbalanced() -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes, one of which is rare."""
    return make_classification(
        800, 8, n_informative=5, weights=[0.9], flip_y=0.05, class_sep=0.7, random_state=0
    )


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """One target."""
    return load_diabetes(return_X_y=True)


def diabetes_logarithm() -> tuple[np.ndarray, np.ndarray]:
    """One target of another scale, four inputs."""
    X, y = diabetes()
    return X[:, :4], np.log(y)


def diabetes_rounded() -> tuple[np.ndarray, np.ndarray]:
    """One target with many ties."""
    X, y = diabetes()
    return X, np.round(y / 50)


def diabetes_pair() -> tuple[np.ndarray, np.ndarray]:
    """Two targets."""
    X, y = diabetes()
    return X[:, 1:], np.column_stack([y / 100, X[:, 0] * 10])


def friedman() -> tuple[np.ndarray, np.ndarray]:
    """One target that is no linear function of the inputs."""
    return make_friedman1(600, 6, noise=0.5, random_state=0)


CLASSES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    made.__name__: made for made in (breast_cancer, iris, wine, digits, imbalanced)
}
TARGETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    made.__name__: made
    for made in (diabetes, diabetes_logarithm, diabetes_rounded, diabetes_pair, friedman)
}


@cache
def load(name: str) -> Split:
    """Return a data set by name, three quarters of its rows to learn from."""
    X, y = {**CLASSES, **TARGETS}[name]()
    stratify = y if name in CLASSES else None
    X, X_test, y, y_test = train_test_split(X, y, stratify=stratify, random_state=0)
    for values in (X, X_test, y, y_test):
        values.flags.writeable = False  # one copy serves all configurations
    return Split(X, y, X_test, y_test)
