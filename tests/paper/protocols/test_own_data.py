"""Own data in the layouts of the paper, and what they are called."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ecselm.paper.datasets import make_ar_like, make_enose_like, make_lfw_like, make_m2b_like
from ecselm.paper.protocols import QUICK
from ecselm.paper.protocols.beauty import both_cultures, is_m2b, m2b_case
from ecselm.paper.protocols.faces import face_cases, is_ar, is_lfw, pair_cases
from ecselm.paper.protocols.imbalance import gas_cases, is_enose
from ecselm.paper.protocols.protocol import ORIGINS, case_info, first_available


def half(data):
    """Return every other row of a data set that passes for a real one."""
    kept = np.arange(0, len(data.y), 2)
    return replace(data, X=data.X[kept], y=data.y[kept], folds=None, synthetic=False)


@pytest.mark.parametrize(
    ("place", "make", "cases"),
    [
        ("imbalance.load_enose", make_enose_like, gas_cases),
        ("faces.load_ar", make_ar_like, face_cases),
    ],
)
def test_sizes_of_the_paper_are_the_papers_data_and_others_are_own(monkeypatch, place, make, cases):
    data = make(random_state=0)
    for given, origin in ((data, "paper"), (half(data), "own")):
        monkeypatch.setattr(f"ecselm.paper.protocols.{place}", lambda given=given: given)
        assert cases()[0].origin == origin


def test_pairs_of_other_sizes_are_own(monkeypatch):
    whole = make_lfw_like(random_state=0)
    assert is_lfw(whole.dataset())
    few = whole.fold < 4
    pairs = replace(whole, pairs=whole.pairs[few], same=whole.same[few], fold=whole.fold[few])
    assert not is_lfw(pairs.dataset())
    monkeypatch.setattr("ecselm.paper.protocols.faces.load_lfw", lambda descriptor: pairs)
    assert {case.origin for case in pair_cases()} == {"own"}
    info = case_info(pair_cases()[1], pairs.dataset(), ())
    assert info.label == "LFW, SIFT: own data (2400 pairs, 300 features, 2 classes)"


def test_one_culture_of_own_data_makes_both_together_own(monkeypatch):
    def load(features, culture, target):
        data = make_m2b_like(features, culture, target, random_state=0)
        return data if culture == "E" else half(data)

    monkeypatch.setattr("ecselm.paper.protocols.beauty.load_m2b", load)
    eastern, western = (m2b_case("Vocal", culture, "level") for culture in "EW")
    assert (eastern.origin, western.origin) == ("paper", "own")
    together = both_cultures(eastern, western)
    assert together.origin == "own"
    label = case_info(together, together.load(), ()).label
    assert label.startswith("Vocal, E+W: own data (930 rows, 50 features, ")
    scores = m2b_case("Vocal", "W", "score")
    assert case_info(scores, scores.load(), ()).label == (
        "Vocal, W: own data (310 rows, 50 features)"
    )


def test_other_widths_are_own_but_for_geometry_which_the_paper_does_not_give():
    data = make_m2b_like("vocal", "E", "level", random_state=0)
    narrow = replace(data, X=data.X[:, :40])
    assert is_m2b("vocal", data)
    assert not is_m2b("vocal", narrow)
    assert is_m2b("facial_geometric", narrow)


def test_the_sizes_of_stand_ins_are_those_of_the_paper_and_yet_they_are_synthetic():
    assert is_enose(make_enose_like(random_state=0))
    assert is_ar(make_ar_like(random_state=0))
    found = first_available(
        "E-NOSE", None, None, partial(make_enose_like, random_state=0), is_papers=is_enose
    )
    assert found.origin == "synthetic"


def test_own_data_are_nearer_to_the_paper_than_public_ones():
    assert ORIGINS == ("paper", "own", "public", "synthetic")


def test_own_faces_are_split_by_session_or_at_random(monkeypatch):
    from ecselm.paper.protocols.faces import FACES

    own = half(make_ar_like(random_state=0))
    for train, test in FACES.splits(own, QUICK, 0):
        assert set(own.y[train]) == set(own.y[test])
