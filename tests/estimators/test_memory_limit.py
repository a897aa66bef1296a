"""Searches within any memory: the same costs, and said how they were found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm import _native as compiled
from tests.estimators.plain import one_machine

BUDGET = {"n_hidden": 8, "population_size": 8, "max_epochs": 4, "random_state": 0}
MODELS = {
    "classes": one_machine(**BUDGET),
    "rows": one_machine(**BUDGET, cost_level="sample"),
    "confusions": one_machine(**BUDGET, cost_level="matrix"),
    "counts": one_machine(**BUDGET, smoothing=0.0, fitness="train"),
    "levels": ECSELMRegressor(**BUDGET),
    "rows of a regressor": ECSELMRegressor(**BUDGET, cost_level="sample", fitness="train"),
    "units that say the same": one_machine(**BUDGET).set_params(n_hidden=40, activation="sine"),
}
MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
BOTH = pytest.mark.parametrize("kind", [ECSELMClassifier, ECSELMRegressor])


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture
def data(rng):
    X = rng.standard_normal((90, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(90) > 0.7).astype(int)


@MODEL
@pytest.mark.usefixtures("either_path")
def test_next_to_no_memory_gives_the_same_costs_up_to_rounding(data, model):
    free = clone(model).fit(*data)
    tight = clone(model).set_params(memory_limit=64).fit(*data)
    assert_allclose(tight.cost_vector_, free.cost_vector_, rtol=1e-8)
    assert_allclose(tight.beta_, free.beta_, rtol=1e-6, atol=1e-8)
    assert tight.best_score_ == pytest.approx(free.best_score_, rel=1e-9)
    assert_allclose(tight.history_, free.history_, rtol=1e-7, atol=1e-9)
    assert "sums over all rows" in tight.engine_
    assert "sums over all rows" not in free.engine_


@pytest.mark.parametrize("limit", [1, "7 B", "1"])
def test_a_limit_may_be_as_small_as_one_likes(data, limit):
    model = one_machine(**BUDGET, smoothing=0.0, fitness="train")
    free = clone(model).fit(*data)
    tight = clone(model).set_params(memory_limit=limit).fit(*data)
    assert_allclose(tight.cost_vector_, free.cost_vector_, rtol=1e-8)


@MODEL
def test_both_paths_find_the_same_costs(data, model):
    if not compiled.is_available():
        pytest.skip("the compiled library was not built")
    fast = clone(model).fit(*data)
    with compiled.disabled():
        slow = clone(model).fit(*data)
    assert_allclose(fast.cost_vector_, slow.cost_vector_, rtol=1e-8)
    assert fast.best_score_ == pytest.approx(slow.best_score_, rel=1e-9)
    assert compiled.path_name() in fast.engine_
    assert "LAPACK" in slow.engine_


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "sums by 2 cost groups of 8 units"),
        ({"cost_level": "sample"}, "sums renewed row by row"),
        ({"n_hidden": 100, "cost_level": "sample"}, "diagonals of a matrix"),
        ({"kernel": "rbf"}, "diagonals of a matrix"),
        ({"kernel": "rbf", "gamma": "search"}, "a kernel of 90 rows for every width"),
        ({"fitness": "loo"}, "leave-one-out in closed form"),
        ({"cost_level": "matrix", "decision": "min_cost"}, "decisions on scores made once"),
    ],
)
def test_a_fitted_model_says_how_candidates_were_evaluated(data, either_path, parameters, words):
    model = one_machine(**{**BUDGET, "max_epochs": 1, **parameters}).fit(*data)
    assert model.engine_.startswith(words)
    if words.startswith(("sums", "diagonals")):
        assert either_path in model.engine_


def test_the_progress_bar_and_the_log_say_it_too(data, caplog, capsys):
    model = one_machine(**BUDGET, verbose=2)
    with caplog.at_level("INFO"):
        model.fit(*data)
    assert f"evaluated by {model.engine_}" in caplog.text
    model.set_params(verbose=1).fit(*data)
    assert model.engine_ in capsys.readouterr().err


@BOTH
@pytest.mark.parametrize("bad", [0, -1, -0.5, np.nan, np.inf, [1], {}], ids=repr)
def test_limits_that_are_no_number_of_bytes_are_refused_by_name(data, kind, bad):
    with pytest.raises(ValueError, match="memory_limit"):
        kind(**BUDGET, memory_limit=bad).fit(*data)


@BOTH
@pytest.mark.parametrize("bad", ["", "lots", "-2 GiB", "1e9"])
def test_texts_that_say_no_number_of_bytes_are_refused_by_name(data, kind, bad):
    with pytest.raises(ValueError, match="memory_limit must be bytes or a text such as '2 GiB'"):
        kind(**BUDGET, memory_limit=bad).fit(*data)


def test_a_limit_is_refused_before_any_work(data, tmp_path):
    path = tmp_path / "search.npz"
    with pytest.raises(ValueError, match="memory_limit"):
        one_machine(**BUDGET, memory_limit="lots", checkpoint=path).fit(*data)
    assert not path.exists()


@BOTH
@pytest.mark.parametrize("limit", ["1 KiB", "2 GiB", 10**9, 1e9])
def test_limits_of_every_kind_are_taken(data, kind, limit):
    model = kind(**BUDGET, memory_limit=limit).fit(*data)
    assert model.memory_limit == limit
