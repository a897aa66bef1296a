"""Evidence maximisation against literal loops, scikit-learn, and the conditions of a mode."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import ARDRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from ecselm.paper.elms import SparseBayesianELMClassifier, SparseBayesianELMRegressor
from ecselm.paper.elms.sparse_bayesian import (
    coupled_probabilities,
    evidence_classification,
    evidence_regression,
    logistic_mode,
)

LIMITS = {"prune": 1e9, "tol": 1e-12}


@pytest.fixture
def sparse_problem(rng):
    H = rng.standard_normal((80, 8))
    return H, H[:, 1] - 2 * H[:, 5] + 0.3 * rng.standard_normal(80)


@pytest.mark.parametrize("n_iter", [1, 3, 20])
def test_regression_takes_the_printed_steps(sparse_problem, n_iter):
    H, t = sparse_problem
    a, b, kept = np.ones(8), 1 / t.var(), np.arange(8)
    for _ in range(n_iter):
        S = np.linalg.inv(b * H[:, kept].T @ H[:, kept] + np.diag(a))
        m = b * S @ H[:, kept].T @ t
        g = 1 - a * np.diag(S)
        a = g / m**2
        b = (80 - g.sum()) / ((t - H[:, kept] @ m) ** 2).sum()
        kept, a = kept[a < 1e9], a[a < 1e9]
    m = b * np.linalg.inv(b * H[:, kept].T @ H[:, kept] + np.diag(a)) @ H[:, kept].T @ t
    found = evidence_regression(H, t, np.ones(80), max_iter=n_iter, **LIMITS)
    assert_allclose(found.units, kept)
    assert_allclose(found.mean, m, rtol=1e-8)
    assert_allclose(found.precision, a, rtol=1e-7)
    assert_allclose(found.noise, 1 / b, rtol=1e-9)


def test_regression_is_scikit_learns_relevance_determination(sparse_problem):
    H, t = sparse_problem
    none = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    twin = ARDRegression(
        max_iter=400, tol=1e-12, threshold_lambda=1e9, fit_intercept=False, **none
    ).fit(H, t)
    found = evidence_regression(H, t, np.ones(80), max_iter=400, **LIMITS)
    coef = np.zeros(8)
    coef[found.units] = found.mean
    assert_allclose(coef, twin.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(found.noise, 1 / twin.alpha_, rtol=1e-6)


def test_relevant_units_are_found_and_others_pruned(rng):
    H = rng.standard_normal((200, 30))
    t = 3 * H[:, 4] - 2 * H[:, 20] + 0.1 * rng.standard_normal(200)
    found = evidence_regression(H, t, np.ones(200), prune=1e9, max_iter=1000, tol=1e-6)
    assert {4, 20} <= set(found.units.tolist())
    assert len(found.units) < 15
    assert found.noise**0.5 == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize(("N", "L"), [(60, 5), (12, 30)], ids=["tall", "wide"])
def test_the_mode_is_where_the_slope_is_zero(rng, N, L):
    H, t = rng.standard_normal((N, L)), rng.integers(0, 2, N).astype(float)
    w, a = rng.uniform(0.5, 2, N), rng.uniform(0.1, 5, L)
    m, g = logistic_mode(H, t, w, a, np.zeros(L))
    y = expit(H @ m)
    assert_allclose(H.T @ (w * (y - t)) + a * m, 0, atol=1e-8)
    S = np.linalg.inv(H.T @ np.diag(w * y * (1 - y)) @ H + np.diag(a))
    assert_allclose(g, 1 - a * np.diag(S), rtol=1e-8)

    def loss(m):
        z = H @ m
        return w @ (np.logaddexp(0, z) - t * z) + a @ m**2 / 2

    assert loss(m) <= minimize(loss, np.zeros(L), tol=1e-10, method="BFGS").fun + 1e-12


def test_steps_that_overshoot_are_shortened():
    H, t = np.array([[1.0], [-1.0]]), np.array([1.0, 0.0])  # separated: plain steps run off
    m, _ = logistic_mode(H, t, np.ones(2), np.array([1e-8]), np.array([30.0]))
    assert abs(2 * (expit(m[0]) - 1) + 1e-8 * m[0]) < 1e-10


@pytest.mark.parametrize("n_iter", [1, 4])
def test_classification_takes_the_printed_steps(rng, n_iter):
    H = rng.standard_normal((70, 6))
    t = (expit(2 * H[:, 0] - H[:, 3]) > rng.uniform(size=70)).astype(float)
    a = np.ones(6)
    for _ in range(n_iter + 1):
        w = np.zeros(6)
        for _ in range(50):  # Newton in the form of the source: reweighted least squares
            y = expit(H @ w)
            R = np.diag(y * (1 - y))
            S = np.linalg.inv(H.T @ R @ H + np.diag(a))
            w = S @ H.T @ R @ (H @ w + np.linalg.inv(R) @ (t - y))
        last, a = (w, a), (1 - a * np.diag(S)) / w**2
    found = evidence_classification(H, t, np.ones(70), max_iter=n_iter, **LIMITS)
    assert len(found.units) == 6
    assert_allclose(found.precision, last[1], rtol=1e-7)
    assert_allclose(found.mean, last[0], rtol=1e-7, atol=1e-9)


def test_precisions_repeat_themselves_where_it_ends():
    X, y = load_breast_cancer(return_X_y=True)
    model = SparseBayesianELMClassifier(40, tol=1e-9, max_iter=5000, random_state=0).fit(X, y)
    kept = np.isfinite(model.precision_[:, 0])
    H, m, a = model.layer_(X)[:, kept], model.beta_[kept, 0], model.precision_[kept, 0]
    p = expit(H @ m)
    assert_allclose(H.T @ (p - y) + a * m, 0, atol=1e-8)
    S = np.linalg.inv(H.T @ np.diag(p * (1 - p)) @ H + np.diag(a))
    settled = a < 1e3  # others still grow towards the bound
    assert settled.sum() > 5
    assert_allclose(((1 - a * np.diag(S)) / m**2)[settled], a[settled], rtol=1e-3)
    assert kept.sum() < 25
    assert not model.beta_[~kept].any()


def test_pairs_are_coupled_as_printed(rng):
    k = 4
    R = rng.uniform(0.05, 0.95, (6, 6))
    P = coupled_probabilities(R, k)
    assert_allclose(P.sum(axis=1), 1)
    for row, p in zip(R, P, strict=True):
        r = np.zeros((k, k))
        for value, (i, j) in zip(row, zip(*np.triu_indices(k, 1), strict=True), strict=True):
            r[j, i], r[i, j] = value, 1 - value

        def loss(p, r=r):
            return sum(
                (r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(k) for j in range(k) if i != j
            )

        best = minimize(
            loss,
            np.full(k, 1 / k),
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-15},
        )
        assert_allclose(p, best.x, atol=1e-4)
        assert loss(p) <= best.fun + 1e-12


def test_consistent_pairs_give_their_probabilities(rng):
    p = rng.dirichlet(np.ones(5), 8)
    i, j = np.triu_indices(5, 1)
    assert_allclose(coupled_probabilities(p[:, j] / (p[:, i] + p[:, j]), 5), p, atol=1e-6)


def test_certain_pairs_can_be_coupled():
    P = coupled_probabilities(np.array([[0.0, 0.0, 0.5], [1.0, 1.0, 1.0]]), 3)
    assert_allclose(P, [[1, 0, 0], [0, 0, 1]], atol=1e-5)


def test_probabilities_decide_and_beat_the_prior():
    X, y = load_iris(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = SparseBayesianELMClassifier(random_state=0).fit(X, y)
    P = model.predict_proba(X_test)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X_test)).all()
    assert log_loss(y_test, P) < 0.3


def test_regression_finds_the_noise_and_the_function(rng):
    X = rng.uniform(-3, 3, (300, 1))
    y = 5.0 + np.sin(X[:, 0]) + 0.2 * rng.standard_normal(300)
    model = SparseBayesianELMRegressor(random_state=0).fit(X, y)
    assert model.noise_**0.5 == pytest.approx(0.2, rel=0.15)
    truth = 5.0 + np.sin(X[:, 0])
    assert np.mean((model.predict(X) - truth) ** 2) < 0.05 * 0.2**2
    assert (model.beta_ != 0).sum() < 50


def test_more_units_than_rows_do_not_make_the_noise_vanish(rng):
    X, y = rng.standard_normal((15, 3)), rng.standard_normal(15)
    model = SparseBayesianELMRegressor(random_state=0).fit(X, y)
    assert model.noise_ >= 1e-6 * y.var() * (1 - 1e-9)
    assert np.isfinite(model.predict(X)).all()
