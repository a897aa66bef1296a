"""Costs as an estimator receives them: however stated, but once."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from ecselm.costs import outcome_costs
from ecselm.costs.parse import read_costs
from ecselm.costs.weights import ClassCosts, ExampleCosts, PairCosts, SampleCosts

Y = np.array([0, 1, 1, 0, 1])
TWO = np.array(["ill", "well"])
OUTCOMES = ["tp_cost", "tn_cost", "fp_cost", "fn_cost"]


def read(cost=None, *, y=Y, classes=TWO, aggregate="samples", sample_cost=None, **outcomes):
    return read_costs(
        cost,
        y,
        classes,
        aggregate=aggregate,
        sample_cost=sample_cost,
        **dict.fromkeys(OUTCOMES) | outcomes,
    )


@pytest.mark.parametrize(
    "cost",
    [
        [[0, 5], [1, 0]],
        np.array([5.0, 1.0]),
        {("ill", "well"): 5},
        {"ill": 5},
        pd.DataFrame([[0, 1], [5, 0]], ["well", "ill"], ["well", "ill"]),
    ],
)
@pytest.mark.parametrize("aggregate", ["samples", "classes"])
def test_costs_by_class_are_read(cost, aggregate):
    costs = read(cost, aggregate=aggregate)
    assert isinstance(costs, ClassCosts)
    assert costs.aggregate == aggregate
    assert_array_equal(costs.matrix, [[0.0, 5.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("shape", "kind"), [((5,), SampleCosts), ((5, 2), ExampleCosts), ((5, 5), PairCosts)]
)
@pytest.mark.parametrize("parameter", ["cost", "sample_cost"])
def test_costs_by_row_are_read_from_either_parameter(shape, kind, parameter):
    costs = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    if shape == (5, 2):
        costs[np.arange(5), Y] = 0.0
    if shape == (5, 5):
        np.fill_diagonal(costs, 0.0)
    assert isinstance(read(**{parameter: costs}), kind)


def test_sample_cost_of_as_many_rows_as_classes_is_by_row():
    costs = read(y=np.array([1, 0]), sample_cost=[3.0, 4.0])
    assert isinstance(costs, SampleCosts)
    assert_array_equal(costs.vector, [3.0, 4.0])


@pytest.mark.parametrize("aggregate", ["samples", "classes"])
def test_costs_by_outcome_are_costs_by_example(aggregate):
    fn = np.arange(2.0, 7.0)
    costs = read(aggregate=aggregate, fn_cost=fn, tn_cost=0.5)
    assert isinstance(costs, ExampleCosts)
    assert costs.aggregate == aggregate
    stated = outcome_costs(Y, fn_cost=fn, tn_cost=0.5)
    assert_array_equal(costs.matrix, stated - stated[np.arange(5), Y][:, np.newaxis])


def test_nothing_stated_is_one_for_every_mistake():
    assert_array_equal(read().matrix, 1.0 - np.eye(2))


@pytest.mark.parametrize("value", [0, 0.0, [0, 0, 0, 0, 0]])
def test_an_outcome_that_costs_nothing_is_stated_all_the_same(value):
    assert isinstance(read(fp_cost=value), ExampleCosts)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"cost": [1, 2], "sample_cost": np.ones(5)}, "once, got cost and sample_cost$"),
        ({"cost": {"ill": 2}, "fn_cost": 3.0}, "once, got cost and .*fn_cost"),
        ({"sample_cost": np.ones(5), "tp_cost": 0.0}, "once, got sample_cost and .*tp_cost"),
        (
            {"cost": [1, 2], "sample_cost": np.ones(5), "fp_cost": np.ones(5)},
            "once, got cost and sample_cost and .*fp_cost",
        ),
    ],
)
def test_costs_stated_twice_are_refused(stated, message):
    with pytest.raises(ValueError, match=message):
        read(**stated)


def test_only_what_was_stated_is_named():
    with pytest.raises(ValueError, match=r"got cost and fn_cost$"):
        read([1, 2], fn_cost=3.0)


def test_outcomes_of_three_classes_are_refused():
    with pytest.raises(
        ValueError, match=r"fn_cost can .* two classes only, y has 3; .*sample_cost"
    ):
        read(classes=np.array(["a", "b", "c"]), fn_cost=3.0)


def test_an_outcome_that_makes_a_mistake_the_cheaper_answer_is_refused():
    with pytest.raises(ValueError, match="cheaper than the right answer: in row 1"):
        read(tp_cost=2.0, fn_cost=1.0)
