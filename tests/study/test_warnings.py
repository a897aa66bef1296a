"""Each warning where it is due, and none where all is well."""

from dataclasses import replace

import pytest

from ecselm.study import (
    Asked,
    Card,
    ClassCount,
    Compared,
    Curve,
    DataGlance,
    HeldOut,
    Learned,
    Progress,
)
from ecselm.study.evaluate import recall_of
from ecselm.study.notes import warnings_of

FINE = Card(
    Asked("classes", "diagnosis", "gmean", (), 0.25, 0),
    DataGlance(
        "tumours.csv", 600, 200, (), (ClassCount("ill", 200, 70), ClassCount("well", 400, 130))
    ),
    HeldOut(
        {"gmean": 0.9, "accuracy": 0.92},
        recalls=(recall_of("ill", 60, 70), recall_of("well", 120, 130)),
        reliability=Curve("ill", (0.1, 0.5, 0.9), (0.15, 0.45, 0.9), 0.03),
    ),
    Learned((3.0, 1.0), ((0.0, 3.0), (1.0, 0.0)), (), False, 0.02, 0.01),
    Progress((0, 1), (0.8, 0.9), (0.7, 0.8), 60, 1.0),
    (Compared("ELM", {"gmean": 0.85}), Compared("most frequent class", {"gmean": 0.0})),
)


def with_scores(card=FINE, **scores):
    return replace(card, held_out=replace(card.held_out, scores=scores))


def with_classes(*counts):
    classes = tuple(ClassCount(name, *n) for name, n in zip("abc", counts, strict=False))
    return replace(FINE, data=replace(FINE.data, classes=classes))


def with_compared(card=FINE, **scores):
    rivals = tuple(Compared(name, {card.asked.metric: score}) for name, score in scores.items())
    return replace(card, compared=rivals)


def asking(metric, card=FINE):
    return replace(card, asked=replace(card.asked, metric=metric))


def only(card, **options):
    """Return the one warning there is."""
    (sentence,) = warnings_of(card, **options)
    return sentence


def test_nothing_is_said_where_all_is_well():
    assert warnings_of(FINE) == ()


def test_columns_that_tell_the_answer_are_named():
    assert only(FINE, telling=["biopsy"]).startswith("The column biopsy alone tells")
    assert only(FINE, telling=["a", "b"]).startswith("Each of the columns a and b alone tells")


@pytest.mark.parametrize("n", [200, 20, 19])
def test_no_mistake_at_all_is_suspicious_among_many_rows(n):
    card = with_scores(gmean=1.0, accuracy=1.0)
    found = warnings_of(replace(card, data=replace(card.data, n_held_out=n)))
    assert any(one.startswith(f"Not one of {n} held-out rows") for one in found) == (n >= 20)


def test_perfect_numbers_are_suspicious_too():
    card = asking("mae", with_scores(mae=1e-9, r2=0.99999))
    assert only(replace(card, compared=())).startswith("Not one of 200")


def test_interrupted_search_is_told():
    card = replace(FINE, progress=replace(FINE.progress, interrupted=True))
    assert only(card).startswith("The search was interrupted after 60 candidates")


def test_metric_that_is_not_defined_is_told():
    assert "The metric asked for, roc_auc," in only(asking("roc_auc"))


@pytest.mark.parametrize(
    ("beyond", "ending"),
    [
        ({}, "0.9 with this one."),
        ({"W1": True}, "prefer the plainer one."),
        ({"W1": False}, "no larger than chance explains on so many rows."),
    ],
)
def test_best_plainer_model_is_named_if_it_is_better(beyond, ending):
    card = with_compared(ELM=0.91, W1=0.95, W2=0.5)
    told = only(card, beyond_chance=beyond)
    assert "gmean is 0.95 with W1 and 0.9 with this one" in told
    assert told.endswith(ending)
    assert warnings_of(with_compared(ELM=0.9)) == ()


