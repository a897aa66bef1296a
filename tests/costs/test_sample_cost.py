"""Costs by row, distinguished from each other and from costs by class by their shape."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.costs import parse_sample_cost
from ecselm.costs.parse import check_row_costs, parse_any_cost
from ecselm.costs.weights import ClassCosts, ExampleCosts, PairCosts, SampleCosts

MATRIX = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])


def test_costs_by_row_are_told_by_their_shape():
    y, classes = np.array([0, 1, 2, 1]), list("abc")
    vector = parse_sample_cost([1, 2, 3, 4], y, classes, "samples")
    assert isinstance(vector, SampleCosts)
    assert_array_equal(vector.vector, [1.0, 2.0, 3.0, 4.0])
    examples = parse_sample_cost(MATRIX[y] + 2.0, y, classes, "classes")
    assert isinstance(examples, ExampleCosts)
    assert examples.aggregate == "classes"
    assert_array_equal(examples.matrix, MATRIX[y])
    pairs = parse_sample_cost(MATRIX[np.ix_(y, y)] + 2.0, y, classes, "samples")
    assert isinstance(pairs, PairCosts)
    assert_array_equal(pairs.totals, MATRIX[np.ix_(y, y)].sum(axis=1))
    assert pairs.n_classes == 3


@pytest.mark.parametrize("form", [np.array, lambda rows: np.array(rows).tolist()])
def test_the_parameter_cost_may_hold_costs_by_row(form):
    y, classes = np.array([0, 1, 2, 1]), list("abc")
    kinds = [
        (np.ones(4), SampleCosts),
        (MATRIX[y], ExampleCosts),
        (MATRIX[np.ix_(y, y)], PairCosts),
        (MATRIX, ClassCosts),
        (np.ones(3), ClassCosts),
    ]
    for cost, kind in kinds:
        assert isinstance(parse_any_cost(form(cost), y, classes, "samples"), kind)


def test_where_both_readings_fit_costs_are_by_class():
    y = np.array([2, 0, 1])
    costs = parse_any_cost(MATRIX, y, list("abc"), "classes")
    assert isinstance(costs, ClassCosts)
    assert costs.aggregate == "classes"
    assert_array_equal(costs.matrix, MATRIX)


ROWS = np.array([0, 1, 1, 0])
CHOICE = r"shape \(4,\).*\(4, 2\).*\(4, 4\), got "


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones(3), CHOICE + r"\(3,\)"),
        (np.ones((4, 3)), CHOICE + r"\(4, 3\)"),
        (np.ones((2, 4)), CHOICE + r"\(2, 4\)"),
        (2.0, CHOICE + r"\(\)"),
        ([1, 2, np.nan, 4], "must be finite, got nan"),
        ([1, 2, "x", 4], r"must hold numbers only, got \[1, 2, 'x', 4\]"),
        ([1, 2, -3, 4], "must be >= 0, got -3"),
        (
            [[0, 1], [1, 0], [1, 0], [0, -1]],
            "right answer: in row 3 a mistake costs -1",
        ),
        (np.eye(4), "cheaper than the right answer: in row 0 a mistake costs 0"),
    ],
)
def test_costs_by_row_that_make_no_sense_are_refused(cost, message):
    with pytest.raises(ValueError, match="sample_cost .*" + message):
        parse_sample_cost(cost, ROWS, ["ill", "well"], "samples")
    with pytest.raises(ValueError, match="loss .*" + message):
        parse_sample_cost(cost, ROWS, ["ill", "well"], "samples", name="loss")


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones(3), r"cost must have the shape \(2, 2\).*got \(3,\)"),
        ([[0, 1], [1]], r"cost must .*got \[\[0, 1\], \[1\]\]"),
        ([1, 2, -3, 4], "cost must be >= 0, got -3"),
        ([[0, 1], [1, 0], [1, 0], [0]], "cost must "),
    ],
)
def test_what_is_neither_by_class_nor_by_row_is_refused(cost, message):
    with pytest.raises(ValueError, match=message):
        parse_any_cost(cost, ROWS, ["ill", "well"], "samples")


def test_row_costs_are_checked_under_the_name_they_were_given():
    assert_array_equal(check_row_costs([0, 2], "price"), [0.0, 2.0])
    with pytest.raises(ValueError, match="price must be >= 0, got -1"):
        check_row_costs([1, -1], "price")
