import numpy as np
import pytest

from ecselm.paper.protocols.access import STRANGER, TRUE_COSTS, UNSEEN, AccessEvaluation, ErrorCosts

Y = np.array(["member 01"] * 4 + [STRANGER] * 2 + [UNSEEN] * 4)
Y_PRED = np.array(
    [
        *("member 01", "member 02", STRANGER, STRANGER),  # one confused, two rejected
        *(STRANGER, "member 01"),  # one let in
        *(STRANGER, "member 02", "member 02", "member 01"),  # three let in
    ]
)


class FixedModel:
    """A model with fixed predictions."""

    def __init__(self, y_pred):
        self.y_pred = y_pred

    def predict(self, X):
        return self.y_pred


def found(evaluate, y_pred=Y_PRED):
    rows = evaluate(FixedModel(y_pred), None, Y, None)
    return {(row.metric, row.at): row.value for row in rows}


def test_error_rates_are_shares_of_members_or_strangers():
    rows = found(AccessEvaluation(TRUE_COSTS))
    assert rows["let_in", "unseen strangers"] == 0.75
    assert rows["let_in", "known strangers"] == 0.5
    assert rows["rejected", ""] == 0.5
    assert rows["confused", ""] == 0.25


@pytest.mark.parametrize("truth", TRUE_COSTS, ids=str)
def test_cost_per_picture_counts_the_three_errors(truth):
    rows = found(AccessEvaluation(TRUE_COSTS))
    expected = (4 * truth.let_in + 2 * truth.rejected + truth.confused) / len(Y)
    assert rows["mean_cost", str(truth)] == pytest.approx(expected)


def test_a_closed_door_saves_nothing():
    rows = found(AccessEvaluation((ErrorCosts(10.0, 3.0),)), np.full(len(Y), STRANGER))
    assert rows["savings", "10:3:1"] == 0.0
    assert rows["mean_cost", "10:3:1"] == pytest.approx(4 * 3 / 10)


def test_error_rates_of_methods_that_know_the_costs_name_them():
    rows = found(AccessEvaluation(TRUE_COSTS[:1], known=True))
    assert ("let_in", "unseen strangers, known costs 2:1.5:1") in rows
    assert ("rejected", "known costs 2:1.5:1") in rows
    assert [at for metric, at in rows if metric == "mean_cost"] == ["2:1.5:1"]