def test_less_is_better_for_costs():
    card = asking("mean_cost", with_scores(mean_cost=0.5))
    assert "mean_cost is 0.4 with ELM" in only(with_compared(card, ELM=0.4, W1=0.6))
    assert warnings_of(with_compared(card, ELM=0.6)) == ()


@pytest.mark.parametrize("score", [0.9, 0.95])
def test_model_must_beat_one_answer_for_all_rows(score):
    card = with_compared(**{"ELM": 0.99, "most frequent class": score})
    assert "no better on the held-out rows than giving the same answer" in only(card)


def test_gmean_of_nothing_is_explained():
    recalls = (recall_of("ill", 0, 70), recall_of("well", 130, 130))
    card = with_scores(gmean=0.0)
    told = only(replace(card, held_out=replace(card.held_out, recalls=recalls)))
    assert told == "gmean is 0 because not one held-out row of ill was recognised."


def test_classes_with_few_training_rows_are_named():
    told = only(with_classes((16, 30), (17, 30), (3, 30)))
    assert told.startswith("Fewer than 17 training rows belong to a (16) and c (3)")


def test_classes_with_few_held_out_rows_have_their_bounds_told():
    recalls = (recall_of("ill", 1, 1), recall_of("well", 120, 130))
    card = replace(FINE, held_out=replace(FINE.held_out, recalls=recalls))
    assert "belong to ill (1, 3% to 100%)" in only(card)


def test_classes_without_held_out_rows_are_named():
    assert only(with_classes((100, 30), (90, 0))).startswith("No held-out row belongs to b:")


def test_small_parts_tell_by_how_much_shares_may_be_off():
    card = replace(FINE, data=replace(FINE.data, n_held_out=24))
    assert "some 20 percentage points" in only(card)
    card = replace(asking("mae", with_scores(mae=1.0)), data=card.data, compared=())
    card = replace(card, asked=replace(card.asked, task="numbers"))
    assert only(card).startswith("Only 24 rows were held out: other rows")


def test_accuracy_of_unequal_classes_is_no_use():
    card = with_compared(asking("accuracy"), ELM=0.5)
    assert warnings_of(card) == ()
    classes = (ClassCount("ill", 60, 20), ClassCount("well", 540, 180))
    told = only(replace(card, data=replace(card.data, classes=classes)))
    assert "always answering well is right in 90% of the training rows" in told


def test_kept_prior_is_told_unless_it_was_asked_for():
    card = replace(FINE, learned=replace(FINE.learned, keeps_prior=True))
    assert "(+0.02, with a noise of 0.01)" in only(card)
    unknown = replace(card, learned=replace(card.learned, gain=None, gain_noise=None))
    assert "on rows not trained on. The costs" in only(unknown)
    assert warnings_of(replace(card, settings={"keep_prior": "'always'"})) == ()


def test_probabilities_that_are_off_are_told_with_the_way_they_lean():
    curve = Curve("ill", (0.2, 0.5, 0.8), (0.05, 0.3, 0.5), 0.217)
    card = replace(FINE, held_out=replace(FINE.held_out, reliability=curve))
    told = only(card)
    assert told.startswith("Probabilities are off by 22 percentage points")
    assert told.endswith("lean towards the classes that are dear to miss.")
    alike = replace(card, learned=replace(card.learned, class_costs=(1.0, 1.0)))
    assert only(alike).endswith("do not read them as chances.")


def test_probabilities_of_few_rows_are_off_by_chance():
    """Among 60 rows in three bins, a share of 1/2 varies by 0.11."""
    curve = Curve("ill", (0.5, 0.5, 0.5), (0.35, 0.65, 0.4), 0.133)
    card = replace(FINE, held_out=replace(FINE.held_out, reliability=curve))
    assert len(warnings_of(card)) == 1
    assert warnings_of(replace(card, data=replace(card.data, n_held_out=60))) == ()
