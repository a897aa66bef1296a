"""Every public estimator refuses bad arrays in a sentence, or gives finite results."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ecselm
from ecselm.paper import baselines, elms, pairs, subspace
from tests.contracts.bad_arrays import CASES, fault, good, kind_of
from tests.paper.baselines.test_binary_cost import Weighing

BUDGET = {"population_size": 5, "max_epochs": 1}
ARGUMENTS = {
    "BinaryCostClassifier": {"estimator": Weighing(), "cost": [1.0, 2.0]},
    "CostDecisionClassifier": {"estimator": LogisticRegression(), "cv": 2},
    "CostSearchCV": {"estimator": LogisticRegression(), "fitness": 2, **BUDGET},
    "ECSELMClassifier": {"n_hidden": 10, **BUDGET},
    "ECSELMRegressor": BUDGET,
    "EELMClassifier": BUDGET,
    "EELMRegressor": BUDGET,
    "PairSimilarities": {"cv": 2},
}
ESTIMATORS = {
    name: kind
    for package in (ecselm, baselines, subspace, pairs, elms)
    for name in package.__all__
    if inspect.isclass(kind := getattr(package, name))
}
# Where something fell once: these run in every test run, all others in the long ones.
FELL = (
    *("one 1e308", "both ends", "times 1e300", "times 1e160", "times 1e-160", "times 1e-320"),
    *("None", "ragged", "no columns", "y None", "y words", "y 1e308", "weight NaN", "new 1e300"),
)


def made(name):
    return ESTIMATORS[name](**ARGUMENTS.get(name, {}))


def check(name, cases):
    faults = {case: found for case in cases if (found := fault(made(name), case))}
    assert not faults


def test_the_table_covers_every_estimator_and_56_cases():
    assert len(CASES) == 56
    assert len(ESTIMATORS) >= 50


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_fell_once_is_refused_or_finite(name):
    check(name, FELL)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_arrays_are_refused_or_give_finite_results(name):
    check(name, CASES)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_good_arrays_are_learned_from(name):
    """A contract that every fit failed would prove nothing."""
    model = made(name)
    given = good(kind_of(model))
    model.fit(given.X, given.y)
    output = model.predict(given.new) if hasattr(model, "predict") else model.transform(given.new)
    assert len(output) == len(given.y)


def test_refused_arrays_leave_a_fitted_model_as_it_was():
    given = good("pairs")
    model = pairs.ITML().fit(given.X, given.y)
    before = model.score_pairs(given.X)
    with pytest.raises(ValueError, match=r"pairs must have a largest magnitude .* got .*e\+300"):
        model.fit(given.X * 1e300, given.y)
    np.testing.assert_array_equal(model.score_pairs(given.X), before)
    with pytest.raises(ValueError, match="pairs must give finite scores"):
        model.score_pairs(given.X * 1e300)


@pytest.mark.parametrize("target", ["high", b"high", None, 1j, np.datetime64("2020-01-01")])
def test_targets_of_regressors_are_numbers(target):
    X = good("regressor").X
    for model in (ecselm.ELMRegressor(), ecselm.ECSELMRegressor(), baselines.DFATRegressor()):
        with pytest.raises(ValueError, match=r"^y must be numbers, got"):
            model.fit(X, [target] * len(X))
