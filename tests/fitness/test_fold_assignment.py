"""Classes of more rows than are listed go where their keys say; others one by one."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.fitness import assign_folds, holdout
from ecselm.fitness.folds import (
    FoldAssignment,
    HashedRows,
    ListedRows,
    hash_numbers,
    mixed,
    row_hashes,
)

N_LISTED = 500


@pytest.fixture
def case(rng, monkeypatch):
    """Return rows of a class that is listed and one that is not, some of them twice."""
    monkeypatch.setattr(import_module("ecselm.fitness.folds"), "N_LISTED", N_LISTED)
    X, y = rng.standard_normal((5000, 2)), rng.choice(2, 5000, p=[0.95, 0.05])
    more = np.r_[np.arange(5000), rng.integers(0, 5000, 300)]
    return X[more], y[more]


def dealt(X, y, seed=0):
    return assign_folds(X, y, 5, np.random.default_rng(seed))


def test_parts_do_not_depend_on_order_or_number_of_equal_rows(case, rng):
    X, y = case
    order = rng.permutation(len(y))
    parts = dealt(X, y)
    assert_array_equal(dealt(X[order], y[order]), parts[order])
    assert_array_equal(dealt(X[:5000], y[:5000]), parts[:5000])


def test_parts_are_equal_up_to_chance_and_of_listed_classes_up_to_one(case):
    X, y = (values[:5000] for values in case)
    many, few = (np.bincount(dealt(X, y)[y == c], minlength=5) for c in (0, 1))
    assert few.max() - few.min() <= 1
    spread = np.sqrt(many.sum() * 0.2 * 0.8)
    assert np.abs(many - many.sum() / 5).max() < 4 * spread
    assert many.max() - many.min() > 1


def test_another_seed_deals_otherwise_and_as_if_drawn(case):
    X, y = case
    first, second = dealt(X, y)[y == 0], dealt(X, y, 1)[y == 0]
    both = np.bincount(5 * first + second, minlength=25)
    assert np.abs(both - both.mean()).max() < 5 * np.sqrt(both.mean())


def test_the_share_held_out_is_that_asked_for(case):
    X, y = case
    (split,) = holdout(X, y, 0.3, np.random.default_rng(0))
    share = (y[split.test] == 0).sum() / (y == 0).sum()
    assert share == pytest.approx(0.3, abs=0.03)


def test_a_class_is_listed_up_to_its_limit():
    keys = np.sort(row_hashes(np.arange(1.0, 8.0)[:, np.newaxis]))
    rng = np.random.default_rng(0)
    kinds = FoldAssignment.drawn({0: keys, 1: keys[:6]}, rng, 6).classes
    assert isinstance(kinds[0], HashedRows)
    assert isinstance(kinds[1], ListedRows)


@pytest.mark.parametrize("stranger", [0.5, 1e9])
def test_rows_that_were_not_listed_are_refused(stranger):
    keys = np.sort(row_hashes(np.arange(1.0, 8.0)[:, np.newaxis]))
    dealing = FoldAssignment.drawn({0: keys}, np.random.default_rng(0), 9)
    others = np.append(keys, row_hashes(np.array([[stranger]])))
    codes = np.zeros(8, dtype=int)
    for deal_out in (
        lambda: dealing.folds(others, codes, 3),
        lambda: dealing.holdout(others, codes, 0.5),
    ):
        with pytest.raises(ValueError, match="same every time they are read, got 1 that were not"):
            deal_out()


def test_groups_are_listed_however_many(case):
    X, y = case
    groups = np.arange(len(y))
    sizes = np.bincount(assign_folds(X, y, 5, np.random.default_rng(0), groups)[y == 0])
    assert sizes.max() - sizes.min() <= 1


def test_bits_of_mixed_numbers_are_set_half_of_the_time():
    numbers = mixed(np.arange(20_000), 7)
    bits = np.unpackbits(numbers.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 0.02
    near = np.corrcoef(numbers[1:].astype(float), numbers[:-1].astype(float))[0, 1]
    assert abs(near) < 0.03


def test_keys_of_rows_are_numbers_of_64_bits(rng):
    numbers = hash_numbers(row_hashes(rng.standard_normal((1000, 3))))
    assert numbers.dtype == np.uint64
    assert len(np.unique(numbers)) == 1000
