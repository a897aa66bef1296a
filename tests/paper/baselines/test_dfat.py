"""Two layers against their limits and a general minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper.baselines import DFATRegressor
from ecselm.paper.baselines.dfat import RowLayers, TwoLayers, descend
from ecselm.paper.datasets import load_scut


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


def test_no_latent_attributes_are_the_two_steps_as_printed(rows):
    """DFAT by its own formulas, the step for W as one system in all its entries."""
    X, Y, A = rows
    Z, R, D = centred(X, Y, A)
    W = np.linalg.solve(Z.T @ Z + np.eye(6), Z.T @ D)
    for _ in range(500):
        P = Z @ W
        V = np.linalg.solve(P.T @ P + 0.1 * np.eye(3), P.T @ R)
        M = V @ V.T + 2.0 * np.eye(3)
        system = np.kron(M, Z.T @ Z) + np.eye(18)
        right = Z.T @ (R @ V.T + 2.0 * D)
        W = np.linalg.solve(system, right.ravel(order="F")).reshape(6, 3, order="F")
    model = DFATRegressor(0, alpha=2.0, tol=1e-13, max_iter=5000).fit(X, Y, A)
    assert model.feature_weights_.shape == (6, 3)
    assert_allclose(model.predict(X), Z @ W @ V + Y.mean(axis=0), atol=1e-4)
    assert_allclose(model.predict_attributes(X), Z @ W + A.mean(axis=0), atol=1e-4)


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


def test_alpha_zero_is_a_ridge_that_lowers_the_rank(rows):
    """The two ridges are 2 sqrt(reg_w reg_v) times the sum of the singular values of WV."""
    X, Y, A = rows
    Z, R = centred(X, Y)
    step = 0.5 / np.linalg.norm(Z.T @ Z, 2)
    B = np.zeros((6, 2))
    for _ in range(3000):  # proximal gradients
        U, s, Vt = np.linalg.svd(B - step * 2 * Z.T @ (Z @ B - R), full_matrices=False)
        B = U * np.maximum(s - step * 2 * np.sqrt(40.0 * 30.0), 0) @ Vt
    model = DFATRegressor(alpha=0.0, reg_w=40.0, reg_v=30.0, max_iter=20000, tol=1e-14)
    model.fit(X, Y, A)
    assert_allclose(model.feature_weights_ @ model.task_weights_, B, atol=1e-4)


@pytest.fixture
def gappy(rows, rng):
    """Return the rows with a third of their labels missing."""
    X, Y, A = rows
    return X, Y, np.where(rng.random(A.shape) < 1 / 3, np.nan, A)


def row_layers(X, Y, A, link, weights=(2.0, 0.7, 0.3)):
    return RowLayers(*centred(X, Y), A, ~np.isnan(A), *weights, link=link)


@pytest.mark.parametrize("link", ["identity", "tanh"])
def test_objective_by_rows_is_as_printed_and_best_in_the_task_layer(gappy, rng, link):
    X, Y, A = gappy
    theta = 0.3 * rng.standard_normal((7, 5))
    layers = row_layers(X, Y, A, link)
    V = layers.task_weights(layers.attributes(theta))
    Z = (X - X.mean(axis=0)) @ theta[:-1] + theta[-1]
    P = np.tanh(Z) if link == "tanh" else Z

    def literal(flat):
        V, b = flat[:10].reshape(5, 2), flat[10:]
        tasks = ((Y - b - P @ V) ** 2).sum()
        penalty = 0.7 * (theta[:-1] ** 2).sum() + 0.3 * (V**2).sum()
        return tasks + 2.0 * np.nansum((A - P[:, :3]) ** 2) + penalty

    best = np.r_[V.ravel(), Y.mean(axis=0) - P.mean(axis=0) @ V]
    value, _ = layers.objective(theta)
    assert_allclose(value, literal(best), rtol=1e-12)
    assert_allclose(approx_fprime(best, literal), 0.0, atol=1e-3)


@pytest.mark.parametrize("link", ["identity", "tanh"])
def test_gradient_by_rows_is_that_of_finite_differences(gappy, rng, link):
    layers = row_layers(*gappy, link)
    theta = 0.3 * rng.standard_normal((7, 5))
    _, gradient = layers.objective(theta)
    numeric = approx_fprime(
        theta.ravel(), lambda flat: layers.objective(flat.reshape(7, 5))[0], 1e-7
    )
    assert_allclose(gradient.ravel(), numeric, atol=1e-3)


@pytest.mark.parametrize("n_latent", [0, 2])
def test_descending_without_gaps_comes_to_the_closed_form(rows, rng, n_latent):
    X, Y, A = rows
    model = DFATRegressor(n_latent, max_iter=20000, tol=1e-13, random_state=0).fit(X, Y, A)
    start = rng.standard_normal((7, 3 + n_latent))
    found = descend(row_layers(X, Y, A, "identity", (1.0, 1.0, 0.1)), start, 20000, 1e-15)
    assert_allclose(found.objective[-1], model.objective_[-1], rtol=1e-6)
    assert_allclose(found.c[:3], A.mean(axis=0), atol=1e-4)


def test_labels_that_are_missing_count_for_nothing(gappy):
    """With a large alpha every attribute is regressed on the rows that have its label."""
    X, Y, A = gappy
    model = DFATRegressor(alpha=1e7, tol=0.0).fit(X, Y, A)
    for j in range(3):
        known = ~np.isnan(A[:, j])
        twin = LinearRegression().fit(X[known], A[known, j])
        assert_allclose(model.predict_attributes(X)[:, j], twin.predict(X), atol=1e-4)
    P = model.predict_attributes(X)
    assert_allclose(model.predict(X), Ridge(0.1).fit(P, Y).predict(P), atol=1e-3)


@pytest.mark.parametrize("link", ["identity", "tanh"])
def test_a_general_minimiser_finds_nothing_lower_with_gaps(gappy, link):
    X, Y, A = gappy
    model = DFATRegressor(1, link=link, tol=0.0, random_state=0).fit(X, Y, A)
    shapes = (6, 4), (1, 4), (4, 2), (1, 2)
    cuts = np.cumsum([a * b for a, b in shapes])[:-1]

    def literal(flat):
        W, c, V, b = (v.reshape(s) for v, s in zip(np.split(flat, cuts), shapes, strict=True))
        P = np.tanh(X @ W + c) if link == "tanh" else X @ W + c
        tasks = ((Y - b - P @ V) ** 2).sum() + np.nansum((A - P[:, :3]) ** 2)
        return tasks + (W**2).sum() + 0.1 * (V**2).sum()

    fitted = [model.feature_weights_, model.attribute_intercept_]
    fitted += [model.task_weights_, model.task_intercept_]
    best = np.concatenate([part.ravel() for part in fitted])
    assert_allclose(literal(best), model.objective_[-1], rtol=1e-9)
    assert_allclose(minimize(literal, best).fun, model.objective_[-1], rtol=1e-6)
    assert (np.diff(model.objective_) <= 0).all()


def test_squashing_next_to_nothing_is_no_squashing(rows):
    X, Y, A = rows
    Y, A = 1e-3 * Y, 1e-3 * A
    plain = DFATRegressor(1, tol=1e-12, max_iter=20000, random_state=0).fit(X, Y, A)
    squashed = DFATRegressor(1, tol=0.0, link="tanh", random_state=0).fit(X, Y, A)
    assert_allclose(squashed.predict(X), plain.predict(X), atol=1e-5)  # scores are about 1e-2
    assert_allclose(squashed.predict_attributes(X), plain.predict_attributes(X), atol=1e-6)


def test_squashed_attributes_explain_scores_that_are_not_linear(rng):
    X = rng.standard_normal((400, 3))
    A = np.sign(X[:, :2])
    y = A[:, 0] - 2.0 * A[:, 1]
    linear = DFATRegressor().fit(X[:200], y[:200], A[:200])
    squashed = DFATRegressor(link="tanh", reg_w=1e-2).fit(X[:200], y[:200], A[:200])
    assert linear.score(X[200:], y[200:]) < 0.75
    assert squashed.score(X[200:], y[200:]) > 0.9
    assert np.abs(squashed.predict_attributes(X)).max() <= 1


@pytest.mark.parametrize("link", ["identity", "tanh"])
def test_too_few_steps_warn(rows, link):
    X, Y, A = rows
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        DFATRegressor(max_iter=1, tol=0.0, link=link).fit(X, Y, A)


def test_attributes_of_other_rows_are_refused(rows):
    X, Y, A = rows
    with pytest.raises(ValueError, match="attributes must have one row per row of X, 60, got 59"):
        DFATRegressor().fit(X, Y, A[1:])


def test_attributes_that_cannot_be_learned_are_refused(rows):
    X, Y, A = rows
    A[:, 1] = np.nan
    with pytest.raises(ValueError, match="a label in every column, got NaN only in column 1"):
        DFATRegressor().fit(X, Y, A)
    with pytest.raises(ValueError, match=r"lie in \[-1, 1\] with link='tanh', got 3"):
        DFATRegressor(link="tanh").fit(X, Y, 3.0 * A[:, :1])


@parametrize_with_checks([DFATRegressor(), DFATRegressor(3), DFATRegressor(2, link="tanh")])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.fixture
def faces(data_folder):
    """Return 310 training faces and as many test faces, of 300 components each.

    Signs of the main components of shape stand in for what people would have said.
    """
    data = load_scut(target="score", folder=data_folder)
    X, y = data.X[:620], data.y[:620]
    geometry = load_scut(features="geometric", folder=data_folder).X[:620]
    shape = geometry - geometry.mean(axis=0)
    A = np.sign(shape @ np.linalg.svd(shape[::2], full_matrices=False)[2][:10].T)
    return X[::2], y[::2], A[::2], X[1::2], y[1::2]


@pytest.mark.parametrize(("n_latent", "link"), [(0, "identity"), (10, "identity"), (0, "tanh")])
def test_scores_of_faces_are_better_than_the_mean(faces, n_latent, link):
    X, y, A, new, truth = faces
    with config_context(enable_metadata_routing=True):
        model = DFATRegressor(n_latent, reg_v=10.0, link=link, random_state=0)
        model.set_fit_request(attributes=True)
        grid, scoring = {"reg_w": [1e2, 1e3, 1e4, 1e5]}, "neg_mean_absolute_error"
        search = GridSearchCV(model, grid, scoring=scoring, cv=3).fit(X, y, attributes=A)
    error = np.abs(search.predict(new) - truth).mean()
    assert error < 0.7 * np.abs(y.mean() - truth).mean()


def test_ridges_of_faces_must_be_chosen(faces):
    X, y, A, new, truth = faces
    error = np.abs(DFATRegressor().fit(X, y, A).predict(new) - truth).mean()
    assert error > 2.0 * np.abs(y.mean() - truth).mean()
