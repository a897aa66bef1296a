"""A search of costs by row that is stopped and goes on ends as if it had never stopped.

Its engine remembers sums from one generation to the next: the last digits of a fitness
depend on the generations before, and must not depend on where the search was stopped.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ecselm import ECSELMRegressor
from ecselm.estimators._cost_search import FORGETTING
from tests.estimators.plain import one_machine

EPOCHS = 24
STOPS = [3, FORGETTING, FORGETTING + 1, 20]
BUDGET = {
    "n_hidden": 7,
    "cost_level": "sample",
    "population_size": 36,  # two batches of candidates
    "max_epochs": EPOCHS,
    "random_state": 0,
}
MODELS = {
    "training rows": one_machine(**BUDGET, fitness="train"),
    "folds": one_machine(**BUDGET, fitness=3),
    "rows set aside": one_machine(**BUDGET, fitness="holdout", n_jobs=2),
    "squared error": ECSELMRegressor(**BUDGET, fitness="train"),
    "signed": one_machine(
        **BUDGET, fitness="train", cost_bounds=(-1, 1), normalize=False, C=0.05, priors=()
    ),
}
MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((70, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(70) > 0.7).astype(int)


def stopped(model, path, generation, data):
    """Search up to a generation, and leave a file."""

    def stop(progress):
        return progress.generation == generation

    clone(model).set_params(checkpoint=path, callbacks=stop).fit(*data)


def assert_same_search(one, other):
    assert one.history_.equals(other.history_)
    assert_array_equal(one.cost_vector_, other.cost_vector_)
    assert_array_equal(one.beta_, other.beta_)
    assert one.best_score_ == other.best_score_


@MODEL
@pytest.mark.usefixtures("either_path")
def test_a_search_stopped_anywhere_ends_with_the_same_bits(data, tmp_path, model):
    whole = clone(model).fit(*data)
    assert "renewed row by row" in whole.engine_
    assert len(whole.history_) == EPOCHS + 1
    for generation in STOPS:
        path = tmp_path / f"{generation}.npz"
        stopped(model, path, generation, data)
        assert_same_search(clone(model).set_params(checkpoint=path).fit(*data), whole)


def test_a_search_may_be_stopped_again_and_again(data, tmp_path):
    model, path = MODELS["training rows"], tmp_path / "search.npz"
    for generation in STOPS:
        stopped(model, path, generation, data)
    assert_same_search(clone(model).set_params(checkpoint=path).fit(*data), clone(model).fit(*data))


def test_a_search_that_is_over_is_not_solved_again(data, tmp_path, monkeypatch):
    model, path = MODELS["training rows"], tmp_path / "search.npz"
    whole = clone(model).set_params(checkpoint=path, priors=()).fit(*data)

    def forbidden(*_):
        raise AssertionError("a candidate was evaluated")

    monkeypatch.setattr("ecselm.fitness.objective.CostObjective.__call__", forbidden)
    assert_same_search(clone(model).set_params(checkpoint=path, priors=()).fit(*data), whole)


def test_more_epochs_go_on_where_fewer_ended(data, tmp_path):
    model, path = MODELS["folds"], tmp_path / "search.npz"
    clone(model).set_params(checkpoint=path, max_epochs=18).fit(*data)
    assert_same_search(clone(model).set_params(checkpoint=path).fit(*data), clone(model).fit(*data))
