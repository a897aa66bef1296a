"""Rows in chunks against the kernel ELM of all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from ecselm import KELMClassifier
from ecselm.linalg import solve_dual
from ecselm.paper.elms import KernelOSELMClassifier


def rbf(X, Y, gamma):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


def in_chunks(model, X, y, n_chunks, weight=None):
    for rows in np.array_split(np.arange(len(y)), n_chunks):
        model.partial_fit(X[rows], y[rows], np.unique(y), None if weight is None else weight[rows])
    return model


def targets(y):
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def rows(request, rng):
    X = rng.standard_normal((60, 3))
    return X, np.arange(60) % request.param, rng.standard_normal((11, 3))


@pytest.mark.parametrize("novelty", [None, 0.0], ids=["exact", "dictionary"])
@pytest.mark.parametrize("n_chunks", [1, 7, 60])
def test_any_chunks_give_the_kernel_elm(rows, novelty, n_chunks):
    X, y, new = rows
    model = in_chunks(KernelOSELMClassifier(8.0, gamma=0.7, novelty=novelty), X, y, n_chunks)
    batch = KELMClassifier(8.0, gamma=0.7).fit(X, y)  # (7)
    assert_allclose(model.decision_function(new), batch.decision_function(new), atol=1e-9)


@pytest.mark.parametrize("novelty", [None, 0.0], ids=["exact", "dictionary"])
@pytest.mark.parametrize("n_chunks", [1, 7, 60])
def test_weights_give_the_kernel_form_of_the_weighted_elm(rows, rng, novelty, n_chunks):
    X, y, new = rows
    B = rng.uniform(0.1, 5.0, 60)
    model = in_chunks(KernelOSELMClassifier(8.0, gamma=0.7, novelty=novelty), X, y, n_chunks, B)
    K, T = rbf(X, X, 0.7), targets(y)
    printed = np.linalg.solve(np.eye(60) / 8.0 + np.diag(B) @ K, np.diag(B) @ T)  # (15)
    assert_allclose(solve_dual(K, T, B, 8.0).alpha, printed, atol=1e-9)
    scores = rbf(new, X, 0.7) @ printed
    expected = scores[:, 1] if y.max() == 1 else scores
    assert_allclose(model.decision_function(new), expected, atol=1e-9)


def test_each_row_is_a_step_of_kernel_recursive_least_squares(rng):
    X, y = rng.standard_normal((25, 2)), np.arange(25) % 2
    C, B = 5.0, rng.uniform(0.5, 2.0, 25)
    model = KernelOSELMClassifier(C, gamma=0.5)
    Q = np.zeros((0, 0))
    a = np.zeros(0)
    for n in range(25):
        x, t = X[n], 2.0 * y[n] - 1.0
        h = rbf(X[:n], x[None], 0.5)[:, 0]
        z = Q @ h
        r = 1 / (C * B[n]) + 1.0 - z @ h
        e = t - h @ a
        Q = np.block([[Q * r + np.outer(z, z), -z[:, None]], [-z[None], np.ones((1, 1))]]) / r
        a = np.append(a - z * e / r, e / r)
        model.partial_fit(x[None], [y[n]], [0, 1], [B[n]])
        assert_allclose(model.dual_coef_[:, 0], a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_chunks", [1, 4, 300])
def test_dependent_rows_count_by_their_projection(rng, n_chunks):
    X, y = rng.uniform(-2, 2, (300, 2)), rng.integers(0, 2, 300)
    B = rng.uniform(0.5, 2.0, 300)
    nu, C = 0.05, 10.0
    kept = []
    A = np.zeros((300, 300))
    for i in range(300):  # Engel, Mannor and Meir: the test of approximate dependency
        K, h = rbf(X[kept], X[kept], 0.5), rbf(X[kept], X[i : i + 1], 0.5)[:, 0]
        combination = np.linalg.solve(K, h) if kept else h
        if 1.0 - h @ combination > nu:
            A[i, len(kept)] = 1.0
            kept.append(i)
        else:
            A[i, : len(kept)] = combination
    A, K, t = A[:, : len(kept)], rbf(X[kept], X[kept], 0.5), 2.0 * y - 1.0
    fitted = np.linalg.solve(A.T @ np.diag(B) @ A + np.linalg.inv(K) / C, A.T @ (B * t))
    model = KernelOSELMClassifier(C, gamma=0.5, novelty=nu)
    in_chunks(model, X, y, n_chunks, B)
    assert 5 < len(kept) < 60
    assert_array_equal(model.dictionary_, X[kept])
    assert_allclose(model.dual_coef_[:, 0], np.linalg.solve(K, fitted), rtol=1e-8, atol=1e-9)


def test_predictions_stay_near_as_long_as_the_dictionary_is_fine(rng):
    X, y = rng.uniform(-2, 2, (200, 2)), rng.integers(0, 2, 200)
    exact = KernelOSELMClassifier(gamma=0.5).fit(X, y).decision_function(X)
    sizes, errors = [], []
    for nu in (1e-2, 1e-4, 1e-8):
        model = KernelOSELMClassifier(gamma=0.5, novelty=nu).fit(X, y)
        sizes.append(len(model.dictionary_))
        errors.append(np.abs(model.decision_function(X) - exact).max())
    assert sizes == sorted(sizes)
    assert sizes[-1] < 150
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_repeated_rows_are_kept_once():
    X, y = load_iris(return_X_y=True)
    X, y = np.tile(X[::10], (4, 1)), np.tile(y[::10], 4)
    model = KernelOSELMClassifier(novelty=0.0, gamma=0.3).fit(X, y)
    assert len(model.dictionary_) == len(np.unique(X, axis=0))
    batch = KELMClassifier(32.0, gamma=0.3).fit(X, y)
    assert_allclose(model.decision_function(X), batch.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "laplacian", "cosine"])
def test_other_kernels_and_sparse_rows(kernel):
    X, y = load_iris(return_X_y=True)
    batch = KELMClassifier(2.0, kernel=kernel, degree=2).fit(X, y).decision_function(X)
    for novelty in (None, 0.0):
        model = KernelOSELMClassifier(2.0, kernel=kernel, degree=2, novelty=novelty, gamma="scale")
        assert_allclose(model.fit(X, y).decision_function(X), batch, atol=1e-6)
        again = model.fit(sparse.csr_array(X), y).decision_function(sparse.csr_array(X))
        assert_allclose(again, batch, atol=1e-6)


def test_a_linear_kernel_needs_as_many_rows_as_features(rng):
    X, y = rng.standard_normal((50, 4)), np.arange(50) % 2
    model = KernelOSELMClassifier(kernel="linear", novelty=0.0).fit(X, y)
    assert_array_equal(model.dictionary_, X[:4])


def test_bad_chunks_are_refused_and_change_nothing():
    X, y = load_iris(return_X_y=True)
    model = KernelOSELMClassifier(max_samples=100)
    with pytest.raises(ValueError, match="classes must hold at least two classes in the first"):
        model.partial_fit(X, y)
    assert not hasattr(model, "classes_")
    model.partial_fit(X[::2], y[::2], [0, 1, 2])
    before = model.predict(X)
    with pytest.raises(ValueError, match="classes must be the same in every call"):
        model.partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="y must hold only the classes given"):
        model.partial_fit(X[:2], [3, 0])
    with pytest.raises(ValueError, match="at most max_samples=100 rows, got 150"):
        model.partial_fit(X[1::2], y[1::2])
    assert_array_equal(model.predict(X), before)
    assert model.n_samples_seen_ == 75


def test_a_penalty_lost_in_rounding_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"C must leave K \+ I/C positive definite .* C=1e\+20"):
        KernelOSELMClassifier(1e20, gamma=1e-4).fit(X, y)
    assert KernelOSELMClassifier(1e20, gamma=1e-2, novelty=1e-6).fit(X, y).score(X, y) > 0.9
