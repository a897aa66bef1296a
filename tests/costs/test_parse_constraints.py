"""Cost constraints, parsed at every level; invalid ones are refused by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ecselm.costs.feasible import MARGIN, parse_constraints
from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel

TWO = np.array(["ill", "well"])
THREE = np.array(["flu", "pox", "well"])
Y = np.array([0, 2, 1, 0])


def read(level, classes, fixed=None, intervals=None, order=None):
    return parse_constraints(fixed, intervals, order, level, classes)


def test_nothing_known_leaves_every_cost_open():
    region = read(ClassLevel(3), THREE)
    assert region.is_open
    assert region.order == ()
    assert_array_equal(region.high, np.inf)


@pytest.mark.parametrize(
    ("level", "low"),
    [
        (ClassLevel(3), [0, 5, 0]),
        (MatrixLevel(3), [0, 0, 5, 5, 0, 0]),
        (SampleLevel(Y), [0, 0, 5, 0]),
    ],
    ids=["class", "matrix", "sample"],
)
def test_a_class_stands_for_all_mistakes_on_it(level, low):
    region = read(level, THREE, fixed={"pox": 5})
    assert_array_equal(region.low, low)
    assert_array_equal(region.high, np.where(np.array(low) > 0, 5.0, np.inf))


def test_a_pair_stands_for_one_confusion():
    region = read(
        MatrixLevel(3), THREE, {("flu", "well"): 5}, {("well", "pox"): (0.5, 2), "pox": (1, 9)}
    )
    assert_array_equal(region.low, [0, 5, 1, 1, 0, 0.5])
    assert_array_equal(region.high, [np.inf, 5, 9, 9, np.inf, 2])


@pytest.mark.parametrize("level", [ClassLevel(2), MatrixLevel(2), SampleLevel(np.array([0, 1]))])
def test_with_two_classes_pairs_and_classes_say_the_same(level):
    by_pair = read(level, TWO, {("ill", "well"): 5}, {("well", "ill"): (1, 2)})
    by_class = read(level, TWO, {"ill": 5}, {"well": (1, 2)})
    assert_array_equal(by_pair.low, by_class.low)
    assert_array_equal(by_pair.high, by_class.high)


@pytest.mark.parametrize(
    "order",
    [
        [("ill", "well")],
        (("ill", "well"),),
        [["ill", "well"]],
        [(("ill", "well"), ("well", "ill"))],
        [[["ill", "well"], ["well", "ill"]]],
        [("ill", ("well", "ill"))],
    ],
    ids=["classes", "tuple", "list", "pairs", "lists of lists", "mixed"],
)
@pytest.mark.parametrize("level", [ClassLevel(2), MatrixLevel(2)], ids=["class", "matrix"])
def test_an_order_puts_the_first_above_the_second(level, order):
    region = read(level, TWO, fixed={"well": 2}, order=order)
    assert region.order == ((0, 1),)
    assert_array_equal(region.low, [2.0 * MARGIN, 2.0])


def test_an_order_of_classes_is_one_of_all_their_mistakes():
    region = read(MatrixLevel(3), THREE, order=[("pox", ("flu", "well"))])
    assert set(region.order) == {(2, 1), (3, 1)}


@pytest.mark.parametrize(
    "classes", [np.array([0, 1]), np.array([-1.0, 2.5]), np.array([False, True])], ids=str
)
def test_labels_of_any_kind_are_found(classes):
    first, second = classes.tolist()
    region = read(ClassLevel(2), classes, {second: 3}, order=[(classes[0], classes[1])])
    assert_array_equal(region.low, [3.0 * MARGIN, 3.0])
    assert first in classes


@settings(deadline=None)
@given(st.permutations(range(6)), st.lists(st.integers(1, 50), min_size=6, max_size=6))
def test_in_which_sequence_costs_are_stated_does_not_matter(sequence, costs):
    level = MatrixLevel(3)
    pairs = [(i, j) for i in THREE.tolist() for j in THREE.tolist() if i != j]
    stated = {pairs[i]: costs[i] for i in sequence}
    region = read(level, THREE, fixed=stated)
    assert_array_equal(region.low, costs)
    assert_array_equal(region.high, costs)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            {"fixed": {"ill": 0}},
            r"fixed_costs\['ill'\] must be one cost > 0, got 0",
        ),
        ({"fixed": {"ill": -2}}, "one cost > 0, got -2"),
        ({"fixed": {"ill": (1, 2)}}, r"fixed_costs\['ill'\] must be one cost > 0, got \(1, 2\)"),
        ({"fixed": {"ill": np.inf}}, r"fixed_costs\['ill'\] must be finite, got inf"),
        ({"fixed": {"ill": "much"}}, "must hold numbers only, got 'much'"),
        (
            {"intervals": {"ill": 3}},
            r"cost_intervals\['ill'\] must be a pair \(low, high\) .* got 3",
        ),
        ({"intervals": {"ill": (3, 1)}}, r"0 <= low <= high, .* got \(3, 1\)"),
        ({"intervals": {"ill": (np.inf, np.inf)}}, "high may be infinite, got"),
        ({"fixed": {"wel": 1}}, r"fixed_costs must name classes of y, .* did you mean 'well'\?"),
        ({"intervals": {"il": (1, 2)}}, r"cost_intervals must name .* did you mean 'ill'\?"),
        ({"order": [("ill", "wll")]}, r"cost_order must name classes .* did you mean 'well'\?"),
        (
            {"fixed": {("ill", "ill"): 1}},
            r"must name mistakes, got \('ill', 'ill'\), which is right",
        ),
        (
            {"order": ["ill", "well"]},
            r"cost_order must hold pairs \(more costly, less costly\), got 'ill'",
        ),
        ({"order": [("ill", "well", "ill")]}, "cost_order must hold pairs"),
        ({"order": [("ill", "ill")]}, "must not put a cost above itself"),
        ({"order": [("ill", ("ill", "well"))]}, "must not put a cost above itself"),
        (
            {"fixed": {"ill": 1, ("ill", "well"): 1}},
            r"fixed_costs must state each cost once, got \('ill', 'well'\) after 'ill'",
        ),
        (
            {"fixed": {"ill": 1}, "intervals": {"ill": (1, 2)}},
            "cost_intervals must state each cost once, got 'ill' after 'ill'",
        ),
        (
            {"fixed": {"well": 3}, "intervals": {"ill": (1, 2)}, "order": [("ill", "well")]},
            "contradict each other: together they ask the cost of 'ill'.* to be at least 3.03",
        ),
        (
            {"order": [("ill", "well"), ("well", "ill")]},
            "cost_order must not run in a circle, got .*'ill'.* < .*'well'",
        ),
    ],
)
@pytest.mark.parametrize("level", [ClassLevel(2), MatrixLevel(2)], ids=["class", "matrix"])
def test_what_cannot_be_meant_is_refused_by_name(level, known, message):
    with pytest.raises(ValueError, match=message):
        read(level, TWO, **known)


@pytest.mark.parametrize("name", ["fixed", "intervals"])
def test_costs_must_come_in_a_dict(name):
    with pytest.raises(TypeError, match=r"must be a dict by class or by .* got \['ill'\]"):
        read(ClassLevel(2), TWO, **{name: ["ill"]})


def test_single_confusions_of_many_classes_need_the_matrix():
    for known in ({"fixed": {("flu", "pox"): 2}}, {"order": [("flu", ("pox", "well"))]}):
        with pytest.raises(ValueError, match="cost_level='matrix'"):
            read(ClassLevel(3), THREE, **known)
    with pytest.raises(ValueError, match="fixed_costs must be by class with cost_level='sample'"):
        read(SampleLevel(Y), THREE, fixed={("flu", "pox"): 2})


def test_rows_have_no_order():
    with pytest.raises(ValueError, match="cost_order must be left out with cost_level='sample'"):
        read(SampleLevel(Y), THREE, order=[("flu", "pox")])
    assert read(SampleLevel(Y), THREE, order=[]).order == ()


def test_a_mistake_of_a_circle_over_several_classes_is_told_in_full():
    order = [("flu", "pox"), ("pox", "well"), ("well", "flu")]
    with pytest.raises(ValueError, match="circle") as refused:
        read(ClassLevel(3), THREE, order=order)
    assert all(label in str(refused.value) for label in THREE)


def test_an_interval_may_be_open_at_either_end():
    region = read(ClassLevel(2), TWO, intervals={"ill": (2, np.inf), "well": (0, 5)})
    assert_array_equal(region.low, [2, 0])
    assert_array_equal(region.high, [np.inf, 5])
