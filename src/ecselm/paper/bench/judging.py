"""Answers to numbers, the same on rows left out in a choice and on rows of a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.metrics import get_metric
from ecselm.paper.datasets import Dataset
from ecselm.paper.protocols.judges import known_classes

DIGITS = 12  # candidates that differ by rounding only are equal


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows with their classes and, where they are stated, costs."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,), in 0..k-1
    n_classes: int
    matrix: FloatArray | None = None  # (k, k), costs by class
    by_row: FloatArray | None = None  # (n, k), costs by row

    def part(self, rows: IntArray) -> Labelled:
        """Return some of the rows."""
        by_row = None if self.by_row is None else self.by_row[rows]
        return Labelled(self.X[rows], self.y[rows], self.n_classes, self.matrix, by_row)

    def scaled(self, before: Any) -> Labelled:
        """Return the rows as a fitted transformer leaves them."""
        X = before.transform(self.X)
        return Labelled(X, self.y, self.n_classes, self.matrix, self.by_row)

    @property
    def stated_by_row(self) -> FloatArray | None:
        """Return the costs (n, c) by row of the c classes that occur, if they are stated."""
        return None if self.by_row is None else self.by_row[:, np.unique(self.y)]

    @property
    def stated_by_class(self) -> FloatArray:
        """Return the costs (c, c) of the classes that occur, means over their rows if need be."""
        present = np.unique(self.y)
        if self.by_row is not None:
            means = [self.by_row[self.y == label].mean(axis=0) for label in present]
            return np.vstack(means)[:, present]
        return self._matrix[np.ix_(present, present)]

    @property
    def decisions(self) -> FloatArray:
        """Return what every answer (n, k) would cost."""
        return self._matrix[self.y] if self.by_row is None else self.by_row

    @property
    def _matrix(self) -> FloatArray:
        return 1.0 - np.eye(self.n_classes) if self.matrix is None else self.matrix


def labelled(data: Dataset) -> Labelled:
    """Return all rows of a data set, classes by their position."""
    classes = known_classes(data)
    y = np.searchsorted(classes, data.y)
    return Labelled(data.X, y, len(classes), data.cost, data.sample_cost)


def scores(
    target: str,
    answers: Sequence[IntArray] | AnyArray,
    truth: Labelled,
    shares: FloatArray | None = None,
) -> FloatArray:
    """Return how good each of several answers (P, n) is; greater is better.

    Parameters
    ----------
    target : str
        ``"mean_cost"``, which comes with a minus sign, or a metric of confusion matrices.
    answers : array of shape (P, n)
    truth : Labelled
    shares : array of shape (k,) or None, default=None
        Of the classes, as if the rows had them; None is as they are.

    Examples
    --------
    >>> truth = Labelled(np.zeros((4, 1)), np.array([0, 0, 1, 1]), 2)
    >>> scores("accuracy", np.array([[0, 0, 1, 0], [0, 0, 1, 1]]), truth)
    array([0.75, 1.  ])
    """
    told = np.atleast_2d(np.asarray(answers))
    if target == "mean_cost":
        costs = truth.decisions
        return -np.round([costs[np.arange(len(row)), row].mean() for row in told], DIGITS)
    k = truth.n_classes
    counts = np.stack([np.bincount(truth.y * k + row, minlength=k * k) for row in told])
    matrices = counts.reshape(-1, k, k).astype(np.float64)
    if shares is not None:
        matrices *= (shares / np.maximum(np.bincount(truth.y, minlength=k), 1))[:, np.newaxis]
    metric = get_metric(target).confusion_metric(np.arange(k))
    if metric is None:
        raise ValueError(f"target must be a metric of confusion matrices, got {target!r}")
    return np.round(metric(matrices), DIGITS)
