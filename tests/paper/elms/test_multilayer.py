"""Autoencoders against their formulas, FISTA against scikit-learn's lasso."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import Lasso

from ecselm import ELMClassifier
from ecselm.paper.elms import HELMClassifier, MLELMClassifier
from ecselm.paper.elms.multilayer import (
    lasso_gap,
    orthogonal_weights,
    ridge_autoencoder,
    sparse_weights,
    to_unit_range,
    with_bias,
)


@pytest.mark.parametrize(("n", "L"), [(8, 3), (3, 8), (4, 4)])
def test_random_weights_are_orthogonal_and_biases_have_length_one(rng, n, L):
    W, b = orthogonal_weights(n, L, rng)
    assert W.shape == (n, L)
    small = W.T @ W if n >= L else W @ W.T
    assert_allclose(small, np.eye(min(n, L)), atol=1e-12)
    assert_allclose(b @ b, 1)


@pytest.mark.parametrize(("N", "n", "L"), [(50, 4, 7), (50, 9, 3), (10, 4, 20)])
def test_the_autoencoder_is_a_ridge_regression_of_the_inputs(rng, N, n, L):
    X = rng.standard_normal((N, n))
    beta = ridge_autoencoder(X, L, "sigmoid", 5.0, np.random.default_rng(3))
    W, b = orthogonal_weights(n, L, np.random.default_rng(3))
    H = 1 / (1 + np.exp(-(X @ W + b)))
    expected = np.linalg.inv(np.eye(L) / 5.0 + H.T @ H) @ H.T @ X
    assert_allclose(beta, expected, rtol=1e-8, atol=1e-10)


def test_without_a_penalty_the_autoencoder_is_the_pseudo_inverse(rng):
    X = rng.standard_normal((60, 3))
    beta = ridge_autoencoder(X, 4, "tanh", 1e12, np.random.default_rng(3))
    W, b = orthogonal_weights(3, 4, np.random.default_rng(3))
    assert_allclose(beta, np.linalg.pinv(np.tanh(X @ W + b)) @ X, rtol=1e-6, atol=1e-8)
    A = to_unit_range(with_bias(X) @ rng.uniform(-1, 1, (4, 3)))
    sparse = sparse_weights(A, X, 1e-12, 20000, 1e-12).beta
    assert_allclose(sparse, np.linalg.pinv(A) @ X, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 5.0, 40.0])
def test_fista_is_scikit_learns_lasso_column_by_column(rng, alpha):
    A = rng.standard_normal((60, 10)) @ rng.standard_normal((10, 10))
    X = rng.standard_normal((60, 4))
    X[:, 0] += 2 * A[:, 3]
    found = sparse_weights(A, X, alpha, 20000, 1e-13)
    for column in range(4):
        twin = Lasso(alpha / (2 * 60), fit_intercept=False, tol=1e-14, max_iter=100000)
        assert_allclose(
            found.beta[:, column], twin.fit(A, X[:, column]).coef_, rtol=1e-7, atol=1e-9
        )
    assert (found.beta == 0).any() or alpha < 1


def test_fista_ends_where_the_conditions_of_a_minimum_hold(rng):
    A, X = rng.standard_normal((40, 12)), rng.standard_normal((40, 5))
    found = sparse_weights(A, X, 8.0, 20000, 1e-12)
    slope = 2 * A.T @ (A @ found.beta - X)
    assert_allclose(slope[found.beta != 0], -8.0 * np.sign(found.beta[found.beta != 0]), rtol=1e-9)
    assert np.abs(slope[found.beta == 0]).max() <= 8.0 * (1 + 1e-9)
    assert (found.beta == 0).sum() > 5
    # A step from there goes nowhere.
    length = 1 / (2 * np.linalg.eigvalsh(A.T @ A)[-1])
    moved = found.beta - length * slope
    again = np.sign(moved) * np.maximum(np.abs(moved) - 8.0 * length, 0)
    assert_allclose(again, found.beta, atol=1e-11)


def test_a_large_penalty_leaves_nothing_and_zeros_need_no_step(rng):
    A, X = rng.standard_normal((20, 4)), rng.standard_normal((20, 2))
    assert not sparse_weights(A, X, 1e6, 100, 1e-9).beta.any()
    assert not sparse_weights(np.zeros((20, 4)), X, 1.0, 100, 1e-9).beta.any()


def test_the_gap_is_what_slopes_miss():
    slope, beta = np.array([-1.5, 3.0, 0.5]), np.array([1.0, 0.0, 0.0])
    assert lasso_gap(slope, beta, 1.0) == 2.0
    assert lasso_gap(np.array([-1.5]), np.array([1.0]), 1.0) == 0.5


def literal_scores(model, X, encode):
    """Return the scores of a fitted stack, layer by layer."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for encoder in model.encoders_:
        Z = encode(encoder, Z)
    return model.layer_(Z) @ model.beta_


