"""Which rows train and which test, from a seed alone: the same for all methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.budget import Budget

Splits = Callable[[Dataset, Budget, int], Folds]


def random_splits(n_train: int, n_test: int) -> Splits:
    """Return what draws ``repeats`` splits of these sizes, scaled down where rows are few.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_m2b_like
    >>> folds = random_splits(400, 220)(make_m2b_like(random_state=0), Budget(repeats=2), 0)
    >>> [(len(train), len(test)) for train, test in folds]
    [(400, 220), (400, 220)]
    """

    def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
        n = min(len(data.X), n_train + n_test, budget.most_rows or len(data.X))
        cut = round(n * n_train / (n_train + n_test))
        orders = [rng.permutation(len(data.X))[:n] for rng in streams(budget.repeats, seed)]
        return tuple((np.sort(order[:cut]), np.sort(order[cut:])) for order in orders)

    return splits


def halves(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return ``repeats`` times two folds, each of which trains and tests once.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_m2b_like
    >>> folds = halves(make_m2b_like(target="score", random_state=0), Budget(repeats=3), 0)
    >>> len(folds), len(folds[0][0])
    (6, 310)
    """
    n = min(len(data.X), budget.most_rows or len(data.X))
    folds: list[tuple[IntArray, IntArray]] = []
    for rng in streams(budget.repeats, seed):
        order = rng.permutation(len(data.X))[:n]
        first, second = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        folds += [(first, second), (second, first)]
    return tuple(folds)


def shares_of_classes(numerator: int, denominator: int) -> Splits:
    """Return what draws this share of every class, rounded down, to train.

    Examples
    --------
    >>> from ecselm.paper.datasets import make_enose_like
    >>> data = make_enose_like(random_state=0)
    >>> train, test = shares_of_classes(2, 3)(data, Budget(repeats=1), 0)[0]
    >>> np.bincount(data.y[test]).tolist()
    [63, 24, 22, 20, 20, 13]
    """

    def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
        return tuple(_dealt(data, budget, rng) for rng in streams(budget.repeats, seed))

    def _dealt(
        data: Dataset, budget: Budget, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        rows = thinned(np.arange(len(data.y)), data.y, budget.most_rows, rng)
        train = []
        for label in np.unique(data.y):
            own = rng.permutation(rows[data.y[rows] == label])
            train.append(own[: numerator * len(own) // denominator])
        chosen = np.sort(np.concatenate(train))
        return chosen, np.setdiff1d(rows, chosen)

    return splits


def given_folds(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return the folds of the source, thinned out where the budget is short.

    A short budget takes the first ``repeats`` folds only; a full one takes all.
    """
    folds = data.folds or ()
    if budget.most_rows is None:
        return folds
    rng = np.random.default_rng(seed)
    n = budget.most_rows
    return tuple(
        (thinned(train, data.y, 2 * n // 3, rng), thinned(test, data.y, n // 3, rng))
        for train, test in folds[: budget.repeats]
    )


def thinned(rows: IntArray, y: AnyArray, most: int | None, rng: np.random.Generator) -> IntArray:
    """Return at most about ``most`` of the rows, the same share of every class.

    No class loses its last six rows, or searches within the training rows would fail.
    """
    if most is None or len(rows) <= most:
        return rows
    kept = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        n = min(len(own), max(6, round(len(own) * most / len(rows))))
        kept.append(rng.permutation(own)[:n])
    return np.sort(np.concatenate(kept))


def streams(repeats: int, seed: int) -> list[np.random.Generator]:
    """Return a generator per repeat; more repeats leave the first as they were."""
    return np.random.default_rng(seed).spawn(repeats)
