"""Searches around an estimator run on any backend of joblib, Dask's included."""

import joblib
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from ecselm import CostSearchCV


def test_a_search_on_dask_finds_what_it_finds_here(client, rows):
    X, y, _, _ = rows
    options = {"population_size": 4, "max_epochs": 1, "random_state": 0}
    model = LogisticRegression()
    here = CostSearchCV(model, **options).fit(X, y)
    with joblib.parallel_config("dask"):
        there = CostSearchCV(model, n_jobs=2, **options).fit(X, y)
    assert_array_equal(there.class_costs_, here.class_costs_)
    assert_array_equal(there.predict(X), here.predict(X))
    kinds = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert any("split_scores" in kind for kind in kinds), kinds  # the workers have fitted
