"""What columns are worth, on a card."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier, ELMRegressor
from ecselm.study.importance import MAX_ROWS, MOST_COLUMNS, importances


@pytest.fixture
def table(rng):
    X = pd.DataFrame(rng.normal(size=(800, 4)), columns=["strong", "weak", "none", "other"])
    p = 1 / (1 + np.exp(-3 * X["strong"] - 0.5 * X["weak"]))
    return X, np.where(rng.random(800) < p, "ill", "well")


def fitted(X, y, cost):
    model = CostDecisionClassifier(LogisticRegression(), cost=cost, random_state=0)
    return make_pipeline(StandardScaler(), model).fit(X[:400], y[:400])


def test_the_unit_is_money_where_costs_are_stated(table):
    X, y = table
    model = fitted(X, y, {("ill", "well"): 5})
    found = importances(model, X[400:], y[400:], metric="gmean", cost={("ill", "well"): 5}, seed=0)
    assert found.metric == "mean_cost"
    assert found.n == 400
    assert found.n_not_settled == 0
    assert found.n_columns == 4
    assert found.columns[0].name == "strong"
    assert found.columns[0].whole.low > 0
    assert all(one.not_settled is None for one in found.columns)


def test_rows_not_settled_have_their_own(table):
    X, y = table
    model = fitted(X, y, "ill->well = 2..20")
    found = importances(
        model, X[400:], y[400:], metric="gmean", cost=model[-1].constraints_, seed=0
    )
    settled = model[-1].settled(model[:-1].transform(X[400:]))
    assert found.n_not_settled == int((~settled).sum()) > 0
    assert all(one.not_settled is not None for one in found.columns)


def test_without_costs_it_is_the_metric_and_wide_tables_are_cut(rng):
    X = pd.DataFrame(rng.normal(size=(700, 30)), columns=[f"c{i}" for i in range(30)])
    y = X["c7"] + 0.1 * rng.normal(size=700)
    model = ELMRegressor(random_state=0).fit(X[:100], y[:100])
    found = importances(model, X[100:], y[100:], metric="mae", seed=0)
    assert (found.metric, found.n, found.n_columns) == ("mae", MAX_ROWS, 30)
    assert len(found.columns) == MOST_COLUMNS
    assert found.columns[0].name == "c7"


def test_a_metric_that_is_not_defined_gives_none(table):
    X, y = table
    model = fitted(X, y, None)
    one_class = np.full(400, "ill")
    assert importances(model, X[400:], one_class, metric="roc_auc") is None
