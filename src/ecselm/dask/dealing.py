"""Which rows train together and which judge, dealt as in memory from keys of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, BoolArray, IntArray
from ecselm.elm.fitness import N_FOLDS
from ecselm.elm.sample import fair_quotas
from ecselm.objectives.folds import deal_keys, set_aside


@dataclass(frozen=True, slots=True)
class Dealt:
    """The cell of every row, and for each split the cells it trains on and the one it judges by."""

    cells: IntArray  # (N,)
    trained: BoolArray  # (n_splits, n_cells)
    judged: IntArray  # (n_splits,)

    @property
    def n_cells(self) -> int:
        """Return the number of cells."""
        return int(self.trained.shape[1])


def dealt(
    fitness: Any, ranks: IntArray, codes: IntArray, fraction: float, rng: np.random.Generator
) -> Dealt:
    """Deal rows with ``ranks`` of their keys and class ``codes`` (N,) for a ``fitness``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> made = dealt(2, np.arange(4), np.zeros(4, dtype=int), 0.25, rng)
    >>> sorted(made.cells.tolist()), made.trained.tolist()
    ([0, 0, 1, 1], [[False, True], [True, False]])
    """
    if fitness == "train":
        return Dealt(np.zeros(len(codes), np.uint8), np.array([[True]]), np.array([0]))
    if fitness == "holdout":
        test = set_aside(deal_keys(ranks, codes, len(codes), rng), codes, fraction)
        cells, trained, judged = test.astype(np.intp), np.array([[True, False]]), np.array([1])
    else:
        n_folds = int(fitness) if isinstance(fitness, Integral) else N_FOLDS
        # A fold that nobody was dealt into is none.
        folds, cells = np.unique(deal_keys(ranks, codes, n_folds, rng), return_inverse=True)
        trained, judged = ~np.eye(len(folds), dtype=bool), np.arange(len(folds))
    if len(np.unique(cells)) < 2:
        raise ValueError(
            "some rows must be left to train on and others to judge by, got too few distinct rows "
            f"of a class for that: n_samples={len(codes)}"
        )
    return Dealt(cells.astype(np.min_scalar_type(len(judged))), trained, judged)


def key_ranks(keys: AnyArray) -> IntArray:
    """Return the places (N,) of keys (N, 2) among those that differ.

    Examples
    --------
    >>> key_ranks(np.array([[5, 1], [2, 9], [5, 1], [5, 0]], dtype=np.uint64))
    array([2, 0, 2, 1])
    """
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    ranks = np.empty(len(keys), dtype=np.intp)
    ranks[order] = np.cumsum(np.append(False, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return ranks


def judged_places(
    codes: IntArray, most: int, rng: np.random.Generator, always: IntArray
) -> IntArray:
    """Return the places of the rows to judge by, all of them or about ``most``, in order.

    Every class has as many as any other, or all it has: mistakes on rare classes are judged
    as well as on frequent ones. The rows at ``always`` are among them, and one of each class.

    Examples
    --------
    >>> codes = np.repeat([0, 1], [90, 4])
    >>> chosen = judged_places(codes, 20, np.random.default_rng(0), np.array([7]))
    >>> np.bincount(codes[chosen]).tolist(), 7 in chosen
    ([16, 4], True)
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    quotas = fair_quotas(np.bincount(codes), most)
    chosen = []
    for c, quota in enumerate(quotas.tolist()):
        first = np.unique(always[codes[always] == c])
        others = np.setdiff1d(np.flatnonzero(codes == c), first, assume_unique=True)
        chosen += [first, rng.choice(others, max(0, quota - len(first)), replace=False)]
    return np.sort(np.concatenate(chosen))
