"""Two layers against their limits and a general minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.baselines.dfat import DFATRegressor
from ecselm.baselines.two_layers import TwoLayers
from tests import real_data


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((60, 6)) + 3.0
    A = np.sign((X - 3.2) @ rng.standard_normal((6, 3)) + rng.standard_normal((60, 3)))
    Y = X @ rng.standard_normal((6, 2)) + rng.standard_normal((60, 2)) - 5.0
    return X, Y, A


def centred(*blocks):
    return [block - block.mean(axis=0) for block in blocks]


def literal_objective(X, Y, A, W, V, alpha, reg_w, reg_v):
    tasks, known = Y - X @ W @ V, A - X @ W[:, : A.shape[1]]
    penalty = reg_w * (W**2).sum() + reg_v * (V**2).sum()
    return (tasks**2).sum() + alpha * (known**2).sum() + penalty


@pytest.mark.parametrize("n_latent", [0, 2])
def test_objective_is_as_printed_and_never_rises(rows, n_latent):
    X, Y, A = rows
    model = DFATRegressor(n_latent, alpha=2.0, random_state=0).fit(X, Y, A)
    W, V = model.feature_weights_, model.task_weights_
    literal = literal_objective(*centred(X, Y, A), W, V, 2.0, 1.0, 0.1)
    assert_allclose(model.objective_[-1], literal, rtol=1e-10)
    assert (np.diff(model.objective_) <= 1e-9 * literal).all()


def test_either_step_leaves_no_gradient(rows, rng):
    X, Y, A = centred(*rows)
    layers = TwoLayers.from_rows(X, Y, A, 2.0, 0.7, 0.3)
    V = rng.standard_normal((5, 2))
    W, S = layers.feature_weights(V), np.diag([2.0, 2.0, 2.0, 0.0, 0.0])
    padded = np.hstack([A, np.zeros((60, 2))])
    slope = X.T @ X @ W @ (V @ V.T + S) + 0.7 * W - X.T @ (Y @ V.T + padded @ S)
    assert_allclose(slope, 0.0, atol=1e-9)
    V, P = layers.task_weights(W), X @ W
    assert_allclose(P.T @ (P @ V - Y) + 0.3 * V, 0.0, atol=1e-9)


def test_balancing_keeps_the_product_and_lowers_the_objective(rows, rng):
    X, Y, A = centred(*rows)
    layers = TwoLayers.from_rows(X, Y, A, 2.0, 0.7, 0.3)
    W, V = rng.standard_normal((6, 5)), 10.0 * rng.standard_normal((5, 2))
    W_, V_ = layers.balanced(W, V)
    assert_allclose(W_ @ V_, W @ V)
    assert_allclose(W_[:, :3], W[:, :3])
    assert_allclose(0.7 * (W_[:, 3:] ** 2).sum(axis=0), 0.3 * (V_[3:] ** 2).sum(axis=1))
    assert layers.objective(W_, V_) < layers.objective(W, V)


def test_attributes_are_routed_through_cross_validation(rows):
    X, Y, A = rows
    with config_context(enable_metadata_routing=True):
        model = DFATRegressor().set_fit_request(attributes=True)
        scores = cross_val_score(model, X, Y[:, 0], params={"attributes": A}, cv=3)
    assert (scores > 0.5).all()


@pytest.mark.parametrize("n_latent", [0, 1])
def test_a_general_minimiser_finds_nothing_lower_nearby(rows, n_latent):
    X, Y, A = rows
    model = DFATRegressor(n_latent, max_iter=20000, tol=1e-13, random_state=0).fit(X, Y, A)
    W, V = model.feature_weights_, model.task_weights_

    def objective(flat):
        W_, V_ = flat[: W.size].reshape(W.shape), flat[W.size :].reshape(V.shape)
        return literal_objective(*centred(X, Y, A), W_, V_, 1.0, 1.0, 0.1)

    found = minimize(objective, np.concatenate([W.ravel(), V.ravel()]))
    assert_allclose(model.objective_[-1], found.fun, rtol=1e-6)


def test_no_latent_attributes_leave_those_given(rows):
    X, Y, A = rows
    model = DFATRegressor(0).fit(X, Y, A)
    assert model.feature_weights_.shape == (6, 3)
    assert model.predict_attributes(X).shape == (60, 3)
    assert_allclose(model.predict_attributes(X).mean(axis=0), A.mean(axis=0))


def test_large_alpha_predicts_attributes_first_and_scores_from_them(rows):
    X, Y, A = rows
    model = DFATRegressor(alpha=1e9).fit(X, Y, A)
    attributes = LinearRegression().fit(X, A).predict(X)
    scores = Ridge(0.1).fit(attributes, Y).predict(attributes)
    assert_allclose(model.predict_attributes(X), attributes, atol=1e-5)
    assert_allclose(model.predict(X), scores, atol=1e-4)


def test_one_score_without_attributes_is_ridge(rows):
    """The two ridges together are one on the length of the weights: 2 sqrt(reg_w reg_v) |b|."""
    X, Y, _ = rows
    model = DFATRegressor(3, reg_w=4.0, reg_v=9.0, max_iter=20000, tol=1e-14, random_state=0)
    model.fit(X, Y[:, 0])
    b = (model.feature_weights_ @ model.task_weights_).ravel()
    ridge = Ridge(np.sqrt(4.0 * 9.0) / np.linalg.norm(b)).fit(X, Y[:, 0])
    assert_allclose(b, ridge.coef_, atol=1e-4)
    assert_allclose(model.predict(X), ridge.predict(X), atol=1e-3)


def test_alpha_zero_without_ridges_is_reduced_rank_regression(rows):
    X, Y, A = rows
    model = DFATRegressor(alpha=0.0, reg_w=1e-9, reg_v=1e-9, max_iter=20000, tol=1e-14)
    fitted = LinearRegression().fit(X, Y).predict(X)
    assert_allclose(model.fit(X, Y, A).predict(X), fitted, atol=1e-3)
    one = DFATRegressor(1, reg_w=1e-9, reg_v=1e-9, max_iter=20000, tol=1e-14, random_state=0)
    U, s, Vt = np.linalg.svd(fitted - fitted.mean(axis=0), full_matrices=False)
    rank_one = s[0] * np.outer(U[:, 0], Vt[0]) + Y.mean(axis=0)
    assert_allclose(one.fit(X, Y).predict(X), rank_one, atol=1e-3)


def test_too_few_sweeps_warn(rows):
    X, Y, A = rows
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        DFATRegressor(max_iter=1, tol=0.0).fit(X, Y, A)


def test_attributes_of_other_rows_are_refused(rows):
    X, Y, A = rows
    with pytest.raises(ValueError, match="attributes must have one row per row of X, 60, got 59"):
        DFATRegressor().fit(X, Y, A[1:])


@parametrize_with_checks([DFATRegressor(), DFATRegressor(3)])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_latent", [0, 10])
def test_scores_of_faces_are_better_than_the_mean(data_folder, n_latent):
    """Signs of the main components of shape stand in for what people would have said."""
    X, geometry, y = real_data.scut(data_folder)
    shape = geometry - geometry.mean(axis=0)
    attributes = np.sign(shape @ np.linalg.svd(shape[::2], full_matrices=False)[2][:10].T)
    model = DFATRegressor(n_latent, reg_w=1000.0, random_state=0)
    model.fit(X[::2], y[::2], attributes[::2])
    error = np.abs(model.predict(X[1::2]) - y[1::2]).mean()
    assert error < 0.8 * np.abs(y[::2].mean() - y[1::2]).mean()
