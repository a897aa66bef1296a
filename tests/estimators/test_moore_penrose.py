"""ELM without a ridge (3), and the two forms (20) and (21) of the search for costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from ecselm import CSELMClassifier, ELMClassifier, ELMRegressor
from tests.conftest import targets
from tests.estimators.literal import printed_beta

ORIGINAL = {"C": None, "activation": "sigmoid", "draw": "uniform", "scale": "minmax"}


def sigmoid_layer(model, X):
    """Return H of the fitted layer, literally."""
    return 1.0 / (1.0 + np.exp(-(X @ model.layer_.weights + model.layer_.biases)))


@pytest.mark.parametrize(("n_rows", "n_hidden"), [(300, 12), (40, 200)], ids=["tall", "wide"])
def test_without_c_the_solution_is_the_pseudo_inverse(labelled, n_rows, n_hidden):
    X, y = labelled
    rows = slice(n_rows)
    model = ELMClassifier(n_hidden, **ORIGINAL, random_state=0).fit(X[rows], y[rows])
    H = sigmoid_layer(model, X)
    z = H[300:] @ np.linalg.pinv(H[rows]) @ targets(y[rows])  # (3)
    scores = model.decision_function(X[300:])
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    assert_allclose(scores, z, rtol=1e-10, atol=1e-10)
    assert_array_equal(model.predict(X[300:]), np.unique(y)[z.argmax(axis=1)])


def test_input_weights_are_uniform_in_the_box_of_the_scaled_inputs(labelled):
    X, y = labelled
    model = ELMClassifier(400, **ORIGINAL, random_state=0).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    W = model.layer_.weights * (high - low)[:, np.newaxis] / 2.0
    b = model.layer_.biases + (low + high) / 2.0 @ model.layer_.weights
    assert (W.min(), W.max()) == pytest.approx((-1.0, 1.0), abs=0.02)
    assert (b.min(), b.max()) == pytest.approx((0.0, 1.0), abs=0.02)


@pytest.mark.parametrize("n_hidden", [12, 600], ids=["tall", "wide"])
def test_regression_without_c_is_the_pseudo_inverse_for_every_target(rng, n_hidden):
    X = rng.uniform(-1, 1, (200, 3))
    Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] * X[:, 2]])
    model = ELMRegressor(n_hidden, **ORIGINAL, random_state=0).fit(X, Y)
    H = sigmoid_layer(model, X)
    if n_hidden < 200:
        expected = np.linalg.pinv(H) @ Y
        assert_allclose(model.predict(X), H @ expected, rtol=1e-10, atol=1e-10)
        assert_allclose(model.beta_, expected, rtol=1e-8, atol=1e-8)
    else:  # of three inputs 600 units have fewer directions than digits
        assert np.abs(model.predict(X) - Y).max() < 1e-3


@pytest.mark.parametrize("kind", [ELMClassifier, ELMRegressor])
def test_it_is_the_limit_of_ever_larger_c(labelled, kind):
    X, y = labelled
    none, *ridges = (
        kind(10, **{**ORIGINAL, "C": C}, random_state=0).fit(X, y) for C in (None, 1e4, 1e8, 1e12)
    )
    away = [np.abs(one.beta_ - none.beta_).max() for one in ridges]
    assert away[0] > away[1] > away[2]
    assert away[2] < 1e-6


def test_weights_of_rows_are_repeated_rows(labelled):
    X, y = labelled
    once = np.arange(len(X))
    twice = np.concatenate([once, once[::3]])
    weight = np.where(once % 3 == 0, 2.0, 1.0)
    model = ELMClassifier(12, **ORIGINAL, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).decision_function(X)
    assert_allclose(weighted, model.fit(X[twice], y[twice]).decision_function(X), rtol=1e-9)


def test_a_pseudo_inverse_has_probabilities_but_no_stream_and_no_ensemble(labelled):
    X, y = labelled
    model = ELMClassifier(12, **ORIGINAL, random_state=0).fit(X, y)
    assert model.solver_ == "primal-cholesky"
    assert_array_equal(
        model.predict_proba(X).argmax(axis=1), np.searchsorted(model.classes_, model.predict(X))
    )
    with pytest.raises(ValueError, match="C must be a number or 'auto' in partial_fit, got None"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="C must be a number or 'auto' with an ensemble, got None"):
        ELMClassifier(C=None, ensemble="auto").fit(X, y)


@pytest.mark.parametrize("draw", ["sobol_box", "halton_box"])
def test_low_discrepancy_weights_leave_nothing_to_the_seed(labelled, draw):
    X, y = labelled
    drawn = {**ORIGINAL, "draw": draw}
    fitted = [ELMClassifier(40, **drawn, random_state=seed).fit(X, y) for seed in (0, 1)]
    assert_array_equal(*(model.beta_ for model in fitted))
    random = [ELMClassifier(40, **ORIGINAL, random_state=seed).fit(X, y) for seed in range(5)]
    assert fitted[0].score(X, y) > np.mean([model.score(X, y) for model in random]) - 0.03


# (20) searches all N x N costs of taking one sample for another, (21) only what they come to.
N, L, C = 7, 4, 8.0


@pytest.fixture
def small(rng):
    """Return H, T and the weights W1 of few rows of two classes of unequal size."""
    y = np.array([0, 0, 0, 0, 0, 1, 1])
    X = rng.standard_normal((N, 2)) + y[:, np.newaxis]
    H = np.exp(-((X @ rng.uniform(-1, 1, (2, L)) + rng.uniform(0, 1, L)) ** 2))
    return X, y, H, 2.0 * np.eye(2)[y] - 1.0, 1.0 / np.bincount(y)[y]


def loss(H, T, B):
    """Return the squared loss over the training rows of beta (15) with the costs B."""
    return float(((T - H @ printed_beta(H, T, B, C)) ** 2).sum())


def row_sums(W, M):
    """Return B of a cost matrix M (11): the sums of the rows of W M, its diagonal left out."""
    return (np.diag(W) @ M * (1.0 - np.eye(N))).sum(axis=1)


def test_every_cost_matrix_has_the_loss_of_its_row_sums(rng, small):
    X, y, H, T, W = small
    for _ in range(20):
        M = rng.random((N, N)) * (1.0 - np.eye(N))
        full = np.linalg.solve(
            np.eye(L) / C + H.T @ np.diag((np.diag(W) @ M).sum(axis=1)) @ H,
            H.T @ np.diag((np.diag(W) @ M).sum(axis=1)) @ T,
        )
        assert_allclose(((T - H @ full) ** 2).sum(), loss(H, T, row_sums(W, M)), rtol=1e-10)
        model = CSELMClassifier.paper(n_hidden=L, C=C, random_state=0)
        by_pair = model.fit(X, y, sample_cost=M).cost_vector_
        assert_allclose(by_pair / by_pair.sum(), (B := row_sums(W, M)) / B.sum(), rtol=1e-10)


def test_least_loss_over_matrices_is_that_over_vectors(rng, small):
    *_, H, T, W = small
    highest = row_sums(W, np.ones((N, N)))  # of B, if no entry of M is above 1
    by_matrix, by_vector = [], []
    for _ in range(3):
        M = rng.random((N, N))
        found = minimize(
            lambda flat: loss(H, T, row_sums(W, flat.reshape(N, N))),
            M.ravel(),
            bounds=[(0, 1)] * N**2,
            options={"ftol": 1e-15, "gtol": 1e-10, "maxfun": 10**6},
        )
        by_matrix.append(found.fun)
        found = minimize(
            lambda B: loss(H, T, B),
            row_sums(W, M),
            bounds=[(0, most) for most in highest],
            options={"ftol": 1e-15, "gtol": 1e-10, "maxfun": 10**6},
        )
        by_vector.append(found.fun)
        spread = np.tile((found.x / W / (N - 1))[:, np.newaxis], N)  # a matrix of these B
        assert spread.max() <= 1.0 + 1e-12
        assert_allclose(loss(H, T, row_sums(W, spread)), found.fun, rtol=1e-10)
    assert min(by_matrix) == pytest.approx(min(by_vector), rel=1e-6)
