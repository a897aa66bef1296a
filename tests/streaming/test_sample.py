"""The sample is even over the classes, bounded, and the same for any cut into blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.streaming.rows import SLACK, ClassSample, RowBlock


def drawn(y, n_rows, size, weight=None, seed=0):
    """Return the sample of rows that hold their own positions."""
    sample = ClassSample(n_rows, np.random.default_rng(seed))
    X = np.arange(len(y), dtype=float)[:, np.newaxis]
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        w = None if weight is None else weight[rows]
        sample.add(RowBlock(X[rows], y[rows], w), y[rows])
    return sample


@pytest.fixture
def y(rng):
    return np.append(rng.choice(["a", "b", "c"], 3000, p=[0.9, 0.09, 0.01]), ["d"] * 5)


@pytest.mark.parametrize("size", [1, 7, 100, 3005])
def test_any_cut_draws_the_same_rows(y, size):
    assert_array_equal(drawn(y, 200, size).block.X, drawn(y, 200, 999).block.X)


def test_classes_have_equal_places_and_small_ones_keep_all_rows(y):
    sample = drawn(y, 200, 100)
    names, counts = np.unique(sample.block.y, return_counts=True)
    n_rare = int((y == "c").sum())
    places = (200 - 5 - n_rare) // 2
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "a": places,
        "b": places,
        "c": n_rare,
        "d": 5,
    }
    assert sample.counts == {name: int((y == name).sum()) for name in sample.counts}


def test_rows_stand_for_those_that_are_not_there(y, rng):
    weight = rng.uniform(0.5, 2.0, len(y))
    sample = drawn(y, 200, 100, weight)
    scaled = sample.block.weight * sample.factors
    for name in "abcd":
        share = scaled[sample.block.y == name].sum() / scaled.sum()
        assert share == pytest.approx(weight[y == name].sum() / weight.sum())
    assert scaled.sum() == pytest.approx(sample.block.weight.sum())


def test_a_sample_of_all_rows_is_all_rows_in_their_order(y):
    sample = drawn(y, len(y), 100)
    assert sample.is_complete
    assert_array_equal(sample.block.y, y)
    assert_allclose(sample.factors, 1.0)


def test_every_row_of_a_class_has_the_same_chance():
    y = np.repeat("a", 400)
    times = sum(np.bincount(drawn(y, 40, 60, seed=s).block.X[:, 0].astype(int), minlength=400)
                for s in range(300))  # fmt: skip
    # 30 times each, with a standard deviation of 5.2
    assert abs(times.mean() - 30) < 1e-9
    assert times.min() > 30 - 5 * 5.2
    assert times.max() < 30 + 5 * 5.2
    assert 4 < times.std() < 6.5


def test_no_more_rows_are_held_than_said(rng):
    sample = ClassSample(100, rng)
    for _ in range(50):
        sample.add(RowBlock(rng.random((60, 2)), np.zeros(60)), rng.integers(0, 4, 60))
        assert sum(map(len, sample._blocks)) <= SLACK * 100 + 60


def test_empty_blocks_change_nothing(rng):
    sample = ClassSample(3, rng)
    sample.add(RowBlock(np.empty((0, 2)), np.empty(0)), np.empty(0))
    sample.add(RowBlock(np.ones((5, 2)), np.ones(5)), np.ones(5))
    assert len(sample.block) == 3


def test_more_classes_than_places_are_refused(rng):
    with pytest.raises(ValueError, match="at least 3 classes"):
        ClassSample(2, rng).add(RowBlock(np.ones((3, 1)), np.arange(3)), np.arange(3))
