"""Recognition of gases, two thirds of each to learn from (section VI)."""

from __future__ import annotations

from functools import partial

from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import load_enose, load_gas, make_enose_like
from ecselm.paper.protocols.judges import judge_classes
from ecselm.paper.protocols.protocol import Case, Protocol, found_case
from ecselm.paper.protocols.splits import shares_of_classes


def cases() -> tuple[Case, ...]:
    """Return E-NOSE, the first batch of UCI's gases, or the stand-in."""
    stand_in = partial(make_enose_like, random_state=0)
    found = found_case("E-NOSE", load_enose, load_gas, stand_in)
    return () if found is None else (found,)


GASES = Protocol(
    "gases",
    "classification",
    cases,
    shares_of_classes(2, 3),
    judge_classes,
    StandardScaler,
    params={"n_hidden": 200},
)
