"""Least squares without a ridge, against NumPy's pseudo-inverse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.linalg import solve_weighted
from ecselm.linalg.ridge import minimum_norm_solution

SHAPES = pytest.mark.parametrize("shape", [(40, 6), (7, 6), (6, 40)], ids=["tall", "even", "wide"])


@SHAPES
@pytest.mark.parametrize("weighted", [False, True])
def test_solution_is_the_pseudo_inverse(rng, shape, weighted):
    H, T = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    w = rng.uniform(0.5, 3, shape[0]) if weighted else None
    root = np.ones((shape[0], 1)) if w is None else np.sqrt(w)[:, np.newaxis]
    solution = minimum_norm_solution(H, T, w)
    assert_allclose(solution.beta, np.linalg.pinv(root * H) @ (root * T), rtol=1e-9, atol=1e-10)
    left = root * (T - H @ solution.beta)
    assert_allclose(solution.residual, (left**2).sum(axis=0), rtol=1e-9, atol=1e-12)
    assert solution.degrees() == min(shape)
    assert solution.path == ("primal-spectral" if shape[0] < shape[1] else "primal-cholesky")


@pytest.mark.parametrize("condition", [1e2, 1e7, 1e11, 1e14])
def test_both_solutions_agree_with_the_pseudo_inverse_at_any_condition(rng, condition):
    U, V = (np.linalg.qr(rng.standard_normal(shape))[0] for shape in ((60, 8), (8, 8)))
    H, T = U * np.geomspace(1.0, 1.0 / condition, 8) @ V, rng.standard_normal((60, 2))
    expected = np.linalg.pinv(H, rcond=np.finfo(float).eps ** 0.75) @ T
    found = minimum_norm_solution(H, T, None)
    assert found.path == ("primal-cholesky" if condition < 1e8 else "primal-spectral")
    tolerance = 1e-14 * min(condition, 1e12)
    assert_allclose(found.beta, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@SHAPES
def test_a_huge_C_comes_close(rng, shape):
    H, T = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    ridge = solve_weighted(H, T, None, C=1e10)
    assert_allclose(minimum_norm_solution(H, T, None).beta, ridge.beta, rtol=1e-5, atol=1e-6)


def test_weight_two_equals_a_row_repeated_and_weight_zero_a_row_left_out(rng):
    H, T, w = rng.standard_normal((30, 5)), rng.standard_normal((30, 1)), rng.integers(0, 3, 30)
    weighted = minimum_norm_solution(H, T, w.astype(float))
    repeated = minimum_norm_solution(np.repeat(H, w, axis=0), np.repeat(T, w, axis=0), None)
    assert_allclose(weighted.beta, repeated.beta, rtol=1e-9)
    assert_allclose(weighted.residual, repeated.residual, rtol=1e-9)


def test_equal_units_share_their_weight(rng):
    H, T = rng.standard_normal((40, 3)), rng.standard_normal((40, 1))
    twice = minimum_norm_solution(np.hstack([H, H]), T, None)
    assert twice.factor.rank == 3
    assert_allclose(np.vsplit(twice.beta, 2), [np.linalg.pinv(H) @ T / 2] * 2, rtol=1e-8)


def test_units_that_are_always_zero_get_no_weight():
    solution = minimum_norm_solution(np.zeros((4, 2)), np.ones((4, 1)), None)
    assert_array_equal(solution.beta, np.zeros((2, 1)))
    assert_allclose(solution.residual, [4.0])


def test_digits_that_normal_equations_lose_are_kept():
    x = np.linspace(-1, 1, 50)[:, np.newaxis]
    H = np.hstack([x, x + 1e-9 * np.sign(x)])  # a condition of 1e9, squared 1e18
    beta = minimum_norm_solution(H, 1e9 * (H[:, 1:] - H[:, :1]), None).beta
    assert_allclose(beta, [[-1e9], [1e9]], rtol=1e-5)


def test_rounding_of_float32_is_not_taken_for_data(rng):
    h, noise = rng.standard_normal((200, 1)), 1e-7 * rng.standard_normal((200, 5))
    H = (1.0 + 0.1 * h + noise).astype(np.float32)
    T = rng.standard_normal((200, 1)).astype(np.float32)
    solution = minimum_norm_solution(H, T, None)
    assert solution.factor.rank == 1
    assert np.abs(solution.beta).max() < 1


def test_arguments_are_never_modified(rng):
    arrays = rng.standard_normal((9, 3)), rng.standard_normal((9, 1)), rng.uniform(1, 2, 9)
    copies = [array.copy() for array in arrays]
    minimum_norm_solution(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        assert_array_equal(array, copy)
