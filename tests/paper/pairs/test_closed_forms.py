"""KISSME and SILD against what they are in the limit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ecselm.paper.pairs import KISSME, SILD
from tests.contracts.pair_contract import pairs_of


def gaussian_pairs(rng, n):
    """Return pairs whose differences have two known covariances."""
    S, D = np.diag([0.2, 0.5, 0.3]), np.array([[2.0, 0.5, 0.0], [0.5, 1.5, 0.2], [0.0, 0.2, 3.0]])
    same = np.arange(n) % 2 == 1
    x, normal = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    delta = np.where(
        same[:, None], normal @ np.linalg.cholesky(S).T, normal @ np.linalg.cholesky(D).T
    )
    return np.stack([x, x - delta], axis=1), same, S, D


def test_kissme_is_the_difference_of_two_inverses(rng):
    pairs, y = pairs_of(rng)
    delta = pairs[:, 0] - pairs[:, 1]
    S, D = (np.mean([np.outer(r, r) for r in delta[y == k]], axis=0) for k in (1, 0))
    model = KISSME(weight=0.5, reg=0.0, clip=False).fit(pairs, y)
    expected = np.linalg.inv(S) - 0.5 * np.linalg.inv(D)
    assert_allclose(model.get_metric().matrix, expected, rtol=1e-10, atol=1e-12)


def test_kissme_approaches_the_log_likelihood_ratio(rng):
    pairs, same, S, D = gaussian_pairs(rng, 200_000)
    model = KISSME().fit(pairs, same)
    delta = pairs[:200, 0] - pairs[:200, 1]
    zero = np.zeros(3)
    ratio = multivariate_normal(zero, S).logpdf(delta) - multivariate_normal(zero, D).logpdf(delta)
    constant = -0.5 * np.linalg.slogdet(S)[1] + 0.5 * np.linalg.slogdet(D)[1]
    assert_allclose(0.5 * model.score_pairs(pairs[:200]) + constant, ratio, rtol=0.03, atol=0.03)
    assert 0.5 * model.threshold_ + constant == pytest.approx(0.0, abs=0.15)


def test_kissme_clips_negative_eigenvalues(rng):
    pairs, y = pairs_of(rng)
    free = KISSME(clip=False).fit(pairs, 1 - y).get_metric().matrix
    values, V = np.linalg.eigh(free)
    assert values[0] < 0
    clipped = KISSME().fit(pairs, 1 - y).get_metric().matrix
    assert_allclose(clipped, (V * np.maximum(values, 0)) @ V.T, atol=1e-10)


@pytest.mark.parametrize("learner", [KISSME, SILD])
def test_singular_scatters_ask_for_a_ridge(learner):
    pairs = np.zeros((4, 2, 3))
    pairs[:, 1, 0] = [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="reg must make"):
        learner(reg=0.0).fit(pairs, [0, 1, 0, 1])


def test_sild_satisfies_its_eigenvalue_equation(rng):
    pairs, y = pairs_of(rng)
    A = SILD(3, reg=0.0).fit(pairs, y).similarity_.projection
    delta = pairs[:, 0] - pairs[:, 1]
    S_w, S_b = (delta[y == k].T @ delta[y == k] / (y == k).sum() for k in (1, 0))
    within, between = A @ S_w @ A.T, A @ S_b @ A.T
    assert_allclose(within, np.eye(3), atol=1e-9)
    ratios = np.diag(between)
    assert_allclose(between, np.diag(ratios), atol=1e-9)
    expected = np.sort(np.linalg.eigvals(np.linalg.solve(S_w, S_b)).real)[::-1][:3]
    assert_allclose(ratios, expected, rtol=1e-8)


def test_sild_on_all_pairs_of_labelled_rows_is_lda(rng):
    labels = np.repeat(np.arange(3), 12)
    X = rng.standard_normal((36, 4)) + 2.0 * rng.standard_normal((3, 4))[labels]
    i, j = np.triu_indices(36, 1)
    model = SILD(2).fit(np.stack([X[i], X[j]], axis=1), labels[i] == labels[j])
    W = LinearDiscriminantAnalysis(solver="eigen", n_components=2).fit(X, labels).scalings_[:, :2]
    Q, R = (np.linalg.qr(part)[0] for part in (model.similarity_.projection.T, W))
    assert_allclose(np.linalg.svd(Q.T @ R, compute_uv=False), 1.0, atol=1e-5)


def test_sild_distance_is_that_of_the_projections(rng):
    pairs, y = pairs_of(rng)
    model = SILD(2, similarity="euclidean").fit(pairs, y)
    A = model.similarity_.projection
    expected = [-np.linalg.norm(A @ (x - z)) for x, z in pairs]
    assert_allclose(model.score_pairs(pairs), expected, rtol=1e-10)
