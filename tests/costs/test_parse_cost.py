"""Every way of stating costs gives one matrix; what makes no sense is refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ecselm.costs import parse_cost, parse_sample_cost

MATRIX = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
BY_CLASS = np.array([[0.0, 5.0, 5.0], [2.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
LABELS = pytest.mark.parametrize(
    "classes",
    [
        np.array(["high", "low", "mid"]),
        np.array(["high", "low", "mid"], dtype=object),
        np.array([1, 2, 5]),
        np.array([-1.0, 0.0, 2.5]),
        ["high", "low", "mid"],
    ],
    ids=["text", "objects", "integers", "floats", "list"],
)
BY_FORM = {
    "array": lambda matrix, classes: matrix,
    "integers": lambda matrix, classes: matrix.astype(int),
    "list": lambda matrix, classes: matrix.tolist(),
    "frame": lambda matrix, classes: pd.DataFrame(matrix, classes, classes),
    "shuffled frame": lambda matrix, classes: pd.DataFrame(matrix, classes, classes).iloc[
        ::-1, [1, 2, 0]
    ],
    "pairs": lambda matrix, classes: {
        (i, j): matrix[a, b]
        for a, i in enumerate(classes)
        for b, j in enumerate(classes)
        if matrix[a, b] != 1
    },
}


@LABELS
@pytest.mark.parametrize("form", BY_FORM)
def test_every_form_of_a_matrix_is_read_the_same(classes, form):
    assert_array_equal(parse_cost(BY_FORM[form](MATRIX, classes), classes), MATRIX)


@LABELS
@pytest.mark.parametrize("form", [np.array, list, lambda costs: [int(cost) for cost in costs]])
def test_a_vector_costs_any_mistake_on_that_class(classes, form):
    assert_array_equal(parse_cost(form([5.0, 2.0, 1.0]), classes), BY_CLASS)


@LABELS
def test_a_dict_by_class_leaves_one_for_the_rest(classes):
    assert_array_equal(parse_cost({classes[1]: 2, classes[0]: 5.0}, classes), BY_CLASS)


@pytest.mark.parametrize(
    "cost",
    [
        [[0, 1], [5, 0]],
        np.array([[False, True], [5, False]]),
        pd.DataFrame([[0, 5], [1, 0]], [True, False], [True, False]),
        pd.DataFrame([[5, 0], [0, 1]], [True, False], [False, True]),
        {(True, False): 5},
        {(np.True_, np.False_): 5, (False, True): 1},
        {(1, 0): 5},
        {True: 5},
        [1, 5],
    ],
)
def test_boolean_labels_are_labels(cost):
    assert_array_equal(parse_cost(cost, np.array([False, True])), [[0.0, 1.0], [5.0, 0.0]])


def test_labels_of_numpy_are_those_of_python():
    cost = {(np.int32(2), np.int64(7)): 5, (np.float64(7.0), 2): 3}
    assert_array_equal(parse_cost(cost, np.array([2, 7])), [[0.0, 5.0], [3.0, 0.0]])


def test_a_series_is_read_by_label_like_a_dict():
    cost = pd.Series({"well": 1.0, "ill": 5.0})
    assert_array_equal(parse_cost(cost, ["ill", "well"]), [[0.0, 5.0], [1.0, 0.0]])


@pytest.mark.parametrize("cost", [None, {}, [1, 1, 1], 1 - np.eye(3)])
def test_nothing_stated_is_one_for_every_mistake(cost):
    assert_array_equal(parse_cost(cost, list("abc")), 1.0 - np.eye(3))


@pytest.mark.parametrize("form", BY_FORM)
def test_what_a_right_answer_costs_is_subtracted_from_its_row(form):
    stated = MATRIX + np.array([[2.0], [0.5], [-3.0]])
    classes = np.array(["high", "low", "mid"])
    assert_array_equal(parse_cost(BY_FORM[form](stated, classes), classes), MATRIX)


@st.composite
def stated_matrices(draw):
    k = draw(st.integers(2, 5))
    costs = st.lists(st.integers(0, 100), min_size=k * k, max_size=k * k)
    matrix = np.array(draw(costs.filter(any)), dtype=float).reshape(k, k)
    right = draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k))
    np.fill_diagonal(matrix, 0.0)
    if not matrix.any():
        matrix[0, 1] = 1.0
    return matrix + np.array(right)[:, np.newaxis], draw(st.permutations(range(k)))


@settings(deadline=None)
@given(stated_matrices())
def test_permuting_classes_and_matrix_permutes_the_result(stated):
    matrix, order = stated
    classes = np.array(list("vwxyz"))[: len(matrix)]
    parsed = parse_cost(matrix, classes)
    permuted = matrix[np.ix_(order, order)]
    assert_array_equal(parse_cost(permuted, classes[order]), parsed[np.ix_(order, order)])
    frame = pd.DataFrame(permuted, classes[order], classes[order])
    assert_array_equal(parse_cost(frame, classes), parsed)
    pairs = {(i, j): frame.loc[i, j] for i in frame.index for j in frame.columns}
    assert_array_equal(parse_cost(pairs, classes), parsed)


@settings(deadline=None)
@given(stated_matrices())
def test_a_parsed_matrix_is_parsed_as_itself(stated):
    parsed = parse_cost(stated[0], range(len(stated[0])))
    assert_array_equal(parsed.diagonal(), 0.0)
    assert (parsed >= 0).all()
    assert_array_equal(parse_cost(parsed, range(len(parsed))), parsed)


def test_arguments_are_never_modified():
    matrix = MATRIX + 1.0
    copy, frame, pairs = matrix.copy(), pd.DataFrame(matrix.copy()), {(0, 1): 5.0}
    parse_cost(matrix, range(3))[:] = -1.0
    parse_cost(frame, range(3))[:] = -1.0
    parse_cost(pairs, range(3))
    assert_array_equal(matrix, copy)
    assert_array_equal(frame.to_numpy(), copy)
    assert pairs == {(0, 1): 5.0}


def test_two_classes_are_the_least():
    assert_array_equal(parse_cost({"b": 4}, ["a", "b"]), [[0.0, 1.0], [4.0, 0.0]])


SHAPE = r"cost must have the shape \(2, 2\) for the 2 classes \['ill', 'well'\], got "
NUMBERS = "cost must hold numbers only, got "
NOTHING = "cost must make at least one mistake cost something"
CHEAP = "cost must not make a mistake cheaper .*'ill' is true, predicting 'well' costs "


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones((3, 3)), SHAPE + r"\(3, 3\).*one row per true class"),
        (np.ones((2, 3)), SHAPE + r"\(2, 3\)"),
        ([1, 2, 3], SHAPE + r"\(3,\)"),
        (5.0, SHAPE + r"\(\)"),
        (np.ones((2, 2, 3)), SHAPE + r"\(2, 2, 3\)"),
        ([], SHAPE + r"\(0,\)"),
        ([[0, np.nan], [1, 0]], "cost must be finite, got nan"),
        ([[0, None], [1, 0]], "cost must be finite, got nan"),
        ([np.inf, 1], "cost must be finite, got inf"),
        ({("ill", "well"): -np.inf}, "cost must be finite, got -inf"),
        ([[0, -1], [1, 0]], CHEAP + "-1 and predicting 'ill' costs 0"),
        ([[3, 2], [1, 0]], CHEAP + "2 and predicting 'ill' costs 3"),
        ({"ill": -5}, CHEAP + "-5"),
        ({("ill", "ill"): 2}, CHEAP + "1 and predicting 'ill' costs 2"),
        ({"il": 2}, r"cost must name .*\['ill', 'well'\], got 'il'; did you mean 'ill'\?"),
        ({("ill", "wel"): 2}, r"cost must name .* got 'wel'; did you mean 'well'\?"),
        ({("ill", "zebra"): 2}, r"cost must name .* got 'zebra'$"),
        ({("ill", "well", "x"): 2}, r"cost must name .* got \('ill', 'well', 'x'\)"),
        ({("ill", "well"): 5, "ill": 2}, r"cost must have keys of one kind.*got \[\('ill', 'well'"),
        ("balanced", "cost must compare mistakes, .* got 'balanced'"),
        ([["a", 1], [1, 0]], NUMBERS + r"\[\['a', 1\]"),
        ({"ill": "high"}, NUMBERS + r"\['high'\]"),
        ({("ill", "well"): "high"}, NUMBERS + r"\['high'\]"),
        ({"ill": [2, 1]}, r"cost\['ill'\] must .*got \(2, 1\)"),
        ([[0, 1], [1]], r"cost must .*got \[\[0, 1\], \[1\]\]"),
        (np.zeros((2, 2)), NOTHING),
        ([0, 0], NOTHING),
        ([[2, 2], [3, 3]], NOTHING),
    ],
)
def test_a_cost_that_makes_no_sense_is_refused(cost, message):
    with pytest.raises(ValueError, match=message):
        parse_cost(cost, ["ill", "well"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame([[0.0]], ["ill"], ["ill"]),
            r"every class once.*got rows \['ill'\] and columns \['ill'\]",
        ),
        (
            pd.DataFrame([[0, 1], [1, 0]], ["ill", "ill"], ["ill", "well"]),
            r"every class once .*got rows \['ill', 'ill'\]",
        ),
        (
            pd.DataFrame([[0, 1]], ["ill"], ["ill", "well"]),
            r"every class once .*\['ill', 'well'\], got rows \['ill'\]",
        ),
        (
            pd.DataFrame([[0, 1], [1, 0]], ["ill", "wel"], ["ill", "well"]),
            r"cost's index .*got 'wel'; did you mean 'well'\?",
        ),
        (
            pd.DataFrame([[0, 1], [1, 0]], ["ill", "well"], ["ill", "wel"]),
            r"cost's columns .*got 'wel'; did you mean 'well'\?",
        ),
        (
            pd.DataFrame([[0, 1], [1, 0]]),
            "cost's index .* must name classes of y.*got 0",
        ),
        (
            pd.DataFrame([[0, "x"], [1, 0]], ["ill", "well"], ["ill", "well"]),
            NUMBERS + ".*'x'",
        ),
        (
            pd.DataFrame([[0, np.nan], [1, 0]], ["ill", "well"], ["ill", "well"]),
            "cost must be finite, got nan",
        ),
    ],
)
def test_a_frame_that_makes_no_sense_is_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        parse_cost(frame, ["ill", "well"])


def test_a_number_written_as_text_is_told_from_its_class():
    with pytest.raises(ValueError, match=r"cost must .*\[1, 2\], got '1'; did you mean 1\?"):
        parse_cost({"1": 2}, np.array([1, 2]))


def test_polars_frames_are_read_by_their_column_names():
    frame = pl.DataFrame({"well": [0.0, 5.0], "ill": [1.0, 0.0]})
    assert_array_equal(parse_cost(frame, ["ill", "well"]), [[0.0, 5.0], [1.0, 0.0]])


def test_columns_named_after_classes_are_put_into_their_order():
    frame = pd.DataFrame({"well": [0.0, 7.0], "ill": [3.0, 0.0]})
    costs = parse_sample_cost(frame, np.array([1, 0]), ["ill", "well"], "classes")
    assert_array_equal(costs.matrix, [[3.0, 0.0], [0.0, 7.0]])


def test_a_rule_is_called_with_the_classes():
    def apart(levels):
        return abs(levels[:, None] - levels)

    assert_array_equal(parse_cost(apart, [1, 2, 5]), [[0, 1, 4], [1, 0, 3], [4, 3, 0]])
    assert_array_equal(parse_cost(lambda classes: None, [1, 2]), [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="cheaper than the right answer"):
        parse_cost(lambda classes: [[0, -1], [1, 0]], [1, 2])
