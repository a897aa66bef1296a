"""Candidates side by side against numpy.linalg.solve one after the other."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native
from ecselm._native.calls import LANES, padded
from ecselm.linalg.batched import LEAST_PIVOT

pytestmark = pytest.mark.usefixtures("built")

LARGE = (24, 25, 49, 97, 100, pytest.param(200, marks=pytest.mark.slow))
SMALL = list(product(range(1, 9), range(1, 6)))
# Every m, every number of groups and every number of candidates beside large matrices.
SOME = [(1, 4, 9), (2, 3, 5), (3, 2, 4), (4, 1, 1), (5, 2, 3), (1, 1, 8), (2, 4, 7), (3, 3, 6)]
SHIFT = pytest.mark.parametrize("by_row", [False, True], ids=["one shift", "a shift by row"])


def made(rng, n, m, g, scale=1.0):
    """Return symmetric positive semi-definite matrices (g, n, n) and right sides (g, m, n)."""
    H = rng.standard_normal((g, n + 2, n))
    return scale * H.swapaxes(1, 2) @ H, scale * rng.standard_normal((g, m, n))


def shifts(rng, P, n, by_row):
    return rng.uniform(0.5, 2.0, (P, n) if by_row else P)


def literal(matrices, right_sides, costs, shift):
    """Return the solutions (P, m, n), each from its own sums."""
    solutions = []
    for b, s in zip(costs, shift, strict=True):
        A = sum(cost * matrix for cost, matrix in zip(b, matrices, strict=True))
        Y = sum(cost * side for cost, side in zip(b, right_sides, strict=True))
        A = A + np.diag(np.broadcast_to(s, len(A)))
        solutions.append(np.linalg.solve(A, Y.T).T)
    return np.stack(solutions)


def untrusted(pivots):
    return ~(pivots[:, 0] > LEAST_PIVOT * pivots[:, 1])


def check_groups(rng, n, m, g, P, by_row):
    matrices, right_sides = made(rng, n, m, g)
    costs, shift = rng.uniform(0.1, 3.0, (P, g)), shifts(rng, P, n, by_row)
    tiles = _native.tiled(matrices, right_sides)
    X, pivots = _native.solve_groups(tiles, (n, m), costs, shift)
    expected = literal(matrices, right_sides, costs, shift)
    assert X.shape == (P, m, n)
    assert_allclose(X, expected, rtol=1e-8, atol=1e-11)
    assert not untrusted(pivots).any()


@pytest.mark.parametrize(("n", "m"), SMALL)
@SHIFT
def test_small_systems_are_solved_for_every_shape(rng, n, m, by_row):
    for g, P in product(range(1, 5), range(1, 10)):
        check_groups(rng, n, m, g, P, by_row)


@pytest.mark.parametrize("n", LARGE)
@SHIFT
def test_large_systems_are_solved_beyond_strips_and_panels(rng, n, by_row):
    for m, g, P in SOME:
        check_groups(rng, n, m, g, P, by_row)


@pytest.mark.parametrize("n", [1, 4, 25, 98])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_pivots_are_the_extremes_of_the_factor_without_its_padding(rng, n, scale):
    matrices, right_sides = made(rng, n, 2, 2, scale)
    costs, shift = rng.uniform(0.5, 1.0, (3, 2)), np.full(3, scale)
    _, pivots = _native.solve_groups(_native.tiled(matrices, right_sides), (n, 2), costs, shift)
    for b, pair in zip(costs, pivots, strict=True):
        A = np.tensordot(b, matrices, 1) + scale * np.eye(n)
        diagonal = np.linalg.cholesky(A).diagonal() ** 2
        assert_allclose(pair, [diagonal.min(), diagonal.max()], rtol=1e-10)


@pytest.mark.parametrize("n", [1, 3, 7, 25])
@pytest.mark.parametrize("bad", [-50.0, np.nan], ids=["indefinite", "no number"])
@pytest.mark.parametrize("position", range(LANES + 1))
def test_an_indefinite_matrix_is_reported_and_harms_no_other_lane(rng, n, bad, position):
    matrices, right_sides = made(rng, n, 2, 2)
    tiles, shift = _native.tiled(matrices, right_sides), np.ones(LANES + 1)
    costs = rng.uniform(0.5, 2.0, (LANES + 1, 2))
    alone, _ = _native.solve_groups(tiles, (n, 2), costs, shift)
    costs[position] = bad
    X, pivots = _native.solve_groups(tiles, (n, 2), costs, shift)
    others = np.arange(LANES + 1) != position
    assert_array_equal(untrusted(pivots), ~others)
    assert_array_equal(X[others], alone[others])


def test_a_singular_matrix_without_a_shift_is_not_trusted(rng):
    h = rng.standard_normal((1, 12))
    tiles = _native.tiled(h.T @ h[np.newaxis], rng.standard_normal((1, 1, 12)))
    _, pivots = _native.solve_groups(tiles, (12, 1), np.ones((1, 1)), np.zeros(1))
    assert untrusted(pivots).all()


@pytest.mark.parametrize("n", [5, 30])
def test_a_candidate_has_the_same_bits_beside_any_others(rng, n):
    matrices, right_sides = made(rng, n, 3, 2)
    tiles, costs, shift = _native.tiled(matrices, right_sides), rng.random((9, 2)), np.ones(9)
    X, _ = _native.solve_groups(tiles, (n, 3), costs, shift)
    for i in range(9):
        alone, _ = _native.solve_groups(tiles, (n, 3), costs[i : i + 1], shift[i : i + 1])
        assert_array_equal(alone[0], X[i])


def test_costs_and_shifts_of_any_memory_layout_are_accepted(rng):
    matrices, right_sides = made(rng, 5, 1, 3)
    tiles = _native.tiled(matrices, right_sides)
    costs, shift = rng.random((6, 3)), rng.uniform(0.5, 2.0, (6, 5))
    expected, _ = _native.solve_groups(tiles, (5, 1), costs, shift)
    strided = np.asfortranarray(costs), np.repeat(shift, 2, axis=1)[:, ::2]
    X, _ = _native.solve_groups(tiles, (5, 1), *strided)
    assert_array_equal(X, expected)


def stacked(matrices, right_sides):
    """Return lower triangles over right sides (P, height, width), the rest NaN."""
    P, m, n = right_sides.shape
    width = padded(n)
    full = np.zeros((P, width + padded(m), width))
    full[:, :n, :n] = np.where(np.tri(n, dtype=bool), matrices, np.nan)
    full[:, width : width + m, :n] = right_sides
    return full


@pytest.mark.parametrize("n", [*range(1, 9), *LARGE])
@pytest.mark.parametrize("P", [LANES, 2 * LANES])
def test_one_matrix_per_candidate_is_solved_from_their_lower_triangles(rng, n, P):
    for m in range(1, 6):
        matrices, right_sides = made(rng, n, m, P)
        shift = shifts(rng, P, n, by_row=False)
        X, pivots = _native.solve_matrices(stacked(matrices, right_sides), (n, m), shift)
        expected = literal(matrices, right_sides, np.eye(P), shift)
        assert_allclose(X, expected, rtol=1e-8, atol=1e-11)
        assert not untrusted(pivots).any()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 25, 100])
@pytest.mark.parametrize("m", [1, 3, 4])
def test_one_more_outer_product_is_added(rng, n, m):
    matrices, right_sides = made(rng, n, m, LANES)
    h, t = rng.standard_normal((LANES, n)), rng.standard_normal((LANES, m))
    change = np.array([2.0, 0.0, -0.001, 0.3])
    rows = np.zeros((LANES, padded(n) + padded(m)))
    rows[:, :n], rows[:, padded(n) : padded(n) + m] = h, t
    sums, shift = stacked(matrices, right_sides), shifts(rng, LANES, n, by_row=False)
    kept = sums.copy()
    X, pivots = _native.solve_matrices(sums, (n, m), shift, rows, change)
    d = change[:, np.newaxis, np.newaxis]
    expected = literal(
        matrices + d * h[:, :, np.newaxis] * h[:, np.newaxis],
        right_sides + d * t[:, :, np.newaxis] * h[:, np.newaxis],
        np.eye(LANES),
        shift,
    )
    assert_allclose(X, expected, rtol=1e-8, atol=1e-11)
    assert not untrusted(pivots).any()
    assert_array_equal(sums, kept)


def test_an_outer_product_that_makes_a_matrix_indefinite_is_reported(rng):
    matrices, right_sides = made(rng, 5, 1, LANES)
    rows = np.zeros((LANES, 9))
    rows[:, :5] = rng.standard_normal((LANES, 5))
    change = np.array([1.0, -1e6, 0.0, 1.0])
    _, pivots = _native.solve_matrices(
        stacked(matrices, right_sides), (5, 1), np.ones(LANES), rows, change
    )
    assert_array_equal(untrusted(pivots), [False, True, False, False])
