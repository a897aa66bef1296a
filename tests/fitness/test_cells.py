"""Rows that train together, for splits of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    KFold,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from ecselm.fitness import Split, every_row, fold_splits, holdout
from ecselm.fitness.folds import MOST_SPLITS, Cells

N = 24
SPLITTERS = {
    "folds": KFold(4),
    "two folds": KFold(2),
    "one row each": KFold(N),
    "growing": TimeSeriesSplit(4),
    "overlapping": ShuffleSplit(5, test_size=0.3, random_state=0),
    "few overlapping": ShuffleSplit(2, test_size=0.5, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "pairs left out": LeavePOut(2),
}


def splits_of(splitter):
    return [Split(train, test) for train, test in splitter.split(np.zeros((N, 1)))]


def trained(cells, s):
    """Return the rows that the cells of a split hold, as often as they do."""
    mine = [rows for rows, member in zip(cells.rows, cells.members[s], strict=True) if member]
    return np.sort(np.concatenate(mine))


def assert_whole(cells, splits):
    """Check that every split trains on whole cells, which are its training rows."""
    assert cells.members.shape == (len(splits), len(cells.rows))
    for s, split in enumerate(splits):
        assert_array_equal(trained(cells, s), np.sort(split.train))


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
def test_every_split_trains_on_whole_cells(splitter):
    splits = splits_of(splitter)
    cells = Cells.of_splits(splits, N)
    assert_whole(cells, splits)
    assert len(cells.rows) <= len(splits)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_share_what_they_train_on(rng, n_folds):
    splits = fold_splits(rng.standard_normal((N, 2)), np.arange(N) % 2, n_folds, rng)
    cells = Cells.of_splits(splits, N)
    assert_whole(cells, splits)
    assert sorted(np.concatenate(cells.rows)) == list(range(N))  # every row is summed once
    assert_array_equal(cells.members.sum(axis=1), n_folds - 1)


def test_rows_set_aside_are_in_no_cell(rng):
    splits = holdout(rng.standard_normal((N, 2)), np.arange(N) % 2, 0.25, rng)
    cells = Cells.of_splits(splits, N)
    assert_whole(cells, splits)
    assert len(cells.rows) == 1
    assert not set(cells.rows[0]) & set(splits[0].test)


def test_all_rows_are_one_cell():
    cells = Cells.of_splits(every_row(N), N)
    assert_array_equal(cells.rows, [np.arange(N)])
    assert cells.members.tolist() == [[True]]


def test_splits_that_have_little_in_common_are_kept_apart():
    splits = splits_of(SPLITTERS["overlapping"])
    cells = Cells.of_splits(splits, N)
    assert_array_equal(cells.members, np.eye(5, dtype=bool))


@pytest.mark.parametrize("n_splits", [1, 3])
def test_a_row_drawn_twice_counts_twice(rng, n_splits):
    splits = [Split(rng.integers(0, N, N), np.arange(N)) for _ in range(n_splits)]
    cells = Cells.of_splits(splits, N)
    assert_whole(cells, splits)
    assert max(np.bincount(trained(cells, 0))) > 1


def test_equal_splits_share_one_cell():
    split = Split(np.arange(10), np.arange(10, N))
    cells = Cells.of_splits([split, split, split], N)
    assert_whole(cells, [split] * 3)
    assert len(cells.rows) == 1


@pytest.mark.parametrize("n_splits", [MOST_SPLITS, MOST_SPLITS + 1])
def test_splits_of_any_number_do_not_run_into_each_other(rng, n_splits):
    parts = rng.permutation(np.arange(4 * n_splits) % n_splits)
    splits = [
        Split(np.flatnonzero(parts != part), np.flatnonzero(parts == part))
        for part in range(n_splits)
    ]
    assert_whole(Cells.of_splits(splits, 4 * n_splits), splits)


@pytest.mark.parametrize("order", ["as drawn", "backwards"])
def test_the_order_of_training_rows_does_not_matter(order):
    splits = splits_of(SPLITTERS["folds"])
    if order == "backwards":
        splits = [Split(split.train[::-1], split.test[::-1]) for split in splits]
    assert_whole(Cells.of_splits(splits, N), splits)
