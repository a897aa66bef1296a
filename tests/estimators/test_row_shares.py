"""Rows of a class that are not equally dear."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from ecselm import ECSELMClassifier
from ecselm.costs.weights import SampleCosts
from ecselm.estimators._priors import row_shares
from ecselm.metrics import mean_cost
from tests.estimators.plain import one_machine, plain_search

SMALL = {"population_size": 6, "max_epochs": 2, "random_state": 0}


@pytest.fixture
def rows(rng):
    """Return rows whose mistakes are dear where the second input is large."""
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.normal(size=400) > 1).astype(int)
    cost = np.where(y == 1, np.exp(1.5 * X[:, 1]), 1.0)[:, np.newaxis] * (1 - np.eye(2))[y]
    return X, y, cost


def test_shares_have_the_mean_one_in_every_class(rng):
    y = rng.integers(0, 3, 60)
    costs, weight = SampleCosts(rng.uniform(1, 9, 60)), rng.uniform(0.5, 2, 60)
    shares = row_shares(costs, y, 3, weight)
    for c in range(3):
        assert_allclose(np.average(shares[y == c], weights=weight[y == c]), 1.0)
        assert np.ptp(shares[y == c] / costs.vector[y == c]) < 1e-12


def test_rows_equally_dear_have_no_shares():
    y = np.arange(6) % 2
    assert row_shares(SampleCosts(np.where(y == 1, 5.0, 1.0)), y, 2) is None


def test_a_row_that_costs_nothing_keeps_a_share_above_nothing():
    shares = row_shares(SampleCosts(np.array([0.0, 4.0, 1.0])), np.array([0, 0, 1]), 2)
    assert 0 < shares[0] < 1e-3


@pytest.mark.parametrize("machine", [{}, {"kernel": "rbf"}], ids=["layer", "kernel"])
def test_the_cost_vector_has_the_shares_and_solves_the_machine(rows, machine):
    X, y, cost = rows
    model = one_machine(**SMALL, **machine, C=2.0, scoring="mean_cost").fit(X, y, sample_cost=cost)
    for c in range(2):
        B, own = model.cost_vector_[y == c], cost[y == c].sum(axis=1)
        assert_allclose(B / B.mean(), own / own.mean(), rtol=1e-2)  # but for rows of no cost
        assert_allclose(B.mean(), model.class_costs_[c])
    if not machine:
        H, T, B = model.layer_(X), np.where(y == 1, 1.0, -1.0), model.cost_vector_[:, np.newaxis]
        beta = np.linalg.solve(np.eye(H.shape[1]) / model.C_ + H.T @ (B * H), H.T @ (B[:, 0] * T))
        assert_allclose(model.beta_[:, 1], beta, rtol=1e-6)  # (15)


def test_other_scores_leave_rows_of_a_class_alike(rows):
    X, y, cost = rows
    told = one_machine(**SMALL, scoring="gmean").fit(X, y, sample_cost=cost)
    assert len(np.unique(told.cost_vector_)) == 2


def test_any_estimator_is_told_which_rows_are_dear(rows):
    X, y, cost = rows
    search = plain_search(LogisticRegression(), cost_level="class", **SMALL)
    search.fit(X, y, sample_cost=cost)
    plain = LogisticRegression().fit(X, y, sample_weight=search.cost_vector_)
    assert len(np.unique(search.cost_vector_)) > 50
    assert_allclose(search.estimator_.coef_, plain.coef_)


def test_knowing_which_rows_are_dear_saves(rows, rng):
    X, y, cost = rows
    new = rng.normal(size=(4000, 3))
    truth = (new[:, 0] + rng.normal(size=4000) > 1).astype(int)
    due = np.where(truth == 1, np.exp(1.5 * new[:, 1]), 1.0)[:, np.newaxis] * (1 - np.eye(2))[truth]
    means = np.array([cost[y == c].mean(axis=0) for c in range(2)])
    model = ECSELMClassifier(30, **SMALL, scoring="mean_cost")
    by_row = model.fit(X, y, sample_cost=cost).predict(new)
    by_class = model.set_params(cost=means).fit(X, y).predict(new)
    spent = [mean_cost(truth, found, sample_cost=due) for found in (by_row, by_class)]
    assert spent[0] < 0.9 * spent[1]


def test_costs_by_row_that_are_the_same_change_nothing(rows):
    X, y, _ = rows
    matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    model = ECSELMClassifier(30, **SMALL, scoring="mean_cost")
    by_row = model.fit(X, y, sample_cost=matrix[y]).decision_function(X)
    by_class = model.set_params(cost=matrix).fit(X, y).decision_function(X)
    assert_allclose(by_row, by_class, rtol=1e-9)
