"""The sample is even over the classes, bounded, and the same for any cut into blocks."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.fitness.sampling import SLACK, RowSample, fair_quotas
from ecselm.outofcore import RowBlock


def drawn(y, n_rows, size, weight=None, seed=0):
    """Return the sample of rows that hold their own positions."""
    rng, sample = np.random.default_rng(seed), None
    X = np.arange(len(y), dtype=float)[:, np.newaxis]
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        w = None if weight is None else weight[rows]
        block = RowBlock(X[rows], y[rows], w)
        draws = rng.random(len(block))
        if sample is None:
            sample = RowSample.of(block, draws, n_rows, y[rows], w)
        else:
            sample = sample.extended(block, draws, y[rows], w)
    return sample


@pytest.fixture
def y(rng):
    return np.append(rng.choice(["a", "b", "c"], 3000, p=[0.9, 0.09, 0.01]), ["d"] * 5)


@pytest.mark.parametrize("size", [1, 7, 100, 3005])
def test_any_cut_draws_the_same_rows(y, size):
    assert_array_equal(drawn(y, 200, size).rows.X, drawn(y, 200, 999).rows.X)


def test_classes_have_equal_places_and_small_ones_keep_all_rows(y):
    sample = drawn(y, 200, 100)
    names, counts = np.unique(sample.rows.y, return_counts=True)
    n_rare = int((y == "c").sum())
    places = (200 - 5 - n_rare) // 2
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "a": places,
        "b": places,
        "c": n_rare,
        "d": 5,
    }
    assert sample.class_counts == {name: int((y == name).sum()) for name in "abcd"}


def test_masses_are_those_of_all_rows(y, rng):
    weight = rng.uniform(0.5, 2.0, len(y))
    sample = drawn(y, 200, 100, weight)
    for name, mass in zip("abcd", sample.masses, strict=True):
        assert mass == pytest.approx(weight[y == name].sum())


def test_a_sample_of_all_rows_is_all_rows_in_their_order(y):
    sample = drawn(y, len(y), 100)
    assert sample.is_complete
    assert_array_equal(sample.rows.y, y)


def test_every_row_of_a_class_has_the_same_chance():
    y = np.repeat("a", 400)
    times = sum(np.bincount(drawn(y, 40, 60, seed=s).rows.X[:, 0].astype(int), minlength=400)
                for s in range(300))  # fmt: skip
    # 30 times each, with a standard deviation of 5.2
    assert abs(times.mean() - 30) < 1e-9
    assert times.min() > 30 - 5 * 5.2
    assert times.max() < 30 + 5 * 5.2
    assert 4 < times.std() < 6.5


def test_the_rows_held_are_bounded(rng):
    sample = None
    for _ in range(50):
        block = RowBlock(rng.random((60, 2)), np.zeros(60))
        more = RowSample.of(block, rng.random(60), 100, rng.integers(0, 4, 60))
        sample = more if sample is None else sample + more
        assert sum(map(len, sample.blocks)) == len(sample.draws) <= SLACK * 100
    assert len(sample) == len(sample.rows) == 100


@pytest.mark.parametrize("most", [100, 60])
def test_a_sample_little_larger_than_it_may_be_is_not_complete(rng, most):
    sample = RowSample.of(RowBlock(np.ones((60, 1)), np.ones(60)), rng.random(60), most)
    more = RowSample.of(RowBlock(np.ones((10, 1)), np.ones(10)), rng.random(10), most)
    assert sample.is_complete
    assert (sample + more).is_complete == (most == 100)
    assert len(sample + more) == min(most, 70)


def test_samples_of_blocks_add_up(y):
    X = np.arange(len(y), dtype=float)[:, np.newaxis]
    draws = np.random.default_rng(0).random(len(y))
    halves = [
        RowSample.of(RowBlock(X[own], y[own]), draws[own], 200, y[own])
        for own in (slice(0, 1700), slice(1700, None))
    ]
    assert_array_equal((halves[0] + halves[1]).rows.X, drawn(y, 200, 100).rows.X)


def test_ineligible_rows_are_only_counted(rng):
    y = np.array([0, 0, 0, 1])
    rows = RowBlock(np.arange(4.0)[:, np.newaxis], y)
    sample = RowSample.of(rows, rng.random(4), 2, y, None, np.array([0, 1, 0, 1], dtype=bool))
    assert_array_equal(sample.rows.X[:, 0], [1, 3])
    assert sample.class_counts == {0: 3, 1: 1}


def test_a_sample_is_a_copy(rng):
    X = np.ones((5, 2))
    sample = RowSample.of(RowBlock(X, np.ones(5)), rng.random(5), 9)
    X[:] = 0.0
    assert_array_equal(sample.rows.X, 1.0)


def test_empty_blocks_change_nothing(rng):
    empty = RowSample.of(RowBlock(np.empty((0, 2)), np.empty(0)), np.empty(0), 3)
    full = RowSample.of(RowBlock(np.ones((5, 2)), np.ones(5)), rng.random(5), 3)
    for sample in (empty + full, full + empty):
        assert len(sample.rows) == 3
        assert_array_equal(np.sort(sample.thinned().draws), np.sort(full.draws))


def test_more_classes_than_places_are_refused(rng):
    rows = RowBlock(np.ones((3, 1)), np.arange(3))
    with pytest.raises(ValueError, match="at least 3 classes"):
        RowSample.of(rows, rng.random(3), 2, np.arange(3))


def test_quotas_use_what_small_classes_leave():
    assert_array_equal(fair_quotas(np.array([5, 1000, 1000, 0]), 105), [5, 50, 50, 0])
    assert_array_equal(fair_quotas(np.array([5, 6]), 100), [5, 6])
    assert (fair_quotas(np.full(9, 10), 4) == 1).all()  # no class is missing
