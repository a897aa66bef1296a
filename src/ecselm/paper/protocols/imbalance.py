"""Gases (section VI), KEEL's imbalanced classes, and German credit with its costs."""

from __future__ import annotations

from functools import partial

from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import (
    list_keel,
    load_enose,
    load_gas,
    load_german,
    load_keel,
    make_enose_like,
)
from ecselm.paper.protocols.evaluation import evaluate_classes
from ecselm.paper.protocols.protocol import (
    Case,
    Protocol,
    first_available,
    given_folds,
    shares_of_classes,
)


def gas_cases() -> tuple[Case, ...]:
    """Return E-NOSE, the first batch of UCI's gases, or the stand-in."""
    stand_in = partial(make_enose_like, random_state=0)
    found = first_available("E-NOSE", load_enose, load_gas, stand_in)
    return () if found is None else (found,)


GASES = Protocol(
    "gases",
    "classification",
    gas_cases,
    shares_of_classes(2, 3),
    evaluate_classes,
    StandardScaler,
    params={"n_hidden": 200},
)


def keel_cases() -> tuple[Case, ...]:
    """Return all available data sets of KEEL, each in its five folds."""
    return tuple(Case(f"KEEL {name}", "public", partial(load_keel, name)) for name in list_keel())


def credit_cases() -> tuple[Case, ...]:
    """Return German credit, if available."""
    found = first_available("German credit, numeric", None, load_german, None)
    return () if found is None else (found,)


UNEQUAL = Protocol(
    "unequal",
    "classification",
    keel_cases,
    given_folds,
    evaluate_classes,
    StandardScaler,
    scoring="gmean",
)
CREDIT = Protocol(
    "credit",
    "classification",
    credit_cases,
    shares_of_classes(2, 3),
    evaluate_classes,
    StandardScaler,
    scoring="mean_cost",
)
