"""The estimators against the paper's equations as printed, and against their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from tests.conftest import targets

SIZES = pytest.mark.parametrize("n_hidden", [30, 600], ids=["tall", "wide"])
C = 0.25  # well conditioned, so that the slow oracles are exact to 1e-10


def printed_scores(H, T, B, H_new):
    """Return z of (18) as printed."""
    N, L = H.shape
    if N < L:
        beta = H.T @ np.linalg.solve(np.eye(N) / C + np.diag(B) @ H @ H.T, np.diag(B) @ T)
    else:
        beta = np.linalg.solve(np.eye(L) / C + H.T @ np.diag(B) @ H, H.T @ np.diag(B) @ T)
    return H_new @ beta


def scores(model, X):
    """Return one column of scores per class."""
    z = model.decision_function(X)
    return np.column_stack([-z, z]) if z.ndim == 1 else z


@SIZES
@pytest.mark.parametrize("activation", ["radbas", "sigmoid"])
def test_elm_is_equations_5_16_and_17(labelled, n_hidden, activation):
    X, y = labelled
    model = ELMClassifier(n_hidden, C=C, activation=activation, scale=None, random_state=0)
    model.fit(X[:300], y[:300])
    A = X @ model.layer_.weights + model.layer_.biases
    H = np.exp(-(A**2)) if activation == "radbas" else 1 / (1 + np.exp(-A))
    z = printed_scores(H[:300], targets(y[:300]), np.ones(300), H[300:])
    assert_allclose(scores(model, X[300:]), z, rtol=1e-10, atol=1e-10)
    assert_array_equal(model.predict(X[300:]), np.unique(y)[z.argmax(axis=1)])  # (19)


def test_kelm_is_equation_7(labelled):
    X, y = labelled
    model = KELMClassifier(C=C, gamma=0.1).fit(X[:300], y[:300])
    omega = rbf_kernel(X[:300], gamma=0.1)
    alpha = np.linalg.inv(np.eye(300) / C + omega) @ targets(y[:300])
    z = rbf_kernel(X[300:], X[:300], gamma=0.1) @ alpha
    assert_allclose(scores(model, X[300:]), z, rtol=1e-10, atol=1e-10)


@SIZES
@pytest.mark.parametrize("weighting", ["w1", "w2"])
def test_welm_weighs_rows_by_equations_9_and_10(labelled, n_hidden, weighting):
    X, y = labelled
    n = np.bincount(y)[y]
    golden = (n > len(y) / len(np.unique(y))) & (weighting == "w2")
    B = np.where(golden, 0.618, 1.0) / n
    model = WELMClassifier(n_hidden, weighting=weighting, C=C, random_state=0).fit(X, y)
    assert_allclose(model.cost_vector_, B)
    H = model.layer_(X)
    z = printed_scores(H, targets(y), B, H)
    assert_allclose(scores(model, X), z, rtol=1e-10, atol=1e-10)


@SIZES
@pytest.mark.parametrize("aggregate", ["samples", "classes"])
def test_cselm_is_equations_11_12_15_and_18(labelled, rng, n_hidden, aggregate):
    X, y = labelled
    k = len(np.unique(y))
    cost = rng.uniform(1, 9, (k, k)) * (1 - np.eye(k))
    others = y if aggregate == "samples" else np.arange(k)
    M = cost[y][:, others]  # (11)
    W = np.diag(1.0 / np.bincount(y)[y])
    B = (W @ M).sum(axis=1)  # (12)
    model = CSELMClassifier.paper(
        n_hidden=n_hidden, cost=cost, aggregate=aggregate, C=C, random_state=0
    )
    model.fit(X, y)
    assert_allclose(model.cost_vector_, B)
    H = model.layer_(X)
    z = printed_scores(H, targets(y), B, H)
    assert_allclose(scores(model, X), z, rtol=1e-10, atol=1e-10)


def test_paper_matrix_between_samples_equals_the_class_matrix(labelled):
    X, y = labelled
    k = len(np.unique(y))
    cost = np.arange(1.0, k * k + 1).reshape(k, k) * (1 - np.eye(k))
    by_class = CSELMClassifier.paper(cost=cost, C=C, random_state=0).fit(X, y)
    by_sample = CSELMClassifier.paper(C=C, random_state=0).fit(X, y, sample_cost=cost[y][:, y])
    by_example = CSELMClassifier.paper(C=C, random_state=0).fit(X, y, sample_cost=cost[y])
    for other in (by_sample, by_example):
        assert_allclose(other.beta_, by_class.beta_, rtol=1e-8, atol=1e-10)


def test_kernel_cselm_is_equation_15_with_omega(labelled):
    X, y = labelled
    model = CSELMClassifier.paper(kernel="rbf", gamma=0.1, C=C).fit(X, y)
    B, omega = model.cost_vector_, rbf_kernel(X, gamma=0.1)
    alpha = np.linalg.inv(np.eye(400) / C + np.diag(B) @ omega) @ np.diag(B) @ targets(y)
    assert_allclose(scores(model, X), omega @ alpha, rtol=1e-9, atol=1e-9)


@SIZES
@pytest.mark.parametrize("weighted", [False, True])
def test_elm_equals_ridge_on_the_hidden_layer(labelled, rng, n_hidden, weighted):
    X, y = labelled
    w = rng.uniform(0.2, 3, len(y)) if weighted else None
    model = ELMClassifier(n_hidden, C=C, random_state=0).fit(X, y, sample_weight=w)
    H = model.layer_(X)
    ridge = Ridge(alpha=1 / C, fit_intercept=False).fit(H, targets(y), sample_weight=w)
    assert_allclose(scores(model, X), ridge.predict(H), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", "laplacian", "cosine"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kelm_equals_kernel_ridge(labelled, rng, kernel, weighted):
    X, y = labelled
    w = rng.uniform(0.2, 3, len(y)) if weighted else None
    model = KELMClassifier(C=C, kernel=kernel, gamma=0.05).fit(X, y, sample_weight=w)
    twin = KernelRidge(alpha=1 / C, kernel=kernel, gamma=0.05)
    z = twin.fit(X, targets(y), sample_weight=w).predict(X)
    assert_allclose(scores(model, X), z, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("m", [None, 3])
def test_regressors_equal_ridge_and_kernel_ridge(rng, m):
    X = rng.standard_normal((80, 4))
    y = rng.standard_normal(80 if m is None else (80, m))
    elm = ELMRegressor(20, C=C, random_state=0).fit(X, y)
    H = elm.layer_(X)
    ridge = Ridge(alpha=1 / C, fit_intercept=False).fit(H, y)
    assert_allclose(elm.predict(X), ridge.predict(H), rtol=1e-9, atol=1e-9)
    kelm = KELMRegressor(C=C, gamma=0.1).fit(X, y)
    twin = KernelRidge(alpha=1 / C, kernel="rbf", gamma=0.1).fit(X, y)
    assert_allclose(kelm.predict(X), twin.predict(X), rtol=1e-9, atol=1e-9)


FAMILY = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(40, random_state=0),
        ELMClassifier(900, random_state=0),
        KELMClassifier(),
        WELMClassifier(40, weighting="w2", random_state=0),
        WELMClassifier(kernel="rbf"),
        CSELMClassifier(40, cost={0: 3}, random_state=0),
        CSELMClassifier(40, cost={0: 3}, decision="min_cost", random_state=0),
        CSELMClassifier(cost={0: 3}, kernel="rbf", decision="min_cost"),
    ],
    ids=str,
)


@FAMILY
def test_weight_two_equals_a_row_repeated_twice(labelled, model):
    X, y = labelled
    twice = np.arange(0, len(y), 3)
    w = np.ones(len(y))
    w[twice] = 2.0
    weighted = clone(model).fit(X, y, sample_weight=w)
    repeated = clone(model).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-7
    )
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6, atol=1e-7)


def test_cost_two_equals_a_row_repeated_twice(labelled):
    X, y = labelled
    twice = np.arange(0, len(y), 3)
    B = np.ones(len(y))
    B[twice] = 2.0
    model = CSELMClassifier(40, scale=None, random_state=0)
    dear = clone(model).fit(X, y, sample_cost=B)
    repeated = ELMClassifier(40, scale=None, random_state=0)
    repeated.fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert_allclose(dear.beta_, repeated.beta_, rtol=1e-8, atol=1e-9)
    regressor = CSELMRegressor(40, scale=None, random_state=0)
    dear = clone(regressor).fit(X, y, sample_cost=B)
    repeated = ELMRegressor(40, scale=None, random_state=0)
    repeated.fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert_allclose(dear.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("decision", ["argmax", "min_cost"])
def test_permuting_labels_with_the_costs_permutes_predictions(labelled, rng, decision):
    X, y = labelled
    k = len(np.unique(y))
    cost = rng.uniform(1, 9, (k, k)) * (1 - np.eye(k))
    order = np.roll(np.arange(k), 1)  # class c becomes order[c]
    permuted = np.empty_like(cost)
    permuted[np.ix_(order, order)] = cost
    model = CSELMClassifier(40, cost=cost, decision=decision, random_state=0)
    twin = clone(model).set_params(cost=permuted)
    expected = order[model.fit(X, y).predict(X)]
    assert_array_equal(twin.fit(X, order[y]).predict(X), expected)


def test_balanced_costs_are_normalised_w1(labelled):
    X, y = labelled
    normalised = WELMClassifier(40, normalize=True, random_state=0).fit(X, y)
    balanced = WELMClassifier(40, weighting="balanced", random_state=0).fit(X, y)
    assert_allclose(normalised.beta_, balanced.beta_, rtol=1e-9, atol=1e-10)
    assert_allclose(normalised.cost_vector_.mean(), 1.0)


def test_equal_costs_without_weighting_are_plain_elm(labelled):
    X, y = labelled
    k = len(np.unique(y))
    plain = ELMClassifier(40, C=C, random_state=0).fit(X, y)
    deciding = CSELMClassifier(40, C=C, random_state=0)
    printed = CSELMClassifier.paper(
        n_hidden=40, weighting=None, aggregate="classes", C=C / (k - 1), random_state=0
    )
    for model in (deciding, printed):
        assert_allclose(model.fit(X, y).beta_, plain.beta_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "layer",
    [
        Nystroem(n_components=50, random_state=0),
        RBFSampler(n_components=50, random_state=0),
        make_pipeline(StandardScaler(), Nystroem(n_components=50, random_state=0)),
    ],
    ids=["Nystroem", "RBFSampler", "Pipeline"],
)
def test_hidden_layer_from_outside_takes_the_place_of_the_random_one(labelled, layer):
    X, y = labelled
    model = ELMClassifier(hidden_layer=layer, C=C).fit(X, y)
    H = clone(layer).fit_transform(X)
    ridge = Ridge(alpha=1 / C, fit_intercept=False).fit(H, targets(y))
    assert_allclose(scores(model, X), ridge.predict(H), rtol=1e-7, atol=1e-8)
    assert not hasattr(layer, "n_features_in_")  # the caller's own is not fitted


def test_nystroem_of_all_rows_is_the_kernel_machine(labelled):
    X, y = labelled
    layer = Nystroem(gamma=0.05, n_components=len(X), random_state=0)
    model = ELMClassifier(hidden_layer=layer).fit(X, y)
    kernel = KELMClassifier(gamma=0.05).fit(X, y)
    assert_allclose(scores(model, X), scores(kernel, X), atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaled_kernels_equal_scaled_inputs(labelled, kernel, scale):
    X, y = labelled
    X = X * [1, 10, 100, 1, 1, 1, 1, 0.01] + 5
    scaler = StandardScaler() if scale == "standard" else MinMaxScaler((-1, 1))
    inside = KELMClassifier(kernel=kernel, scale=scale, C=C).fit(X[:300], y[:300])
    outside = make_pipeline(scaler, KELMClassifier(kernel=kernel, C=C)).fit(X[:300], y[:300])
    assert_allclose(scores(inside, X[300:]), scores(outside, X[300:]), rtol=1e-7, atol=1e-8)


def test_automatic_scale_is_standard_for_layers_and_nothing_for_kernels(labelled):
    X, y = labelled
    for kernel, scale in ((None, "standard"), ("rbf", None)):
        automatic = WELMClassifier(kernel=kernel, C=C, random_state=0).fit(X, y)
        stated = WELMClassifier(kernel=kernel, C=C, random_state=0, scale=scale).fit(X, y)
        assert_array_equal(automatic.beta_, stated.beta_)
