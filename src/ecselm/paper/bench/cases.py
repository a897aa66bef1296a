"""The data sets of the bench, with their splits and targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal, cast

import numpy as np

from ecselm.paper.datasets import (
    Dataset,
    list_keel,
    list_uci121,
    load_bank_marketing,
    load_gas,
    load_german,
    load_keel,
    load_uci121,
)
from ecselm.paper.datasets.dataset import Folds, leave_fold_out, stratified_fold
from ecselm.paper.datasets.uci121 import halves_of_uci121
from ecselm.paper.protocols.protocol import Case, subsample

Half = Literal["development", "confirmation", "neither"]
HALVES = ("development", "confirmation", "all")
# No source of rows is in both halves: choices made on one half do not see the other.
DEVELOPMENT = ("yeast*", "glass*", "pima", "iris0", "wine", "hayes-roth")
CONFIRMATION = (
    "ecoli*",
    "abalone*",
    "winequality*",
    "led7digit*",
    "wisconsin",
    "balance",
    "contraceptive",
)
COUNTED_TARGETS = ("gmean", "f1_macro", "matthews_corrcoef", "accuracy")
COST_TARGETS = ("mean_cost",)
UCI_TARGETS = ("accuracy", "log_loss", "gmean")
SET_TARGETS = (*COUNTED_TARGETS, "log_loss")  # compared over data sets
TARGETS = (*SET_TARGETS, *COST_TARGETS)
SMALLER_IS_BETTER = ("log_loss", "mean_cost")
QUICK_SETS = (
    "ecoli-0-3-4_vs_5",
    "ecoli-0_vs_1",
    "glass-0-4_vs_5",
    "glass0",
    "hayes-roth",
    "iris0",
    "wine",
    "winequality-white-9_vs_4",
)
UCI_QUICK_SETS = ("blood", "breast-tissue", "energy-y1", "glass", "iris", "wine")  # of development
BANK_TRAIN, BANK_TEST, BANK_SPLITS = 2000, 10000, 5
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A data set of the bench.

    Parameters
    ----------
    case : Case
        Its name is that of the data in the results.
    splits : callable
        Return the splits of the data for a seed; the same for all methods.
    targets : tuple of str
        Metrics that methods are tuned for and scored by, each separately.
    half : {"development", "confirmation", "neither"}
    """

    case: Case
    splits: Callable[[Dataset, int], Folds]
    targets: tuple[str, ...] = COUNTED_TARGETS
    half: Half = "neither"

    @property
    def name(self) -> str:
        """Return the name of the data."""
        return self.case.name


def half_of(name: str) -> Half:
    """Return the half that a set of KEEL belongs to.

    Examples
    --------
    >>> half_of("wine"), half_of("winequality-red-4"), half_of("unheard-of")
    ('development', 'confirmation', 'neither')
    """
    if any(fnmatchcase(name, pattern) for pattern in DEVELOPMENT):
        return "development"
    if any(fnmatchcase(name, pattern) for pattern in CONFIRMATION):
        return "confirmation"
    return "neither"


def official(data: Dataset, seed: int) -> Folds:  # noqa: ARG001  the signature of splits
    """Return the folds of the source."""
    return data.folds or ()


def folds_of(n_folds: int, data: Dataset, seed: int) -> Folds:
    """Return folds with the same share of every class in each.

    Examples
    --------
    >>> data = Dataset("tiny", np.eye(6), np.arange(6) % 2, "Made here.", np.arange(2))
    >>> [len(test) for _, test in folds_of(3, data, 0)]
    [2, 2, 2]
    """
    return leave_fold_out(stratified_fold(data.y, n_folds, np.random.default_rng(seed)))


def few_to_many(n_train: int, n_test: int, n_splits: int, data: Dataset, seed: int) -> Folds:
    """Return splits that train on some rows, drawn by class, and test on others at random."""
    splits = []
    for rng in np.random.default_rng(seed).spawn(n_splits):
        train = subsample(np.arange(len(data.y)), data.y, n_train, rng)
        others = np.setdiff1d(np.arange(len(data.y)), train)
        splits.append((train, np.sort(rng.permutation(others)[:n_test])))
    return tuple(splits)


def keel_cases() -> tuple[BenchCase, ...]:
    """Return the data sets of KEEL that are available."""
    return tuple(
        BenchCase(Case(name, "public", partial(load_keel, name)), official, half=half_of(name))
        for name in list_keel()
    )


def bench_cases() -> tuple[BenchCase, ...]:
    """Return all data sets of the bench; of KEEL those that are available."""
    mixed = partial(load_german, columns="mixed")
    bank = partial(few_to_many, BANK_TRAIN, BANK_TEST, BANK_SPLITS)
    return (
        *keel_cases(),
        BenchCase(Case("gas", "public", load_gas), partial(folds_of, 5)),
        BenchCase(Case("german", "public", load_german), partial(folds_of, 10), COST_TARGETS),
        BenchCase(Case("german-mixed", "public", mixed), partial(folds_of, 10), COST_TARGETS),
        BenchCase(Case("bank", "public", load_bank_marketing), bank, COST_TARGETS),
    )


def uci_cases() -> tuple[BenchCase, ...]:
    """Return the data sets of UCI that are available, in their halves."""
    halves = halves_of_uci121()
    return tuple(
        BenchCase(
            Case(name, "public", partial(load_uci121, name)),
            official,
            UCI_TARGETS,
            half=cast("Half", halves.get(name, "neither")),
        )
        for name in list_uci121()
    )


def select_cases(
    cases: tuple[BenchCase, ...], sets: Sequence[str] | None, half: str
) -> tuple[BenchCase, ...]:
    """Return the cases of a half whose names match one of the patterns.

    Parameters
    ----------
    cases : tuple of BenchCase
    sets : sequence of str or None
        Patterns as of file names; None is all. Each must match a data set.
    half : {"development", "confirmation", "all"}
    """
    if half not in HALVES:
        raise ValueError(f"half must be one of {', '.join(HALVES)}, got {half!r}")
    names = [case.name for case in cases]
    for pattern in sets or ():
        if not any(fnmatchcase(name, pattern) for name in names):
            close = get_close_matches(pattern, names, n=MAX_NAMED, cutoff=0.3)
            known = ", ".join(close or names[:MAX_NAMED])
            raise ValueError(f"sets must match data there are, such as {known}; got {pattern!r}")
    found = tuple(
        case
        for case in cases
        if half in ("all", case.half)
        and (sets is None or any(fnmatchcase(case.name, pattern) for pattern in sets))
    )
    if not found:
        raise ValueError(f"sets must match data of the half {half}, got {', '.join(sets or ())}")
    return found
