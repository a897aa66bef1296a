"""Sums of outer products against their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native
from ecselm._native.calls import PANEL

pytestmark = pytest.mark.usefixtures("built")

# Padded sizes, as in the solver: whole tiles of three units, then of three targets.
SHAPES = [(6, 3), (9, 3), (15, 12), (30, 24), (102, 99), (21, 3)]
SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=str)


def literal(X, d, width):
    """Return ``X'diag(d)X`` of every candidate, all columns of it."""
    return np.stack([X.T @ (weights[:, np.newaxis] * X) for weights in d])[:, :, :width]


def lower(sums):
    """Return the entries that are updated: the triangle, and the rows below it."""
    return np.tril(sums)


def changes(rng, kind, P, N):
    """Return the changes of the rows' weights (P, N)."""
    signed = rng.choice([-1.0, 1.0], (P, N)) * rng.uniform(0.1, 2.0, (P, N))
    if kind == "all":
        return signed
    if kind == "half":
        return signed * rng.integers(0, 2, (P, N))
    return np.where(np.arange(N) == rng.integers(0, N, (P, 1)), signed, 0.0)  # one


@SHAPE
@pytest.mark.parametrize("kind", ["one", "half", "all"])
@pytest.mark.parametrize("N", [1, PANEL - 1, PANEL, PANEL + 1, 300])
def test_rows_of_either_sign_are_added(rng, shape, kind, N):
    height, width = shape
    X, d = rng.standard_normal((N, height)), changes(rng, kind, 3, N)
    sums = rng.standard_normal((3, height, width))
    expected = lower(sums + literal(X, d, width))
    _native.add_products(X, d, sums)
    assert_allclose(lower(sums), expected, rtol=1e-10, atol=1e-11)


@SHAPE
def test_no_rows_leave_every_bit_as_it_was(rng, shape):
    height, width = shape
    sums = rng.standard_normal((2, height, width))
    before = sums.copy()
    _native.add_products(rng.standard_normal((40, height)), np.zeros((2, 40)), sums)
    assert_array_equal(sums, before)


def test_rows_that_do_not_change_are_not_read(rng):
    X, d = rng.standard_normal((200, 12)), np.zeros((2, 200))
    d[:, 7] = 1.5, -0.5
    X[np.arange(200) != 7] = np.nan
    sums = np.zeros((2, 12, 9))
    _native.add_products(X, d, sums)
    expected = d[:, 7][:, np.newaxis, np.newaxis] * np.outer(X[7], X[7][:9])
    assert_allclose(lower(sums), lower(expected), rtol=1e-14)


def test_adding_and_subtracting_rows_restores_the_sums(rng):
    X, d = rng.standard_normal((300, 15)), rng.standard_normal((3, 300))
    sums = np.zeros((3, 15, 12))
    _native.add_products(X, d, sums)
    _native.add_products(X, -d, sums)
    assert_allclose(lower(sums), 0.0, atol=1e-11)


def test_a_candidate_has_the_same_bits_beside_any_others(rng):
    X, d = rng.standard_normal((150, 12)), rng.standard_normal((5, 150))
    together = np.zeros((5, 12, 9))
    _native.add_products(X, d, together)
    for i in range(5):
        alone = np.zeros((1, 12, 9))
        _native.add_products(X, d[i : i + 1], alone)
        assert_array_equal(alone[0], together[i])


def test_changes_of_any_memory_layout_are_accepted(rng):
    X, d = rng.standard_normal((20, 6)), rng.standard_normal((3, 20))
    expected, sums = np.zeros((3, 6, 3)), np.zeros((3, 6, 3))
    _native.add_products(X, d, expected)
    _native.add_products(X, np.asfortranarray(d), sums)
    assert_array_equal(sums, expected)


@SHAPE
def test_one_row_of_each_candidate_is_added_like_any_other(rng, shape):
    height, width = shape
    X, rows, d = rng.standard_normal((50, height)), np.array([3, 49, 0]), np.array([0.5, -2.0, 0.0])
    change = np.zeros((3, 50))
    change[np.arange(3), rows] = d
    sums = rng.standard_normal((3, height, width))
    kept, expected = sums.copy(), lower(sums + literal(X, change, width))
    _native.add_rows(X, rows, d, sums)
    assert_allclose(lower(sums), expected, rtol=1e-13, atol=1e-14)
    assert_array_equal(sums[2], kept[2])


def test_rows_on_either_side_of_a_comparison_are_counted(rng):
    kept = rng.random((5, 30))
    tried = kept.copy()
    tried[:, :10] = rng.random((5, 10))
    costs = np.stack([kept[0], tried[1], kept[2], tried[3], rng.random(30)])
    costs[2, 17] = costs[3, 29] = 2.0
    nearer, n_new, rows = _native.compare(costs, kept, tried)
    assert_array_equal(nearer, [False, True, False, True, False])
    assert_array_equal(n_new, [0, 0, 1, 1, 30])
    assert_array_equal(rows, [0, 0, 17, 29, 0])
