"""The headline of a report."""

import dataclasses
import re

import pytest

from ecselm.report.summary import headline, standing
from ecselm.study import Baseline, Card, ClassCount, Difference, Evaluation
from tests.report import cards

METRIC = "accuracy"


def card_of(own, *others, metric=METRIC, costs=None, beyond=True):
    """Return a card of two classes by confusion matrices, with their accuracies."""
    bare = cards.bare()

    def scores(matrix):
        return {metric: (matrix[0][0] + matrix[1][1]) / sum(map(sum, matrix))}

    def difference(matrix):
        if beyond is None:
            return None
        sign = -1 if metric == "mean_cost" else 1
        value = sign * (scores(own)[metric] - scores(matrix)[metric])
        return Difference(value, value - 0.01, value + 0.01, beyond)

    classes = (ClassCount("a", 10, 50), ClassCount("b", 10, 50))
    baselines = tuple(
        Baseline(f"R{i}", scores(one), one, costs, difference(one)) for i, one in enumerate(others)
    )
    return Card(
        dataclasses.replace(bare.request, metric=metric),
        dataclasses.replace(bare.data, classes=classes, n_test=100),
        Evaluation(scores(own), own, total_cost=costs),
        baselines=baselines,
    )


def text(card):
    return re.sub("<[^>]*>", "", headline(card))


OWN = ((45, 5), (5, 45))
WORSE = ((30, 20), (5, 45))
BETTER = ((50, 0), (0, 50))


@pytest.mark.parametrize(
    ("baseline", "beyond", "words"),
    [
        (WORSE, True, "Better accuracy than the best baseline"),
        (WORSE, None, "Better accuracy than the best baseline"),
        (BETTER, True, "Worse accuracy than the best baseline"),
        (WORSE, False, "No clear difference in accuracy from the best baseline"),
        (BETTER, False, "No clear difference in accuracy from the best baseline"),
        (OWN, False, "Same accuracy as the best baseline"),
    ],
)
def test_standing_follows_the_card(baseline, beyond, words):
    card = card_of(OWN, baseline, beyond=beyond)
    assert standing(card, card.best_baseline()) == words
    assert words in text(card)


@pytest.mark.parametrize("beyond", [True, False])
def test_interval_and_chance_are_those_of_the_card(beyond):
    words = text(card_of(OWN, WORSE, beyond=beyond))
    assert "which is worse by 0.150 (interval of the lead of this model: +0.140 to +0.160)" in words
    assert ("the difference may be chance" in words) != beyond


def test_unbounded_intervals_are_omitted():
    card = card_of(OWN, WORSE)
    difference = Difference(0.15, None, None, False)
    (one,) = card.baselines
    card = dataclasses.replace(card, baselines=(dataclasses.replace(one, difference=difference),))
    assert "interval" not in text(card)
    assert "which is worse by 0.150; the difference may be chance." in text(card)


def test_the_best_baseline_is_named_and_ties_are_mentioned():
    card = card_of(OWN, WORSE, OWN)
    assert card.best_baseline().name == "R1"
    assert "The best baseline, R1, has 0.900, the same." in text(card)
    assert "Accuracy on 100 test rows: 0.900." in text(card)


def test_smaller_costs_are_better():
    card = card_of(BETTER, WORSE, metric="mean_cost")
    # By this metric the first matrix, whose value is greater, is the worse one.
    assert standing(card, card.best_baseline()) == "Worse mean cost than the best baseline"
    assert "which is better by 0.250" in text(card)


def test_costs_of_both_are_shown_where_they_were_stated():
    words = "By the stated costs, the model costs 7 in all and the baseline 7."
    assert words in text(card_of(OWN, WORSE, costs=7.0))
    assert "stated costs" not in text(card_of(OWN, WORSE))


def test_baselines_without_the_metric_do_not_count():
    card = card_of(OWN, OWN)
    other = dataclasses.replace(card, baselines=(Baseline("R", {"f1": 1.0}),))
    assert other.best_baseline() is None
    assert standing(other, None) == "No baseline to compare with"
    assert "No baseline" in text(dataclasses.replace(card, test=Evaluation({})))


def test_two_classes_are_named_and_many_are_counted(made):
    assert "it predicts malignant or benign" in text(made["tumours"])
    assert "it predicts one of 10 classes" in text(made["digits"])
    assert "it predicts a number" in text(made["progression"])
    assert "it predicts a class." in text(made["bare"])


def test_a_card_without_results_has_a_short_headline():
    card = dataclasses.replace(cards.bare(), test=Evaluation({}))
    assert headline(card).endswith("No baseline to compare with</p></div></header>")
