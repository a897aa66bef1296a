"""What is known of costs: how it is stated, stored, restricted and refused."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import CostConstraints, parse_cost

SENTENCES = ["a->b = 3..20", "c->a > a->b", "c->b = 2..5 * c->a", "b = 1..9"]


def said(*sentences, classes=("a", "b", "c"), **known):
    return CostConstraints.from_sentences(list(sentences), list(classes), **known)


def constant(matrices):
    return np.ones(len(matrices))


EXAMPLES = [
    said(*SENTENCES),
    said(*SENTENCES, span=50.0),
    said("a->b > b->a", "b->a >= 3"),
    said("a = 5").with_answer([[0, 1, -1], [0, 0, 0], [0, 0, 0]], "the first is worse"),
    CostConstraints([1, 2], intervals={2: (3, np.inf)}),
    CostConstraints([0.5, 1.5], fixed={0.5: 0}),
    CostConstraints([False, True]),
]


@pytest.mark.parametrize("constraints", EXAMPLES)
def test_constraints_survive_storing(constraints):
    stored = json.loads(json.dumps(constraints.to_dict()))
    for again in (
        CostConstraints.from_dict(stored),
        pickle.loads(pickle.dumps(constraints)),
        copy.copy(constraints),
        copy.deepcopy(constraints),
        eval(repr(constraints)),  # noqa: S307
    ):
        assert again == constraints
        assert hash(again) == hash(constraints)
        assert_array_equal(again.mean(), constraints.mean())
        assert again.describe() == constraints.describe()


def test_the_state_holds_plain_values():
    def is_plain(value):
        if isinstance(value, dict):
            return all(is_plain(one) for one in value.values())
        if isinstance(value, list):
            return all(is_plain(one) for one in value)
        return value is None or type(value) in {str, int, float, bool}

    for constraints in EXAMPLES:
        assert is_plain(constraints.__getstate__())
        again = pickle.loads(pickle.dumps(constraints))
        assert again.classes.dtype == constraints.classes.dtype


def test_skops_stores_constraints_without_custom_types_but_their_own():
    io = pytest.importorskip("skops.io")
    stored = io.dumps(EXAMPLES[0])
    unknown = io.get_untrusted_types(data=stored)
    assert all(name.endswith("CostConstraints") for name in unknown)
    assert io.loads(stored, trusted=unknown) == EXAMPLES[0]


def test_a_density_survives_pickling_but_is_not_written_as_text():
    constraints = CostConstraints(["a", "b"], intervals={"a": (1, 9)}, density=constant)
    assert pickle.loads(pickle.dumps(constraints)) == constraints == copy.deepcopy(constraints)
    with pytest.raises(ValueError, match="density must be None to be written"):
        constraints.to_dict()


def test_costs_by_row_survive_storing():
    rows = np.array([[[0.0, 1.0], [4.0, 0.0]], [[0.0, 2.0], [9.0, 0.0]]])
    constraints = CostConstraints(["a", "b"], sample_cost=rows)
    again = CostConstraints.from_dict(json.loads(json.dumps(constraints.to_dict())))
    assert again == constraints == pickle.loads(pickle.dumps(constraints))
    assert constraints.describe() == "costs are known for each of 2 rows"
    assert {one.tobytes() for one in constraints.sample(50, 0)} == {one.tobytes() for one in rows}


def test_constraints_differ_by_what_they_say():
    assert said("a = 5") != said("a = 6")
    assert said("a = 5") != said("a = 5", span=7.0)
    assert said("a = 5") != said("a = 5", classes="acb")
    assert said("a = 5") != "a = 5"


@pytest.mark.parametrize(
    ("sentences", "blamed"),
    [
        (["a->b = 5", "a->b = 6", "c = 2..4"], ["a->b = 5", "a->b = 6"]),
        (["a->b = 1..3", "c = 2", "a->b >= 4"], ["a->b = 1..3", "a->b >= 4"]),
        (["a->b > b->a", "c = 2", "b->a > a->b"], ["a->b > b->a", "b->a > a->b"]),
        (["a->b >= 3 * b->a", "b->a > c->a", "a->b = 1..2 * b->a"], ["3 * b", "1..2 * b"]),
        (["a = 5", "b->c = 2", "a->b = 7"], ["a = 5", "a->b = 7"]),
        (["a->b = 0", "b = 3", "a->b >= 2"], ["a->b = 0", "a->b >= 2"]),
        (["a->b = 0", "b = 3", "a->b > b"], ["a->b = 0", "a->b > b"]),
        (["a->b = 0", "b->a <= 3 * a->b"], ["a->b = 0", "b->a <= 3 * a->b"]),
    ],
)
def test_contradictions_name_two_statements(sentences, blamed):
    with pytest.raises(ValueError, match="must not contradict each other") as caught:
        said(*sentences)
    message = str(caught.value)
    assert all(text in message for text in blamed)
    assert message.count("'") == 4
    assert "\n" not in message


def test_three_statements_that_contradict_only_together_are_all_named():
    with pytest.raises(ValueError, match="contradict") as caught:
        said("a->b >= 5 * b->a", "a->b <= 3", "b->a >= 1", "c = 4")
    assert all(one in str(caught.value) for one in ("5 * b->a", "a->b <= 3", "b->a >= 1"))
    assert "c = 4" not in str(caught.value)


def test_answers_that_contradict_a_statement_or_each_other_are_named():
    constraints = said("a->b = 2..9", "c = 4")
    more = np.zeros((3, 3))
    more[0, 1], more[1, 0] = 1.0, -10.0  # a->b >= 10 times the unit
    with pytest.raises(ValueError, match=r"'a->b = 2\.\.9' and 'ten times as bad'"):
        constraints.with_answer(more, "ten times as bad")
    more[1, 0] = -5.0
    with pytest.raises(ValueError, match="'at least five' and 'at most four'"):
        constraints.with_answer(more, "at least five").with_answer(
            -np.where(more < 0, -4.0, more), "at most four"
        )


@pytest.mark.parametrize(
    "cost",
    [
        {("a", "b"): (3, 20), ("b", "a"): 2},
        {("a", "b"): "3..20", ("b", "a"): 2},
        [[[0, 0], [3, 20]], [[2, 2], [0, 0]]],
        pd.DataFrame([[0, "3..20"], [2, 0]], index=["a", "b"], columns=["a", "b"]),
        ["a->b = 3..20", "b->a = 2"],
        lambda classes: {(classes[0], classes[1]): (3, 20), (classes[1], classes[0]): 2},
        CostConstraints.from_sentences(["a->b = 3..20", "b->a = 2"]),
    ],
    ids=["pairs", "texts", "bounds", "frame", "sentences", "callable", "constraints"],
)
def test_intervals_are_read_from_any_form(cost):
    constraints = CostConstraints.from_costs(cost, ["a", "b"])
    assert_allclose(constraints.low, [[0, 3], [2, 0]])
    assert_allclose(constraints.high, [[0, 20], [2, 0]])
    assert not constraints.is_exact


def test_exact_costs_are_read_from_arrays_and_cells_of_dots_are_open():
    constraints = CostConstraints.from_costs(np.array([[0, 3], [2, 0]]), ["a", "b"])
    assert constraints.is_exact
    assert_allclose(constraints.mean(), [[0, 3], [2, 0]])
    frame = pd.DataFrame([[0, ".."], [2, 0]], index=["a", "b"], columns=["a", "b"])
    constraints = CostConstraints.from_costs(frame, ["a", "b"])
    assert_allclose(constraints.low, [[0, 0.02], [2, 0]])
    assert_allclose(constraints.high, [[0, 200], [2, 0]])


def test_contains_compares_up_to_the_unit_where_only_ratios_are_stated():
    ratios = said("a->b = 3..20 * b->a", classes="ab")
    assert ratios.contains([[0, 50], [10, 0]])
    assert not ratios.contains([[0, 2], [1, 0]])
    answered = ratios.with_answer([[0, 1], [-4, 0]], "at least four times")
    assert answered.contains([[0, 50], [10, 0]])
    assert not answered.contains([[0, 35], [10, 0]])
    amounts = said("a->b = 3..20", classes="ab")
    assert amounts.contains([[0, 5], [1, 0]])
    assert not amounts.contains([[0, 50], [10, 0]])
    assert all(said(*SENTENCES).contains(one) for one in said(*SENTENCES).sample(50, 0))


def test_classes_are_permuted_left_out_and_read_as_texts_or_numbers():
    constraints = said(*SENTENCES)
    moved = constraints.for_classes(["c", "a", "b"])
    codes = np.ix_([2, 0, 1], [2, 0, 1])
    assert_allclose(moved.low, constraints.low[codes])
    assert moved.for_classes(["a", "b", "c"]) == constraints
    part = constraints.for_classes(["b", "a"])
    assert_allclose(part.low, [[0, 1], [3, 0]])
    numbers = CostConstraints([1, 2], intervals={2: (3, 20)})
    for labels in (["1", "2"], ["1.0", "2.0"], [1.0, 2.0]):
        assert_allclose(numbers.for_classes(labels).low, numbers.low)
    texts = CostConstraints(["1", "2"], intervals={"2": (3, 20)})
    for labels in ([1, 2], [1.0, 2.0], [2, 1]):
        moved = texts.for_classes(labels)
        assert moved.high[labels.index(2), labels.index(1)] == 20


def test_answers_about_classes_that_are_left_out_are_left_out():
    constraints = said("a->b = 1..9", "a->c = 1..9")
    both = constraints.with_answer([[0, 1, -1], [0, 0, 0], [0, 0, 0]], "about c")
    assert both.for_classes(["a", "b"]).answers == ()
    one = constraints.with_answer([[0, 1, 0], [-2, 0, 0], [0, 0, 0]], "about a and b")
    assert one.for_classes(["b", "a"]).low[1, 0] == 2


def test_statements_read_as_words():
    assert said("a->b = 3..20", classes="ab").describe().splitlines() == [
        "an a case taken for b costs between 3 and 20",
        "every other mistake costs 1",
    ]
    assert said(classes="ab").describe() == "every mistake costs 1"
    assert "for want of a stated limit" in said("a->b > b->a", classes="ab").describe()


def test_a_density_moves_the_mean():
    def towards_the_end(matrices):
        return matrices[:, 1, 0] ** 20

    known = {"intervals": {"b": (1, 10)}}
    flat = CostConstraints(["a", "b"], **known, density=constant)
    steep = CostConstraints(["a", "b"], **known, density=towards_the_end)
    assert_allclose(flat.mean()[1, 0], 5.5, rtol=0.05)
    assert_allclose(steep.mean()[1, 0], 10 * 21 / 22, rtol=0.05)


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (lambda matrices: 1.0, "must return one number per matrix"),
        (lambda matrices: np.full(len(matrices), np.nan), "finite numbers >= 0, got nan"),
        (lambda matrices: -np.ones(len(matrices)), r"finite numbers >= 0, got -1\.0"),
        (lambda matrices: np.zeros(len(matrices)), "must be positive somewhere"),
    ],
)
def test_a_density_that_is_none_is_refused(density, message):
    with pytest.raises(ValueError, match=message):
        CostConstraints(["a", "b"], intervals={"b": (1, 10)}, density=density).mean()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fixed": {"a": np.nan}}, "nan"),
        ({"fixed": {"a": -1}}, "-1"),
        ({"intervals": {"a": (5, 3)}}, "5"),
        ({"intervals": {"a": (1, np.nan)}}, "nan"),
        ({"fixed": {"x": 1}}, "x"),
        ({"order": [("a", "x")]}, "x"),
        ({"span": 1.0}, "span must be a factor > 1"),
        ({"span": np.nan}, "span must be a factor > 1"),
        ({"density": 3}, "density must be a function"),
        ({"answers": [(np.zeros((2, 3)), "")]}, r"the shape \(2, 2\)"),
        ({"answers": [([[0, np.nan], [0, 0]], "")]}, "answers"),
        ({"sample_cost": np.zeros((4, 3, 3))}, r"\(N, 2, 2\)"),
        ({"sample_cost": np.zeros((4, 2, 2)), "fixed": {"a": 1}}, "stated once"),
    ],
)
def test_bad_statements_are_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        CostConstraints(["a", "b"], **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("classes", [["a"], [["a", "b"]], ["a", "a"], []])
def test_bad_classes_are_refused(classes):
    with pytest.raises(ValueError, match="classes must"):
        CostConstraints(classes)


def test_bad_costs_are_refused():
    for cost in (
        np.zeros((3, 3, 3)),
        np.full((2, 2), np.nan),
        [[[0, 0], [5, 3]], [[1, 1], [0, 0]]],
    ):
        with pytest.raises(ValueError, match=r"cost|low"):
            CostConstraints.from_costs(cost, ["a", "b"])


def test_unknown_classes_of_the_data_are_refused():
    rows = CostConstraints(["a", "b"], sample_cost=np.ones(3))
    for constraints in (said("a = 5", classes="ab"), rows):
        with pytest.raises(ValueError, match="cost must name the classes of y"):
            constraints.for_classes(["a", "x"])


def first_is_high(matrices):
    return matrices[:, 0, 1] ** 20


def test_a_density_is_of_matrices_in_the_order_of_its_own_classes():
    known = dict.fromkeys([("x", "y"), ("y", "x")], (1, 10))
    constraints = CostConstraints(["x", "y"], intervals=known, density=first_is_high)
    moved = constraints.for_classes(["y", "x"])
    for one in (moved, pickle.loads(pickle.dumps(moved)), copy.deepcopy(moved)):
        assert_allclose(one.mean(), constraints.mean()[::-1, ::-1], rtol=0.05)
    assert moved.for_classes(["x", "y"]) == constraints
    three = CostConstraints(["x", "y", "z"], intervals={"x": (1, 9)}, density=first_is_high)
    again = three.for_classes(["z", "x", "y"]).for_classes(["y", "z", "x"])
    assert_allclose(again.mean(), three.for_classes(["y", "z", "x"]).mean())
    with pytest.raises(ValueError, match="density must be None where y lacks classes"):
        three.for_classes(["x", "y"])


def test_an_answer_that_contradicts_costs_by_number_is_refused():
    known = CostConstraints(["a", "b"], fixed={("a", "b"): 2, ("b", "a"): 1})
    assert known.with_answer([[0, 1], [-2, 0]], "at least twice").is_exact
    with pytest.raises(ValueError, match=r"got .*= 2.*, .*= 1\" and 'three times'"):
        known.with_answer([[0, 1], [-3, 0]], "three times")


def test_an_answer_that_contradicts_the_unit_says_so():
    with pytest.raises(ValueError, match="got 'three times'; a mistake that nothing is stated"):
        CostConstraints(["a", "b"]).with_answer([[0, 1], [-3, 0]], "three times")


def test_a_chain_is_named_once_in_a_contradiction():
    with pytest.raises(ValueError, match=r"got 'a > b > c' and 'c > a'$"):
        said("a > b > c", "c > a")


def test_costs_of_nothing_but_zeros_are_refused():
    with pytest.raises(ValueError, match="at least one mistake cost something, got 0 for all"):
        CostConstraints(["a", "b"], fixed={"a": 0, "b": 0})


def test_constraints_do_not_change_with_the_arguments_they_were_made_of():
    classes, answer, rows = np.array([1, 2]), np.array([[0.0, 1], [-1, 0]]), np.ones(3)
    one = CostConstraints(classes, intervals={1: (1, 9)}, answers=[(answer, "")])
    two = CostConstraints(classes, sample_cost=rows)
    before = hash(one), hash(two), one.mean()
    classes[:], answer[:], rows[:] = 7, -1.0, 5.0
    one.mean()[:] = 0.0
    assert (hash(one), hash(two)) == before[:2]
    assert_array_equal(one.mean(), before[2])
    assert two.mean()[0, 1] == 1
    for array in (one.classes, one.answers[0][0], two.sample_cost):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_costs_of_rows_are_those_beyond_the_right_answer():
    rows = np.array([[[1.0, 3.0], [7.0, 1.0]], [[0.0, 2.0], [4.0, 0.0]]])
    assert_allclose(CostConstraints(["a", "b"], sample_cost=rows).mean(), [[0, 2], [5, 0]])
    assert_allclose(CostConstraints(["a", "b"], sample_cost=[1, 3]).mean(), [[0, 2], [2, 0]])
    with pytest.raises(ValueError, match="sample_cost must not make a mistake cheaper"):
        CostConstraints(["a", "b"], sample_cost=rows[:, ::-1])


@pytest.mark.parametrize(
    "cost",
    [
        pd.Series({"a": (3, 20), "b": 2}),
        {("a", "b"): (3, 20), ("b", "a"): "2", ("a", "a"): 0, ("b", "b"): 0.0},
        [[[0, 0], [3, 20.0]], [[2, 2], [0, 0]]],
        pd.DataFrame([[0, 2], ["3..20", 0]], index=["b", "a"], columns=["b", "a"]),
        pl.DataFrame({"a": ["0", "2"], "b": ["3..20", "0"]}),
    ],
    ids=["series", "diagonal", "lists", "other order", "polars"],
)
def test_intervals_are_read_by_estimators_and_metrics_alike(cost):
    constraints = CostConstraints.from_costs(cost, ["a", "b"])
    assert_allclose(constraints.low, [[0, 3], [2, 0]])
    assert_allclose(constraints.high, [[0, 20], [2, 0]])
    assert_array_equal(parse_cost(cost, ["a", "b"]), constraints.mean())


def test_exact_costs_are_read_from_polars():
    cost = pl.DataFrame({"b": [0, 5], "a": [1, 0]})
    assert_allclose(CostConstraints.from_costs(cost, ["a", "b"]).mean(), [[0, 5], [1, 0]])


def test_an_open_end_is_the_same_in_a_dict_and_in_an_array():
    ends = [[[0, 0], [1, 1]], [[3, np.inf], [0, 0]]]
    for cost in (ends, np.array(ends), {("b", "a"): (3, np.inf)}, "b->a >= 3"):
        assert CostConstraints.from_costs(cost, ["a", "b"]).high[1, 0] == 100


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ({("fixed", "x"): (5, 3)}, r"^cost\[\('fixed', 'x'\)\] must be a pair"),
        ({("fixed", "x"): (3, 5), ("x", "fixed"): -1}, r"^cost\[\('x', 'fixed'\)\] must be one"),
        ({("fixed", "x"): (3, 5), ("x", "x"): 1}, "cost must be 0 for right answers"),
        (pd.DataFrame([[0, np.nan], [2, 0]], *[["fixed", "x"]] * 2), "must be finite, got nan"),
        (pd.DataFrame([[0, np.nan], ["1..2", 0]], *[["fixed", "x"]] * 2), "cost >= 0, got nan"),
        (pd.DataFrame([["1..2", 0]], ["x"], ["fixed", "x"]), "every class once as a row"),
        ([[[0, 0], [3, np.nan]], [[2, 2], [0, 0]]], "cost must hold numbers, got nan"),
    ],
)
def test_bad_costs_are_refused_by_their_own_names(cost, message):
    with pytest.raises(ValueError, match=message):
        CostConstraints.from_costs(cost, ["fixed", "x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"span": "wide"}, "span must be a factor > 1, got 'wide'"),
        ({"answers": [3]}, "answers must be pairs of coefficients and a text, got 3"),
        ({"sample_cost": np.zeros((0, 2, 2))}, r"a matrix per row, or \(N,\)"),
    ],
)
def test_values_of_other_kinds_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CostConstraints(["a", "b"], **options)
