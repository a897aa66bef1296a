"""Rows are dealt out and drawn where they are, as if somebody saw all of them."""

import subprocess
import sys
from dataclasses import astuple
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.dask.survey import Cells, LeastKeys, SampleRule
from ecselm.dask.table import by_partition
from ecselm.estimators._training import fair_quotas
from ecselm.fitness.folds import Dealing, fitness_splits
from ecselm.fitness.hashing import row_keys


@pytest.mark.parametrize("fitness", ["cv", 3, "holdout", "train"])
@pytest.mark.parametrize("n_listed", [100, 12], ids=["listed", "one class is not listed"])
def test_splits_are_those_of_the_rows(fitness, n_listed, rng, monkeypatch):
    monkeypatch.setattr(import_module("ecselm.fitness.folds"), "N_LISTED", n_listed)
    X = rng.integers(0, 4, (80, 3)).astype(float)  # many of them equal
    y = rng.choice(3, 80, p=[0.8, 0.1, 0.1])
    expected = fitness_splits(fitness, X, y, y, 0.25, np.random.default_rng(5))
    keys = row_keys(X)
    listed = {c: np.unique(keys[y == c])[: n_listed + 1] for c in range(3)}
    dealing = Dealing.drawn(listed, np.random.default_rng(5), n_listed)
    cells = Cells.made(fitness, dealing, 0.25)
    own = cells.of(X, y)
    assert len(expected) == len(cells.judged)
    for split, trained, judged in zip(expected, cells.trained, cells.judged, strict=True):
        assert_array_equal(np.flatnonzero(trained[own]), split.train)
        assert_array_equal(np.flatnonzero(own == judged), split.test)


@pytest.mark.parametrize("fitness", ["cv", "holdout"])
def test_too_few_distinct_rows_are_refused(fitness):
    dealing = Dealing.drawn({0: np.array([b"a"])}, np.random.default_rng(0), 9)
    with pytest.raises(ValueError, match="some rows must be left to train on"):
        Cells.made(fitness, dealing, 0.25)


def test_quotas_use_what_small_classes_leave():
    assert_array_equal(fair_quotas(np.array([5, 1000, 1000, 0]), 105), [5, 50, 50, 0])
    assert_array_equal(fair_quotas(np.array([5, 6]), 100), [5, 6])
    assert (fair_quotas(np.full(9, 10), 4) == 1).all()  # no class is left out


def test_a_sample_has_its_quotas_of_rows_drawn_evenly(rng):
    codes = rng.choice(3, 60_000, p=[0.9, 0.099, 0.001])
    rule = SampleRule.drawn(np.bincount(codes), 9000, rng)
    places = np.arange(60_000)
    draws = rule.draws(places)
    chance = np.flatnonzero(rule.may_be_taken(draws, codes))
    assert len(chance) < 11_000  # little more than is taken
    taken = chance[rule.taken(draws[chance], codes[chance])]
    assert_array_equal(np.bincount(codes[taken]), rule.quotas)
    assert rule.quotas[2] == (codes == 2).sum()
    assert len(np.unique(taken)) == len(taken)
    mean = taken[codes[taken] == 0].mean() / 60_000
    assert abs(mean - 0.5) < 4 / np.sqrt(12 * rule.quotas[0])


def test_a_sample_of_all_rows_is_all_rows(rng):
    codes = rng.integers(0, 2, 50)
    rule = SampleRule.drawn(np.bincount(codes), 50, rng)
    draws = rule.draws(np.arange(50))
    assert rule.may_be_taken(draws, codes).all()
    assert_array_equal(np.sort(rule.taken(draws, codes)), np.arange(50))


def test_least_keys_are_those_of_any_cut(rng):
    keys, places = rng.integers(0, 40, 100), np.arange(100)
    whole = LeastKeys.among(keys, places, 12)
    first = LeastKeys.among(keys[:30], places[:30], 12)
    joined = first.joined(LeastKeys.among(keys[30:], places[30:], 12), 12)
    assert_array_equal(joined.keys, whole.keys)
    assert_array_equal(joined.places, whole.places)
    assert_array_equal(whole.keys, np.unique(keys)[:12])
    assert all(places[keys == key][0] == place for key, place in zip(*astuple(whole), strict=True))


def test_places_are_found_again_in_their_partitions():
    sizes = np.array([3, 0, 2, 4])
    own = by_partition(np.array([0, 2, 3, 8]), sizes)
    assert [places.tolist() for places in own] == [[0, 2], [], [0], [3]]


def test_dask_is_loaded_only_where_it_is_asked_for():
    script = "import sys, ecselm; print([name for name in sys.modules if 'dask' in name])"
    assert _printed(script) == "[]"


def test_without_dask_the_extra_is_named():
    script = (
        "import sys; sys.modules['distributed'] = None\n"
        "try:\n    import ecselm.dask\nexcept ImportError as error:\n    print(error)"
    )
    assert _printed(script) == 'ecselm.dask needs dask: pip install "ecselm[dask]"'


def _printed(script):
    run = [sys.executable, "-c", script]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
