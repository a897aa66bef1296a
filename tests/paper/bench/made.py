"""Tiny data in the form of those of the bench."""

from functools import partial

import numpy as np

from ecselm.paper.bench.cases import COST_TARGETS, BenchCase, folds_of, official
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import leave_fold_out, stratified_fold
from ecselm.paper.protocols.protocol import Case


def tiny(name, k=2, costs="", poisoned=False):
    """Return two features, unequal classes and three official folds."""
    rng = np.random.default_rng(k)
    y = np.sort(np.arange(60) % (k + 2) % k)
    X = rng.normal(size=(60, 2)) + y[:, np.newaxis]
    folds = leave_fold_out(stratified_fold(y, 3, rng))
    if poisoned:
        y = y.copy()
        y[folds[0][1]] = 1 - y[folds[0][1]]
        X[folds[0][1]] *= 1e6
    return Dataset(
        name,
        X,
        y,
        "Made here.",
        np.arange(k),
        np.array([[0.0, 1.0], [5.0, 0.0]]) if costs == "matrix" else None,
        np.column_stack([5.0 * y, np.ones(60)]) if costs == "rows" else None,
        folds=folds,
    )


def case(name, half="development", **options):
    return BenchCase(Case(name, "synthetic", partial(tiny, name, **options)), official, half=half)


def costly(name, costs):
    load = partial(tiny, name, costs=costs)
    return BenchCase(Case(name, "synthetic", load), partial(folds_of, 3), COST_TARGETS)


def cases():
    return (
        case("glass-a"),
        case("glass-b", k=3),
        case("ecoli-a", "confirmation"),
        costly("german", "matrix"),
        costly("bank", "rows"),
    )
