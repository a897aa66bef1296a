"""Smoothed confusion matrices against those of NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm import _native
from ecselm.fitness.confusion import smoothed_confusion

pytestmark = pytest.mark.usefixtures("built")

KS = pytest.mark.parametrize("k", [2, 3, 7])
# One row, less than a block of the library, whole blocks, and a rest.
SIZES = pytest.mark.parametrize("n", [7, 63, 64, 65, 200])
P = 3


def by_both(Z, y, k, weight):
    """Return the matrices of scores (P, n, m) by the library and by NumPy."""
    w = None if weight is None else np.ascontiguousarray(weight)
    by_class = np.ascontiguousarray(Z.swapaxes(1, 2))
    fast = _native.smooth(by_class, y.astype(np.int32), w, k)
    with _native.disabled():
        return fast, smoothed_confusion(Z, y, k, weight)


def scored(rng, n, k):
    y = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)])
    return rng.standard_normal((P, n, 1 if k == 2 else k)), y


def assert_same(Z, y, k, weight=None):
    fast, slow = by_both(Z, y, k, weight)
    assert np.isfinite(slow).all()
    assert_allclose(fast, slow, rtol=1e-10, atol=1e-12)
    masses = np.bincount(y, weights=weight, minlength=k)
    assert_allclose(fast.sum(axis=2), np.broadcast_to(masses, (P, k)), rtol=1e-12)


@KS
@SIZES
def test_scores_of_any_number_of_rows(rng, k, n):
    assert_same(*scored(rng, n, k), k)


@KS
@SIZES
def test_weights_some_of_which_are_zero(rng, k, n):
    Z, y = scored(rng, n, k)
    weight = rng.choice([0.0, 0.3, 1.0, 4.0], n)
    weight[[np.flatnonzero(y == c)[0] for c in range(k)]] = 1.0
    assert_same(Z, y, k, weight)


@KS
def test_one_row_of_a_class_has_no_std(rng, k):
    Z, _ = scored(rng, k, k)
    assert_same(Z, np.arange(k), k)


@KS
@pytest.mark.parametrize("level", [0.0, 1e-12, 3.0, -2e5])
def test_margins_that_are_all_the_same(k, level):
    Z = np.zeros((P, 90, 1 if k == 2 else k))
    Z[..., 0] = level
    assert_same(Z, np.arange(90) % k, k)


@KS
def test_a_class_without_rows_stays_empty(rng, k):
    Z, y = scored(rng, 80, k)
    y[y == k - 1] = 0
    assert_same(Z, y, k)
    assert not by_both(Z, y, k, None)[0][:, k - 1].any()


@KS
@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e120])
def test_the_unit_of_scores_does_not_matter(rng, k, scale):
    Z, y = scored(rng, 70, k)
    assert_same(scale * Z, y, k)
    one, other = by_both(Z, y, k, None)[0], by_both(scale * Z, y, k, None)[0]
    assert_allclose(other, one, rtol=1e-9, atol=1e-12)


@KS
def test_one_row_far_from_all_others(rng, k):
    Z, y = scored(rng, 70, k)
    Z[:, 3] *= 1e6
    assert_same(Z, y, k)


@KS
def test_the_least_width_is_that_of_the_largest_margin(rng, k):
    Z, y = scored(rng, 70, k)
    weight, firsts = np.ones(70), [np.flatnonzero(y == c)[0] for c in range(k)]
    Z[:, firsts] *= 1e9  # rows of weight 0, but they set the least width
    weight[firsts] = 0.0
    assert_same(Z, y, k, weight)
    assert np.abs(by_both(Z, y, k, weight)[0] - by_both(Z, y, k, np.ones(70))[0]).max() > 1e-3


def test_two_columns_are_two_classes(rng):
    Z, y = rng.standard_normal((P, 90, 2)), np.arange(90) % 2
    assert_same(Z, y, 2)


def test_ties_between_classes_are_shared(rng):
    Z, y = rng.integers(0, 2, (P, 90, 4)).astype(float), np.arange(90) % 4
    assert_same(Z, y, 4)


def test_a_candidate_does_not_depend_on_the_others(rng):
    Z, y = scored(rng, 90, 3)
    together, _ = by_both(Z, y, 3, None)
    for i in range(P):
        assert (by_both(Z[i : i + 1], y, 3, None)[0][0] == together[i]).all()
