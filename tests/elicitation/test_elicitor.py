"""By ask and tell: answers cut the constraints until decisions depend on costs no more."""

import json
import pickle
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from ecselm import CostDecisionClassifier
from ecselm.costs import CostConstraints
from ecselm.costs.policy import normalised
from ecselm.elicitation import Answer, CostElicitor, Question
from ecselm.elicitation.elicitor import MOST_BYTES, supposed
from ecselm.elicitation.questions import (
    DONT_KNOW,
    cost_groups,
    order_question,
    outcome_question,
    ratio_question,
)

TWO = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
THREE = CostConstraints(["a", "b", "c"], intervals={"b": (1, 100), "c": (1, 100)})
SEVEN = np.array([[0.0, 7.0], [1.0, 0.0]])


def rows_of(k, n=300, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.7), n)


def elicitor(constraints=TWO, n=300, **options):
    P = rows_of(len(constraints.classes), n)
    return CostElicitor(constraints, P, **{"random_state": 0} | options)


def ratio(constraints, low, high, first=0, second=-1):
    groups = cost_groups(constraints)
    return ratio_question(groups[first], groups[second], low, high, constraints.classes)


def answered(one, costs, most=30):
    while not one.done and len(one.history) < most:
        one.tell(one.ask().answer_for(costs))
    return one


def test_two_classes_settle_by_the_closed_form():
    one = elicitor()
    one.tell("about", question=ratio(TWO, 5, 20))
    p = rows_of(2)[:, 0]
    assert_allclose(one.settled, ((p <= 1 / 21) | (p >= 1 / 6)).mean(), atol=1e-12)
    assert_allclose([one.constraints.low[0, 1], one.constraints.high[0, 1]], [5, 20])


def test_regret_is_the_expected_cost_of_not_knowing():
    one = elicitor()
    P = rows_of(2)
    grid = np.zeros((4000, 2, 2))
    grid[:, 0, 1], grid[:, 1, 0] = 100 ** ((np.arange(4000) + 0.5) / 4000), 1.0
    M = normalised(grid, P.mean(axis=0))
    best = np.mean([(P @ m).min(axis=1).mean() for m in M])
    assert_allclose(one.regret, (P @ M.mean(axis=0)).min(axis=1).mean() - best, rtol=1e-2)
    assert_allclose(one.decision_matrix, M.mean(axis=0), rtol=1e-3)


def test_answers_cut_the_constraints_and_the_truth_stays_possible():
    one = answered(elicitor(), SEVEN)
    assert one.constraints.contains(SEVEN)
    assert one.regret <= 0.01
    assert one.settled > elicitor().settled
    assert one.ask() is None


@pytest.mark.parametrize("constraints", [THREE, supposed(["a", "b", "c"]), supposed([0, 1])])
def test_every_kind_of_constraints_ends(constraints):
    truth = constraints.sample(1, 3)[0]
    one = answered(elicitor(constraints), truth)
    assert one.done
    assert one.constraints.contains(truth)


def test_what_a_question_settles_is_what_its_answer_settles():
    one = elicitor()
    question = one.ask()
    for choice in question.choices[:3]:
        one.tell(choice)
        assert_allclose(one.settled, choice.settles, atol=0.03)
        one.undo()
    assert_allclose(question.choices[3].settles, one.settled, atol=0.03)


def test_the_same_question_is_asked_until_it_is_answered():
    one = elicitor()
    assert one.ask() is one.ask()
    before = one.ask()
    one.tell("about")
    assert one.ask() is not before


def test_undo_returns_to_the_state_before():
    one = elicitor(THREE)
    one.tell(one.ask().choices[0])
    before, asked = one.to_dict(), one.ask()
    figures = one.settled, one.regret
    one.tell(asked.choices[0])
    taken = one.undo()
    assert isinstance(taken, Answer)
    assert taken.question is asked
    assert one.to_dict() == before
    assert (one.settled, one.regret) == figures
    assert one.ask().to_dict() == asked.to_dict()
    one.undo()
    with pytest.raises(ValueError, match="undo must follow an answer"):
        one.undo()


def test_not_knowing_is_an_answer_and_the_question_does_not_return():
    one = elicitor()
    first = one.ask()
    one.tell(DONT_KNOW)
    assert one.constraints == TWO
    assert one.history[0].settled == elicitor().settled
    later = one.ask()
    assert later is None or later.text != first.text


def test_who_knows_nothing_is_asked_a_finite_number_of_questions():
    one = elicitor(THREE, n=60)
    while not one.done:
        one.tell(DONT_KNOW)
        assert len(one.history) < 20
    assert one.constraints == THREE


