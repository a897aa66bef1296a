"""Every kind of input a person may have, and every kind they should not."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.layers import SaturationWarning

FAMILY = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(30, random_state=0),
        KELMClassifier(),
        WELMClassifier(30, random_state=0),
        CSELMClassifier(30, random_state=0),
        CSELMClassifier(30, decision="min_cost", random_state=0),
        ELMRegressor(30, random_state=0),
        KELMRegressor(),
        CSELMRegressor(30, random_state=0),
    ],
    ids=str,
)


@FAMILY
def test_dataframes_keep_their_names(labelled, model):
    X, y = labelled
    names = [f"feature {j}" for j in range(X.shape[1])]
    expected = clone(model).fit(X, y).predict(X)
    for frame, column in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names, orient="row"), pl.Series(y)),
    ):
        fitted = clone(model).fit(frame, column)
        assert fitted.feature_names_in_.tolist() == names
        assert_allclose(fitted.predict(frame), expected)
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(frame[names[::-1]])


@FAMILY
def test_sparse_rows_equal_dense_ones(labelled, model):
    X, y = labelled
    X = X * (np.abs(X) > 1.0)
    dense = clone(model).fit(X, y)
    for matrix in (sparse.csr_array(X), sparse.csc_matrix(X)):
        fitted = clone(model).fit(matrix, y)
        assert_allclose(fitted.beta_, dense.beta_, rtol=1e-5, atol=1e-7)
        assert_allclose(fitted.predict(matrix), dense.predict(X), rtol=1e-6)


@FAMILY
def test_float32_in_gives_float32_out(labelled, model):
    X, y = labelled
    single = clone(model).fit(X.astype(np.float32), y)
    assert single.beta_.dtype == np.float32
    double = clone(model).fit(X, y)
    if hasattr(model, "decision_function"):
        assert (single.predict(X) == double.predict(X)).mean() > 0.99
    else:
        assert_allclose(single.predict(X), double.predict(X), atol=2e-2)


@FAMILY
def test_arguments_are_never_modified(labelled, model):
    X, y = labelled
    w = np.linspace(0.5, 2, len(y))
    copies = X.copy(), y.copy(), w.copy()
    clone(model).fit(X, y, sample_weight=w).predict(X)
    for array, copy in zip((X, y, w), copies, strict=True):
        assert_array_equal(array, copy)


@FAMILY
def test_result_does_not_depend_on_the_number_of_threads(rng, model):
    X = rng.standard_normal((1500, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    if hasattr(model, "n_hidden"):
        model = clone(model).set_params(n_hidden=300)
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            results.append(clone(model).fit(X, y).beta_)
    assert_array_equal(*results)


@FAMILY
def test_pickles_predict_the_same(labelled, model):
    X, y = labelled
    model = clone(model).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_labels_may_be_words(labelled):
    X, y = labelled
    words = np.array(["benign", "malignant", "odd", "rare"])[y]
    model = CSELMClassifier(cost={("malignant", "benign"): 5}, random_state=0).fit(X, words)
    assert set(model.predict(X)) <= set(words)
    assert model.cost_matrix_[1, 0] == 5


def test_generators_and_random_states_are_accepted(labelled):
    X, y = labelled
    for make in (np.random.default_rng, np.random.RandomState):
        first, second = (ELMClassifier(20, random_state=make(3)).fit(X, y) for _ in range(2))
        assert_array_equal(first.beta_, second.beta_)
    shared = np.random.RandomState(3)
    first, second = (ELMClassifier(20, random_state=shared).fit(X, y) for _ in range(2))
    assert not np.array_equal(first.beta_, second.beta_)


def test_saturated_layer_is_reported(labelled):
    X, y = labelled
    with pytest.warns(SaturationWarning, match="Scale the inputs"):
        ELMClassifier(scale=None, draw="uniform", random_state=0).fit(50 * X, y)


ONES = np.ones((6, 2))
LABELS = np.array([0, 1, 0, 1, 0, 1])


def test_bad_parameters_are_named_with_rule_and_value():
    for model, message in (
        (ELMClassifier(C=0), "'C' parameter of ELMClassifier must be a float in .* Got 0"),
        (ELMClassifier(C=-1.0), "'C' parameter .* Got -1.0"),
        (KELMRegressor(C=np.nan), "'C' parameter"),
        (ELMClassifier(n_hidden=0), "'n_hidden' parameter"),
        (ELMClassifier(activation="radbass"), "'activation' parameter .* Got 'radbass'"),
        (ELMClassifier(draw="gauss"), "'draw' parameter"),
        (ELMClassifier(scale="robust"), "'scale' parameter"),
        (KELMClassifier(kernel="gauss"), "'kernel' parameter"),
        (KELMClassifier(gamma=-1.0), "'gamma' parameter"),
        (WELMClassifier(weighting="w3"), "'weighting' parameter"),
        (CSELMClassifier(decision="argmin"), "'decision' parameter"),
        (ELMClassifier(hidden_layer="Nystroem"), "'hidden_layer' parameter"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(np.random.default_rng(0).standard_normal((6, 2)), LABELS)
        assert not hasattr(model, "beta_")


@FAMILY
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(labelled, model, bad):
    X, y = labelled
    X = X.copy()
    X[3, 2] = bad
    with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
        clone(model).fit(X, y)
    fitted = clone(model).fit(X[4:], y[4:])
    with pytest.raises(ValueError, match="X contains"):
        fitted.predict(X)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones((3, 3)), r"cost must have the shape \(2, 2\) .* got \(3, 3\)"),
        ([[0, 1], [2, 3]], "cheaper than the right answer: where 1 is true, predicting 0 costs 2"),
        ({(0, 2): 1}, r"cost must name classes of y, \[0, 1\], got 2"),
        ([[0, np.nan], [1, 0]], "cost must be finite"),
        ([[0, "five"], [1, 0]], "cost must hold numbers only"),
        (np.zeros((2, 2)), "at least one mistake cost something"),
        (pd.DataFrame([[0, 1], [5, 0]], index=["a", "b"], columns=["a", "b"]), "cost's index"),
    ],
    ids=["shape", "cheap mistake", "unknown class", "nan", "text", "zero", "labels"],
)
@pytest.mark.parametrize("decision", ["argmax", "min_cost"])
def test_bad_costs_say_what_must_hold_and_what_came(rng, cost, message, decision):
    model = CSELMClassifier(cost=cost, decision=decision)
    with pytest.raises(ValueError, match=message):
        model.fit(rng.standard_normal((6, 2)), LABELS)
    assert not hasattr(model, "beta_")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_cost": np.ones(5)}, r"sample_cost must have the shape \(6,\)"),
        ({"sample_cost": -np.ones(6)}, "sample_cost must be >= 0, got -1"),
        ({"sample_cost": np.zeros(6)}, "costs must not be 0 for every row"),
        ({"fn_cost": np.ones(4)}, r"fn_cost must be one number or one per row, shape \(6,\)"),
        ({"fn_cost": 1, "sample_cost": np.ones(6)}, "costs must be stated once"),
        ({"sample_weight": -np.ones(6)}, "sample_weight must be >= 0"),
        ({"sample_weight": np.zeros(6)}, "at least one non-zero number"),
    ],
    ids=str,
)
def test_bad_costs_by_row_are_refused(rng, given, message):
    with pytest.raises(ValueError, match=message):
        CSELMClassifier().fit(rng.standard_normal((6, 2)), LABELS, **given)


def test_costs_by_row_are_weights_of_rows_and_decide_about_new_ones(rng):
    """Dear rows of the rare class lie on one side, where it is predicted more often."""
    X = rng.standard_normal((600, 2))
    y = (rng.random(600) < 0.2).astype(int)  # nothing tells the classes apart
    cost = np.where((y == 1) & (X[:, 0] > 0), 20.0, 1.0)
    model = CSELMClassifier(30, random_state=0).fit(X, y, sample_cost=cost)
    assert_array_equal(model.cost_vector_, cost)
    assert model.cost_matrix_ is None
    found = model.predict(X)
    assert found[X[:, 0] > 0.5].mean() > 0.9
    assert found[X[:, 0] < -0.5].mean() < 0.1
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


def test_outcome_costs_need_two_classes(rng):
    with pytest.raises(ValueError, match="fn_cost can be given for two classes only, y has 3"):
        CSELMClassifier().fit(rng.standard_normal((6, 2)), [0, 1, 2] * 2, fn_cost=1.0)


def test_regressor_costs_are_checked(rng):
    X, y = rng.standard_normal((6, 2)), rng.standard_normal(6)
    with pytest.raises(ValueError, match=r"cost must have the shape \(6,\)"):
        CSELMRegressor(cost=lambda y: y[:2]).fit(X, y)
    with pytest.raises(ValueError, match="stated once"):
        CSELMRegressor(cost=np.abs).fit(X, y, sample_cost=np.ones(6))


@pytest.mark.parametrize("model", [ELMClassifier(), KELMClassifier(), CSELMClassifier()], ids=str)
def test_too_few_classes_or_samples_are_refused(model, rng):
    X = rng.standard_normal((6, 2))
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X, np.zeros(6))
    with pytest.raises(ValueError, match="at least as many samples of positive weight"):
        model.fit(X, [0, 1, 2, 3, 4, 5], sample_weight=[1, 1, 1, 0, 0, 0])


def test_activation_that_overflows_is_named(rng):
    X = rng.standard_normal((6, 2))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="activation must give finite"):
        ELMClassifier(activation=lambda a: np.exp(1e4 * a), random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match="activation must return an array of the shape"):
        ELMClassifier(activation=lambda a: a[:, :1]).fit(X, LABELS)


def test_precomputed_kernels_equal_computed_ones(labelled):
    X, y = labelled
    computed = KELMClassifier(gamma=0.1).fit(X[:300], y[:300])
    K = computed.layer_(X)
    given = KELMClassifier(kernel="precomputed").fit(K[:300], y[:300])
    assert_allclose(given.decision_function(K[300:]), computed.decision_function(X[300:]))
    with pytest.raises(ValueError, match="kernel must give a matrix of shape"):
        KELMClassifier(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="scale must be None with kernel='precomputed'"):
        KELMClassifier(kernel="precomputed", scale="standard").fit(K, y)


@FAMILY
def test_a_refused_fit_changes_nothing(labelled, model):
    X, y = labelled
    fresh = clone(model)
    with pytest.raises(ValueError, match="NaN"):
        fresh.fit(np.full((5, 2), np.nan), [0, 1, 0, 1, 0])
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    fitted = clone(model).fit(X, y)
    expected = fitted.predict(X)
    with pytest.raises(ValueError, match=r"inconsistent|sample_weight"):
        fitted.fit(X[:, :3], y, sample_weight=np.ones(7))
    assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("model", [KELMRegressor(), ELMRegressor(2000, random_state=0)], ids=str)
def test_float32_in_the_samples_is_as_good_as_float64(rng, model):
    X = rng.uniform(-1, 1, (1500, 2))
    y = np.sin(5 * X[:, 0]) * np.cos(5 * X[:, 1])
    double = clone(model).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    single = clone(model).fit(X[:1000].astype(np.float32), y[:1000])
    assert single.score(X[1000:].astype(np.float32), y[1000:]) > double - 0.005


def test_float32_far_from_zero_keeps_its_digits(rng):
    X = rng.standard_normal((600, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    near = ELMRegressor(60, random_state=0).fit(X, y).score(X, y)
    far = (X + 1e5).astype(np.float32)
    assert ELMRegressor(60, random_state=0).fit(far, y).score(far, y) > near - 0.02


def test_wide_rows_need_no_square_matrix(rng):
    X = sparse.random_array((60, 20_000), density=0.001, rng=rng, format="csr")
    tracemalloc.start()
    ELMClassifier(20, random_state=0).fit(X, np.arange(60) % 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 20_000 * 20 * 8


def test_random_state_reaches_a_layer_from_outside(labelled):
    X, y = labelled
    layer = make_pipeline(StandardScaler(), Nystroem(n_components=20))
    first, second = (
        ELMClassifier(hidden_layer=layer, random_state=3).fit(X, y).beta_ for _ in range(2)
    )
    assert_array_equal(first, second)


def test_training_rows_are_the_models_own(labelled):
    X, y = labelled
    for model in (KELMClassifier(), ELMClassifier(500, random_state=0)):
        rows = X.copy()
        fitted = clone(model).fit(rows, y)
        expected = fitted.decision_function(X)
        rows[:] = 0.0
        assert_array_equal(fitted.decision_function(X), expected)


def test_scores_that_overflow_are_refused():
    X = np.linspace(-1, 1, 40)[:, np.newaxis]
    model = ELMRegressor(activation="polynomial", scale=None, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="X must give finite scores"):
        model.predict([[1e200]])
