import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import scale

from ecselm.paper.baselines import PLSDA, KernelLDA, KernelPLSDA


@pytest.fixture(params=[load_iris, load_wine])
def data(request):
    X, y = request.param(return_X_y=True)
    return scale(X), y


def test_kernel_lda_solves_the_eigenproblem_as_printed(data):
    X, y = data
    model = KernelLDA(gamma=0.2, reg=1e-2).fit(X, y)
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    N, mean = len(K), K.mean(axis=1)
    M, Q = np.zeros((N, N)), np.zeros((N, N))
    for c in range(3):
        K_c = K[:, y == c]
        n = K_c.shape[1]
        d = K_c.mean(axis=1) - mean
        M += n * np.outer(d, d)
        Q += K_c @ (np.eye(n) - np.ones((n, n)) / n) @ K_c.T
    values, vectors = eigh(M, Q + 1e-2 * np.trace(Q) / N * np.eye(N))
    assert_allclose(model.ratios_, values[::-1][:2], rtol=1e-8)
    assert_allclose(np.abs(model.dual_coef_), np.abs(vectors[:, ::-1][:, :2]), rtol=1e-5, atol=1e-8)


def test_linear_kernel_lda_spans_the_subspace_of_lda(data):
    X, y = data
    model = KernelLDA(kernel="linear", reg=1e-9).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    angles = subspace_angles(X.T @ model.dual_coef_, lda.scalings_[:, :2])
    assert angles.max() < 1e-4


def test_kernel_lda_predicts_the_nearest_mean(data):
    X, y = data
    model = KernelLDA().fit(X[::2], y[::2])
    nearest = NearestCentroid().fit(model.transform(X[::2]), y[::2])
    assert_array_equal(model.predict(X), nearest.predict(model.transform(X)))


def test_kernel_lda_keeps_fewer_directions_and_no_more_than_there_are(data):
    X, y = data
    two, one = KernelLDA().fit(X, y), KernelLDA(1).fit(X, y)
    assert_allclose(one.transform(X), two.transform(X)[:, :1], rtol=1e-10)
    with pytest.raises(ValueError, match=r"n_components must be at most .* 2, got 3"):
        KernelLDA(3).fit(X, y)


@pytest.mark.parametrize("n_components", [1, 2, 3, 4])
def test_linear_kernel_pls_is_pls_regression(data, n_components):
    X, y = data
    train = np.arange(len(y)) % 3 > 0
    model = KernelPLSDA(n_components, kernel="linear").fit(X[train], y[train])
    twin = PLSRegression(n_components, scale=False, tol=1e-15, max_iter=5000)
    twin.fit(X[train], np.eye(3)[y[train]])
    assert_allclose(model.decision_function(X), twin.predict(X), rtol=1e-6, atol=1e-7)
    scores, expected = model.transform(X), twin.transform(X)
    scores /= np.linalg.norm(scores, axis=0)
    expected /= np.linalg.norm(expected, axis=0)
    assert_allclose(np.abs((scores * expected).sum(axis=0)), 1.0, rtol=1e-7)


def test_kernel_pls_is_the_fixed_point_of_the_iteration(data):
    X, y = data
    model = KernelPLSDA(3, gamma=0.1).fit(X, y)
    N = len(X)
    J = np.eye(N) - 1 / N
    raw = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    K0 = K = J @ raw @ J
    Y0 = Y = J @ np.eye(3)[y]
    T, U = [], []
    for _ in range(3):
        u = Y[:, 0]
        for _ in range(3000):
            t = K @ u / np.linalg.norm(K @ u)
            u = Y @ (Y.T @ t)
            u = u / np.linalg.norm(u)
        t = K @ u / np.linalg.norm(K @ u)
        D = np.eye(N) - np.outer(t, t)
        K, Y = D @ K @ D, Y - np.outer(t, t @ Y)
        T.append(t)
        U.append(u)
    T, U = np.array(T).T, np.array(U).T
    B = U @ np.linalg.solve(T.T @ K0 @ U, T.T @ Y0)
    assert_allclose(model.decision_function(X), K0 @ B + np.eye(3)[y].mean(axis=0), atol=1e-7)


def test_kernel_pls_ends_where_nothing_is_left():
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    model = KernelPLSDA(5, kernel="linear").fit(X, np.repeat([3, 7], 4))
    assert model.transform(X).shape == (8, 1)
    assert_array_equal(model.predict([[0.1], [0.9]]), [3, 7])


def test_plsda_is_pls_regression_on_indicators(data):
    X, y = data
    twin = PLSRegression(3).fit(X, np.eye(3)[y])
    model = PLSDA(3).fit(X, y)
    assert_allclose(model.decision_function(X), twin.predict(X))
    assert_array_equal(model.predict(X), twin.predict(X).argmax(axis=1))


def test_plsda_with_lda_is_lda_of_the_scores(data):
    X, y = data
    scores = PLSRegression(3).fit(X, np.eye(3)[y]).transform(X)
    model = PLSDA(3, discriminant="lda").fit(X, y)
    assert_array_equal(
        model.predict(X), LinearDiscriminantAnalysis().fit(scores, y).predict(scores)
    )


@pytest.mark.parametrize("kind", [PLSDA, KernelPLSDA])
@pytest.mark.parametrize(("n_classes", "expected"), [(3, 5), (6, 5), (9, 8)])
def test_many_classes_have_a_component_less_than_classes(rng, kind, n_classes, expected):
    y = np.arange(20 * n_classes) % n_classes
    X = 3.0 * rng.standard_normal((n_classes, 12))[y] + rng.standard_normal((len(y), 12))
    assert kind().fit(X, y).transform(X).shape == (len(y), expected)
    assert kind(2).fit(X, y).transform(X).shape == (len(y), 2)
