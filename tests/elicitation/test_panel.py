"""Several people: the same decisions, what disagreement costs, and what they can agree on."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.costs import CostConstraints
from ecselm.elicitation import CostElicitor, Panel
from ecselm.elicitation.questions import cost_groups, ratio_question

TWO = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
P = np.random.default_rng(0).dirichlet([0.7, 0.7], 400)
PEOPLE = {"Ann": 5.0, "Bob": 60.0}


def question(low, high):
    return ratio_question(*cost_groups(TWO), low, high, TWO.classes)


def panel(people=PEOPLE, **options):
    made = Panel.of_people(people, TWO, P, random_state=0, **options)
    for name, cost in people.items():
        while not made[name].done:
            made[name].tell(made[name].ask().answer_for([[0, cost], [1, 0]]), by=name)
    return made


def test_disagreement_costs_what_the_other_decisions_cost():
    one = panel()
    found = one.agreement()
    ann, bob = (one[name].decision_matrix for name in PEOPLE)
    by_ann, by_bob = (P @ ann).argmin(axis=1), (P @ bob).argmin(axis=1)
    more = np.mean(
        [p @ ann[:, b] - p @ ann[:, a] for p, a, b in zip(P, by_ann, by_bob, strict=True)]
    )
    assert_allclose(found.regret[0, 1], more, rtol=1e-9)
    assert_allclose(np.diagonal(found.regret), 0)
    assert_allclose(found.same_decisions, (by_ann == by_bob).mean())
    assert_allclose(found.pairs[0, 1], found.same_decisions)
    assert found.regret[0, 1] > 0.01


def test_the_compromise_costs_both_less_than_deciding_by_the_other():
    found = panel().agreement()
    together = (found.compromise_regret).sum()
    assert together <= min(found.regret[:, 0].sum(), found.regret[:, 1].sum()) + 1e-12


def test_people_who_contradict_each_other_have_no_common_constraints():
    found = panel().agreement()
    assert found.constraints is None
    assert {name for name, _ in found.conflict} == {"Ann", "Bob"}
    assert "these answers cannot all be right:\n- Ann: " in found.describe()


def test_people_who_agree_have_the_intersection_of_what_they_said():
    one = Panel.of_people(["Ann", "Bob"], TWO, P, random_state=0)
    one["Ann"].tell("more", question=question(5, 8))
    one["Bob"].tell("fewer", question=question(20, 30))
    found = one.agreement()
    assert_allclose([found.constraints.low[0, 1], found.constraints.high[0, 1]], [8, 20])
    assert found.conflict == ()
    assert found.describe().endswith("all answers can be right together")


def test_equal_people_agree_on_everything():
    found = panel({"Ann": 5.0, "Bob": 5.0}).agreement()
    assert found.same_decisions == 1
    assert_allclose(found.regret, 0, atol=1e-12)


def test_a_panel_is_written_and_read(tmp_path):
    one = panel()
    one.save(tmp_path / "panel.json")
    two = Panel.load(tmp_path / "panel.json", P)
    assert two.people == one.people
    assert len(two) == 2
    assert two.to_dict() == one.to_dict()
    assert json.loads(json.dumps(two.agreement().to_dict())) == one.agreement().to_dict()


@pytest.mark.parametrize(
    "state", [[], {"format": 1}, {"format": 2, "people": {}}, {"format": 1, "people": {}}]
)
def test_other_states_are_refused(state):
    with pytest.raises(ValueError, match=r"state must be a panel|elicitors must be a dict"):
        Panel.from_dict(state, P)


def test_people_must_look_at_the_same_rows():
    others = CostElicitor(TWO, P[:100])
    with pytest.raises(ValueError, match="the same constraints and rows"):
        Panel({"Ann": CostElicitor(TWO, P), "Bob": others})
    with pytest.raises(ValueError, match="must be a CostElicitor"):
        Panel({"Ann": TWO})
    with pytest.raises(KeyError, match="one of 'Ann', got 'Eve'"):
        Panel({"Ann": others})["Eve"]
