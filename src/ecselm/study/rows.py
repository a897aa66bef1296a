"""Rows with their targets, and their split into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm._wording import listed
from ecselm.costs.parse import numbers
from ecselm.estimators._base import class_codes
from ecselm.fitness import holdout
from ecselm.fitness.folds import Groups, read_groups
from ecselm.tables.schema import Task


@dataclass(frozen=True, slots=True)
class TargetedRows:
    """Rows with their targets, and the codes of their classes."""

    X: Any
    y: AnyArray
    codes: IntArray  # (N,), all 0 for regression
    classes: AnyArray  # (k,), empty for regression
    groups: Any = None  # (N,) labels of rows that belong together
    sample_cost: FloatArray | None = None  # (N, k, k), where costs are known by row
    by: Any = None  # Series of the values by which results are grouped

    def taken(self, positions: IntArray) -> TargetedRows:
        """Return some of the rows."""
        return replace(
            self,
            X=safe_indexing(self.X, positions),
            y=self.y[positions],
            codes=self.codes[positions],
            groups=None if self.groups is None else safe_indexing(self.groups, positions),
            sample_cost=None if self.sample_cost is None else self.sample_cost[positions],
            by=None if self.by is None else self.by.iloc[positions],
        )

    @property
    def counts(self) -> list[int]:
        """Return the number of rows of each class."""
        k = len(self.classes)
        return np.bincount(self.codes, minlength=k).tolist() if k else []


def read_rows(X: Any, y: Any, task: Task, groups: Any = None) -> TargetedRows:
    """Return validated rows and targets.

    Examples
    --------
    >>> read_rows([[1.0], [2.0], [3.0]], ["well", "ill", "well"], "classes").counts
    [1, 2]
    """
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y, groups)
    if task == "numbers":
        one_level = np.zeros(len(y), dtype=np.intp)
        return TargetedRows(X, numbers(y, "y"), one_level, np.array([]), groups)
    classes, codes = class_codes(y)
    return TargetedRows(X, classes[codes], codes, classes, groups)


@dataclass(frozen=True, slots=True)
class TrainTestSplit:
    """Positions of training and test rows, and notes for the card."""

    train: IntArray
    test: IntArray
    notes: tuple[str, ...] = ()


def split_rows(
    X: Any,
    codes: IntArray,
    names: AnyArray,
    *,
    share: float,
    rng: np.random.Generator,
    groups: Any = None,
) -> TrainTestSplit:
    """Draw a share of the rows of every class as test rows.

    Rows that are equal, or of one group, stay together; a class that cannot give a row
    without losing its last one stays with the training rows, and has a note.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    codes : array of shape (N,)
        Positions in ``names``; all 0 for regression.
    names : array of shape (k,)
        The classes.
    share : float
        Between 0 and 1.
    rng : numpy.random.Generator
    groups : array of shape (N,), default=None
        Labels of rows that belong together, such as those of a patient.

    Examples
    --------
    >>> X, codes = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1], [8, 1])
    >>> split = split_rows(X, codes, np.array(["well", "ill"]), share=0.25,
    ...                    rng=np.random.default_rng(0))
    >>> len(split.train), len(split.test), split.notes
    (7, 2, ('No test row of ill: every class keeps rows to train on.',))
    """
    if not 0 < share < 1:
        raise ValueError(f"test_share must lie between 0 and 1, got {share}")
    together = read_groups(groups, len(codes), None)
    inputs = X if sparse.issparse(X) else np.asarray(X)
    (drawn,) = holdout(inputs, codes, share, rng, None if together is None else together.codes)
    is_test = np.zeros(len(codes), dtype=bool)
    is_test[drawn.test] = True
    is_test &= ~_last_of_class(is_test, codes, together)
    if not is_test.any():
        raise ValueError(
            f"held-out must leave rows to evaluate on, got {share} of {len(codes)} rows whose "
            "classes or groups cannot be split"
        )
    notes = _notes(codes[is_test], names) if len(names) > 1 else ()
    return TrainTestSplit(np.flatnonzero(~is_test), np.flatnonzero(is_test), notes)


def _last_of_class(is_test: BoolArray, codes: IntArray, groups: Groups | None) -> BoolArray:
    """Return the test rows whose class would have none to train on, with their groups.

    That can happen only to classes that share all their groups with rarer ones.
    """
    missing = np.setdiff1d(codes[is_test], codes[~is_test])
    rows = is_test & np.isin(codes, missing)
    return rows if groups is None else np.isin(groups.codes, groups.codes[rows])


def _notes(test_codes: IntArray, names: AnyArray) -> tuple[str, ...]:
    without = [str(names.tolist()[c]) for c in np.setdiff1d(np.arange(len(names)), test_codes)]
    if not without:
        return ()
    return (f"No test row of {listed(without)}: every class keeps rows to train on.",)
