"""Results by group."""

import numpy as np
import pytest

from ecselm.costs import CostConstraints
from ecselm.costs.policy import DecisionPolicy
from ecselm.estimators._policy import Decisions
from ecselm.study.evaluate import recall_estimate
from ecselm.study.groups import MOST_GROUPS, OTHERS, group_results, mean_estimate

CLASSES = ["ill", "well"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    P, y = np.column_stack([p, 1 - p]), (rng.random(300) > p).astype(int)
    known = CostConstraints.from_sentences("ill->well = 2..8 * well->ill")
    policy = DecisionPolicy.of_costs(known.region, np.array([0.5, 0.5]), P=P)
    return Decisions(policy, P, policy.answers(P)), y, rng.choice(["b", "a", "c"], 300)


@pytest.mark.parametrize("by_row", [False, True])
def test_groups_are_those_of_a_literal_loop(table, by_row):
    decisions, y, groups = table
    if by_row:
        rows = np.tile(decisions.policy.matrix, (300, 1, 1)) * np.arange(1, 301)[:, None, None]
        decisions = Decisions(decisions.policy, decisions.probabilities, decisions.answers, rows)
    found = group_results(decisions, y, CLASSES, groups, are_stated=True)
    assert [one.n for one in found] == sorted((one.n for one in found), reverse=True)
    for one in found:
        mine = np.flatnonzero(groups == one.name)
        assert one.n == len(mine)
        for c, recall in enumerate(one.recalls):
            own = mine[y[mine] == c]
            right = int((decisions.answers[own] == c).sum())
            assert recall == recall_estimate(CLASSES[c], right, len(own))
        paid = [
            (decisions.policy.mean if not by_row else decisions.by_row[n])[
                y[n], decisions.answers[n]
            ]
            for n in mine
        ]
        np.testing.assert_allclose(one.mean_cost.value, np.mean(paid))
        assert one.mean_cost.low < one.mean_cost.value < one.mean_cost.high
        assert one.n_settled == decisions.settled()[mine].sum()


def test_small_groups_beyond_twenty_are_one(table):
    decisions, y, _ = table
    groups = np.minimum(np.arange(300) // 5, 40)
    found = group_results(decisions, y, CLASSES, groups, are_stated=False)
    assert len(found) == MOST_GROUPS
    assert found[-1].name == OTHERS
    assert sum(one.n for one in found) == 300
    assert all(one.mean_cost is None and one.n_settled is None for one in found)


def test_a_group_without_a_class_has_no_recall_of_it(table):
    decisions, y, _ = table
    found = group_results(decisions, y, CLASSES, np.where(y == 0, "x", "y"), are_stated=False)
    assert {one.name: [recall.name for recall in one.recalls] for one in found} == {
        "x": ["ill"],
        "y": ["well"],
    }


def test_the_interval_of_a_mean_is_students():
    rng, n_inside = np.random.default_rng(1), 0
    for _ in range(400):
        one = mean_estimate("", rng.normal(size=8))
        n_inside += one.low <= 0 <= one.high
    assert abs(n_inside / 400 - 0.95) < 0.035
    alone = mean_estimate("", np.array([2.0]))
    assert alone.low == alone.value == alone.high == 2.0
