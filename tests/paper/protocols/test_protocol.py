from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ecselm.paper.datasets import load_enose, load_gas, make_enose_like
from ecselm.paper.protocols import FULL
from ecselm.paper.protocols.beauty import BEAUTY, CULTURES
from ecselm.paper.protocols.faces import VERIFICATION
from ecselm.paper.protocols.protocol import Case, case_info, first_available

STAND_IN = partial(make_enose_like, random_state=0)


def test_paper_data_come_before_public_before_synthetic(tmp_path):
    there, missing = STAND_IN, partial(load_enose, folder=tmp_path)
    gone = partial(load_gas, folder=tmp_path)
    assert first_available("E-NOSE", there, gone, STAND_IN).origin == "paper"
    assert first_available("E-NOSE", missing, there, STAND_IN).origin == "public"
    assert first_available("E-NOSE", missing, gone, STAND_IN).origin == "synthetic"
    assert first_available("E-NOSE", missing, gone, None) is None


def test_damaged_data_are_an_error_and_not_replaced(tmp_path):
    (tmp_path / "enose").mkdir()
    (tmp_path / "enose" / "enose.csv").write_text("gas,s1\n")
    with pytest.raises(ValueError, match=r"enose\.csv"):
        first_available("E-NOSE", partial(load_enose, folder=tmp_path), None, STAND_IN)


ONE_SPLIT = ((np.arange(3), np.arange(3, 5)),)


def test_only_the_paper_data_go_by_the_name_of_the_table_alone():
    data = STAND_IN()
    labels = [
        case_info(Case("E-NOSE", origin, STAND_IN), data, ONE_SPLIT).label
        for origin in ("paper", "public", "synthetic")
    ]
    assert labels == ["E-NOSE", "E-NOSE: E-NOSE-like", "E-NOSE: E-NOSE-like (SYNTHETIC)"]


def test_checksum_distinguishes_data():
    one, other = (
        case_info(
            Case("E-NOSE", "synthetic", STAND_IN), make_enose_like(random_state=seed), ONE_SPLIT
        )
        for seed in (0, 1)
    )
    assert one.checksum != other.checksum


def test_checksums_distinguish_costs_and_splits():
    data, case = STAND_IN(), Case("E-NOSE", "synthetic", STAND_IN)
    plain = case_info(case, data, ONE_SPLIT)
    costly = case_info(case, replace(data, cost=np.ones((6, 6))), ONE_SPLIT)
    turned = case_info(case, data, tuple(split[::-1] for split in ONE_SPLIT))
    assert plain.checksum == turned.checksum != costly.checksum
    assert plain.splits == costly.splits != turned.splits


def test_no_two_stand_ins_share_rows():
    loaded = {case.name: case.load() for case in BEAUTY.cases() if "E+W" not in case.name}
    first = [data.X[0, :5].tobytes() for data in loaded.values()]
    assert len(set(first)) == len(first) == 8


def test_both_cultures_together_are_all_rows_of_both():
    cases = {case.name: case.load() for case in BEAUTY.cases()}
    both = cases["Vocal, E+W"]
    expected = np.concatenate([cases["Vocal, E"].X, cases["Vocal, W"].X])
    np.testing.assert_array_equal(both.X, expected)


def test_a_culture_is_learned_without_the_other():
    data = CULTURES.cases()[0].load()
    for train, test in CULTURES.splits(data, FULL, 0):
        assert train.max() < 620 <= test.min()


def test_sift_is_for_those_who_hold_the_descriptors():
    assert [case.name for case in VERIFICATION.cases()] == ["LFW, LBP"]


def test_a_file_that_lacks_a_part_leaves_that_part_to_the_stand_in(tmp_path, monkeypatch):
    (tmp_path / "m2b").mkdir()
    vocal = {"vocal": np.zeros((1240, 50)), "vocal_score": np.linspace(1, 10, 1240)}
    culture = np.repeat(["E", "W"], 620)
    np.savez(tmp_path / "m2b" / "m2b.npz", culture=culture, **vocal)
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path))
    origins = {case.name: case.origin for case in BEAUTY.cases()}
    assert origins["Vocal, E"] == origins["Vocal, E+W"] == "paper"
    assert origins["Facial (A), E"] == origins["Dressing, W"] == "synthetic"