def test_a_contradiction_is_refused_with_the_earlier_answer_and_changes_nothing():
    one = elicitor()
    one.tell("more", question=ratio(TWO, 5, 20), by="Ann")
    before = one.to_dict()
    with pytest.raises(ValueError, match=r"got 'fewer than 5' after 'How many well.*more than 20'"):
        one.tell("fewer", question=ratio(TWO, 5, 20))
    assert one.to_dict() == before
    assert one.contradictions == ()


def test_an_answer_against_what_was_stated_is_refused():
    with pytest.raises(ValueError, match="after what was stated at first"):
        elicitor().tell("more", question=ratio(TWO, 200, 300))


def test_with_errors_contradictions_are_listed_and_not_refused():
    one = elicitor(error_rate=0.1)
    one.tell("more", question=ratio(TWO, 5, 20))
    assert one.contradictions == ()
    one.tell("fewer", question=ratio(TWO, 4, 30))
    assert one.contradictions == (one.history,)
    one.undo()
    assert one.contradictions == ()


def test_answers_about_the_same_costs_are_one_statement():
    one = elicitor()
    one.tell("more", question=ratio(TWO, 2, 5))
    one.tell("fewer", question=ratio(TWO, 20, 30))
    assert one.constraints.sentences()[1] == (
        "an ill case taken for well costs between 5 and 20 times as much as a well case taken for "
        "ill"
    )


def test_a_ratio_that_is_asked_the_other_way_round_cuts_the_same():
    groups = cost_groups(THREE)
    for first, second, key in ((0, 1, "more"), (1, 0, "fewer")):
        one = elicitor(THREE)
        question = ratio_question(groups[first], groups[second], 3, 3.1, THREE.classes)
        one.tell(key, question=question)
        ratios = one.constraints.vertices()
        with np.errstate(divide="ignore"):
            found = ratios[:, 1, 0] / ratios[:, 2, 0]
        assert (found.min() >= 3.1 - 1e-6) if key == "more" else (found.min() >= 0.3333 - 1e-6)


def test_outcomes_are_half_spaces():
    one = elicitor(THREE)
    question = outcome_question(cost_groups(THREE), [5, 1, 10], [1, 4, 20], THREE.classes)
    one.tell("first", question=question)
    M = one.constraints.vertices()
    assert (4 * M[:, 1, 0] <= 3 * M[:, 2, 0] + 10 * M[:, 0, 1] + 1e-6).all()
    assert "would be better than" in one.constraints.describe()
    one.undo()
    one.tell("equal", question=question)
    assert len(one.constraints.answers) == 2


def test_mistakes_without_a_name_of_their_own_are_compared_by_half_spaces():
    known = CostConstraints(
        list("abcd"), intervals={"a": (1, 100), ("a", "b"): (1, 100), "b": (1, 100)}
    )
    groups = cost_groups(known)
    unnamed = next(one for one in groups if one.mistake is None)
    one = elicitor(known)
    one.tell("more", question=ratio_question(unnamed, groups[-1], 5, 20, known.classes))
    assert_allclose(one.constraints.low[0, 2], 20, rtol=1e-6)
    assert_allclose(one.constraints.low[0, 1], 1, rtol=1e-6)


def test_order_and_equality_are_cut():
    known = supposed(["ill", "well"])
    question = order_question(*cost_groups(known)[::-1], known.classes)
    one = elicitor(known)
    one.tell("equal", question=question)
    # Inverse numbers are rounded outwards, so that sentences have few digits.
    assert_allclose([one.constraints.low[1, 0], one.constraints.high[1, 0]], [0.909, 1.1])
    assert not any("000" in sentence for sentence in one.constraints.sentences())


def test_the_estimate_weighs_costs_by_the_likelihood():
    one = elicitor(error_rate=0.2)
    assert_allclose(one.constraints.mean(), TWO.mean(), rtol=0.05)
    for _ in range(4):
        one.tell("about", question=ratio(TWO, 5, 7))
    assert_allclose(one.constraints.mean()[0, 1], 6, rtol=0.1)
    assert_allclose(one.credible().mean()[0, 1], 6, rtol=0.1)
    assert one.credible().density is None
    pickle.loads(pickle.dumps(one.constraints)).mean()


def test_with_errors_ratios_are_known_where_no_cost_is_the_unit():
    known = supposed(["a", "b", "c"])
    truth = known.sample(1, 4)[0]
    one = answered(elicitor(known, error_rate=0.1, tolerance=0), truth)
    for found in (one.constraints, one.credible()):
        mean = found.mean()
        ratios = [M[[1, 2], [0, 0]] / M[0, 1] for M in (mean, truth)]
        assert_allclose(*ratios, rtol=0.1)
    assert CostConstraints.from_dict(one.credible().to_dict()) == one.credible()


