import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from ecselm.paper.pairs import ITML
from ecselm.paper.pairs.itml import Bounds, project_cyclically
from tests.contracts.pair_contract import pairs_of


def printed(M, D, side, xi, n_sweeps):
    """Return M by the projections as printed, with slack 1."""
    lam, gamma = np.zeros(len(D)), 1.0
    for _ in range(n_sweeps):
        for t, delta in enumerate(D):
            p = delta @ M @ delta
            alpha = min(lam[t], side[t] / 2 * (1 / p - gamma / xi[t]))
            beta = side[t] * alpha / (1 - side[t] * alpha * p)
            xi[t] = gamma * xi[t] / (gamma + side[t] * alpha * xi[t])
            lam[t] -= alpha
            M = M + beta * M @ np.outer(delta, delta) @ M
    return M


def test_projections_are_the_printed_ones_when_slack_is_one(rng):
    D, same = rng.standard_normal((15, 3)), rng.random(15) < 0.5
    bounds = Bounds(D, same, 1.0, 4.0)
    M_0 = np.diag([1.0, 2.0, 3.0])
    found = project_cyclically(M_0, bounds, 1.0, 1e-30, 4)
    expected = printed(M_0, D, bounds.sides(), bounds.values(), 4)
    assert_allclose(found.matrix, expected, rtol=1e-9)


def one_at_a_time(M, bounds, slack, n_sweeps):
    """Return M, lambda and xi by the projections of one pair after the other."""
    side, xi, lam = bounds.sides(), bounds.values(), np.zeros(len(bounds.D))
    for _ in range(n_sweeps):
        for t, delta in enumerate(bounds.D):
            MD = M @ delta
            p = delta @ MD
            alpha = min(lam[t], side[t] * slack / (slack + 1) * (1 / p - 1 / xi[t]))
            M = M + side[t] * alpha / (1 - side[t] * alpha * p) * np.outer(MD, MD)
            xi[t] /= 1 + side[t] * alpha * xi[t] / slack
            lam[t] -= alpha
    return M, lam, xi


@pytest.mark.parametrize("slack", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("P", "d"), [(3, 7), (64, 5), (65, 5), (200, 30), (200, 1)])
def test_blocks_of_pairs_give_the_iterates_of_one_at_a_time(rng, P, d, slack):
    D, same = rng.standard_normal((P, d)), rng.random(P) < 0.5
    bounds = Bounds(D, same, 0.5 * d, 3.0 * d)
    M_0 = np.eye(d) + 0.1
    found = project_cyclically(M_0, bounds, slack, 1e-300, 7)
    M, lam, xi = one_at_a_time(M_0, bounds, slack, 7)
    assert_array_equal(found.matrix, found.matrix.T)
    assert np.linalg.eigvalsh(found.matrix)[0] > 0.0
    assert_allclose(found.matrix, M, rtol=1e-9, atol=1e-12 * abs(M).max())
    assert_allclose(found.multipliers, lam, rtol=1e-8, atol=1e-11)
    assert_allclose(found.bounds, xi, rtol=1e-9)


@pytest.mark.parametrize("slack", [0.3, 1.0, 5.0])
def test_solution_is_that_of_a_convex_solver(rng, slack):
    pairs, y = pairs_of(rng, 16, 2)
    model = ITML(slack, bounds=(0.5, 3.0), tol=1e-10, max_iter=20_000).fit(pairs, y)
    D, side, xi_0 = model.bounds_.D, model.bounds_.sides(), model.bounds_.values()
    M, share = cvxpy.Variable((2, 2), PSD=True), cvxpy.Variable(16)  # xi / xi_0
    forms = cvxpy.hstack([cvxpy.trace(M @ np.outer(delta, delta)) for delta in D])
    divergence = cvxpy.trace(M) - cvxpy.log_det(M) + slack * cvxpy.sum(share - cvxpy.log(share))
    kept = cvxpy.multiply(side, forms - cvxpy.multiply(xi_0, share)) <= 0
    cvxpy.Problem(cvxpy.Minimize(divergence), [kept]).solve(solver=cvxpy.CLARABEL)
    assert_allclose(model.get_metric().matrix, M.value, rtol=1e-3, atol=1e-4)
    assert_allclose(model.solution_.bounds, xi_0 * share.value, rtol=1e-3)


