"""Fewer and fewer cases of the minority, on data that have enough of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.bench.cases import BenchCase
from ecselm.paper.bench.plan import KnownCase, known_case
from ecselm.paper.datasets import Dataset

SIZES = (5, 10, 17, 30, 50)
LEAST = 60  # minority rows of a training fold, so that 50 of them are a draw


def minority_of(y: AnyArray) -> int:
    """Return the class of fewest rows, the first of several.

    Examples
    --------
    >>> int(minority_of(np.array([0, 0, 1, 0])))
    1
    """
    classes, counts = np.unique(y, return_counts=True)
    found: int = classes[counts.argmin()]
    return found


def is_suited(data: Dataset) -> bool:
    """Tell whether there are two classes, and 60 rows of the minority in each training fold.

    Examples
    --------
    >>> fold = np.arange(200), np.arange(200)
    >>> y = np.repeat([0, 1], [140, 60])
    >>> is_suited(Dataset("made", np.zeros((200, 1)), y, "Made here.", y[[0, -1]], folds=(fold,)))
    True
    """
    if len(data.counts) != 2 or not data.folds:
        return False
    rare = data.y == minority_of(data.y)
    return min(int(rare[train].sum()) for train, _ in data.folds) >= LEAST


def thinned_minority(rows: IntArray, y: AnyArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return the rows with ``size`` of those of the minority.

    Equal generators draw nested rows: the five are among the ten.

    Parameters
    ----------
    rows : array of shape (n,)
    y : array
        Classes of all rows of the data.
    size : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1])
    >>> few, more = (
    ...     thinned_minority(np.arange(7), y, size, np.random.default_rng(0)) for size in (1, 2)
    ... )
    >>> len(few), len(more), set(few) <= set(more)
    (5, 6, True)
    """
    rare = y[rows] == minority_of(y)
    kept = rng.permutation(rows[rare])[:size]
    return np.sort(np.concatenate([rows[~rare], kept]))


def suited_cases(cases: Sequence[BenchCase], seed: int) -> list[KnownCase]:
    """Return the cases that have enough rows of the minority, or refuse them all."""
    found = [known_case(case, seed) for case in cases if is_suited(case.case.load())]
    if not found:
        names = ", ".join(case.name for case in cases)
        raise ValueError(
            f"sets must have two classes and at least {LEAST} rows of the minority in each "
            f"training fold, got {names}"
        )
    return found