def test_the_random_state_decides_about_everything():
    truth = THREE.sample(1, 5)[0]
    one, two = (answered(elicitor(THREE, random_state=3), truth) for _ in range(2))
    texts = [[answer.question.text for answer in each.history] for each in (one, two)]
    assert texts[0] == texts[1]
    assert one.regret == two.regret


def test_many_classes_are_asked_about():
    names = [f"class {i}" for i in range(16)]
    one = elicitor(supposed(names), n=100)
    truth = supposed(names).sample(1, 0)[0]
    before = one.regret
    for _ in range(2):
        one.tell(one.ask().answer_for(truth))
    assert one.regret < before


def test_answers_that_meet_in_one_point_leave_it():
    for constraints in (TWO, THREE):
        one = elicitor(constraints)
        one.tell("about", question=ratio(constraints, 5, 20))
        one.tell("fewer", question=ratio(constraints, 5, 6))
        place = cost_groups(constraints)[0].place
        low, high = one.constraints.low[place], one.constraints.high[place]
        assert_allclose([low, high], [5, 5], rtol=1e-6)
        one.ask()


def test_questions_of_other_makers_need_no_bracket():
    one = elicitor()
    question = ratio(TWO, 5, 20)
    two = Question.from_dict(
        question.to_dict() | {"choices": question.to_dict()["choices"][:1]}, TWO.classes
    )
    one.tell("fewer", question=two)
    assert one.ask() is not None or one.regret <= 0.01


def test_known_costs_leave_nothing_to_ask():
    one = CostElicitor([[0, 5], [1, 0]], rows_of(2))
    assert one.done
    assert (one.settled, one.regret) == (1.0, 0.0)
    with pytest.raises(ValueError, match="nothing is left to ask"):
        one.tell("more")


@pytest.mark.parametrize(
    "stated", ["ill->well = 1..100", ["ill->well = 1..100"], {("ill", "well"): (1, 100), "well": 1}]
)
def test_constraints_may_be_stated_in_any_form(stated):
    one = CostElicitor(stated, rows_of(2))
    assert one.classes.tolist() == ["ill", "well"]
    assert one.ask().kind == "ratio"


@pytest.mark.parametrize(
    ("constraints", "P", "options", "words"),
    [
        (THREE, rows_of(2), {}, "y_prob must have a column for each of the 3 classes"),
        (TWO, [0.5, 0.5], {}, "y_prob must have the shape"),
        (TWO, [["x", "y"]], {}, "y_prob must be an array"),
        (TWO, [[0.7, 0.7]], {}, "y_prob must have rows of probabilities"),
        (TWO, [[np.nan, 0.5]], {}, "y_prob must have rows of probabilities"),
        (TWO, rows_of(2), {"error_rate": 0.5}, "error_rate must be a number with 0 <= error_rate"),
        (TWO, rows_of(2), {"tolerance": -0.1}, "tolerance must be a number with 0 <= tolerance"),
        (TWO, rows_of(2), {"tolerance": True}, "tolerance must be a number"),
        (
            CostConstraints([0, 1], sample_cost=np.ones(3)),
            rows_of(2),
            {},
            "constraints must be about classes, got costs of rows",
        ),
    ],
)
def test_wrong_arguments_are_refused(constraints, P, options, words):
    with pytest.raises(ValueError, match=words):
        CostElicitor(constraints, P, **options)


def test_the_rows_may_be_many():
    one = elicitor(n=25_000)
    assert len(one.rows) == 10_000
    assert one.ask() is not None


def test_a_model_brings_its_classes_probabilities_and_constraints():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = np.where(X[:, 0] + rng.standard_normal(200) > 0.5, "ill", "well")
    plain = LogisticRegression().fit(X, y)
    one = CostElicitor.from_model(plain, X, random_state=0)
    assert_allclose(one.rows, plain.predict_proba(X))
    assert one.prior == supposed(["ill", "well"])
    stated = CostElicitor.from_model(plain, X, "ill->well = 3..20", random_state=0)
    assert_allclose(stated.prior.high[0, 1], 20)
    model = CostDecisionClassifier(LogisticRegression(), cost="ill->well = 2..50").fit(X, y)
    assert_allclose(CostElicitor.from_model(model, X).prior.high[0, 1], 50)
    with pytest.raises(ValueError, match="model must be a fitted classifier"):
        CostElicitor.from_model(LogisticRegression(), X)


