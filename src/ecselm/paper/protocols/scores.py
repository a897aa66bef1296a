"""Estimation of scores of beauty in two folds, repeated (section IV, table IV)."""

from __future__ import annotations

from sklearn.preprocessing import StandardScaler

from ecselm.paper.protocols.beauty import m2b_case
from ecselm.paper.protocols.judges import judge_scores
from ecselm.paper.protocols.protocol import Case, Protocol
from ecselm.paper.protocols.splits import halves

LINES = ("Facial (A)", "Dressing", "Vocal")


def cases() -> tuple[Case, ...]:
    """Return the columns of table IV; its faces are taken to be those by appearance."""
    return tuple(m2b_case(name, culture, "score") for name in LINES for culture in "EW")


SCORES = Protocol(
    "scores",
    "regression",
    cases,
    halves,
    judge_scores,
    StandardScaler,
    params={"n_hidden": 100},
)
