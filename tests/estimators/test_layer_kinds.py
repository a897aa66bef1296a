"""Layers of several kinds: their formulas, and what they may not depend on."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from ecselm.estimators._layers import STEEPNESS, WIDTHS, layers_of_kinds
from ecselm.layers import RankScale

KINDS = ["rbf", "laplacian", "ranks", "tanh"]


@pytest.fixture
def X(rng):
    return np.exp(rng.standard_normal((60, 3))) * [1.0, 100.0, 0.01]


def layers(X, weight=None, n_hidden=9, scale="standard", seed=0):
    made = layers_of_kinds(X, weight, n_hidden, scale, np.random.default_rng(seed))
    return {(one.kind, one.width): one.layer for one in made}


def assert_same_products(one, other, X, atol=1e-8):
    """Compare kernels H H': the units behind them may be turned."""
    assert one.keys() == other.keys()
    for name, layer in one.items():
        H, G = layer(X), other[name](X)
        assert_allclose(H @ H.T, G @ G.T, atol=atol, err_msg=str(name))


def test_every_kind_comes_in_all_widths(X):
    assert list(layers(X)) == [(kind, width) for kind in KINDS for width in WIDTHS]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["rbf", "laplacian", "ranks"])
def test_with_all_rows_for_landmarks_products_are_the_kernel(X, kind, width):
    Z = RankScale.measured(X)(X) if kind == "ranks" else StandardScaler().fit_transform(X)
    kernel = laplacian_kernel if kind == "laplacian" else rbf_kernel
    H = layers(X, n_hidden=100)[kind, width](X)
    assert_allclose(H @ H.T, kernel(Z, gamma=width / (3 * Z.var())), atol=1e-7)


@pytest.mark.parametrize("width", WIDTHS)
def test_tanh_units_spread_by_the_width(X, width):
    """Weights and biases are standard normal times the root of what the width asks for."""
    H = layers(X, n_hidden=4000)["tanh", width](X) * np.sqrt(4000)
    A, Z = np.arctanh(np.clip(H, -1 + 1e-15, 1 - 1e-15)), StandardScaler().fit_transform(X)
    steep = np.sqrt(STEEPNESS * width)
    inside = np.abs(A).max(axis=1) < 15  # what tanh has not rounded to 1
    expected = steep * np.sqrt(1 + (Z**2).sum(axis=1) / 3)
    assert_allclose(A.std(axis=1)[inside], expected[inside], rtol=0.05)


@pytest.mark.parametrize("n_hidden", [5, 60, 400])
def test_landmarks_are_as_many_as_asked_for_or_as_there_are_rows(X, n_hidden):
    made = layers(X, n_hidden=n_hidden)
    assert made["laplacian", 1.0].n_hidden == min(n_hidden, 60)
    assert made["tanh", 1.0].n_hidden == n_hidden


def test_order_of_rows_does_not_matter(X, rng):
    assert_same_products(layers(X[rng.permutation(60)]), layers(X), X)


def test_a_row_of_weight_two_is_a_row_twice(X, rng):
    times = rng.integers(1, 4, 60)
    repeated = np.repeat(X, times, axis=0)
    assert_same_products(layers(X, times.astype(float)), layers(repeated), X)


def test_copies_are_no_landmarks_of_their_own(X):
    made = layers(np.vstack([X[:6]] * 10), n_hidden=20)
    assert made["laplacian", 1.0].n_hidden == 6
    assert made["ranks", 10.0].n_hidden == 6


def test_nothing_but_inputs_is_asked_for():
    """Without targets there is nothing of them that a layer could know."""
    assert list(inspect.signature(layers_of_kinds).parameters) == [
        *("X", "weight", "n_hidden", "scale", "rng")
    ]


def test_another_seed_draws_other_layers(X):
    for name, layer in layers(X, seed=1).items():
        H, G = layer(X), layers(X)[name](X)
        assert np.abs(H @ H.T - G @ G.T).max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_alone_bear_inputs_that_grow_otherwise(X, kind):
    H = layers(X, n_hidden=100)[kind, 1.0](X)
    G = layers(np.log(X), n_hidden=100)[kind, 1.0](np.log(X))
    apart = np.abs(H @ H.T - G @ G.T).max()
    assert apart < 1e-7 if kind == "ranks" else apart > 1e-2


def test_sparse_rows_have_all_kinds_but_ranks(rng):
    X = np.where(rng.random((50, 4)) < 0.4, rng.standard_normal((50, 4)), 0.0)
    thin = layers(sparse.csr_array(X))
    assert {kind for kind, _ in thin} == {"rbf", "laplacian", "tanh"}
    for layer in thin.values():
        H = layer(sparse.csr_array(X))
        assert_allclose(layer(sparse.csr_array(X[3:5])), H[3:5], rtol=1e-10)


@pytest.mark.parametrize("kind", ["rbf", "laplacian"])
def test_sparse_rows_are_scaled_but_not_centred(rng, kind):
    X = np.where(rng.random((50, 4)) < 0.4, rng.standard_normal((50, 4)), 0.0)
    Z = X / X.std(axis=0)
    kernel = laplacian_kernel if kind == "laplacian" else rbf_kernel
    H = layers(sparse.csr_array(X), n_hidden=100)[kind, 1.0](sparse.csr_array(X))
    assert_allclose(H @ H.T, kernel(Z, gamma=1 / (4 * Z.var())), atol=1e-7)


def test_float32_rows_have_the_layers_of_float64_ones(X):
    small = X.astype(np.float32)
    one, other = layers(small), layers(small.astype(np.float64))
    for name, layer in one.items():
        H, G = layer(small), other[name](small.astype(np.float64))
        assert_allclose(H @ H.T, G @ G.T, atol=1e-3, err_msg=str(name))


def test_constant_features_and_equal_rows_are_borne():
    for X in (np.ones((20, 2)), np.column_stack([np.arange(20.0), np.ones(20)])):
        for layer in layers(X).values():
            assert np.isfinite(layer(X)).all()
