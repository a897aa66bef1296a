"""Rows dealt out by what they are, never by where they stand or how often."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from ecselm.fitness import assign_folds, every_row, fold_splits, holdout
from ecselm.fitness.folds import row_hashes

PARTS = pytest.mark.parametrize("n_parts", [2, 3, 5])


@pytest.fixture
def case(rng):
    """Return rows of unequal classes, some of them several times."""
    X, y = rng.standard_normal((60, 3)), rng.choice(3, 60, p=[0.6, 0.3, 0.1])
    repeated = np.r_[np.arange(60), rng.integers(0, 60, 40)]
    return X[repeated], y[repeated]


def dealt(X, y, n_parts, seed=0):
    return assign_folds(X, y, n_parts, np.random.default_rng(seed))


def distinct(X, y):
    """Return the position of the first of every set of equal rows."""
    return np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1]


@PARTS
def test_equal_rows_of_a_class_share_a_part(case, n_parts):
    X, y = case
    parts = dealt(X, y, n_parts)
    for i in range(len(y)):
        twins = (X[i] == X).all(axis=1) & (y == y[i])
        assert len(set(parts[twins])) == 1


@PARTS
def test_parts_hold_as_many_distinct_rows_as_the_others_in_all_and_of_every_class(case, n_parts):
    X, y = case
    first = distinct(X, y)
    parts, y = dealt(X, y, n_parts)[first], y[first]
    for rows in [y >= 0, *(y == c for c in range(3))]:
        sizes = np.bincount(parts[rows], minlength=n_parts)
        assert sizes.max() - sizes.min() <= 1


def test_one_seed_deals_alike_and_another_otherwise(case):
    X, y = case
    assert_array_equal(dealt(X, y, 3), dealt(X, y, 3))
    assert (dealt(X, y, 3, seed=1) != dealt(X, y, 3)).any()


def test_which_rows_are_dealt_together_is_drawn():
    X, y = np.arange(40.0)[:, np.newaxis], np.zeros(40, dtype=int)
    together = np.mean([np.equal(*dealt(X, y, 2, seed)[:2]) for seed in range(400)])
    assert together == pytest.approx(19 / 39, abs=0.08)  # 3 standard deviations


@PARTS
def test_the_order_of_the_rows_does_not_matter(case, rng, n_parts):
    X, y = case
    order = rng.permutation(len(y))
    assert_array_equal(dealt(X[order], y[order], n_parts), dealt(X, y, n_parts)[order])


@PARTS
def test_how_often_a_row_occurs_does_not_matter(case, rng, n_parts):
    X, y = case
    more = np.r_[np.arange(len(y)), rng.integers(0, len(y), 50)]
    assert_array_equal(dealt(X[more], y[more], n_parts), dealt(X, y, n_parts)[more])
    first = distinct(X, y)
    assert_array_equal(dealt(X[first], y[first], n_parts), dealt(X, y, n_parts)[first])


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integers": lambda X: X.astype(np.int64),
    "column by column": np.asfortranarray,
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "float32 csr": lambda X: sparse.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
def test_how_rows_are_stored_does_not_matter(rng, form):
    X, y = rng.integers(-2, 3, (50, 4)).astype(float), rng.integers(0, 2, 50)
    assert_array_equal(dealt(FORMS[form](X), y, 4), dealt(X, y, 4))


def test_float32_and_sparse_rows_of_any_numbers_are_dealt_alike(case, rng):
    X, y = case
    X = np.where(rng.random(X.shape) < 0.3, 0.0, X)
    expected = dealt(X, y, 4)
    for same in (X.astype(np.float32), sparse.csr_array(X), sparse.csr_array(X.astype("f4"))):
        assert_array_equal(dealt(same, y, 4), expected)


def test_every_way_to_store_a_zero_is_one_key():
    dense = np.array([[0.0, 1.0], [-0.0, 1.0], [1e-60, 1.0]])
    stored = sparse.csr_array(([0.0, 1.0], [0, 1], [0, 2]), shape=(1, 2))
    assert set(row_hashes(dense)) == set(row_hashes(stored))
    assert_array_equal(row_hashes(dense.astype(np.float32)), row_hashes(dense))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_stored_in_parts_and_out_of_order_are_one_row(dtype):
    data = np.array([2.0, 0.1, 0.2], dtype=dtype)
    parts = sparse.csr_array((data, [1, 0, 0], [0, 3]), shape=(1, 2))
    assert_array_equal(row_hashes(parts), row_hashes(np.array([[data[1] + data[2], 2.0]])))
    assert parts.nnz == 3


def test_an_entry_in_another_column_makes_another_row():
    assert len(set(row_hashes(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])))) == 3


def test_numbers_too_large_for_float32_are_dealt():
    X = np.array([[1e300], [1e300], [1.0], [2.0]])
    parts = dealt(X, np.zeros(4, dtype=int), 3)
    assert parts[0] == parts[1]
    assert len(set(parts)) == 3


def test_many_wide_rows_have_the_keys_of_each_alone(rng):
    X = rng.integers(0, 2, (300, 2000)).astype(float)
    X[299] = X[0]
    keys = row_hashes(X)
    assert keys[299] == keys[0]
    assert_array_equal(keys[[0, 150, 299]], row_hashes(X[[0, 150, 299]]))


@pytest.mark.parametrize(
    "X",
    [
        np.array([["a", 1], ["a", 1.0], ["b", 1], ["a", np.float64(1)]], dtype=object),
        np.array([["a", None], ["a", None], ["b", None], ["a", None]], dtype=object),
        np.array([["a", "x"], ["a", "x"], ["b", "x"], ["a", "x"]]),
        np.array([["2020-01-01"], ["2020-01-01"], ["2021-01-01"], ["2020-01-01"]], dtype="M8[D]"),
        np.array([[True], [True], [False], [True]]),
    ],
    ids=["words and numbers", "missing", "text", "dates", "booleans"],
)
def test_rows_of_any_kind_are_equal_where_their_entries_are(X):
    first, second, other, third = row_hashes(X)
    assert first == second == third != other


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=30),
    st.integers(2, 6),
    st.integers(0, 99),
)
def test_folds_judge_every_row_once_by_a_machine_without_its_equals(rows, n_folds, seed):
    X, y = np.array([[r] for r, _ in rows], dtype=float), np.array([c for _, c in rows])
    if len(set(rows)) < 2:
        with pytest.raises(ValueError, match="some rows must be left to train on"):
            fold_splits(X, y, n_folds, np.random.default_rng(seed))
        return
    splits = fold_splits(X, y, n_folds, np.random.default_rng(seed))
    assert len(splits) == min(n_folds, len(set(rows)))
    assert_array_equal(np.sort(np.concatenate([s.test for s in splits])), np.arange(len(rows)))
    for split in splits:
        assert_array_equal(np.sort(np.r_[split.train, split.test]), np.arange(len(rows)))
        assert not {rows[i] for i in split.train} & {rows[i] for i in split.test}


def test_fewer_rows_than_folds_give_a_fold_each():
    splits = fold_splits(
        np.arange(3.0)[:, np.newaxis], np.array([0, 0, 1]), 10, np.random.default_rng(0)
    )
    assert sorted(split.test.tolist() for split in splits) == [[0], [1], [2]]


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
def test_holdout_takes_the_share_of_the_distinct_rows_of_every_class(case, fraction):
    X, y = case
    (split,) = holdout(X, y, fraction, np.random.default_rng(0))
    assert_array_equal(np.sort(np.r_[split.train, split.test]), np.arange(len(y)))
    first = distinct(X, y)
    for c in range(3):
        mine = first[y[first] == c]
        n_test = np.isin(mine, split.test).sum()
        assert n_test == np.clip(round(fraction * len(mine)), 1, len(mine) - 1)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=2, max_size=30),
    st.floats(0.01, 0.99),
    st.integers(0, 99),
)
def test_holdout_depends_on_the_set_of_rows_alone(rows, fraction, seed):
    def judged(rows):
        X, y = np.array([[r] for r, _ in rows], dtype=float), np.array([c for _, c in rows])
        (split,) = holdout(X, y, fraction, np.random.default_rng(seed))
        test, train = ({rows[i] for i in part} for part in (split.test, split.train))
        assert not test & train
        return test

    if all(len({r for r, d in rows if d == c}) < 2 for _, c in rows):
        with pytest.raises(ValueError, match="some rows must be left to train on"):
            judged(rows)
        return
    assert judged(rows) == judged(sorted(set(rows))) == judged(rows[::-1] + rows[:3])


@pytest.fixture
def families(rng):
    """Return rows of 30 groups, the first 6 of which have rows of the rare class, too."""
    groups = np.repeat(np.arange(30), 4)
    y = np.where((groups < 6) & (np.arange(120) % 4 == 0), 1, 0)
    return rng.standard_normal((120, 2)), y, groups


@PARTS
def test_groups_are_dealt_out_whole_and_those_of_rare_classes_evenly(families, n_parts):
    X, y, groups = families
    parts = assign_folds(X, y, n_parts, np.random.default_rng(0), groups)
    assert len(set(zip(groups.tolist(), parts.tolist(), strict=True))) == 30
    for some in (groups < 6, groups >= 0):
        sizes = np.bincount(parts[some & (np.arange(120) % 4 == 0)], minlength=n_parts)
        assert sizes.max() - sizes.min() <= 1


def test_neither_order_nor_number_of_a_groups_rows_matters(families, rng):
    X, y, groups = families
    expected = assign_folds(X, y, 3, np.random.default_rng(0), groups)
    more = np.r_[rng.permutation(120), rng.integers(0, 120, 50)]
    dealt_again = assign_folds(X[more], y[more], 3, np.random.default_rng(0), groups[more])
    assert_array_equal(dealt_again, expected[more])


def test_one_group_per_distinct_row_is_dealt_out_like_rows(rng):
    y, X = rng.integers(0, 3, 40), rng.standard_normal((40, 2))
    order = np.unique(row_hashes(X), return_inverse=True)[1]
    by_group = assign_folds(X, y, 4, np.random.default_rng(0), order)
    assert_array_equal(by_group, dealt(X, y, 4))


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_holdout_takes_the_share_of_the_groups_of_every_class(families, fraction):
    X, y, groups = families
    (split,) = holdout(X, y, fraction, np.random.default_rng(0), groups)
    held_out = np.unique(groups[split.test])
    assert not set(held_out) & set(groups[split.train])
    assert (held_out < 6).sum() == np.clip(round(fraction * 6), 1, 5)
    assert (held_out >= 6).sum() == np.clip(round(fraction * 24), 1, 23)


def test_a_class_of_one_distinct_row_stays_in_training():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [9.0], [9.0]]), np.array([0, 0, 0, 0, 1, 1])
    (split,) = holdout(X, y, 0.5, np.random.default_rng(0))
    assert_array_equal(y[split.test], 0)
    assert len(split.test) == 2


def test_too_few_rows_are_refused_with_their_number():
    X, y = np.ones((4, 1)), np.zeros(4, dtype=int)
    for make in (lambda rng: fold_splits(X, y, 3, rng), lambda rng: holdout(X, y, 0.5, rng)):
        with pytest.raises(ValueError, match=r"too few distinct rows .* n_samples=4"):
            make(np.random.default_rng(0))


def test_training_rows_may_judge_themselves():
    (split,) = every_row(4)
    assert_array_equal(split.train, [0, 1, 2, 3])
    assert_array_equal(split.test, [0, 1, 2, 3])


def test_arguments_are_never_modified(case):
    X, y = case
    stored = sparse.csr_array(([2.0, 0.0, 0.2], [1, 0, 0], [0, 3]), shape=(1, 2))
    copies = X.copy(), y.copy()
    fold_splits(X, y, 3, np.random.default_rng(0))
    row_hashes(stored)
    assert_array_equal(X, copies[0])
    assert_array_equal(y, copies[1])
    assert_array_equal(stored.data, [2.0, 0.0, 0.2])
