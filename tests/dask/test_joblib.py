"""Searches around an estimator run on any backend of joblib, Dask's included."""

import joblib
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from ecselm import CostSearchCV, ECSELMClassifier
from ecselm.estimators._cost_search import thread_number


@pytest.mark.parametrize(
    ("level", "task"), [("decision", "split_probabilities"), ("class", "split_scores")]
)
def test_a_search_on_dask_finds_what_it_finds_here(client, rows, level, task):
    X, y, _, _ = rows
    options = {"cost_level": level, "population_size": 4, "max_epochs": 1, "random_state": 0}
    model = LogisticRegression()
    here = CostSearchCV(model, **options).fit(X, y)
    with joblib.parallel_config("dask"):
        there = CostSearchCV(model, n_jobs=2, **options).fit(X, y)
    assert_array_equal(there.class_costs_, here.class_costs_)
    assert_array_equal(there.predict(X), here.predict(X))
    kinds = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert any(task in kind for kind in kinds), kinds  # the workers have fitted


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("backend", ["dask", "loky", "threading"])
def test_a_generation_is_shared_among_threads_of_this_machine(backend, rows):
    X, y, _, _ = rows
    search = ECSELMClassifier(10, population_size=4, max_epochs=1, n_jobs=2, random_state=0)
    here = search.fit(X, y).class_costs_
    with joblib.parallel_config(backend):
        assert thread_number(1) == 1  # though the cluster has two
        assert thread_number(None) <= joblib.cpu_count()
        assert_array_equal(search.fit(X, y).class_costs_, here)
