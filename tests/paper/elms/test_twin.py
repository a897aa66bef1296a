"""Expectiles against a general minimiser, and the conditions of a minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris

from ecselm import ELMClassifier, ELMRegressor
from ecselm.paper.elms import TwinELMClassifier, TwinELMRegressor
from ecselm.paper.elms.twin import asymmetric_evidence, asymmetric_ridge, sign_costs


@pytest.fixture(params=[(120, 10), (30, 50)], ids=["tall", "wide"])
def problem(request, rng):
    N, L = request.param
    H = rng.uniform(0, 1, (N, L))
    return H, H[:, 0] - H[:, 1] + rng.standard_normal(N), rng.uniform(0.5, 2.0, N)


@pytest.mark.parametrize("tau", [0.01, 0.05, 0.5, 0.95])
def test_the_slope_is_zero(problem, tau):
    H, t, w = problem
    found = asymmetric_ridge(H, t, w, tau, 7.0, 100)
    left = t - H @ found.beta
    B = w * np.where(left >= 0, tau, 1 - tau)
    assert found.converged
    assert np.abs(H.T @ (B * left) - found.beta / 7.0).max() < 1e-10


def test_a_general_minimiser_finds_nothing_better(problem):
    H, t, w = problem

    def objective(beta):
        left = t - H @ beta
        B = w * np.where(left >= 0, 0.1, 0.9)
        return B @ left**2 + beta @ beta / 7.0, 2 * (beta / 7.0 - H.T @ (B * left))

    found = asymmetric_ridge(H, t, w, 0.1, 7.0, 100).beta
    other = minimize(objective, np.zeros(H.shape[1]), jac=True, options={"gtol": 1e-12})
    assert_allclose(found, other.x, atol=1e-6)
    assert objective(found)[0] <= other.fun * (1 + 1e-12)


def test_the_level_of_one_half_is_the_elm(problem):
    H, t, w = problem
    found = asymmetric_ridge(H, t, w, 0.5, 7.0, 100).beta
    B = np.diag(0.5 * w)
    assert_allclose(
        found, np.linalg.solve(np.eye(H.shape[1]) / 7.0 + H.T @ B @ H, H.T @ B @ t), atol=1e-10
    )


def test_any_start_ends_at_the_same_weights(problem, rng):
    H, t, w = problem
    first = asymmetric_ridge(H, t, w, 0.02, 50.0, 100).beta
    for _ in range(5):
        start = 100 * rng.standard_normal(H.shape[1])
        assert_allclose(asymmetric_ridge(H, t, w, 0.02, 50.0, 100, start).beta, first, atol=1e-9)


def test_a_column_of_ones_gives_the_expectile_of_the_targets(rng):
    t = rng.standard_normal(200)
    found = asymmetric_ridge(np.ones((200, 1)), t, np.ones(200), 0.05, 1e12, 100).beta[0]

    def slope(e):
        return 0.05 * np.maximum(t - e, 0).sum() - 0.95 * np.maximum(e - t, 0).sum()

    assert_allclose(found, brentq(slope, t.min(), t.max(), xtol=1e-14), atol=1e-9)


@pytest.mark.parametrize(("tau", "share"), [(0.05, 0.75), (0.005, 0.95)])
def test_levels_cover_the_shares_that_the_page_states(tau, share):
    def slope(e):
        above = norm.pdf(e) - e * norm.sf(e)
        below = norm.pdf(e) + e * norm.cdf(e)
        return tau * above - (1 - tau) * below

    expectile = brentq(slope, -8, 0)
    assert norm.cdf(-expectile) - norm.cdf(expectile) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("tau", [0.05, 0.5, 0.9])
def test_the_evidence_repeats_its_precisions(rng, tau):
    H = rng.standard_normal((150, 8))
    t, w = H[:, 0] + 0.5 * rng.standard_normal(150), rng.uniform(0.5, 2.0, 150)
    found = asymmetric_evidence(H, t, w, tau, 200)
    m = found.beta
    B = w * np.where(t - H @ m >= 0, tau, 1 - tau)
    assert found.converged
    # With b of the residuals, a = b/C: the mean, and the a that the mean asks for, as printed.
    values = np.linalg.eigvalsh(H.T @ np.diag(B) @ H)
    g = (values / (1 / found.C + values)).sum()
    b = (w.sum() - g) / (B @ (t - H @ m) ** 2)
    a = b / found.C
    S = np.linalg.inv(a * np.eye(8) + b * H.T @ np.diag(B) @ H)
    assert_allclose(b * S @ H.T @ (B * t), m, rtol=1e-8, atol=1e-10)
    assert_allclose((b * values / (a + b * values)).sum() / (m @ m), a, rtol=1e-8)


def test_the_evidence_stays_within_bounds_where_there_is_nothing_to_find(rng):
    H = rng.standard_normal((50, 3))
    perfect = asymmetric_evidence(H, H[:, 0].copy(), np.ones(50), 0.1, 100)
    assert np.isfinite(perfect.beta).all()
    assert 1e5 < perfect.C < 1.001e6
    assert np.isfinite(asymmetric_evidence(H, np.zeros(50), np.ones(50), 0.1, 100).beta).all()


@pytest.mark.parametrize("method", ["ridge", "evidence"])
def test_intervals_widen_where_targets_vary_more(rng, method):
    X = rng.uniform(-2, 2, (600, 1))
    std = np.where(X[:, 0] > 0, 1.0, 0.1)
    y = 10.0 + X[:, 0] + std * rng.standard_normal(600)
    model = TwinELMRegressor(50, tau=0.02, method=method, random_state=0).fit(X, y)
    lower, upper = model.predict_interval(X)
    width = upper - lower
    assert width[X[:, 0] > 0.5].mean() > 3 * width[X[:, 0] < -0.5].mean()
    assert 0.7 < np.mean((lower <= y) & (y <= upper)) < 0.99
    assert_allclose(model.predict(X), (lower + upper) / 2)


def test_smaller_levels_give_wider_intervals(rng):
    X = rng.uniform(-2, 2, (300, 1))
    y = X[:, 0] + rng.standard_normal(300)
    widths = []
    for tau in (0.4, 0.2, 0.05, 0.01):
        lower, upper = TwinELMRegressor(30, tau=tau, random_state=0).fit(X, y).predict_interval(X)
        widths.append((upper - lower).mean())
    assert widths == sorted(widths)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_scores_are_the_middle_of_their_intervals(load):
    X, y = load(return_X_y=True)
    model = TwinELMClassifier(30, random_state=0).fit(X, y)
    lower, upper = model.score_interval(X)
    assert lower.shape == (len(y), len(model.classes_))
    assert (lower <= upper).all()
    middle = (lower + upper) / 2
    assert (model.classes_[middle.argmax(axis=1)] == model.predict(X)).mean() == 1.0
    near = TwinELMClassifier(30, tau=0.4999999, C=64.0, random_state=0).fit(X, y)
    plain = ELMClassifier(30, C=32.0, random_state=0).fit(X, y)
    assert (near.predict(X) == plain.predict(X)).mean() > 0.99


def test_the_middle_of_half_levels_is_the_elm_regressor(rng):
    X = rng.standard_normal((80, 2))
    y = X[:, 0] + rng.standard_normal(80)
    y -= y.mean()
    model = TwinELMRegressor(20, tau=0.5 - 1e-9, C=64.0, random_state=0).fit(X, y)
    plain = ELMRegressor(20, C=32.0, random_state=0).fit(X, y)
    assert_allclose(model.predict(X), plain.predict(X), atol=1e-6)


def test_costs_are_by_the_sign_of_the_residual():
    assert_allclose(sign_costs(np.array([1.0, 0.0, -1.0]), 0.2), [0.2, 0.2, 0.8])
