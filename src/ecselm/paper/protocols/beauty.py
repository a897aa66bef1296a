"""Attractiveness: levels (tables I to III), scores (IV) and scores across cultures (V)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.preprocessing import StandardScaler

from ecselm._typing import AnyArray
from ecselm.paper.datasets import Dataset, load_m2b, load_scut, make_m2b_like
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.evaluation import evaluate_levels, evaluate_scores
from ecselm.paper.protocols.protocol import (
    ORIGINS,
    Budget,
    Case,
    Load,
    Origin,
    Protocol,
    first_available,
    halves,
    random_splits,
)

FEATURES = {
    "Facial (G)": "facial_geometric",
    "Facial (A)": "facial_appearance",
    "Dressing": "dressing",
    "Vocal": "vocal",
}
PUBLIC: dict[str, Literal["appearance", "geometric"]] = {
    "facial_geometric": "geometric",
    "facial_appearance": "appearance",
}
# Western faces with scores are not available: Asian men stand in for the other group. Their
# appearance was reduced by components fitted on all men, test faces included, though without
# their scores.
GROUPS: dict[str, Literal["AF", "AM"]] = {"E": "AF", "W": "AM"}
Target = Literal["level", "score"]


def m2b_loads(features: str, culture: Any, target: Target) -> dict[Origin, Load | None]:
    """Return the loaders of one part of M2B, of the nearest public data and of the stand-in."""
    public = None
    if features in PUBLIC:
        public = partial(load_scut, GROUPS[culture], PUBLIC[features], target)
    # Every part has its own seed, or parts of equal variance would be the same rows.
    seed = 2 * list(FEATURES.values()).index(features) + "EW".index(culture)
    return {
        "paper": partial(load_m2b, features, culture, target),
        "public": public,
        "synthetic": partial(make_m2b_like, features, culture, target, random_state=seed),
    }


def m2b_case(name: str, culture: str, target: Target) -> Case:
    """Return one line of a table on M2B, on the best available data."""
    found = first_available(f"{name}, {culture}", **m2b_loads(FEATURES[name], culture, target))
    if found is None:
        raise FileNotFoundError(f"there must be data for {name}, {culture}, got none")
    return found


def both_cultures(first: Case, second: Case) -> Case:
    """Return a case whose rows are those of two: the third column of figures 3 to 5.

    Its origin is the one of the two that is farther from the paper.
    """
    name = f"{first.name.rpartition(',')[0]}, E+W"
    origin = max(first.origin, second.origin, key=ORIGINS.index)
    return Case(name, origin, partial(_stacked, first.load, second.load))


def _stacked(first: Load, second: Load) -> Dataset:
    one, other = first(), second()
    y = np.concatenate([one.y, other.y])
    return replace(
        one,
        name=f"{one.name} + {other.name}",
        X=np.concatenate([one.X, other.X]),
        y=y,
        classes=np.unique(y),
        class_names=(),
        source=" ".join(dict.fromkeys((one.source, other.source))),
        own=one.own or other.own,
    )


def level_cases() -> tuple[Case, ...]:
    """Return all lines of tables I to III, and both cultures together."""
    lines = [m2b_case(name, culture, "level") for name in FEATURES for culture in "EW"]
    together = [both_cultures(*lines[i : i + 2]) for i in range(0, len(lines), 2)]
    return (*lines, *together)


def level_splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Draw 400 and 220 rows, or twice as many of both cultures together."""
    times = 2 if "+" in data.name else 1
    return random_splits(400 * times, 220 * times)(data, budget, seed)


def level_distance_costs(levels: AnyArray) -> AnyArray:
    """Return costs: the distance of the levels, because the paper gives none."""
    return np.abs(levels[:, np.newaxis] - levels)


BEAUTY = Protocol(
    "beauty",
    "classification",
    level_cases,
    level_splits,
    evaluate_levels,
    StandardScaler,
    params={"n_hidden": 100},
    scoring="accuracy",
    cost=level_distance_costs,
)


LINES = ("Facial (A)", "Dressing", "Vocal")


def score_cases() -> tuple[Case, ...]:
    """Return the columns of table IV; its faces are taken to be those by appearance."""
    return tuple(m2b_case(name, culture, "score") for name in LINES for culture in "EW")


SCORES = Protocol(
    "scores",
    "regression",
    score_cases,
    halves,
    evaluate_scores,
    StandardScaler,
    params={"n_hidden": 100},
)


def across(train: Load, test: Load) -> Dataset:
    """Return two data sets as one whose only split trains on the first."""
    one, other = train(), test()
    n, m = len(one.y), len(other.y)
    return replace(
        one,
        name=f"{one.name} -> {other.name}",
        X=np.concatenate([one.X, other.X]),
        y=np.concatenate([one.y, other.y]),
        source=" ".join(dict.fromkeys((one.source, other.source))),
        folds=((np.arange(n), np.arange(n, n + m)),),
        own=one.own or other.own,
    )


def crossing(name: str, learned: str, tested: str) -> Case:
    """Return one column of table V."""
    one, other = (m2b_case(name, culture, "score") for culture in (learned, tested))
    origin = max(one.origin, other.origin, key=ORIGINS.index)
    return Case(f"{name}, {learned}->{tested}", origin, partial(across, one.load, other.load))


def culture_cases() -> tuple[Case, ...]:
    """Return all columns of table V."""
    return tuple(crossing(name, a, b) for name in LINES for a, b in ("EW", "WE"))


def culture_splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Draw 620 persons of each culture, or fewer, ``repeats`` times.

    M2B has just 620 of each: repeats there differ in the random state of the methods alone.
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
    culture_cases,
    culture_splits,
    evaluate_scores,
    StandardScaler,
    params={"n_hidden": 100},
)
