"""Scores of one culture estimated by what was learned from the other (table V)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.beauty import ORIGINS, m2b_case
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.judges import judge_scores
from ecselm.paper.protocols.protocol import Case, Load, Protocol
from ecselm.paper.protocols.scores import LINES


def across(train: Load, test: Load) -> Dataset:
    """Return two data sets as one whose only split learns from the first."""
    one, other = train(), test()
    n, m = len(one.y), len(other.y)
    return replace(
        one,
        name=f"{one.name} -> {other.name}",
        X=np.concatenate([one.X, other.X]),
        y=np.concatenate([one.y, other.y]),
        source=" ".join(dict.fromkeys((one.source, other.source))),
        folds=((np.arange(n), np.arange(n, n + m)),),
    )


def crossing(name: str, learned: str, tested: str) -> Case:
    """Return one column of table V."""
    one, other = (m2b_case(name, culture, "score") for culture in (learned, tested))
    origin = max(one.origin, other.origin, key=ORIGINS.index)
    return Case(f"{name}, {learned}->{tested}", origin, partial(across, one.load, other.load))


def cases() -> tuple[Case, ...]:
    """Return all columns of table V."""
    return tuple(crossing(name, a, b) for name in LINES for a, b in ("EW", "WE"))


def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Draw 620 persons of each culture, or fewer, ``repeats`` times.

    M2B has just 620 of each, so that repeats there differ in what methods draw alone.
    """
    train, test = (data.folds or ())[0]
    n = min(620, (budget.most_rows or 1240) // 2)
    streams = np.random.default_rng(seed).spawn(budget.repeats)
    return tuple(
        (np.sort(rng.permutation(train)[:n]), np.sort(rng.permutation(test)[:n])) for rng in streams
    )


CULTURES = Protocol(
    "cultures",
    "regression",
    cases,
    splits,
    judge_scores,
    StandardScaler,
    params={"n_hidden": 100},
)