@pytest.mark.parametrize("slack", [0.3, 1.0, 5.0])
def test_conditions_of_the_optimum_hold(rng, slack):
    pairs, y = pairs_of(rng, 30, 3)
    model = ITML(slack, bounds=(0.5, 3.0), tol=1e-9, max_iter=20_000).fit(pairs, y)
    D, side, solution = model.bounds_.D, model.bounds_.sides(), model.solution_
    M, lam, xi = solution.matrix, solution.multipliers, solution.bounds
    assert_allclose(np.linalg.inv(M), np.eye(3) + (D.T * (side * lam)) @ D, rtol=1e-6, atol=1e-8)
    assert_allclose(1 / xi, 1 / model.bounds_.values() - side * lam / slack, rtol=1e-6)
    excess = side * (np.einsum("ij,jk,ik->i", D, M, D) - xi)
    assert lam.min() >= 0.0
    assert excess.max() <= 1e-4
    assert_allclose(excess[lam > 1e-6], 0.0, atol=1e-3)


@pytest.mark.parametrize("slack", [0.1, 1.0, 10.0])
def test_no_violated_bound_returns_the_prior(rng, slack):
    pairs, y = pairs_of(rng)
    prior = np.diag([1.0, 2.0, 3.0, 4.0])
    model = ITML(slack, bounds=(1e6, 1e-9), prior=prior).fit(pairs, y)
    assert_array_equal(model.get_metric().matrix, prior)
    assert model.solution_.n_iter == 1


def test_bounds_are_percentiles_of_squared_distances(rng):
    pairs, y = pairs_of(rng)
    model = ITML(max_iter=3000).fit(pairs, y)
    squared = np.sum((pairs[:, 0] - pairs[:, 1]) ** 2, axis=1)
    found = model.bounds_.upper, model.bounds_.lower
    assert_allclose(found, np.percentile(squared, [5, 95]), rtol=1e-12)


def test_covariance_prior_is_its_inverse(rng):
    pairs, y = pairs_of(rng)
    model = ITML(bounds=(1e6, 1e-9), prior="covariance").fit(pairs, y)
    D = pairs[:, 0] - pairs[:, 1]
    assert_allclose(model.get_metric().matrix, np.linalg.inv(D.T @ D / len(D)), rtol=1e-4)


def test_too_few_sweeps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 sweeps"):
        ITML(max_iter=1).fit(*pairs_of(rng))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bounds": (0.0, 1.0)}, "bounds must be two finite numbers > 0"),
        ({"bounds": (1.0, np.inf)}, "bounds must be two finite numbers > 0"),
        ({"prior": np.eye(3)}, r"prior must be symmetric of shape \(4, 4\), got \(3, 3\)"),
        ({"prior": np.diag([1.0, 1.0, 1.0, -1.0])}, "prior must be positive definite"),
    ],
)
def test_refuses_bad_bounds_and_priors(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        ITML(**parameters).fit(*pairs_of(rng))


def test_refuses_pairs_of_equal_vectors_only():
    with pytest.raises(ValueError, match="some vectors that differ"):
        ITML().fit(np.ones((4, 2, 3)), [0, 1, 0, 1])


def test_multipliers_are_in_the_order_of_the_pairs(rng):
    pairs, y = pairs_of(rng, 30, 3)
    pairs[4, 1] = pairs[4, 0]  # which has no projection
    model = ITML(bounds=(0.5, 3.0), tol=1e-9, max_iter=20_000).fit(pairs, y)
    D, side = pairs[:, 0] - pairs[:, 1], np.where(y == 1, 1.0, -1.0)
    found = model.solution_
    rebuilt = np.eye(3) + (D.T * (side * found.multipliers)) @ D
    assert_allclose(np.linalg.inv(found.matrix), rebuilt, rtol=1e-6, atol=1e-8)
    assert_allclose(np.abs(model.bounds_.D), np.abs(D), rtol=1e-12)
    assert_array_equal(model.bounds_.sides(), side)
    assert found.multipliers[4] == 0.0
    assert found.bounds[4] == model.bounds_.values()[4]
    order = rng.permutation(30)
    moved = ITML(bounds=(0.5, 3.0), tol=1e-9, max_iter=20_000).fit(pairs[order], y[order])
    assert_array_equal(moved.solution_.multipliers, found.multipliers[order])
    assert_array_equal(moved.solution_.bounds, found.bounds[order])
