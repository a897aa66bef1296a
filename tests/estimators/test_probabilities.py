"""Probabilities agree with predictions and are worth their name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from ecselm import CSELMClassifier, ELMClassifier, KELMClassifier, WELMClassifier

ARGMAX = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(50, random_state=0),
        ELMClassifier(900, C=1e6, random_state=0),
        KELMClassifier(),
        WELMClassifier(50, random_state=0),
        CSELMClassifier(50, cost={0: 7}, random_state=0),
    ],
    ids=str,
)


@ARGMAX
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_largest_probability_is_always_the_prediction(labelled, rng, model, dtype):
    X, y = labelled
    model = clone(model).fit(X.astype(dtype), y)
    rows = rng.standard_normal((20_000, X.shape[1])).astype(dtype)
    probabilities = model.predict_proba(rows)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(rows))
    assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("model", [ELMClassifier(200, random_state=0), KELMClassifier(gamma=1e-3)])
def test_probabilities_are_better_than_a_plain_softmax_of_the_scores(load, model):
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    X, X_test = (rows / X.std(axis=0).clip(1e-9) for rows in (X, X_test))
    model = clone(model).fit(X, y)
    z = model.decision_function(X_test)
    z = np.column_stack([-z, z]) if z.ndim == 1 else z
    plain = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.9 * log_loss(y_test, plain)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_least_cost_probabilities_know_how_rare_a_class_is(kernel):
    X, y = make_classification(4000, 10, n_informative=5, weights=[0.9], random_state=3)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = CSELMClassifier(decision="min_cost", kernel=kernel, random_state=0).fit(X, y)
    mean = model.predict_proba(X_test)[:, 1].mean()
    assert mean == pytest.approx(y_test.mean(), abs=0.02)


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("ratio", [5.0, 20.0])
def test_least_cost_decisions_cost_less_than_the_largest_score(kernel, ratio):
    X, y = make_classification(
        4000, 10, n_informative=5, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=3
    )
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    cost = np.array([[0.0, 1.0], [ratio, 0.0]])
    model = CSELMClassifier(cost=cost, decision="min_cost", kernel=kernel, random_state=0)
    plain = KELMClassifier() if kernel else ELMClassifier(random_state=0)
    paid, plain_paid = (
        cost[y_test, estimator.fit(X, y).predict(X_test)].mean() for estimator in (model, plain)
    )
    assert paid < 0.95 * plain_paid


def test_least_cost_prediction_is_the_least_of_the_expected_costs(labelled, rng):
    X, y = labelled
    k = len(np.unique(y))
    cost = rng.uniform(0.5, 9, (k, k)) * (1 - np.eye(k))
    model = CSELMClassifier(50, cost=cost, decision="min_cost", random_state=0).fit(X, y)
    expected = model.predict_proba(X) @ cost
    assert_array_equal(model.predict(X), model.classes_[expected.argmin(axis=1)])
    assert_allclose(model.cost_matrix_, cost)


def test_a_price_on_right_answers_changes_no_decision(labelled, rng):
    X, y = labelled
    k = len(np.unique(y))
    cost = rng.uniform(0.5, 9, (k, k)) * (1 - np.eye(k))
    priced = cost + rng.uniform(0, 3, (k, 1))
    for decision in ("argmax", "min_cost"):
        model = CSELMClassifier(50, cost=cost, decision=decision, random_state=0)
        expected = model.fit(X, y).predict(X)
        assert_array_equal(model.set_params(cost=priced).fit(X, y).predict(X), expected)


@ARGMAX
@pytest.mark.parametrize("factor", [1.0, 10.0, 300.0])
def test_far_away_rows_agree_too(model, factor, rng):
    """Far from the training rows all scores are nearly equal."""
    X = rng.standard_normal((300, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = clone(model).fit(X, y)
    rows = X * factor
    winners = model.predict_proba(rows).argmax(axis=1)
    assert_array_equal(model.classes_[winners], model.predict(rows))


def test_a_fitted_model_keeps_its_decision(labelled):
    X, y = labelled
    model = CSELMClassifier(30, random_state=0).fit(X, y)
    expected = model.predict(X)
    assert_array_equal(model.set_params(decision="min_cost").predict(X), expected)
