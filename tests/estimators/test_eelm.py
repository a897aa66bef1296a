"""E-ELM against a slow loop over its definition, and in the cases it must bear."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.costs.weights import SampleCosts
from ecselm.estimators import EELMClassifier, EELMRegressor
from ecselm.estimators._base import class_targets
from ecselm.estimators._training import Rows
from ecselm.estimators.eelm import validation_split
from ecselm.layers import RandomLayer
from tests.search.test_norm_selection import literal_evolution

SMALL = {"n_hidden": 5, "population_size": 6, "max_epochs": 3, "random_state": 0}
MODELS = pytest.mark.parametrize(
    "model",
    [
        EELMClassifier(**SMALL),
        EELMClassifier(**SMALL, C=10.0),
        EELMClassifier(**SMALL, strategy="randtobest1exp", tie_break="best_only", clip=False),
        EELMRegressor(**SMALL),
        EELMRegressor(**SMALL, C=10.0, scale="standard"),
    ],
    ids=str,
)


def literal_model(model, X, y, T, error):
    """Return winning weights in the units of the scaled inputs, beta and error."""
    rows = Rows(X, T, y, SampleCosts(np.ones(len(y))).terms(y), None)
    split_rng, search_rng = np.random.default_rng(model.random_state).spawn(2)
    parts = validation_split(rows, model.validation_fraction, split_rng)
    low, high = X.min(axis=0), X.max(axis=0)
    n, L, n_val = X.shape[1], model.n_hidden, len(parts.test)

    def hidden(theta, X):
        scaled = 2 * (X - low) / (high - low) - 1
        return 1 / (1 + np.exp(-(scaled @ theta[: n * L].reshape(n, L) + theta[n * L :])))

    def evaluate_one(theta):
        beta = np.linalg.pinv(hidden(theta, parts.train.X)) @ parts.train.T
        return error(parts.test, hidden(theta, parts.test.X) @ beta), np.linalg.norm(beta)

    best, (least, _) = literal_evolution(
        evaluate_one,
        model.population_size,
        L * (n + 1),
        model.strategy,
        model.tie_break,
        model.tolerance,
        (1.0 if error is rate else parts.test.T.std()) / n_val,
        model.max_epochs,
        search_rng,
    )
    return best, np.linalg.pinv(hidden(best, X)) @ T, least


def rate(rows, Z):
    decided = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    return np.mean(decided != rows.y)


def rmse(rows, Z):
    return np.sqrt(np.mean((Z - rows.T) ** 2))


def scaled_weights(layer, X):
    """Return [W, b] as the search saw them, before the scale was folded in."""
    low, high = X.min(axis=0), X.max(axis=0)
    W = layer.weights * ((high - low) / 2)[:, np.newaxis]
    return np.append(W.ravel(), layer.biases + (low + high) / 2 @ layer.weights)


@pytest.mark.parametrize("strategy", ["rand1bin", "randtobest1exp"])
@pytest.mark.parametrize("tie_break", ["selection", "best_only"])
@pytest.mark.parametrize("k", [2, 5])
def test_classifier_equals_the_published_loop(strategy, tie_break, k):
    X, y = make_classification(
        200,
        3,
        n_informative=3,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        flip_y=0.2,
        random_state=k,
    )
    model = EELMClassifier(
        4, population_size=8, max_epochs=8, strategy=strategy, tie_break=tie_break, random_state=1
    ).fit(X, y)
    theta, beta, least = literal_model(model, X, y, class_targets(k)[y], rate)
    assert_allclose(scaled_weights(model.layer_, X), theta, rtol=1e-9, atol=1e-11)
    assert_allclose(model.beta_[:, -beta.shape[1] :], beta, rtol=1e-6, atol=1e-7)
    assert_allclose(model.best_score_, 1 - least)


@pytest.mark.parametrize("strategy", ["rand1bin", "randtobest1exp"])
@pytest.mark.parametrize("tie_break", ["selection", "best_only"])
@pytest.mark.parametrize("m", [None, 2], ids=["one output", "two outputs"])
def test_regressor_equals_the_published_loop(rng, strategy, tie_break, m):
    X, y = make_friedman1(90, random_state=0)
    X = X[:, :3]
    y = y if m is None else np.column_stack([y, X @ rng.standard_normal(3)])
    model = EELMRegressor(
        4, population_size=8, max_epochs=8, strategy=strategy, tie_break=tie_break, random_state=1
    ).fit(X, y)
    T = y.reshape(90, -1)
    theta, beta, least = literal_model(model, X, np.zeros(90, dtype=int), T, rmse)
    assert_allclose(scaled_weights(model.layer_, X), theta, rtol=1e-9, atol=1e-11)
    assert_allclose(model.beta_, beta, rtol=1e-6, atol=1e-7)
    assert_allclose(model.best_score_, -least, rtol=1e-8)
    assert model.predict(X).shape == y.shape


def test_one_candidate_and_no_epochs_are_a_plain_machine(labelled):
    X, y = labelled
    model = EELMClassifier(10, C=4.0, population_size=1, max_epochs=0, random_state=0).fit(X, y)
    assert model.n_evaluations_ == len(model.history_) == 1
    H, T = model.layer_(X), np.where(y[:, np.newaxis] == np.unique(y), 1.0, -1.0)
    beta = np.linalg.solve(np.eye(10) / 4 + H.T @ H, H.T @ T)
    assert_allclose(model.beta_, beta, rtol=1e-8, atol=1e-9)


@MODELS
def test_same_seed_gives_the_same_model(labelled, model):
    X, y = labelled
    first, second = (clone(model).fit(X, y) for _ in range(2))
    assert_array_equal(first.beta_, second.beta_)
    assert_array_equal(first.layer_.weights, second.layer_.weights)
    pd.testing.assert_frame_equal(first.history_, second.history_)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(first.layer_.weights, other.layer_.weights)


@MODELS
def test_weight_two_equals_a_row_repeated_and_weight_zero_a_row_left_out(labelled, rng, model):
    X, y = labelled
    w = rng.integers(0, 4, len(y))
    order = rng.permutation(np.repeat(np.arange(len(y)), w))
    weighted = clone(model).fit(X, y, sample_weight=w)
    repeated = clone(model).fit(X[order], y[order])
    assert_allclose(weighted.best_score_, repeated.best_score_, rtol=1e-9)
    score = "decision_function" if hasattr(model, "decision_function") else "predict"
    first, second = (getattr(fitted, score)(X) for fitted in (weighted, repeated))
    assert_allclose(first, second, rtol=1e-6, atol=1e-7)


@MODELS
def test_sparse_rows_and_frames_equal_dense_rows(labelled, model):
    X, y = labelled
    X = X * (np.abs(X) > 1.0)
    dense = clone(model).fit(X, y)
    for same in (sparse.csr_array(X), sparse.csc_matrix(X), pd.DataFrame(X).rename(columns=str)):
        fitted = clone(model).fit(same, y)
        assert_allclose(fitted.beta_, dense.beta_, rtol=1e-5, atol=1e-7)
        assert_allclose(fitted.predict(same), dense.predict(X), rtol=1e-6)


@MODELS
def test_float32_in_gives_float32_out(labelled, model):
    X, y = labelled
    single, double = clone(model).fit(X.astype(np.float32), y), clone(model).fit(X, y)
    assert single.beta_.dtype == single.layer_.weights.dtype == np.float32
    if hasattr(model, "decision_function"):
        assert (single.predict(X) == double.predict(X)).mean() > 0.95
    else:
        assert_allclose(single.predict(X), double.predict(X), atol=0.1)


@MODELS
def test_arguments_are_never_modified_and_pickles_predict_the_same(labelled, model):
    X, y = labelled
    w = np.linspace(0.5, 2, len(y))
    copies = X.copy(), y.copy(), w.copy()
    fitted = clone(model).fit(X, y, sample_weight=w)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    for array, copy in zip((X, y, w), copies, strict=True):
        assert_array_equal(array, copy)


@MODELS
def test_history_tells_every_generation(labelled, model):
    X, y = labelled
    fitted = clone(model).fit(X, y)
    history = fitted.history_
    assert list(history.columns) == ["generation", "evaluations", "best", "mean", "std"]
    assert history["generation"].tolist() == [0, 1, 2, 3]
    assert history["evaluations"].tolist() == [6, 12, 18, 24]
    assert fitted.n_evaluations_ == 24
    assert history["best"].iloc[-1] == fitted.best_score_
    assert (history["mean"] <= history["best"] + 1e-12).all()


def test_no_training_row_is_lost_to_the_validation_part(labelled):
    X, y = labelled
    model = EELMClassifier(**SMALL, C=4.0).fit(X, y)
    H, T = model.layer_(X), np.where(y[:, np.newaxis] == np.unique(y), 1.0, -1.0)
    assert_allclose(
        model.beta_, np.linalg.solve(np.eye(5) / 4 + H.T @ H, H.T @ T), rtol=1e-8, atol=1e-9
    )
    assert isinstance(model.layer_, RandomLayer)
    assert_array_equal(model.cost_vector_, np.ones(len(y)))
    assert model.solver_ == "primal-cholesky"


def test_unit_of_the_targets_does_not_matter():
    X, y = make_friedman1(80, random_state=0)
    model = EELMRegressor(**SMALL)
    plain, tiny = clone(model).fit(X, y), clone(model).fit(X, y / 2**20)
    assert_array_equal(plain.layer_.weights, tiny.layer_.weights)
    assert_allclose(tiny.predict(X) * 2**20, plain.predict(X), rtol=1e-9)


def test_evolution_finds_better_layers_than_the_first_draw():
    X, y = load_iris(return_X_y=True)
    model = EELMClassifier(4, population_size=20, max_epochs=20, random_state=0).fit(X, y)
    assert model.history_["best"].iloc[-1] > model.history_["mean"].iloc[0] + 0.02
    assert model.score(X, y) > 0.95


def test_random_labels_stay_at_chance_on_rows_never_seen(rng):
    X, y = rng.standard_normal((700, 4)), rng.integers(2, size=700)
    model = EELMClassifier(10, population_size=20, max_epochs=15, random_state=0)
    model.fit(X[:200], y[:200])
    assert abs(model.score(X[200:], y[200:]) - 0.5) < 4 * 0.5 / np.sqrt(500)


@pytest.mark.parametrize("scale", ["minmax", "standard", None])
@pytest.mark.parametrize("n_hidden", [3, 200], ids=["tall", "wide"])
def test_every_scale_and_size_works(labelled, scale, n_hidden):
    X, y = labelled
    model = EELMClassifier(n_hidden, scale=scale, population_size=4, max_epochs=1, random_state=0)
    model.fit(X[:100], y[:100])
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_sequential_learning_is_not_offered(labelled):
    X, y = labelled
    for model in (EELMClassifier(**SMALL), EELMRegressor(**SMALL)):
        assert not hasattr(model, "partial_fit")
        assert not hasattr(model.fit(X, y), "partial_fit")
        with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
            model.partial_fit(X, y)
        assert "the search must see all rows" in str(caught.value.__cause__)


def test_there_is_no_history_before_a_fit():
    assert not hasattr(EELMClassifier(), "history_")
    with pytest.raises(NotFittedError):
        _ = EELMRegressor().history_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "'C' parameter of EELMClassifier must be .* Got 0.0"),
        ({"n_hidden": 0}, "'n_hidden' parameter"),
        ({"population_size": 0}, "'population_size' parameter"),
        (
            {"population_size": 3},
            "population_size must be at least 4 unless max_epochs is 0, got 3",
        ),
        ({"max_epochs": -1}, "'max_epochs' parameter .* Got -1"),
        ({"amplitude": 0.0}, "'amplitude' parameter"),
        ({"crossover": 1.5}, "'crossover' parameter"),
        ({"tolerance": -0.1}, "'tolerance' parameter"),
        ({"strategy": "best1bin"}, "'strategy' parameter .* Got 'best1bin'"),
        ({"tie_break": "never"}, "'tie_break' parameter"),
        ({"clip": "yes"}, "'clip' parameter"),
        ({"validation_fraction": 1.0}, "'validation_fraction' parameter"),
        ({"activation": "radbass"}, "'activation' parameter .* Got 'radbass'"),
        ({"activation": np.log}, "activation must give finite values .* got infinite or NaN ones"),
    ],
    ids=str,
)
def test_bad_parameters_are_named_and_leave_the_model_as_it_was(rng, parameters, message):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    model = EELMClassifier(**SMALL).fit(X, y)
    before = model.beta_, model.best_score_
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(X, y)
    assert (model.beta_, model.best_score_) == before


def test_rows_that_leave_no_validation_rows_are_refused(rng):
    X = np.repeat(rng.standard_normal((2, 2)), 4, axis=0)
    with pytest.raises(ValueError, match="too few distinct rows"):
        EELMClassifier(**SMALL).fit(X, np.repeat([0, 1], 4))
    with pytest.raises(ValueError, match="too few distinct rows"):
        EELMRegressor(**SMALL).fit(X[:4], np.ones(4))


CHECKED = {"population_size": 4, "max_epochs": 2}


@pytest.mark.filterwarnings("ignore::ecselm.layers.SaturationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(
    [
        # With more units than rows the pseudo-inverse magnifies the rounding of the layer.
        EELMClassifier(5, **CHECKED),
        EELMClassifier(
            **CHECKED, C=1e3, strategy="randtobest1exp", tie_break="best_only", clip=False
        ),
        EELMClassifier(**CHECKED, C=1.0, activation="tanh", scale="standard"),
        EELMRegressor(**CHECKED),
        EELMRegressor(**CHECKED, C=1.0, strategy="randtobest1exp"),
    ]
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)
