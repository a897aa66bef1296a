"""The equations as printed, solved slowly, and the twins in their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ecselm.paper.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA

COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 7.0], [9.0, 3.0, 0.0]])


@pytest.fixture
def rows():
    return make_classification(
        90,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=3,
        weights=[0.5, 0.3],
        flip_y=0.1,
        random_state=1,
    )


def squared_distances(X):
    return ((X[:, np.newaxis] - X) ** 2).sum(axis=2)


def literal_joined(distances, allowed, k):
    """Join i and j if either is among the k nearest allowed ones of the other."""
    N = len(distances)
    joined = np.zeros((N, N), dtype=bool)
    for i in range(N):
        others = [j for j in np.argsort(distances[i]) if j != i and allowed[i, j]]
        joined[i, others[:k]] = True
    return joined | joined.T


def literal_scatter(X, W):
    S = np.zeros((X.shape[1], X.shape[1]))
    for i, j in np.argwhere(W):
        S += W[i, j] * np.outer(X[i] - X[j], X[i] - X[j])
    return S / 2


def literal_importance(y, cost):
    f = cost.sum(axis=1)
    return f / f[y].mean()


def same_direction(a, b, rtol=1e-6):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    assert_allclose(abs(a @ b), 1.0, rtol=rtol)


def assert_same_rows(components, vectors):
    assert components.shape == vectors.T.shape
    for row, column in zip(components, vectors.T, strict=True):
        same_direction(row, column)


def literal_locality(X, k, width):
    distances = squared_distances(X)
    joined = literal_joined(distances, np.ones_like(distances, dtype=bool), k)
    return joined * np.exp(-distances / width)


def test_lpp_solves_the_dense_eigenproblem(rows):
    X, _ = rows
    W = literal_locality(X, 4, 3.0)
    D, Z = np.diag(W.sum(axis=1)), X - X.mean(axis=0)
    values, vectors = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z)
    model = LPP(3, n_neighbors=4, width=3.0, reg=0.0).fit(X)
    assert_same_rows(model.components_, vectors[:, :3])
    assert_allclose(1.0 - model.eigenvalues_, values[:3], rtol=1e-9)


def test_mean_width_is_the_mean_squared_distance_of_neighbours(rows):
    X, _ = rows
    nearest = np.sort(squared_distances(X), axis=1)[:, 1:6]
    given = LPP(2, width=nearest.mean()).fit(X)
    assert_allclose(LPP(2).fit(X).components_, given.components_, atol=1e-8)


def test_supervised_lpp_joins_rows_of_one_class_only(rows):
    X, y = rows
    distances = squared_distances(X)
    W = 1.0 * literal_joined(distances, y[:, np.newaxis] == y, 4)
    D, Z = np.diag(W.sum(axis=1)), X - X.mean(axis=0)
    _, vectors = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z)
    model = LPP(n_neighbors=4, width=None, supervised=True, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors)


def test_mfa_solves_the_dense_eigenproblem(rows):
    X, y = rows
    same, distances = y[:, np.newaxis] == y, squared_distances(X)
    S_c = 1.0 * literal_joined(distances, same, 3)
    S_p = 1.0 * literal_joined(distances, ~same, 7)
    _, vectors = eigh(literal_scatter(X, S_p), literal_scatter(X, S_c))
    model = MFA(n_within=3, n_between=7, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors[:, ::-1])


def test_penalty_by_class_takes_the_shortest_pairs_of_each_class(rows):
    X, y = rows
    same, distances = y[:, np.newaxis] == y, squared_distances(X)
    S_p = np.zeros_like(distances)
    for label in range(3):
        pairs = [(i, j) for i in np.flatnonzero(y == label) for j in np.flatnonzero(y != label)]
        for i, j in sorted(pairs, key=lambda pair: distances[pair])[:10]:
            S_p[i, j] = S_p[j, i] = 1.0
    S_c = 1.0 * literal_joined(distances, same, 5)
    _, vectors = eigh(literal_scatter(X, S_p), literal_scatter(X, S_c))
    model = MFA(n_between=10, penalty="class", reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors[:, ::-1])


def test_cspca_is_the_weighted_covariance(rows):
    X, y = rows
    f = literal_importance(y, COST)
    m = sum(f[y[i]] * X[i] for i in range(90)) / sum(f[y])
    S = sum(f[y[i]] * np.outer(X[i] - m, X[i] - m) for i in range(90)) / 90
    values, vectors = eigh(S)
    model = CSPCA(3, cost=COST).fit(X, y)
    assert_same_rows(model.components_, vectors[:, :-4:-1])
    assert_allclose(model.eigenvalues_, values[:-4:-1])
    assert_allclose(model.mean_, m)


@pytest.mark.parametrize("balance", ["counts", "none"])
def test_cslda_sums_over_pairs_of_classes(rows, balance):
    X, y = rows
    f, n = literal_importance(y, COST), np.bincount(y)
    means = [X[y == k].mean(axis=0) for k in range(3)]
    S_b, S_w = np.zeros((5, 5)), np.zeros((5, 5))
    for i in range(3):
        for j in range(3):
            counts = n[i] * n[j] / 180 if balance == "counts" else 1.0
            S_b += COST[i, j] * counts * np.outer(means[i] - means[j], means[i] - means[j])
        S_w += f[i] * sum(np.outer(x - means[i], x - means[i]) for x in X[y == i])
    _, vectors = eigh(S_b, S_w)
    model = CSLDA(cost=COST, balance=balance, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors[:, :-3:-1])


def test_cslpp_a_weighs_edges_by_importance(rows):
    X, y = rows
    f = literal_importance(y, COST)[y]
    W = np.sqrt(np.outer(f, f)) * literal_locality(X, 5, 3.0)
    D, Z = np.diag(W.sum(axis=1)), X - X.mean(axis=0)
    _, vectors = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z)
    model = CSLPP(cost=COST, width=3.0, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors)


def test_cslpp_b_separates_neighbours_of_different_classes(rows):
    X, y = rows
    f, W = literal_importance(y, COST)[y], literal_locality(X, 5, 3.0)
    Z = X - X.mean(axis=0)
    A = literal_scatter(X, COST[y][:, y] * W)
    _, vectors = eigh(A, Z.T @ np.diag(f * W.sum(axis=1)) @ Z)
    model = CSLPP(cost=COST, variant="B", width=3.0, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors[:, ::-1])


def test_csmfa_weighs_both_graphs(rows):
    X, y = rows
    same, distances = y[:, np.newaxis] == y, squared_distances(X)
    f = literal_importance(y, COST)[y]
    S_c = f * literal_joined(distances, same, 5)
    S_p = (COST[y][:, y] + COST.T[y][:, y]) / 2 * literal_joined(distances, ~same, 20)
    _, vectors = eigh(literal_scatter(X, S_p), literal_scatter(X, S_c))
    model = CSMFA(cost=COST, reg=0.0).fit(X, y)
    assert_same_rows(model.components_, vectors[:, ::-1])


UNIFORM = [None, 3.0 * (1.0 - np.eye(3)), [2.0, 2.0, 2.0]]


@pytest.mark.parametrize("cost", UNIFORM, ids=["none", "matrix", "by class"])
@pytest.mark.parametrize("importance", ["sum", "mean", "max"])
def test_equal_costs_give_the_plain_twin(rows, cost, importance):
    X, y = rows
    given = {"cost": cost, "importance": importance}
    twins = [
        (CSLPP(3, **given), LPP(3)),
        (CSLPP(3, supervised=True, **given), LPP(3, supervised=True)),
        (CSMFA(3, **given), MFA(3)),
        (CSMFA(3, penalty="class", **given), MFA(3, penalty="class")),
        (CSPCA(3, **given), PCA(3, svd_solver="full")),
    ]
    for costly, plain in twins:
        assert_allclose(costly.fit_transform(X, y), plain.fit_transform(X, y), atol=1e-9)


def test_equal_costs_with_counts_span_the_space_of_lda(rows):
    X, y = rows
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    for n in (1, 2):
        angles = subspace_angles(CSLDA(n, reg=0.0).fit(X, y).components_.T, lda.scalings_[:, :n])
        assert_allclose(angles, 0.0, atol=1e-6)


@pytest.mark.parametrize("method", [CSPCA, CSLDA, CSLPP, CSMFA])
def test_scaling_all_costs_changes_nothing(rows, method):
    X, y = rows
    once, often = method(2, cost=COST).fit(X, y), method(2, cost=1000 * COST).fit(X, y)
    assert_allclose(once.components_, often.components_, atol=1e-9)
    assert_allclose(once.eigenvalues_, often.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("method", [CSPCA, CSLDA, CSLPP, CSMFA])
def test_names_of_classes_do_not_matter(rows, method):
    X, y = rows
    order = np.array([2, 0, 1])  # class k gets the name order[k]
    renamed = np.empty_like(COST)
    renamed[np.ix_(order, order)] = COST
    first = method(2, cost=COST).fit(X, y)
    second = method(2, cost=renamed).fit(X, order[y])
    assert_allclose(first.components_, second.components_, atol=1e-9)


@pytest.mark.parametrize("method", [LPP, MFA, CSLDA, CSLPP, CSMFA])
def test_more_features_than_rows_need_no_pca(method):
    """The span of the rows gives what the whole space gives, up to the ridge's share."""
    X, y = make_classification(40, 60, n_informative=8, n_classes=3, random_state=0)
    Q, _ = np.linalg.qr((X - X.mean(axis=0)).T)
    inside = Q[:, :39]
    wide, narrow = method(2).fit(X, y), method(2).fit(X @ inside, y)
    angles = subspace_angles(wide.components_.T, inside @ narrow.components_.T)
    assert_allclose(angles, 0.0, atol=1e-4)
