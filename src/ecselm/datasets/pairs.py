"""Pairs of pictures: the same person, or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.datasets.dataset import Dataset, leave_fold_out


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """Pictures by their descriptors, and pairs of them in folds.

    Parameters
    ----------
    name : str
    descriptors : array of shape (n, d)
        A row per picture.
    eigenvalues : array of shape (d,)
        The variances of the columns where they were fitted, on pictures in no pair.
    pairs : array of shape (P, 2)
        Positions of pictures.
    same : array of shape (P,)
        1 for the same person, 0 for two.
    fold : array of shape (P,)
        From 0.
    source : str
    images : tuple of str
        Names of the pictures; empty where there are none.
    synthetic : bool, default=False

    Examples
    --------
    >>> import numpy as np
    >>> pairs = PairSet(
    ...     "tiny", np.eye(3), np.ones(3), np.array([[0, 1], [1, 2]]), np.array([1, 0]),
    ...     np.array([0, 1]), "Made here.",
    ... )
    >>> pairs.dataset().X.shape
    (2, 2, 3)
    """

    name: str
    descriptors: FloatArray
    eigenvalues: FloatArray
    pairs: IntArray
    same: IntArray
    fold: IntArray
    source: str
    images: tuple[str, ...] = ()
    synthetic: bool = False

    def __post_init__(self) -> None:
        n = len(self.descriptors)
        if self.pairs.size and not (self.pairs.min() >= 0 and self.pairs.max() < n):
            raise ValueError(
                f"pairs must be positions of the {n} pictures, 0 to {n - 1}, got "
                f"{self.pairs.min()} to {self.pairs.max()}"
            )
        if not np.isin(self.same, (0, 1)).all():
            raise ValueError(f"same must be 0 or 1, got {np.unique(self.same)}")
        if (self.eigenvalues <= 0).any():
            raise ValueError(f"eigenvalues must be > 0, got {self.eigenvalues.min()}")

    def dataset(self, *, whiten: bool = False) -> Dataset:
        """Return the pairs as ``X`` (P, 2, d), for :mod:`ecselm.pairs`, with their folds.

        ``whiten`` divides every column by the root of its eigenvalue.
        """
        rows = self.descriptors / np.sqrt(self.eigenvalues) if whiten else self.descriptors
        return pair_dataset(
            self.name, rows[self.pairs], self.same, self.fold, self.source, self.synthetic
        )

    def summary(self) -> str:
        """Return a paragraph that says what the pairs are and where they come from."""
        marks = "SYNTHETIC, " if self.synthetic else ""
        return (
            f"{self.name}: {marks}{len(self.pairs)} pairs of {len(self.descriptors)} pictures "
            f"with {self.descriptors.shape[1]} features; {int(self.same.sum())} of the same "
            f"person; {len(np.unique(self.fold))} folds. {self.source}"
        )


def pair_dataset(
    name: str, X: AnyArray, same: IntArray, fold: IntArray, source: str, synthetic: bool = False
) -> Dataset:
    """Return pairs, in whatever form, as a data set of two classes with folds."""
    return Dataset(
        name,
        np.asarray(X, dtype=np.float64),
        np.asarray(same, dtype=np.intp),
        source,
        np.array([0, 1]),
        folds=leave_fold_out(fold),
        class_names=("different", "same"),
        synthetic=synthetic,
    )
