"""Levels of costs: by class, by confusion, or by row.

A search works on E cost entries. Their level maps classes and confusions to entries,
entries to the cost of each group of rows (12), and entries to a cost matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray


class CostLevel(Protocol):
    """Layout of E cost entries."""

    @property
    def n_entries(self) -> int:
        """Return E."""

    def names(self, classes: AnyArray) -> list[str]:
        """Return the name of every entry."""

    def entries_of(self, truth: int, predicted: int | None) -> list[int]:
        """Return the entries of a confusion, or of every mistake on the class ``truth``."""

    def from_class_costs(self, by_class: FloatArray) -> FloatArray:
        """Return the entries (E,) of costs (k,) that depend on the true class only."""

    def group_costs(self, entries: FloatArray) -> FloatArray:
        """Return the costs of the groups of rows (P, g) for entries (P, E)."""


@dataclass(frozen=True, slots=True)
class ClassLevel:
    """One cost per true class: D = k."""

    n_classes: int

    @property
    def n_entries(self) -> int:
        """Return k."""
        return self.n_classes

    def names(self, classes: AnyArray) -> list[str]:
        """Return the classes."""
        return [f"{label!r}" for label in classes.tolist()]

    def entries_of(self, truth: int, predicted: int | None) -> list[int]:
        """Return the class; a confusion of two classes is the one mistake on its true class."""
        if predicted is not None and self.n_classes > 2:
            raise ValueError(
                "costs of single confusions must be searched with cost_level='matrix' where "
                f"there are more than two classes, got a pair and {self.n_classes} classes"
            )
        return [truth]

    def from_class_costs(self, by_class: FloatArray) -> FloatArray:
        """Return a copy of the costs."""
        return by_class.copy()

    def group_costs(self, entries: FloatArray) -> FloatArray:
        """Return the entries: the groups are the classes."""
        return entries


@dataclass(frozen=True, slots=True)
class MatrixLevel:
    """One cost per confusion: D = k (k - 1).

    Rows are weighted by (12) with ``W = I``, since the search can absorb W, and with the
    mean over classes instead of the sum: ``B_i = sum_j M[y_i, j] / (k - 1)``. A matrix of
    ones then gives B = 1 for any class counts.
    """

    n_classes: int

    @property
    def n_entries(self) -> int:
        """Return k (k - 1)."""
        return self.n_classes * (self.n_classes - 1)

    @property
    def _places(self) -> tuple[IntArray, IntArray]:
        truth, predicted = np.nonzero(~np.eye(self.n_classes, dtype=bool))
        return truth, predicted

    def names(self, classes: AnyArray) -> list[str]:
        """Return the confusions."""
        labels = classes.tolist()
        return [
            f"{labels[i]!r} taken for {labels[j]!r}" for i, j in zip(*self._places, strict=True)
        ]

    def entries_of(self, truth: int, predicted: int | None) -> list[int]:
        """Return the entry of a confusion, or all entries of a true class."""
        rows, columns = self._places
        wanted = rows == truth if predicted is None else (rows == truth) & (columns == predicted)
        return [int(i) for i in np.flatnonzero(wanted)]

    def from_class_costs(self, by_class: FloatArray) -> FloatArray:
        """Return the costs, equal for all mistakes on a class."""
        return by_class[self._places[0]]

    def entries(self, matrix: FloatArray) -> FloatArray:
        """Return the entries (E,) of a matrix (k, k)."""
        return matrix[self._places]

    def matrices(self, entries: FloatArray) -> FloatArray:
        """Return the matrices (P, k, k) of entries (P, E)."""
        M = np.zeros((len(entries), self.n_classes, self.n_classes))
        M[:, *self._places] = entries
        return M

    def group_costs(self, entries: FloatArray) -> FloatArray:
        """Return the mean over the mistakes on every class (12)."""
        return self.matrices(entries).sum(axis=2) / (self.n_classes - 1)


@dataclass(frozen=True, slots=True)
class SampleLevel:
    """One cost per row, as in the paper: D = N. ``y`` holds the classes of the rows."""

    y: IntArray  # (N,)

    @property
    def n_entries(self) -> int:
        """Return N."""
        return len(self.y)

    def names(self, classes: AnyArray) -> list[str]:
        """Return the rows."""
        labels = classes.tolist()
        return [f"row {i} of class {labels[c]!r}" for i, c in enumerate(self.y)]

    def entries_of(self, truth: int, predicted: int | None) -> list[int]:
        """Return the rows of the class."""
        return [int(i) for i in np.flatnonzero(self.y == truth)]

    def from_class_costs(self, by_class: FloatArray) -> FloatArray:
        """Return the cost of every row."""
        return by_class[self.y]

    def group_costs(self, entries: FloatArray) -> FloatArray:
        """Return the entries: every row is a group."""
        return entries
