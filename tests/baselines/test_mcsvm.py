import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ecselm.baselines import MCSVMClassifier

COST = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [5.0, 2.0, 0.0]])


@pytest.fixture
def small(rng):
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 3
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return X, y, K


def coding(y):
    return np.where(y[:, None] == np.arange(3), 1.0, -0.5)


def primal(K, y, cost, lam, C, b):
    """Evaluate the objective as printed."""
    F = K @ C + b
    hinge = (cost[y] * np.maximum(F - coding(y), 0)).sum() / len(y)
    return hinge + lam / 2 * np.trace(C.T @ K @ C)


def test_objective_is_the_printed_one_and_scores_sum_to_zero(small):
    X, y, K = small
    model = MCSVMClassifier(COST, gamma=0.5, alpha=0.05).fit(X, y)
    value = primal(K, y, COST, 0.05, model.dual_coef_, model.intercept_)
    assert_allclose(model.objective_, value, rtol=1e-9)
    assert_allclose(model.decision_function(X).sum(axis=1), 0, atol=1e-10)
    assert 0 <= model.duality_gap_ <= 1e-3 * value


def test_a_general_optimiser_finds_nothing_better(small):
    """SLSQP on the primal with slacks; the last class is minus the sum of the others."""
    X, y, K = small
    L, V, N = COST[y], coding(y), 12

    def scores(v):
        C, b = v[:24].reshape(12, 2), v[24:26]
        F = K @ C + b
        return C, np.column_stack([F, -F.sum(axis=1)])

    def objective(v):
        C, _ = scores(v)
        C = np.column_stack([C, -C.sum(axis=1)])
        return (L.ravel() @ v[26:]) / N + 0.025 * np.trace(C.T @ K @ C)

    rules = [
        {"type": "ineq", "fun": lambda v: v[26:] - (scores(v)[1] - V).ravel()},
        {"type": "ineq", "fun": lambda v: v[26:]},
    ]
    start = np.r_[np.zeros(26), np.maximum(-V, 0).ravel()]
    found = minimize(
        objective, start, constraints=rules, method="SLSQP", options={"maxiter": 300, "ftol": 1e-9}
    )
    model = MCSVMClassifier(COST, gamma=0.5, alpha=0.05, tol=1e-7).fit(X, y)
    assert_allclose(model.objective_, found.fun, rtol=1e-4)
    assert_allclose(model.decision_function(X), scores(found.x)[1], atol=2e-2)


def test_a_convex_solver_agrees(small):
    cvxpy = pytest.importorskip("cvxpy")
    X, y, K = small
    root = np.linalg.cholesky(K)
    W, b = cvxpy.Variable((12, 3)), cvxpy.Variable((1, 3))
    F = root @ W + np.ones((12, 1)) @ b
    loss = cvxpy.sum(cvxpy.multiply(COST[y], cvxpy.pos(F - coding(y)))) / 12
    rules = [cvxpy.sum(W, axis=1) == 0, cvxpy.sum(b) == 0]
    problem = cvxpy.Problem(cvxpy.Minimize(loss + 0.025 * cvxpy.sum_squares(W)), rules)
    problem.solve()
    model = MCSVMClassifier(COST, gamma=0.5, alpha=0.05, tol=1e-8).fit(X, y)
    assert_allclose(model.objective_, problem.value, rtol=1e-6)
    assert_allclose(model.decision_function(X), F.value, atol=1e-3)


def test_two_classes_are_a_support_vector_machine(rng):
    X = rng.standard_normal((90, 3))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    model = MCSVMClassifier(gamma=0.3, alpha=1e-2, tol=1e-8, max_iter=50000).fit(X, y)
    twin = SVC(gamma=0.3, C=1 / (2 * 1e-2 * 90), tol=1e-9).fit(X, y)
    assert_allclose(model.decision_function(X) / 2, twin.decision_function(X), atol=1e-3)


def test_many_rows_at_a_point_get_the_class_of_least_expected_cost(rng):
    """Five points with known frequencies, a kernel that tells them apart, next to no penalty."""
    for _ in range(4):
        cost = rng.uniform(0.5, 5, (3, 3)) * (1 - np.eye(3))
        counts = rng.integers(1, 15, (5, 3))
        expected = counts @ cost
        gap = np.diff(np.sort(expected, axis=1), axis=1)[:, 0] / expected.min(axis=1)
        x = np.repeat(np.arange(5), counts.sum(axis=1))
        y = np.concatenate([np.repeat(np.arange(3), row) for row in counts])
        model = MCSVMClassifier(cost, gamma=50.0, alpha=1e-5).fit(x[:, None].astype(float), y)
        found = model.predict(np.arange(5.0)[:, None])
        clear = gap > 0.05
        assert clear.any()
        assert_allclose(found[clear], expected.argmin(axis=1)[clear])


def test_too_few_steps_are_warned_of(small):
    X, y, _ = small
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2"):
        MCSVMClassifier(max_iter=2, tol=1e-6).fit(X, y)
