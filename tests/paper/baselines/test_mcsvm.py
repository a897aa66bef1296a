import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ecselm.paper.baselines import MCSVMClassifier
from tests.paper.baselines.convex_hinge import coding, convex_hinge

COST = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [5.0, 2.0, 0.0]])


def rbf(X, Y):
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


@pytest.fixture
def small(rng):
    """Return three classes that overlap."""
    y = np.arange(36) % 3
    X = rng.standard_normal((36, 2)) + np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.5]])[y]
    return X, y, rbf(X, X)


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


@pytest.mark.parametrize("alpha", [0.002, 0.05])
def test_a_convex_solver_agrees(small, rng, alpha):
    X, y, K = small
    value, C, b = convex_hinge(K, y, COST, alpha)
    assert_allclose(primal(K, y, COST, alpha, C, b), value, rtol=1e-6)
    model = MCSVMClassifier(COST, gamma=0.5, alpha=alpha, tol=1e-8, max_iter=50000).fit(X, y)
    assert_allclose(model.objective_, value, rtol=1e-6)
    new = 2.0 * rng.standard_normal((200, 2))
    F = rbf(new, X) @ C + b
    assert_allclose(model.decision_function(new), F, atol=1e-3)
    assert_array_equal(model.predict(new), F.argmax(axis=1))
    blind = MCSVMClassifier(gamma=0.5, alpha=alpha).fit(X, y)
    assert (blind.predict(new) != F.argmax(axis=1)).any()  # costs make a difference


def test_two_classes_are_a_support_vector_machine(rng):
    X = rng.standard_normal((90, 3))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    model = MCSVMClassifier(gamma=0.3, alpha=1e-2, tol=1e-8, max_iter=50000).fit(X, y)
    twin = SVC(gamma=0.3, C=1 / (2 * 1e-2 * 90), tol=1e-9).fit(X, y)
    assert_allclose(model.decision_function(X) / 2, twin.decision_function(X), atol=1e-3)


def test_many_rows_at_a_point_get_the_class_of_least_expected_cost(rng):
    """Five points with known frequencies, a kernel that separates them, next to no penalty."""
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
