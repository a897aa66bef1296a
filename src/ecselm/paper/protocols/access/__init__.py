"""Access control by face, the paper's own motive: which costs are known matters at the door.

Ten members may enter; everybody else is a stranger, and half of the strangers were never seen
in training. A stranger let in is worse than a member rejected, and that is worse than a member
taken for another. Methods are told nothing, that order alone, a guess, or the true costs.
All choose by folds that part no stranger, because strangers to come are new ones.
"""

from __future__ import annotations

from typing import Any

from ecselm.paper.protocols.access.judging import DoorJudge
from ecselm.paper.protocols.access.mistakes import (
    GUESS,
    MEMBERS,
    STRANGER,
    TRUTHS,
    UNSEEN,
    MistakeCosts,
    known_order,
    order_alone,
)
from ecselm.paper.protocols.access.people import cases, persons, relabel, splits
from ecselm.paper.protocols.faces import eigenfaces
from ecselm.paper.protocols.protocol import Protocol

__all__ = [
    "ACCESS",
    "ACCESS_BY_GUESS",
    "ACCESS_BY_ORDER",
    "ACCESS_BY_TRUTH",
    "GUESS",
    "MEMBERS",
    "STRANGER",
    "TRUTHS",
    "UNSEEN",
    "DoorJudge",
    "MistakeCosts",
    "cases",
    "known_order",
    "order_alone",
    "persons",
    "relabel",
    "splits",
]


def _protocol(
    name: str, judge: DoorJudge, cost: MistakeCosts | None = None, **params: Any
) -> Protocol:
    """Return the door where methods are told these costs, or nothing."""
    return Protocol(
        name,
        "classification",
        cases,
        splits,
        judge,
        eigenfaces,
        params={"scale": None, **params},
        scoring="accuracy" if cost is None else "mean_cost",
        cost=cost,
        relabel=relabel,
        groups=persons,
    )


ACCESS = _protocol("access", DoorJudge(TRUTHS), n_hidden=300)
ACCESS_BY_ORDER = _protocol(
    "access by order", DoorJudge(TRUTHS), order_alone(), cost_order=known_order()
)
ACCESS_BY_GUESS = _protocol(f"access by {GUESS}", DoorJudge(TRUTHS), GUESS)
ACCESS_BY_TRUTH = tuple(
    _protocol(f"access by {truth}", DoorJudge((truth,), told=True), truth, cost_order=known_order())
    for truth in TRUTHS
)
