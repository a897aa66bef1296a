"""Rows are dealt out from keys as they are from the rows themselves."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.dask.dealing import dealt, judged_places, key_ranks
from ecselm.dask.places import by_partition
from ecselm.dask.survey import _compact
from ecselm.elm.fitness import fitness_splits
from ecselm.elm.sample import fair_quotas
from ecselm.objectives.folds import row_keys


@pytest.mark.parametrize("fitness", ["cv", 3, "holdout", "train"])
def test_splits_are_those_of_the_rows(fitness, rng):
    X = rng.integers(0, 4, (80, 3)).astype(float)  # many of them equal
    y = rng.integers(0, 3, 80)
    expected = fitness_splits(fitness, X, y, y, 0.25, np.random.default_rng(5))
    ranks = key_ranks(_compact(row_keys(X)))
    made = dealt(fitness, ranks, y, 0.25, np.random.default_rng(5))
    assert len(expected) == len(made.judged)
    for split, trained, judged in zip(expected, made.trained, made.judged, strict=True):
        assert_array_equal(np.flatnonzero(trained[made.cells]), split.train)
        assert_array_equal(np.flatnonzero(made.cells == judged), split.test)


def test_too_few_distinct_rows_are_refused():
    zeros = np.zeros(4, dtype=int)
    with pytest.raises(ValueError, match="some rows must be left to train on"):
        dealt("cv", zeros, zeros, 0.25, np.random.default_rng(0))


def test_quotas_use_what_small_classes_leave():
    assert_array_equal(fair_quotas(np.array([5, 1000, 1000, 0]), 105), [5, 50, 50, 0])
    assert_array_equal(fair_quotas(np.array([5, 6]), 100), [5, 6])
    assert (fair_quotas(np.full(9, 10), 4) == 1).all()  # no class is left out


def test_judged_rows_are_in_order_and_none_twice(rng):
    codes = rng.choice(3, 1000, p=[0.9, 0.09, 0.01])
    places = judged_places(codes, 200, rng, np.array([0, 999, 0]))
    assert (np.diff(places) > 0).all()
    assert {0, 999} <= set(places.tolist())
    counts = np.bincount(codes[places])
    assert counts[2] == (codes == 2).sum()
    assert counts.sum() <= 202


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
