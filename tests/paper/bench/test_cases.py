import numpy as np
import pytest

from ecselm.paper.bench.cases import (
    CONFIRMATION,
    DEVELOPMENT,
    bench_cases,
    few_to_many,
    half_of,
    select_cases,
)
from ecselm.paper.datasets import Dataset
from tests.paper.bench.made import cases

BESIDE = ("gas", "german", "german-mixed", "bank")


def names(found):
    return [case.name for case in found]


def test_halves_share_no_source_of_rows():
    sources = [{name.strip("*") for name in half} for half in (DEVELOPMENT, CONFIRMATION)]
    assert not sources[0] & sources[1]
    assert half_of("wine") == "development"
    assert half_of("winequality-white-9_vs_4") == half_of("wisconsin") == "confirmation"


def test_every_set_of_keel_is_in_a_half(monkeypatch, data_folder):
    monkeypatch.setenv("ECSELM_DATA", str(data_folder))
    halves = [case.half for case in bench_cases() if case.name not in BESIDE]
    assert set(halves) == {"development", "confirmation"}


def test_patterns_choose_sets_of_a_half():
    assert names(select_cases(cases(), ("glass-*",), "all")) == ["glass-a", "glass-b"]
    assert names(select_cases(cases(), None, "confirmation")) == ["ecoli-a"]
    assert names(select_cases(cases(), None, "all")) == names(cases())


def test_unknown_sets_are_refused_with_the_closest():
    with pytest.raises(ValueError, match=r"such as ecoli-a.*; got 'ecoli-b'"):
        select_cases(cases(), ("glass-a", "ecoli-b"), "all")
    with pytest.raises(ValueError, match="of the half confirmation, got glass-a"):
        select_cases(cases(), ("glass-a",), "confirmation")
    with pytest.raises(ValueError, match="half must be one of development, confirmation, all"):
        select_cases(cases(), None, "third")


def test_few_rows_train_and_others_test():
    y = np.repeat([0, 1], [900, 100])
    data = Dataset("rare", np.zeros((1000, 1)), y, "Made.", np.arange(2))
    splits = few_to_many(200, 300, 2, data, 0)
    for train, test in splits:
        assert np.bincount(y[train]).tolist() == [180, 20]
        assert len(test) == 300
        assert not set(train) & set(test)
    assert set(splits[0][0]) != set(splits[1][0])
