"""Gram blocks against direct assembly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.linalg import GramBlocks, GramSum


@pytest.fixture
def rows(rng):
    return rng.standard_normal((50, 8)), rng.standard_normal((50, 3)), rng.integers(0, 4, 50)


def test_group_costs_equal_the_literal_solution_with_a_cost_per_row(rows):
    H, T, groups = rows
    b = np.array([0.5, 1.0, 3.0, 0.0])
    B = np.diag(b[groups])
    literal = np.linalg.solve(np.eye(8) / 4.0 + H.T @ B @ H, H.T @ B @ T)
    assert_allclose(GramBlocks.from_groups(H, T, groups).solve(b, 4.0), literal, rtol=1e-10)


def test_negative_group_costs_solve_the_same_equations(rows):
    H, T, groups = rows
    b = np.array([0.5, -1.0, 3.0, -0.2])
    B = np.diag(b[groups])
    literal = np.linalg.solve(np.eye(8) / 4.0 + H.T @ B @ H, H.T @ B @ T)
    assert_allclose(GramBlocks.from_groups(H, T, groups).solve(b, 4.0), literal, rtol=1e-8)


def test_sums_of_parts_equal_the_sum_of_all(rows):
    H, T, groups = rows
    groups[[0, 20]] = 3  # both parts know all groups
    whole = GramBlocks.from_groups(H, T, groups)
    parts = GramBlocks.from_groups(H[:20], T[:20], groups[:20]) + GramBlocks.from_groups(
        H[20:], T[20:], groups[20:]
    )
    for name in ("grams", "moments", "squares"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=1e-12)


def test_squares_are_the_squared_targets_of_each_group(rows):
    H, T, groups = rows
    squares = [(T[groups == g] ** 2).sum(axis=0) for g in range(4)]
    assert_allclose(GramBlocks.from_groups(H, T, groups).squares, squares)


def test_running_sum_takes_blocks_of_any_size_into_any_group(rows):
    H, T, _ = rows
    w = np.linspace(0, 2, 50)
    total = GramSum(30, 8, 3, H.dtype, n_groups=2)
    for group, part in ((1, slice(0, 30)), (1, slice(30, 35)), (0, slice(35, 50))):
        total.hidden(part.stop - part.start)[:] = H[part]
        total.add(T[part], w[part], group)
    last, first = (total.blocks().moments[g] for g in range(2))
    assert_allclose(first, H[:35].T @ (w[:35, np.newaxis] * T[:35]), rtol=1e-12, atol=1e-12)
    assert_allclose(last, H[35:].T @ (w[35:, np.newaxis] * T[35:]), rtol=1e-12, atol=1e-12)
