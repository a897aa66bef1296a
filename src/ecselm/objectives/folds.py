"""Which rows a candidate is trained on, and which it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import IntArray, Matrix
from ecselm.objectives.dealing import deal, draw_dealing


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the rows to train on and of the rows to judge by."""

    train: IntArray
    test: IntArray


def is_every_row(positions: IntArray, n_rows: int) -> bool:
    """Tell whether positions are all of ``n_rows`` rows in their order: nothing need be taken.

    Examples
    --------
    >>> is_every_row(np.array([0, 1, 2]), 3), is_every_row(np.array([0, 1, 1]), 3)
    (True, False)
    """
    return len(positions) == n_rows and bool((np.diff(positions) == 1).all())


def every_row(n_rows: int) -> list[Split]:
    """Judge by the training rows themselves, as (21) is printed."""
    rows = np.arange(n_rows)
    return [Split(rows, rows)]


def folds(
    X: Matrix,
    y: IntArray,
    n_folds: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge every row by a machine trained without its fold, and so without its group."""
    parts = deal(X, y, n_folds, rng, groups)
    return _splits([parts == part for part in range(n_folds)])


def holdout(
    X: Matrix,
    y: IntArray,
    fraction: float,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge by a share of the distinct rows or groups of each class, which nobody trains on.

    A class with two of them or more gives at least one, and keeps at least one.
    """
    keys, homes, dealing = draw_dealing(X, y, rng, groups)
    return _splits([dealing.set_aside(keys, homes, fraction)])


def _splits(tests: list[np.ndarray]) -> list[Split]:
    """Return splits by masks, without those that leave nothing to train on or to judge by."""
    splits = [Split(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]
    usable = [split for split in splits if len(split.train) and len(split.test)]
    if not usable:
        raise ValueError(
            "some rows must be left to train on and others to judge by, got too few distinct rows "
            f"or groups of a class for that: n_samples={len(tests[0])}"
        )
    return usable
