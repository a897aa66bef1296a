import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from ecselm import KELMClassifier
from ecselm.paper.baselines import LSSVMClassifier


def kkt_solution(K, y, C, s=None):
    """Solve the textbook system in yy' o K, slowly; return the coefficients of K and b."""
    N = len(y)
    s = np.ones(N) if s is None else s
    A = np.zeros((N + 1, N + 1))
    A[0, 1:] = A[1:, 0] = y
    A[1:, 1:] = np.outer(y, y) * K + np.diag(1 / (C * s))
    solved = np.linalg.solve(A, np.r_[0.0, np.ones(N)])
    return solved[1:] * y, solved[0]


def rbf(X, Y, gamma):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_solve_the_kkt_system(rng, weighted):
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    s = rng.uniform(0.5, 3, 40) if weighted else None
    model = LSSVMClassifier(C=3.0, gamma=0.4).fit(X, y, s)
    alpha, b = kkt_solution(rbf(X, X, 0.4), 2.0 * y - 1, 3.0, s)
    assert_allclose(model.dual_coef_[:, 0], alpha, rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_[0], b, rtol=1e-9)
    new = rng.standard_normal((7, 3))
    assert_allclose(model.decision_function(new), rbf(new, X, 0.4) @ alpha + b, rtol=1e-9)


def test_one_against_the_rest_solves_one_system_per_class():
    X, y = load_iris(return_X_y=True)
    model = LSSVMClassifier(gamma=0.3, multiclass="ovr").fit(X, y)
    K = rbf(X, X, 0.3)
    for c in range(3):
        alpha, b = kkt_solution(K, np.where(y == c, 1.0, -1.0), 10.0)
        assert_allclose(model.dual_coef_[:, c], alpha, rtol=1e-7, atol=1e-9)
        assert_allclose(model.intercept_[c], b, rtol=1e-8)


def test_one_against_one_is_a_machine_per_pair():
    X, y = load_iris(return_X_y=True)
    model = LSSVMClassifier(gamma=0.3).fit(X, y)
    for p, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == i) | (y == j)
        pair = LSSVMClassifier(gamma=0.3).fit(X[rows], y[rows])
        assert_allclose(model.dual_coef_[rows, p], pair.dual_coef_[:, 0], rtol=1e-9, atol=1e-12)
        assert not model.dual_coef_[~rows, p].any()


def test_without_its_bias_it_is_a_kernel_elm(rng):
    X = rng.standard_normal((30, 2))
    X, y = np.vstack([X, -X]), np.repeat([0, 1], 30)  # antisymmetric: the bias is 0
    new = rng.standard_normal((9, 2))
    lssvm = LSSVMClassifier(C=5.0, gamma=0.7).fit(X, y)
    elm = KELMClassifier(C=5.0, gamma=0.7).fit(X, y)
    assert_allclose(lssvm.intercept_, 0, atol=1e-12)
    assert_allclose(lssvm.decision_function(new), elm.decision_function(new), rtol=1e-9)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_weight_two_is_a_row_twice_and_weight_zero_none(multiclass):
    X, y = load_iris(return_X_y=True)
    s = np.arange(150) % 3
    weighted = LSSVMClassifier(gamma=0.3, multiclass=multiclass).fit(X, y, s)
    repeated = LSSVMClassifier(gamma=0.3, multiclass=multiclass)
    repeated.fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6)


def test_a_precomputed_kernel_and_single_precision_give_the_same(labelled):
    X, y = labelled
    model = LSSVMClassifier(gamma=0.1).fit(X, y)
    K = rbf(X, X, 0.1)
    given = LSSVMClassifier(kernel="precomputed").fit(K, y)
    assert_array_equal(given.predict(K), model.predict(X))
    single = LSSVMClassifier(gamma=0.1).fit(X.astype(np.float32), y)
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert (single.predict(X.astype(np.float32)) == model.predict(X)).mean() > 0.99
