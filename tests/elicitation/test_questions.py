"""Questions say in words what they compare, and answers are intervals of a ratio."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.costs import CostConstraints
from ecselm.elicitation import Question
from ecselm.elicitation.questions import (
    cost_groups,
    order_question,
    outcome_question,
    ratio_question,
)

TWO = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
THREE = CostConstraints(["a", "b", "c"], intervals={"b": (1, 9), ("c", "a"): (1, 9)})


def test_mistakes_of_equal_cost_are_one_group_and_the_unit_is_last():
    groups = cost_groups(THREE)
    assert [one.parameter for one in groups] == [0, 1, -1]
    assert [one.singular for one in groups] == [
        "any mistake on a b case",
        "a c case taken for a",
        "any mistake on an a case",
    ]
    assert [int(one.entries.sum()) for one in groups] == [2, 1, 3]
    assert groups[2].every == "other mistakes"


def test_classes_that_are_numbers_are_called_classes():
    groups = cost_groups(CostConstraints([0, 1], intervals={1: (1, 100)}))
    text = order_question(*groups, np.array([0, 1])).text
    assert text == (
        "Which is worse: a case of class 1 taken for class 0, or a case of class 0 taken for "
        "class 1?"
    )


@pytest.mark.parametrize(
    ("cost", "key"), [(2.0, "fewer"), (7.0, "about"), (40.0, "more"), (5.0, "about")]
)
def test_a_ratio_is_answered_by_the_bracket_of_the_costs(cost, key):
    question = ratio_question(*cost_groups(TWO), 5, 20, TWO.classes)
    assert question.answer_for([[0, cost], [1, 0]]) == key
    assert question.answer_for([[0, 10 * cost], [10, 0]]) == key  # the unit does not matter


@pytest.mark.parametrize(("cost", "key"), [(0.2, "second"), (1.05, "equal"), (1.2, "first")])
def test_costs_that_are_about_equal_are_in_no_order(cost, key):
    question = order_question(*cost_groups(TWO), TWO.classes)
    assert question.answer_for([[0, cost], [1, 0]]) == key


def test_the_better_outcome_is_the_one_that_costs_less():
    groups = cost_groups(TWO)
    question = outcome_question(groups, [1, 40], [3, 10], TWO.classes)  # 30 alarms for 2 misses
    costs = np.array([[0, 12.0], [1, 0]])
    paid = [1 * 12 + 40, 3 * 12 + 10]
    assert question.answer_for(costs) == ("first" if paid[0] < paid[1] else "second") == "second"
    assert question.answer_for([[0, 20], [1, 0]]) == "first"
    assert question.answer_for([[0, 15], [1, 0]]) == "equal"
    assert question.text == (
        "Of 1000 cases, which would you rather have: 1 ill case taken for well and 40 well cases "
        "taken for ill, or 3 ill cases taken for well and 10 well cases taken for ill?"
    )


def test_outcomes_compare_only_the_mistakes_in_which_they_differ():
    question = outcome_question(cost_groups(THREE), [4, 7, 9], [4, 8, 3], THREE.classes)
    assert question.choices[0].text == "7 c cases taken for a and 9 other mistakes"
    assert_allclose([question.left.sum(), question.right.sum()], [6, 1])


def test_statements_say_what_was_answered():
    order = order_question(*cost_groups(TWO), TWO.classes)
    assert order.statement("second") == (
        "a well case taken for ill is worse than an ill case taken for well"
    )
    much = order_question(*cost_groups(TWO), TWO.classes, 5)
    assert much.statement("first") == (
        "an ill case taken for well is more than 5 times as bad as a well case taken for ill"
    )
    assert much.statement("equal").startswith("neither is more than 5 times as bad as the other")
    ratio = ratio_question(*cost_groups(TWO), 1, 20, TWO.classes)
    assert ratio.statement("fewer").endswith("to avoid one ill case taken for well: not even one")
    assert ratio.statement("dont_know").endswith(": not known")


def test_an_unknown_choice_is_refused_with_those_that_are_known():
    question = order_question(*cost_groups(TWO), TWO.classes)
    with pytest.raises(ValueError, match="answer must be one of 'first', 'second', 'equal'"):
        question.choice("third")
    assert question.choice(question.choices[1]).key == "second"


def test_questions_survive_being_written():
    question = outcome_question(cost_groups(TWO), [1, 40], [3, 10], TWO.classes)
    again = Question.from_dict(question.to_dict(), TWO.classes)
    assert again.to_dict() == question.to_dict()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"kind": "riddle"}, "kind must be one of"),
        ({"left": [[0, -1], [0, 0]]}, "numbers of mistakes >= 0"),
        ({"left": [[0, 1]]}, "numbers of mistakes >= 0"),
        ({"left": [[1, 1], [0, 0]]}, "must compare mistakes"),
        ({"right": [[0, 0], [0, 0]]}, "must compare mistakes"),
        ({"right": "much"}, "a fault at"),
        ({"text": "x" * 3000}, "at most 2000 characters"),
        ({"choices": []}, "1 to 8 different choices"),
        ({"choices": [{"key": "a"}]}, "a fault at"),
    ],
)
def test_a_question_that_was_changed_is_refused(changed, words):
    stored = order_question(*cost_groups(TWO), TWO.classes).to_dict()
    with pytest.raises(ValueError, match=words):
        Question.from_dict(stored | changed, TWO.classes)


@pytest.mark.parametrize("ends", [{"low": -1.0}, {"low": 3.0, "high": 2.0}, {"settles": 2.0}])
def test_a_choice_that_was_changed_is_refused(ends):
    stored = order_question(*cost_groups(TWO), TWO.classes).to_dict()
    stored["choices"][0] |= ends
    with pytest.raises(ValueError, match="0 <= low <= high and a share"):
        Question.from_dict(stored, TWO.classes)