def test_any_mistake_is_supposed_to_cost_at_most_100_times_any_other():
    vertices = supposed(["a", "b", "c"]).vertices()
    off = vertices[:, ~np.eye(3, dtype=bool)]
    assert_allclose((off.max(axis=1) / off.min(axis=1)).max(), 100)


def test_history_says_who_answered_when():
    one = elicitor(tolerance=0.001)
    one.tell("about", by="Ann", when=datetime(2026, 5, 4, 12, tzinfo=UTC))
    one.tell(DONT_KNOW, by="Bob", when="2026-05-05T08:00:00")
    assert [(a.by, a.when) for a in one.history] == [
        ("Ann", "2026-05-04T12:00:00+00:00"),
        ("Bob", "2026-05-05T08:00:00"),
    ]
    first, second = one.transcript()
    assert first["sentence"].endswith(f"{first['answer']} (Ann, 2026-05-04T12:00:00+00:00)")
    assert (second["number"], second["answer"]) == (2, "I don't know")
    one.tell(DONT_KNOW, question=ratio(TWO, 5, 20))
    assert datetime.fromisoformat(one.history[-1].when).tzinfo is not None
    with pytest.raises(ValueError, match="when must be a time in ISO format"):
        one.tell(DONT_KNOW, when="yesterday", question=ratio(TWO, 5, 20))
    with pytest.raises(ValueError, match="by must be a text"):
        one.tell(DONT_KNOW, by=5, question=ratio(TWO, 5, 20))


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
@pytest.mark.parametrize("constraints", [TWO, THREE])
def test_a_saved_state_resumes(tmp_path, constraints, error_rate):
    truth = constraints.sample(1, 2)[0]
    one = elicitor(constraints, error_rate=error_rate)
    for _ in range(2):
        one.tell(one.ask().answer_for(truth), by="Ann")
    one.save(tmp_path / "answers.json")
    two = CostElicitor.load(tmp_path / "answers.json", rows_of(len(constraints.classes)))
    assert two.to_dict() == one.to_dict()
    assert two.regret == one.regret
    mine, theirs = one.ask(), two.ask()
    assert (mine and mine.to_dict()) == (theirs and theirs.to_dict())
    assert two.transcript() == one.transcript()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 99}, "state must be of format 1"),
        ({"seed": -1}, "seed of the state"),
        ({"seed": 1.5}, "seed of the state"),
        ({"answers": {}}, "must be a list"),
        ({"answers": [{}]}, "as to_dict writes them"),
        ({"answers": [None] * 2000}, "at most 200"),
        ({"constraints": {}}, "cost constraints must be stated in full"),
        ({"error_rate": 7}, "error_rate must be"),
    ],
)
def test_a_changed_state_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        CostElicitor.from_dict(elicitor().to_dict() | change, rows_of(2))


def test_stored_answers_that_contradict_each_other_are_refused():
    one = elicitor()
    one.tell("more", question=ratio(TWO, 5, 20))
    state = json.loads(json.dumps(one.to_dict()))
    state["answers"].append(json.loads(json.dumps(state["answers"][0])))
    state["answers"][1]["choice"] = "fewer"
    with pytest.raises(ValueError, match="must not contradict"):
        CostElicitor.from_dict(state, rows_of(2))


def test_files_that_are_no_states_are_refused(tmp_path):
    file = tmp_path / "x.json"
    file.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(ValueError, match="a file of at most"):
        CostElicitor.load(file, rows_of(2))
    for content in (b"{", b"[" * 100_000, b"\xff"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="path must be a JSON file"):
            CostElicitor.load(file, rows_of(2))
    file.write_bytes(b"[]")
    with pytest.raises(ValueError, match="state must be of format"):
        CostElicitor.load(file, rows_of(2))


def test_a_density_cannot_be_written(tmp_path):
    known = CostConstraints(
        ["ill", "well"], intervals={"ill": (1, 100)}, density=lambda M: 1 / M[:, 0, 1] ** 2
    )
    one = elicitor(known)
    with pytest.raises(ValueError, match="density must be None to be written"):
        one.save(tmp_path / "answers.json")
    assert not list(tmp_path.iterdir())
    answered(one, SEVEN)
    assert one.constraints.contains(SEVEN)


def test_questions_may_come_from_elsewhere_but_keep_their_choices():
    one = elicitor()
    question = Question.from_dict(ratio(TWO, 5, 20).to_dict(), TWO.classes)
    with pytest.raises(ValueError, match="answer must be one of"):
        one.tell("maybe", question=question)
    assert one.history == ()


def test_the_representation_is_short():
    assert repr(elicitor()).startswith("<CostElicitor: 0 answers, ")
