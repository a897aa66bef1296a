"""Costs and weights by row reach the estimators through other estimators."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CSELMClassifier, CSELMRegressor
from tests.estimators.plain import one_machine


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def example_costs(rng, y):
    cost = rng.uniform(0, 5, (len(y), len(np.unique(y))))
    cost[np.arange(len(y)), y] = 0.0
    return cost


def test_pipeline_passes_costs_of_examples(labelled, rng):
    X, y = labelled
    cost = example_costs(rng, y)
    model = CSELMClassifier(30, random_state=0).set_fit_request(sample_cost=True)
    piped = make_pipeline(StandardScaler(), PCA(5, random_state=0), model)
    piped.fit(X, y, sample_cost=cost)
    inner = make_pipeline(*[step for _, step in piped.steps[:-1]]).transform(X)
    alone = CSELMClassifier(30, random_state=0).fit(inner, y, sample_cost=cost)
    assert_allclose(piped[-1].beta_, alone.beta_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", ["vector", "matrix"])
def test_grid_search_cuts_costs_with_the_rows(labelled, rng, form):
    X, y = labelled
    cost = rng.uniform(0.1, 5, len(y)) if form == "vector" else example_costs(rng, y)
    model = CSELMClassifier(30, random_state=0)
    model.set_fit_request(sample_cost=True, sample_weight=True)
    model.set_score_request(sample_weight=False)
    cv = StratifiedKFold(3)
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=cv, error_score="raise")
    search.fit(X, y, sample_cost=cost, sample_weight=np.ones(len(y)))
    by_hand = [
        CSELMClassifier(30, C=0.1, random_state=0)
        .fit(X[train], y[train], sample_cost=cost[train])
        .score(X[test], y[test])
        for train, test in cv.split(X, y)
    ]
    assert_allclose(search.cv_results_["mean_test_score"][0], np.mean(by_hand))


def test_outcome_costs_are_routed_by_name(rng):
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] > 0.5).astype(int)
    amounts = rng.uniform(1, 100, 200)
    model = CSELMClassifier(30, random_state=0).set_fit_request(fn_cost=True, fp_cost=True)
    search = GridSearchCV(model, {"C": [1.0]}, cv=3, error_score="raise")
    search.fit(X, y, fn_cost=amounts, fp_cost=np.full(200, 2.0))
    cost = np.column_stack([np.where(y == 1, amounts, 0), np.where(y == 1, 0, 2.0)])
    twin = CSELMClassifier(30, C=1.0, random_state=0).fit(X, y, sample_cost=cost)
    assert_allclose(search.best_estimator_.beta_, twin.beta_, rtol=1e-10, atol=1e-12)


def test_regressor_costs_are_routed_through_cross_validate(rng):
    X, y = rng.standard_normal((90, 3)), rng.standard_normal(90)
    model = CSELMRegressor(20, random_state=0).set_fit_request(sample_cost=True)
    scores = cross_validate(
        model, X, y, cv=3, params={"sample_cost": rng.uniform(0, 2, 90)}, error_score="raise"
    )
    assert len(scores["test_score"]) == 3


def test_groups_reach_the_folds_outside_and_the_search_inside(rng):
    X, who = rng.standard_normal((60, 3)), np.repeat(np.arange(20), 3)
    y = (who % 2 == 0).astype(int)
    model = one_machine(8, population_size=3, max_epochs=0, fitness=GroupKFold(2), random_state=0)
    model.set_fit_request(groups=True)
    outside = StratifiedGroupKFold(3)
    found = cross_validate(
        make_pipeline(StandardScaler(), model),
        X,
        y,
        cv=outside,
        params={"groups": who},
        return_estimator=True,
        error_score="raise",
    )
    train, _ = next(iter(outside.split(X, y, who)))
    scaled = StandardScaler().fit_transform(X[train])
    alone = model.fit(scaled, y[train], groups=who[train])
    assert_allclose(found["estimator"][0][-1].beta_, alone.beta_, rtol=1e-8, atol=1e-10)
