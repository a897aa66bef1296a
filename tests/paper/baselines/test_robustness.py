"""Data as people have them: far from the origin, with columns that say nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from ecselm.paper import baselines
from ecselm.paper.baselines import (
    PLSDA,
    CISVMClassifier,
    CSORClassifier,
    DFATRegressor,
    KernelPLSDA,
    LSSVMClassifier,
    MCKLRClassifier,
    MCSVMClassifier,
    NearestSubspaceClassifier,
)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("model", [MCSVMClassifier, LSSVMClassifier, KernelPLSDA])
def test_linear_machines_with_a_bias_do_not_mind_where_the_origin_is(model, iris):
    X, y = iris
    near, far = (model(kernel="linear").fit(X + at, y).predict(X + at) for at in (0.0, 100.0))
    assert np.mean(near == far) > 0.99


@pytest.mark.parametrize("model", [LSSVMClassifier, KernelPLSDA])
def test_single_precision_is_enough_far_from_the_origin(model, iris):
    X, y = iris
    X = (X + 100).astype(np.float32)
    single, double = (
        model(kernel="linear").fit(rows, y).predict(rows) for rows in (X, X.astype(float))
    )
    assert np.mean(single == double) > 0.99


def test_columns_that_say_nothing_do_not_harm_pls(iris):
    X, y = iris
    padded = np.column_stack([X, np.ones(150), X[:, 0]])
    assert PLSDA(6).fit(padded, y).transform(padded).shape == (150, 4)
    assert PLSDA(6).fit(padded, y).score(padded, y) == pytest.approx(
        PLSDA(4).fit(X, y).score(X, y), abs=0.05
    )
    X, y = load_digits(return_X_y=True)
    assert PLSDA(64).fit(X, y).score(X, y) > 0.8


def test_rows_that_are_all_alike_are_refused_by_pls():
    with pytest.raises(ValueError, match="X must have rows that differ"):
        PLSDA().fit(np.ones((6, 2)), [0, 1] * 3)


def test_intervals_of_costs_do_not_mind_the_names_of_the_classes(iris):
    X, y = iris[0][:100], iris[1][:100]
    first = CISVMClassifier(cost_high={0: 10}).fit(X, y)
    other = CISVMClassifier(cost_high={1: 10}).fit(X, 1 - y)
    np.testing.assert_allclose(first.ratios_, 1 / other.ratios_)


def test_slopes_that_stay_are_warned_of(iris):
    X, y = iris
    with pytest.warns(ConvergenceWarning, match="largest slope"):
        MCKLRClassifier(kernel="linear", max_iter=3).fit(X, y)


@pytest.mark.parametrize("name", ["LSSVMClassifier", "KernelLDA", "KernelPLSDA", "MCSVMClassifier"])
def test_rows_are_answered_some_at_a_time_with_the_same_result(name, iris, monkeypatch):
    X, y = iris
    model = getattr(baselines, name)().fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr("ecselm._threads.BLOCK_ENTRIES", 1)
    many = np.tile(X, (3, 1))
    np.testing.assert_allclose(model.decision_function(many), np.tile(whole, (3, 1)), rtol=1e-10)


def test_support_vector_machines_for_thresholds_have_a_limit_too(iris):
    model = CSORClassifier(estimator=SVC(C=3), max_samples=10)
    with pytest.raises(ValueError, match="at most max_samples=10 rows"):
        model.fit(*iris)


def test_machines_for_thresholds_must_take_weights(iris):
    with pytest.raises(ValueError, match="estimator must take sample_weight"):
        CSORClassifier(estimator=KNeighborsClassifier()).fit(*iris)


def test_one_feature_spans_everything(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"at least 2 features with center=False, got n_fe.*=1"):
        NearestSubspaceClassifier(center=False).fit(X[:, :1], y)
    model = NearestSubspaceClassifier(normalize=False).fit(X[:, 2:3], y)
    assert model.score(X[:, 2:3], y) > 0.9


def test_a_fitted_machine_does_not_change_with_its_parameters(iris):
    X, y = iris
    model = DFATRegressor(random_state=0).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(link="tanh").predict(X), before)
