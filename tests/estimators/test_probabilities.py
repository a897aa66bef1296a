"""Probabilities agree with predictions and are worth their name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from ecselm import (
    CSELMClassifier,
    ECSELMClassifier,
    ELMClassifier,
    KELMClassifier,
    WELMClassifier,
)

ARGMAX = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(50, random_state=0),
        ELMClassifier(900, C=1e6, random_state=0),
        KELMClassifier(),
    ],
    ids=str,
)
WEIGHTED = pytest.mark.parametrize(
    "model",
    [
        WELMClassifier(50, random_state=0),
        WELMClassifier(kernel="rbf", weighting="w2"),
        CSELMClassifier.paper(n_hidden=50, cost={0: 7}, random_state=0),
    ],
    ids=str,
)


def assert_largest(model, rows):
    """Check that the largest probability is always the prediction."""
    P = model.predict_proba(rows)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(rows))


@ARGMAX
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_largest_probability_is_always_the_prediction_where_weights_are_equal(
    labelled, rng, model, dtype
):
    X, y = labelled
    model = clone(model).fit(X.astype(dtype), y)
    rows = rng.standard_normal((20_000, X.shape[1])).astype(dtype)
    assert_largest(model, rows)


@WEIGHTED
def test_weights_times_probabilities_mostly_explain_the_printed_decision(labelled, model):
    """The printed decision (19) knows no probabilities: both agree but near the boundary."""
    X, y = labelled
    model = clone(model).fit(X, y)
    B = np.array([model.cost_vector_[y == c][0] for c in model.classes_], dtype=float)
    explained = model.classes_[(B * model.predict_proba(X)).argmax(axis=1)]
    assert (explained == model.predict(X)).mean() > 0.7


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
@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_far_away_rows_agree_too(model, factor, rng):
    X = rng.standard_normal((300, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert_largest(clone(model).fit(X, y), X * factor)


@pytest.mark.parametrize("factor", [10.0, 300.0])
@pytest.mark.parametrize("model", [ELMClassifier(50, random_state=0), KELMClassifier()], ids=str)
def test_rows_far_from_all_others_agree_too(model, factor, rng):
    """Far from the training rows all scores are nearly equal."""
    X = rng.standard_normal((300, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = clone(model).fit(X, y)
    winners = model.predict_proba(X * factor).argmax(axis=1)
    assert_array_equal(model.classes_[winners], model.predict(X * factor))


def test_a_fitted_model_keeps_its_decision(labelled):
    X, y = labelled
    model = CSELMClassifier.paper(n_hidden=30, random_state=0).fit(X, y)
    expected = model.predict(X)
    assert_array_equal(model.set_params(decision="min_cost").predict(X), expected)


def imbalanced(rare=0.05, n=3000):
    """Return rows to train and to test on, of two classes of which one is rare."""
    X, y = make_classification(
        n,
        6,
        n_informative=4,
        n_redundant=0,
        weights=[1 - rare],
        flip_y=0.02,
        class_sep=0.8,
        random_state=1,
    )
    return train_test_split(X, y, random_state=0, stratify=y)


# The printed forms keep "the largest score decides", for which the slope alone is fitted.
ALLOWED = {"printed CSELM": 1.4, "kernel WELM": 1.4, "ECSELM layer": 1.2}
WEIGHTED = {
    "WELM": WELMClassifier(normalize=True, random_state=0),
    "kernel WELM": WELMClassifier(kernel="rbf", normalize=True),
    "printed CSELM": CSELMClassifier.paper(cost={1: 10.0}, normalize=True, random_state=0),
    "CSELM": CSELMClassifier(cost={1: 10.0}, random_state=0),
    "WELM ensemble": WELMClassifier(ensemble=5, random_state=0),
    "ECSELM": ECSELMClassifier(population_size=5, max_epochs=1, random_state=0),
    "ECSELM of costs": ECSELMClassifier(
        cost={1: 10.0}, population_size=5, max_epochs=1, random_state=0
    ),
    "ECSELM layer": ECSELMClassifier(
        ensemble=None, population_size=5, max_epochs=1, random_state=0
    ),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_probabilities_do_not_depend_on_costs(name):
    """Their log loss is that of the unweighted machine, up to a tenth for free calibrations."""
    X, X_test, y, y_test = imbalanced()
    unweighted = KELMClassifier() if "kernel" in name else ELMClassifier(random_state=0)
    plain = log_loss(y_test, unweighted.fit(X, y).predict_proba(X_test))
    P = clone(WEIGHTED[name]).fit(X, y).predict_proba(X_test)
    assert log_loss(y_test, P) < ALLOWED.get(name, 1.1) * plain
    assert P[:, 1].mean() == pytest.approx(y.mean(), abs=0.03 if name in ALLOWED else 0.02)


def test_least_expected_cost_flags_far_fewer_rows_than_the_printed_weights():
    """(12) with W1 multiplies the cost of 10 by how rare the class is, 19."""
    X, X_test, y, y_test = imbalanced()
    cost = np.array([[0.0, 1.0], [10.0, 0.0]])
    default = CSELMClassifier(cost=cost, random_state=0).fit(X, y).predict(X_test)
    printed = CSELMClassifier.paper(cost=cost, random_state=0).fit(X, y).predict(X_test)
    assert default.mean() < 0.6 * printed.mean()
    assert cost[y_test, default].mean() < cost[y_test, printed].mean()
