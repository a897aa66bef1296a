"""Systems of equations on arrays of other namespaces."""

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose

from ecselm.linalg import loo_scores, ridge, solve_weighted
from ecselm.linalg.namespaces import (
    factor_shifted,
    leverages,
    solve_dual,
    solve_primal,
    weighted_sums,
)

xp = pytest.importorskip("array_api_strict", reason="needs arrays that are not NumPy's")
EPS = float(np.finfo(np.float64).eps)


def moved(values):
    return None if values is None else xp.asarray(np.array(values))


def gram(rng, n, spread):
    """Return a matrix of order n whose eigenvalues fall by ``spread`` in all."""
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    return (Q * np.geomspace(1.0, 1.0 / spread, n)) @ Q.T


@pytest.fixture(params=[None, "weights"])
def system(request, rng):
    H, T = rng.standard_normal((30, 8)), rng.standard_normal((30, 2))
    return H, T, None if request.param is None else rng.integers(0, 3, 30).astype(float)


def test_primal_solution_is_that_of_the_equation_as_printed(system):
    H, T, B = system
    parts = [(moved(H[rows]), moved(T[rows]), moved(B[rows] if B is not None else None))
             for rows in (slice(0, 13), slice(13, 30))]  # fmt: skip
    G, M = weighted_sums(parts, xp.float64, xp)
    W = np.eye(30) if B is None else np.diag(B)
    beta = np.linalg.inv(np.eye(8) / 4.0 + H.T @ W @ H) @ H.T @ W @ T  # (15)
    found = solve_primal(G, M, 4.0, EPS, xp)
    assert found.path == "primal-cholesky"
    assert_allclose(np.asarray(found.beta), beta, rtol=1e-10)


def test_dual_solution_is_that_of_the_equation_as_printed(system):
    H, T, B = system
    K = H @ H.T + np.eye(30)
    W = np.eye(30) if B is None else np.diag(B)
    alpha = np.linalg.inv(np.eye(30) / 4.0 + W @ K) @ W @ T  # (15)
    found = solve_dual(moved(K), moved(T), moved(B), 4.0, xp)
    assert_allclose(np.asarray(found.beta), alpha, rtol=1e-10, atol=1e-12)


def test_leverages_leave_one_row_out(system):
    H, T, B = system
    B = np.ones(30) if B is None else B
    weight = np.maximum(B, 1.0)
    known = solve_weighted(H, T, B, 4.0)
    G, M = weighted_sums([(moved(H), moved(T), moved(B))], xp.float64, xp)
    solution = solve_primal(G, M, 4.0, EPS, xp)
    h = np.asarray(leverages(solution, moved(H), moved(B), moved(weight), xp))[:, np.newaxis]
    Z = H @ known.beta
    assert_allclose(Z - h / (1 - h) * (T - Z), loo_scores(H, T, known, B, weight), rtol=1e-9)


def test_dual_leverages_agree(system):
    H, T, B = system
    K = H @ H.T + np.eye(30)
    B = np.ones(30) if B is None else B
    known = ridge.dual_solution(K, T, B, 4.0)
    solution = solve_dual(moved(K), moved(T), moved(B), 4.0, xp)
    h = np.asarray(leverages(solution, None, moved(B), moved(np.ones(30)), xp))[:, np.newaxis]
    Z = K @ known.beta
    assert_allclose(Z - h / (1 - h) * (T - Z), loo_scores(K, T, known, B), rtol=1e-9)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e9])
def test_condition_is_estimated_from_below_within_a_factor(rng, spread):
    A = gram(rng, 40, spread)
    factor = factor_shifted(moved(A), 1e-12, EPS, xp)
    norm = np.linalg.norm(np.linalg.inv(A + 1e-12 * np.eye(40)), 1)
    assert factor.path == "cholesky"
    assert norm / 3.0 <= factor.inverse_norm() <= norm * (1.0 + 1e-6)


@pytest.mark.parametrize("rank", [3, 10])
def test_singular_systems_give_the_minimum_norm(rng, rank):
    F = rng.standard_normal((40, rank))
    A, Y = F @ F.T, F @ rng.standard_normal((rank, 2))
    factor = factor_shifted(moved(A), 1e-17, EPS, xp)
    assert factor.path == "spectral"
    assert_allclose(np.asarray(factor.solve(moved(Y))), np.linalg.pinv(A, 1e-10) @ Y, atol=1e-8)
    inverse = np.linalg.pinv(A, 1e-10)
    assert_allclose(np.asarray(factor.inverse_diagonal()), np.diag(inverse), atol=1e-8)
    assert_allclose(
        np.asarray(factor.leverages(moved(F.T @ A))), np.diag(F.T @ A @ inverse @ A @ F), rtol=1e-6
    )


def test_negative_directions_are_warned_of():
    with pytest.warns(UserWarning, match="least eigenvalue is -1"):
        factor = factor_shifted(moved(np.diag([2.0, -1.0])), 1e-3, EPS, xp)
    assert_allclose(np.asarray(factor.solve(moved(np.ones((2, 1))))).ravel(), [1 / 2.001, 0.0])


def test_systems_that_are_not_finite_are_refused():
    with pytest.raises(LinAlgError, match="is not finite"):
        factor_shifted(moved(np.diag([np.inf, 1.0])), 1.0, EPS, xp)


def test_other_errors_of_a_namespace_are_not_hidden():
    with pytest.raises(TypeError):
        factor_shifted(xp.asarray([[1, 0], [0, 1]]), 1, EPS, xp)
