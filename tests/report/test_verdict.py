"""What the first lines say of a model."""

import dataclasses
import re

import pytest

from ecselm.report.summary import best_rival, standing, verdict
from ecselm.study import Card, ClassCount, Compared, HeldOut
from tests.report import cards

METRIC = "accuracy"


def card_of(own, *others, metric=METRIC, costs=None):
    """Return a card of two classes by tables of answers, with their accuracies."""
    bare = cards.bare()

    def scores(table):
        return {metric: (table[0][0] + table[1][1]) / sum(map(sum, table))}

    classes = (ClassCount("a", 10, 50), ClassCount("b", 10, 50))
    rivals = tuple(Compared(f"R{i}", scores(one), one, costs) for i, one in enumerate(others))
    return Card(
        dataclasses.replace(bare.asked, metric=metric),
        dataclasses.replace(bare.data, classes=classes),
        HeldOut(scores(own), own, total_cost=costs),
        compared=rivals,
    )


def told(card):
    return re.sub("<[^>]*>", "", verdict(card))


OWN = ((45, 5), (5, 45))


@pytest.mark.parametrize(
    ("rival", "words"),
    [
        (((30, 20), (5, 45)), "Ahead of the plainer models"),
        (((50, 0), (0, 50)), "Behind a plainer model"),
        (((43, 7), (5, 45)), "No clear difference from the best plainer model"),
        (OWN, "No clear difference from the best plainer model"),
    ],
)
def test_standing_needs_more_rows_than_chance_moves(rival, words):
    card = card_of(OWN, rival)
    assert standing(card, best_rival(card)) == words
    assert words in told(card)


def test_many_small_differences_are_no_chance():
    """Tables that differ a little everywhere differ by many rows."""
    card = card_of(((45, 5), (5, 45)), ((42, 8), (8, 42)))
    assert "may be chance" not in told(card)
    assert "may be chance" in told(card_of(((45, 5), (5, 45)), ((43, 7), (7, 43))))


def test_tables_say_nothing_of_scores_that_are_not_counted():
    card = card_of(OWN, ((43, 7), (5, 45)), metric="roc_auc")
    assert standing(card, best_rival(card)) == "Ahead of the plainer models"


def test_the_best_rival_is_named_and_ties_are_told():
    card = card_of(OWN, ((30, 20), (5, 45)), ((45, 5), (5, 45)))
    assert best_rival(card) == 1
    assert "The best plainer model, R1, has 0.900: the same." in told(card)
    assert "It is right on 90 of 100 held-out rows; its accuracy is 0.900." in told(card)


def test_smaller_costs_are_better():
    card = card_of(((50, 0), (0, 50)), ((30, 20), (5, 45)), metric="mean_cost")
    # By this metric the first table, whose value is greater, is the worse one.
    assert standing(card, best_rival(card)) == "Behind a plainer model"
    assert "which is better by 0.250" in told(card)


def test_costs_of_both_are_told_where_they_were_stated():
    card = card_of(OWN, ((30, 20), (5, 45)), costs=7.0)
    assert "By the costs stated, its mistakes cost 7 and those of the plainer model 7." in told(
        card
    )
    assert "costs stated" not in told(card_of(OWN, ((30, 20), (5, 45))))


def test_rivals_without_the_metric_do_not_count():
    card = card_of(OWN, OWN)
    other = dataclasses.replace(card, compared=(Compared("R", {"f1": 1.0}),))
    assert best_rival(other) is None
    assert standing(other, None) == "Compared with no plainer model"
    assert best_rival(dataclasses.replace(card, held_out=HeldOut({}))) is None


def test_two_classes_are_named_and_many_are_counted(made):
    assert "it tells malignant or benign" in told(made["tumours"])
    assert "it tells one of 10 classes" in told(made["digits"])
    assert "it tells a number" in told(made["progression"])
    assert "it tells a class." in told(made["bare"])


def test_a_card_without_results_says_no_more_than_it_knows():
    card = dataclasses.replace(cards.bare(), held_out=HeldOut({}))
    assert verdict(card).endswith("Compared with no plainer model</p></div></header>")
