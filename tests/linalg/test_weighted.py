"""The weighted solver against eqs. (5) and (15) as printed, solved slowly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgError

from ecselm.linalg import GramBlocks, solve_dual, solve_weighted

SHAPES = pytest.mark.parametrize(("N", "L"), [(60, 20), (20, 60), (30, 30)])


def printed(H, T, B, C):
    """Return beta of (15) as printed, with explicit inverses."""
    N, L = H.shape
    if N < L:
        return H.T @ np.linalg.inv(np.eye(N) / C + np.diag(B) @ H @ H.T) @ np.diag(B) @ T
    return np.linalg.inv(np.eye(L) / C + H.T @ np.diag(B) @ H) @ H.T @ np.diag(B) @ T


def problem(rng, N, L, m=3):
    return rng.uniform(0, 1, (N, L)), rng.choice([-1.0, 1.0], (N, m)), rng.uniform(0.1, 2, N)


@SHAPES
@pytest.mark.parametrize("C", [0.5, 32.0])
def test_unweighted_solution_is_equation_5(rng, N, L, C):
    H, T, _ = problem(rng, N, L)
    solution = solve_weighted(H, T, None, C)
    assert_allclose(solution.beta, printed(H, T, np.ones(N), C), rtol=1e-10, atol=1e-10)


@SHAPES
@pytest.mark.parametrize("C", [0.5, 32.0])
def test_weighted_solution_is_equation_15(rng, N, L, C):
    H, T, B = problem(rng, N, L)
    solution = solve_weighted(H, T, B, C)
    assert_allclose(solution.beta, printed(H, T, B, C), rtol=1e-10, atol=1e-10)
    assert solution.path == ("dual-cholesky" if N < L else "primal-cholesky")


@SHAPES
def test_negative_costs_give_the_saddle_point_of_15_and_say_so(rng, N, L):
    H, T, _ = problem(rng, N, L)
    B = rng.uniform(-1, 1, N)
    solution = solve_weighted(H, T, B, 8.0)
    assert_allclose(solution.beta, printed(H, T, B, 8.0), rtol=1e-8, atol=1e-8)
    assert solution.path.endswith("indefinite")


@SHAPES
def test_primal_equals_dual(rng, N, L):
    H, T, B = problem(rng, N, L)
    beta = H.T @ solve_dual(H @ H.T, T, B, 4.0).alpha
    blocks = GramBlocks.from_rows(H, T, B)
    assert_allclose(blocks.solve(np.ones(1), 4.0), beta, rtol=1e-10, atol=1e-10)


@SHAPES
def test_weight_zero_equals_a_row_left_out(rng, N, L):
    H, T, B = problem(rng, N, L)
    B[::3] = 0.0
    kept = B > 0
    left_out = solve_weighted(H[kept], T[kept], B[kept], 4.0)
    assert_allclose(solve_weighted(H, T, B, 4.0).beta, left_out.beta, rtol=1e-9, atol=1e-10)


@SHAPES
def test_scaling_costs_equals_scaling_c(rng, N, L):
    H, T, B = problem(rng, N, L)
    scaled = solve_weighted(H, T, 7.0 * B, 4.0).beta
    assert_allclose(scaled, solve_weighted(H, T, B, 28.0).beta, rtol=1e-9, atol=1e-10)


@SHAPES
@pytest.mark.parametrize("weighted", [False, True])
def test_residual_and_degrees_are_those_of_the_fitted_rows(rng, N, L, weighted):
    H, T, B = problem(rng, N, L)
    solution = solve_weighted(H, T, B if weighted else None, 4.0)
    B = B if weighted else np.ones(N)
    hat = H @ np.linalg.inv(np.eye(L) / 4.0 + H.T @ np.diag(B) @ H) @ H.T @ np.diag(B)
    residual = (B[:, np.newaxis] * (T - H @ solution.beta) ** 2).sum(axis=0)
    assert_allclose(solution.residual, residual, rtol=1e-8)
    assert_allclose(solution.degrees(), np.trace(hat), rtol=1e-8)


@SHAPES
def test_float32_stays_close_to_float64(rng, N, L):
    H, T, B = problem(rng, N, L)
    single = solve_weighted(*(a.astype(np.float32) for a in (H, T, B)), 2.0)
    assert_allclose(single.beta, solve_weighted(H, T, B, 2.0).beta, atol=2e-4)


@SHAPES
def test_huge_c_gives_the_minimum_norm_solution(rng, N, L):
    H, T, _ = problem(rng, N, L)
    H[:, 1], H[1] = H[:, 0], H[0]  # rank-deficient whatever the shape
    solution = solve_weighted(H, T, None, 2.0**60)
    assert solution.path.endswith("spectral")
    assert_allclose(solution.beta, np.linalg.pinv(H) @ T, rtol=1e-5, atol=1e-5)


def test_rows_of_zeros_give_zero_weights():
    solution = solve_weighted(np.zeros((4, 2)), np.ones((4, 1)), None, 1.0)
    assert_array_equal(solution.beta, 0.0)


@SHAPES
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_arguments_are_never_modified(rng, N, L, sign):
    H, T, B = problem(rng, N, L)
    B[0] *= sign
    copies = H.copy(), T.copy(), B.copy()
    solve_weighted(H, T, B, 4.0)
    for array, copy in zip((H, T, B), copies, strict=True):
        assert_array_equal(array, copy)


def test_singular_indefinite_system_is_refused():
    H, T = np.eye(2), np.ones((2, 1))
    with pytest.raises(LinAlgError, match="singular"):
        solve_weighted(H, T, np.array([1.0, -0.5]), 2.0)


def test_degrees_of_large_systems_are_estimated_well(rng, monkeypatch):
    H, T, B = problem(rng, 900, 400)
    exact = solve_weighted(H, T, B, 4.0).degrees()
    monkeypatch.setattr("ecselm.linalg.ridge.EXACT_ORDER", 0)
    assert_allclose(solve_weighted(H, T, B, 4.0).degrees(), exact, rtol=0.01)


def test_kernels_with_negative_directions_are_reported(rng):
    K = rng.standard_normal((20, 20))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        solve_dual(K + K.T, np.ones((20, 1)), None, 1.0)
