"""Threads of a search: as many as asked for, and no more than joblib has left."""

import threading

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV
from threadpoolctl import ThreadpoolController

from ecselm.estimators._cost_search import thread_number
from tests.estimators.plain import one_machine

BUDGET = {"n_hidden": 8, "population_size": 40, "max_epochs": 2, "random_state": 0}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(80) > 0.7).astype(int)


def blas_threads():
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    return max((pool.num_threads for pool in pools), default=1)


def counted(n_jobs):
    """Return how many threads there are for so many jobs, and how many BLAS has."""
    return thread_number(n_jobs), blas_threads()


def threads_of(model, X, y):
    return thread_number(model.n_jobs)


def test_a_search_of_its_own_has_what_it_asks_for():
    assert thread_number(None) == 1
    assert thread_number(1) == 1
    assert thread_number(3) == 3
    assert thread_number(-1) == joblib.cpu_count()


def test_the_default_of_joblib_is_obeyed():
    with parallel_config(backend="threading", n_jobs=2):
        assert thread_number(None) == 2


def test_a_worker_has_no_more_threads_than_blas_was_left():
    with parallel_config(backend="loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=2)(delayed(counted)(n_jobs) for n_jobs in (None, 1, 2, -1))
    assert found == [(1, 1)] * 4
    share = max(1, joblib.cpu_count() // 2)
    for threads, allowed in Parallel(n_jobs=2, backend="loky")(
        delayed(counted)(n_jobs) for n_jobs in (2, 4, -1)
    ):
        assert threads <= allowed <= share


def test_blas_keeps_its_threads_after_they_are_counted():
    before = blas_threads()
    Parallel(n_jobs=2, backend="threading")(delayed(thread_number)(2) for _ in range(4))
    assert blas_threads() == before


def test_a_grid_search_around_a_search_does_not_ask_for_more_than_its_share(data):
    grid = GridSearchCV(
        one_machine(**BUDGET, n_jobs=2),
        {"C": [1.0, 32.0]},
        scoring={"threads": threads_of, "accuracy": "accuracy"},
        refit="accuracy",
        cv=2,
        n_jobs=2,
    ).fit(*data)
    assert grid.cv_results_["mean_test_threads"].max() <= max(1, joblib.cpu_count() // 2)
    alone = GridSearchCV(one_machine(**BUDGET), {"C": [1.0, 32.0]}, scoring="accuracy", cv=2).fit(
        *data
    )
    assert_array_equal(grid.cv_results_["mean_test_accuracy"], alone.cv_results_["mean_test_score"])
    assert_array_equal(grid.best_estimator_.cost_vector_, alone.best_estimator_.cost_vector_)


@pytest.mark.parametrize("level", ["class", "sample"])
@pytest.mark.usefixtures("either_path")
def test_the_costs_found_do_not_depend_on_the_threads(data, level):
    models = [
        one_machine(**BUDGET, cost_level=level, n_jobs=n_jobs).fit(*data) for n_jobs in (None, 2, 3)
    ]
    for model in models[1:]:
        assert_array_equal(model.cost_vector_, models[0].cost_vector_)
        assert_array_equal(model.beta_, models[0].beta_)
        assert model.history_.equals(models[0].history_)


def test_threads_end_with_the_search(data):
    before = threading.active_count()
    one_machine(**BUDGET, n_jobs=3).fit(*data)
    assert threading.active_count() == before

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        one_machine(**BUDGET, n_jobs=3, callbacks=fail).fit(*data)
    assert threading.active_count() == before


def test_blas_keeps_its_threads_after_a_search(data):
    before = blas_threads()
    one_machine(**BUDGET, n_jobs=2).fit(*data)
    assert blas_threads() == before
    assert np.isfinite(one_machine(**BUDGET, n_jobs=-1).fit(*data).best_score_)
