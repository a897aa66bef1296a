"""Classes of unequal size, and mistakes of unequal cost, where the paper has none of its own."""

from __future__ import annotations

from functools import partial

from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import list_keel, load_german, load_keel
from ecselm.paper.protocols.judges import judge_classes
from ecselm.paper.protocols.protocol import Case, Protocol, found_case
from ecselm.paper.protocols.splits import given_folds, shares_of_classes


def keel_cases() -> tuple[Case, ...]:
    """Return all sets of KEEL that there are, each in its five folds."""
    return tuple(Case(f"KEEL {name}", "public", partial(load_keel, name)) for name in list_keel())


def credit_cases() -> tuple[Case, ...]:
    """Return German credit, if it is there."""
    found = found_case("German credit, numeric", None, load_german, None)
    return () if found is None else (found,)


UNEQUAL = Protocol(
    "unequal",
    "classification",
    keel_cases,
    given_folds,
    judge_classes,
    StandardScaler,
    scoring="gmean",
)
CREDIT = Protocol(
    "credit",
    "classification",
    credit_cases,
    shares_of_classes(2, 3),
    judge_classes,
    StandardScaler,
    scoring="mean_cost",
)
