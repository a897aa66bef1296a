"""Each warning where it is due, and none where all is well."""

from dataclasses import replace

import pytest

from ecselm.study import (
    Baseline,
    Card,
    ClassCount,
    Curve,
    DataSummary,
    Difference,
    Evaluation,
    LearnedCosts,
    RequestSummary,
    SearchSummary,
    UnknownCosts,
)
from ecselm.study.evaluate import recall_estimate
from ecselm.study.notes import warnings_of

FINE = Card(
    RequestSummary("classes", "diagnosis", "gmean", (), 0.25, 0),
    DataSummary(
        "tumours.csv", 600, 200, (), (ClassCount("ill", 200, 70), ClassCount("well", 400, 130))
    ),
    Evaluation(
        {"gmean": 0.9, "accuracy": 0.92},
        recalls=(recall_estimate("ill", 60, 70), recall_estimate("well", 120, 130)),
        reliability=Curve("ill", (0.1, 0.5, 0.9), (0.15, 0.45, 0.9), 0.03),
    ),
    LearnedCosts((3.0, 1.0), ((0.0, 3.0), (1.0, 0.0)), (), False, 0.02, 0.01),
    SearchSummary((0, 1), (0.8, 0.9), (0.7, 0.8), 60, 1.0),
    (Baseline("ELM", {"gmean": 0.85}), Baseline("best constant answer", {"gmean": 0.0})),
)


def with_scores(card=FINE, **scores):
    return replace(card, test=replace(card.test, scores=scores))


def with_classes(*counts):
    classes = tuple(ClassCount(name, *n) for name, n in zip("abc", counts, strict=False))
    return replace(FINE, data=replace(FINE.data, classes=classes))


def with_baselines(card=FINE, **scores):
    baselines = tuple(
        Baseline(name, {card.request.metric: score}) for name, score in scores.items()
    )
    return replace(card, baselines=baselines)


def asking(metric, card=FINE):
    return replace(card, request=replace(card.request, metric=metric))


def only(card, **options):
    """Return the one warning there is."""
    (sentence,) = warnings_of(card, **options)
    return sentence


def test_no_warning_where_all_is_well():
    assert warnings_of(FINE) == ()


def test_columns_that_leak_the_target_are_named():
    assert only(FINE, leaks=["biopsy"]).startswith("The column biopsy alone predicts")
    assert only(FINE, leaks=["a", "b"]).startswith("Each of the columns a and b alone predicts")


@pytest.mark.parametrize("n", [200, 20, 19])
def test_no_mistake_at_all_is_suspicious_among_many_rows(n):
    card = with_scores(gmean=1.0, accuracy=1.0)
    found = warnings_of(replace(card, data=replace(card.data, n_test=n)))
    assert any(one.startswith(f"All {n} test rows") for one in found) == (n >= 20)


def test_perfect_numbers_are_suspicious_too():
    card = asking("mae", with_scores(mae=1e-9, r2=0.99999))
    assert only(replace(card, baselines=())).startswith("All 200 test rows")


def test_interrupted_search_is_mentioned():
    card = replace(FINE, search=replace(FINE.search, interrupted=True))
    assert only(card).startswith("The search was interrupted after 60 candidates")


def test_undefined_metric_is_mentioned():
    assert "The requested metric, roc_auc," in only(asking("roc_auc"))


@pytest.mark.parametrize(
    ("beyond", "ending"),
    [
        (None, "0.9 with this model."),
        (True, "prefer the baseline."),
        (False, "The difference may be chance."),
    ],
)
def test_best_baseline_is_named_if_it_is_better(beyond, ending):
    card = with_baselines(ELM=0.91, W1=0.95, W2=0.5)
    elm, w1, w2 = card.baselines
    difference = None if beyond is None else Difference(-0.05, -0.09, -0.01, beyond)
    card = replace(card, baselines=(elm, replace(w1, difference=difference), w2))
    sentence = only(card)
    assert "gmean is 0.95 with W1 and 0.9 with this model" in sentence
    assert sentence.endswith(ending)
    assert warnings_of(with_baselines(ELM=0.9)) == ()


def test_less_is_better_for_costs():
    card = asking("mean_cost", with_scores(mean_cost=0.5))
    assert "mean_cost is 0.4 with ELM" in only(with_baselines(card, ELM=0.4, W1=0.6))
    assert warnings_of(with_baselines(card, ELM=0.6)) == ()


@pytest.mark.parametrize("score", [0.9, 0.95])
def test_model_must_beat_a_constant_prediction(score):
    card = with_baselines(**{"ELM": 0.99, "best constant answer": score})
    assert "no better on the test rows than one constant prediction" in only(card)


