import numpy as np
import pytest

from ecselm.paper.protocols.access import STRANGER, TRUTHS, UNSEEN, AccessEvaluation, MistakeCosts

Y = np.array(["member 01"] * 4 + [STRANGER] * 2 + [UNSEEN] * 4)
ANSWERS = np.array(
    [
        *("member 01", "member 02", STRANGER, STRANGER),  # one confused, two rejected
        *(STRANGER, "member 01"),  # one let in
        *(STRANGER, "member 02", "member 02", "member 01"),  # three let in
    ]
)


class Told:
    """A model that says what it is told to."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers


def found(judge, answers=ANSWERS):
    return {(row.metric, row.at): row.value for row in judge(Told(answers), None, Y, None)}


def test_mistakes_are_shares_of_whom_they_can_happen_to():
    rows = found(AccessEvaluation(TRUTHS))
    assert rows["let_in", "unseen strangers"] == 0.75
    assert rows["let_in", "known strangers"] == 0.5
    assert rows["rejected", ""] == 0.5
    assert rows["confused", ""] == 0.25


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_cost_per_picture_counts_the_three_mistakes(truth):
    rows = found(AccessEvaluation(TRUTHS))
    expected = (4 * truth.let_in + 2 * truth.rejected + truth.confused) / len(Y)
    assert rows["mean_cost", str(truth)] == pytest.approx(expected)


def test_a_closed_door_saves_nothing():
    rows = found(AccessEvaluation((MistakeCosts(10.0, 3.0),)), np.full(len(Y), STRANGER))
    assert rows["savings", "10:3:1"] == 0.0
    assert rows["mean_cost", "10:3:1"] == pytest.approx(4 * 3 / 10)


def test_mistakes_of_who_was_told_the_truth_name_it():
    rows = found(AccessEvaluation(TRUTHS[:1], told=True))
    assert ("let_in", "unseen strangers, told 2:1.5:1") in rows
    assert ("rejected", "told 2:1.5:1") in rows
    assert [at for metric, at in rows if metric == "mean_cost"] == ["2:1.5:1"]
