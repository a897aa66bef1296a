"""From ``fitness`` to the rows that candidates are trained on and judged by.

No estimator takes rows to judge by from outside: they are always a part of the rows that
``fit`` is given, so test rows cannot reach a choice.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, IntArray, Matrix
from ecselm.elm.groups import Groups
from ecselm.objectives import Split, every_row, folds, holdout

N_FOLDS = 5


def fitness_splits(
    fitness: Any,
    X: Matrix,
    codes: IntArray,
    y: AnyArray,
    fraction: float,
    rng: np.random.Generator,
    groups: Groups | None = None,
) -> list[Split] | None:
    """Return the splits, None for leave-one-out.

    ``codes`` are the classes that folds are dealt by, ``y`` what a splitter is shown. Rows
    of one group are on one side of every split.
    """
    together = None if groups is None else groups.codes
    if isinstance(fitness, str):
        if fitness == "loo":
            return None
        if fitness == "train":
            return every_row(len(codes))
        if fitness == "holdout":
            return holdout(X, codes, fraction, rng, together)
        return folds(X, codes, N_FOLDS, rng, together)
    if isinstance(fitness, Integral):
        return folds(X, codes, int(fitness), rng, together)
    pairs = fitness.split(X, y) if groups is None else _split_by_groups(fitness, X, y, groups)
    splits = [Split(np.asarray(train), np.asarray(test)) for train, test in pairs]
    if not splits or not all(len(split.train) and len(split.test) for split in splits):
        raise ValueError(f"fitness must make splits with rows on both sides, got {fitness!r}")
    return splits


def _split_by_groups(fitness: Any, X: Matrix, y: AnyArray, groups: Groups) -> list[Any]:
    """Return what a splitter makes of the groups, unless it parts one."""
    with warnings.catch_warnings():  # one that minds no groups may keep them together all the same
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        pairs = list(fitness.split(X, y, groups.labels))
    for train, test in pairs:
        parted = np.isin(groups.codes[test], groups.codes[train])
        if parted.any():
            label = groups.labels[test][parted].tolist()[0]
            raise ValueError(
                "fitness must keep rows of one group on one side of every split, got "
                f"{fitness!r}, which parts the group {label!r}"
            )
    return pairs


def judged_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of the judged rows, split after split."""
    if splits is None:
        return np.arange(n_rows)
    return np.concatenate([split.test for split in splits])


def trained_rows(splits: list[Split] | None, n_rows: int) -> IntArray:
    """Return the positions of rows that some candidate was trained on."""
    if splits is None:
        return np.arange(n_rows)
    return np.unique(np.concatenate([split.train for split in splits]))