def test_gmean_of_nothing_is_explained():
    recalls = (recall_estimate("ill", 0, 70), recall_estimate("well", 130, 130))
    card = with_scores(gmean=0.0)
    sentence = only(replace(card, test=replace(card.test, recalls=recalls)))
    assert sentence == "gmean is 0 because no test row of ill is recognised."


def test_classes_with_few_training_rows_are_named():
    sentence = only(with_classes((16, 30), (17, 30), (3, 30)))
    assert sentence.startswith("Fewer than 17 training rows of a (16) and c (3)")


def test_classes_with_few_test_rows_have_bounds():
    recalls = (recall_estimate("ill", 1, 1), recall_estimate("well", 120, 130))
    card = replace(FINE, test=replace(FINE.test, recalls=recalls))
    assert "test rows of ill (1, 3% to 100%)" in only(card)


def test_classes_without_test_rows_are_named():
    assert only(with_classes((100, 30), (90, 0))).startswith("No test row of b:")


def test_small_test_sets_say_how_far_shares_may_be_off():
    card = replace(FINE, data=replace(FINE.data, n_test=24))
    assert "up to 20 percentage points" in only(card)
    card = replace(asking("mae", with_scores(mae=1.0)), data=card.data, baselines=())
    card = replace(card, request=replace(card.request, task="numbers"))
    assert only(card).startswith("Only 24 test rows: errors on other rows")


def test_accuracy_of_imbalanced_classes_is_no_use():
    card = with_baselines(asking("accuracy"), ELM=0.5)
    assert warnings_of(card) == ()
    classes = (ClassCount("ill", 60, 20), ClassCount("well", 540, 180))
    sentence = only(replace(card, data=replace(card.data, classes=classes)))
    assert "always predicting well is right in 90% of the training rows" in sentence


def test_kept_prior_is_mentioned_unless_requested():
    card = replace(FINE, learned=replace(FINE.learned, keeps_prior=True))
    assert "(+0.02, s.e. 0.01)" in only(card)
    unknown = replace(card, learned=replace(card.learned, gain=None, gain_std_error=None))
    assert (
        "on validation rows, so the defaults for this metric and class balance are used."
        in only(unknown)
    )
    assert warnings_of(replace(card, settings={"keep_prior": "'always'"})) == ()
    assert warnings_of(replace(card, search=replace(card.search, n_evaluations=0))) == ()


@pytest.mark.parametrize(
    ("metric", "half_known", "used"),
    [
        ("mean_cost", False, "the stated costs"),
        ("gmean", False, "the defaults for this metric and class balance"),
        ("gmean", True, "the defaults for this metric, class balance and stated costs"),
    ],
    ids=["counted", "not counted", "constraints"],
)
def test_kept_prior_names_stated_costs_where_they_are_it(metric, half_known, used):
    stated = ((0.0, 3.0), (1.0, 0.0))
    low = stated if half_known else None
    said = ("an ill case taken for well costs 3",)
    card = replace(
        FINE,
        request=replace(FINE.request, metric=metric, cost_constraints=said),
        test=replace(FINE.test, scores={metric: 0.9}, cost_matrix=stated, cost_low=low),
        baselines=(),
        learned=replace(FINE.learned, keeps_prior=True),
    )
    assert only(card).endswith(f"on validation rows (+0.02, s.e. 0.01), so {used} are used.")


def test_costs_that_leave_most_answers_open_are_mentioned():
    for n_settled, assumed, is_noted in ((49, None, True), (50, None, False), (0, 10.0, False)):
        unknown = UnknownCosts(100, n_settled, 0.1, 0.2, assumed)
        found = warnings_of(replace(FINE, test=replace(FINE.test, unknown=unknown)))
        assert any("depend on costs that are not known" in one for one in found) is is_noted


def test_miscalibrated_probabilities_are_mentioned():
    curve = Curve("ill", (0.2, 0.5, 0.8), (0.05, 0.3, 0.5), 0.217)
    card = replace(FINE, test=replace(FINE.test, reliability=curve))
    assert only(card) == (
        "Probabilities are off by 22 percentage points on average: do not take them literally."
    )


def test_probabilities_of_few_rows_are_off_by_chance():
    """Among 60 rows in three bins, a share of 1/2 varies by 0.11."""
    curve = Curve("ill", (0.5, 0.5, 0.5), (0.35, 0.65, 0.4), 0.133)
    card = replace(FINE, test=replace(FINE.test, reliability=curve))
    assert len(warnings_of(card)) == 1
    assert warnings_of(replace(card, data=replace(card.data, n_test=60))) == ()