def test_ml_elm_encodes_by_the_weights_of_its_autoencoders():
    X, y = load_wine(return_X_y=True)
    model = MLELMClassifier((20, 5), encoder_C=10.0, random_state=0).fit(X, y)
    scores = literal_scores(model, X, lambda e, Z: np.tanh(Z @ e.beta.T))
    assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-10)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rngs = np.random.default_rng(0).spawn(3)
    for encoder, n_units, rng in zip(model.encoders_, (20, 5), rngs[1:], strict=True):
        W, b = orthogonal_weights(Z.shape[1], n_units, rng)
        H = np.tanh(Z @ W + b)
        beta = np.linalg.solve(np.eye(n_units) / 10.0 + H.T @ H, H.T @ Z)
        assert_allclose(encoder.beta, beta, rtol=1e-7, atol=1e-9)
        Z = np.tanh(Z @ beta.T)
    H, T = model.layer_(Z), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    beta = np.linalg.solve(np.eye(100) / 32.0 + H.T @ H, H.T @ T)
    assert_allclose(model.beta_, beta, rtol=1e-6, atol=1e-7)


def test_h_elm_encodes_by_the_sparse_weights_of_its_autoencoders():
    X, y = load_wine(return_X_y=True)
    model = HELMClassifier((8, 4), alpha=5.0, tol=1e-10, max_iter=20000, random_state=0)
    model.fit(X, y)

    def encode(encoder, Z):
        Z = np.hstack([Z, np.full((len(Z), 1), 0.1)]) @ encoder.beta.T
        span = np.ptp(Z, axis=0)
        return (Z - Z.min(axis=0)) / np.where(span > 0, span, 1.0)

    scores = literal_scores(model, X, encode)
    assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    inputs = np.hstack([Z, np.full((len(Z), 1), 0.1)])
    rng = np.random.default_rng(0).spawn(3)[1]
    A = inputs @ rng.uniform(-1, 1, (14, 8))
    A = 2 * (A - A.min(axis=1, keepdims=True)) / np.ptp(A, axis=1, keepdims=True) - 1
    twin = Lasso(5.0 / (2 * len(X)), fit_intercept=False, tol=1e-12, max_iter=100000)
    assert_allclose(model.encoders_[0].beta, twin.fit(A, inputs).coef_.T, rtol=1e-6, atol=1e-8)
    assert (model.encoders_[0].beta == 0).any()
    encoded = model.encode(X)
    assert encoded.min() == 0
    assert encoded.max() == pytest.approx(1)


@pytest.mark.parametrize("kind", [MLELMClassifier, HELMClassifier])
def test_without_encoders_it_is_an_elm(kind):
    X, y = load_iris(return_X_y=True)
    model = kind((), n_hidden=20, random_state=0).fit(X, y)
    twin = ELMClassifier(20, C=32.0, random_state=np.random.default_rng(0).spawn(1)[0]).fit(X, y)
    assert_allclose(model.decision_function(X), twin.decision_function(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", [MLELMClassifier, HELMClassifier])
def test_one_number_is_one_encoder(kind):
    X, y = load_iris(return_X_y=True)
    assert len(kind(7, random_state=0).fit(X, y).encoders_) == 1
    assert kind(7, random_state=0).fit(X, y).encode(X).shape == (150, 7)
