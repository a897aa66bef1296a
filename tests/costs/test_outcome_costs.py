"""Costs by outcome, against a loop over the rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from ecselm.costs import outcome_costs

NAMES = ["tp_cost", "tn_cost", "fp_cost", "fn_cost"]


def printed(y, tp, tn, fp, fn):
    costs = []
    for i, positive in enumerate(y):
        predicted_negative = fn[i] if positive else tn[i]
        predicted_positive = tp[i] if positive else fp[i]
        costs.append([predicted_negative, predicted_positive])
    return costs


def test_costs_by_row_are_those_of_a_loop(rng):
    y = rng.integers(0, 2, 20)
    given = rng.uniform(0.0, 9.0, (4, 20))
    costs = outcome_costs(y, **dict(zip(NAMES, given, strict=True)))
    assert_array_equal(costs, printed(y, *given))


def test_one_number_is_that_number_for_every_row(rng):
    y = rng.integers(0, 2, 20)
    costs = outcome_costs(y, tp_cost=0.25, tn_cost=0.5, fp_cost=3, fn_cost=7)
    assert_array_equal(costs, printed(y, *(np.full(20, cost) for cost in (0.25, 0.5, 3.0, 7.0))))


@pytest.mark.parametrize("name", NAMES)
def test_outcomes_left_out_cost_one_for_mistakes_and_zero_for_right_answers(rng, name):
    y = rng.integers(0, 2, 20)
    usual = dict(zip(NAMES, np.repeat([[0.0], [0.0], [1.0], [1.0]], 20, axis=1), strict=True))
    given = rng.uniform(0.0, 9.0, 20)
    assert_array_equal(outcome_costs(y), printed(y, *usual.values()))
    expected = printed(y, *(usual | {name: given}).values())
    assert_array_equal(outcome_costs(y, **{name: given}), expected)


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, pd.Series, lambda costs: np.array(costs)[:, np.newaxis]]
)
def test_lists_series_and_columns_are_read_alike(form):
    y = np.array([0, 1, 1])
    costs = outcome_costs(y, fn_cost=form([1.0, 20.0, 30.0]))
    assert_array_equal(costs, [[0.0, 1.0], [20.0, 0.0], [30.0, 0.0]])


def test_swapping_the_classes_swaps_positive_and_negative(rng):
    y, tp, tn, fp, fn = rng.integers(0, 2, 20), *rng.uniform(0.0, 9.0, (4, 20))
    costs = outcome_costs(y, tp_cost=tp, tn_cost=tn, fp_cost=fp, fn_cost=fn)
    swapped = outcome_costs(1 - y, tp_cost=tn, tn_cost=tp, fp_cost=fn, fn_cost=fp)
    assert_array_equal(swapped, costs[:, ::-1])


def test_one_row_takes_one_cost():
    assert_array_equal(outcome_costs(np.array([1]), fn_cost=[8.0]), [[8.0, 0.0]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("cost", "came"),
    [
        ([1.0, 2.0], r"\(2,\)"),
        (np.ones((3, 2)), r"\(3, 2\)"),
        (np.ones((1, 3)), r"\(1, 3\)"),
        ([], r"\(0,\)"),
    ],
)
def test_a_cost_that_is_neither_one_nor_one_per_row_is_refused(name, cost, came):
    with pytest.raises(ValueError, match=rf"{name} must .*shape \(3,\), got {came}"):
        outcome_costs(np.array([0, 1, 1]), **{name: cost})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cost", ["high", ["a", "b", "c"], np.nan, [1.0, np.inf, 1.0]])
def test_a_cost_that_is_no_finite_number_is_refused_by_name(name, cost):
    with pytest.raises(ValueError, match=f"{name} must "):
        outcome_costs(np.array([0, 1, 1]), **{name: cost})
