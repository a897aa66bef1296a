"""Promises from a table: what is read, what is counted beforehand, and what test rows show."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from ecselm import CostDecisionClassifier
from ecselm.costs import PromiseError
from ecselm.costs.policy import DecisionPolicy
from ecselm.costs.region import CostRegion
from ecselm.estimators._policy import Decisions
from ecselm.estimators._promise import hold_out
from ecselm.study import Card, FitRequest, PromiseResult, Table, study_table
from ecselm.study.decisions import CostOptions, counted_by, operating_points
from ecselm.study.models import CANDIDATES, ModelSettings, model_of
from ecselm.study.promises import (
    check_cases,
    checked_promises,
    group_promises,
    read_promises,
)
from ecselm.study.run import TargetedRows, _without_promised

CLASSES = np.array(["ill", "well"])


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], None),
        (["ill=0.9"], {"ill": 0.9}),
        (["ill >= 0.9", "well->ill<=.1"], {"ill": 0.9, ("well", "ill"): 0.1}),
        (["'ill' = 0.9"], {"ill": 0.9}),
    ],
)
def test_promises_are_read(texts, found):
    assert read_promises(texts, CLASSES) == found


def test_names_may_hold_signs_and_numbers():
    classes = np.array(["x>", "a=b", "a->b"])
    texts = ["x>=0.9", "x>>=0.8", "a=b=0.7", "a->b=0.6"]
    assert read_promises(texts[:1], classes) == {"x>": 0.9}
    assert read_promises(texts[1:], classes) == {"x>": 0.8, "a=b": 0.7, "a->b": 0.6}
    assert read_promises(["1=0.9"], np.array([0, 1])) == {1: 0.9}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ill", "must read CLASS=RECALL"),
        ("ill=1", "between 0 and 1, got 'ill=1'"),
        ("ill=nan", "between 0 and 1"),
        ("il=0.9", "must name classes of the data, 'ill', 'well', got 'il'; did you mean 'ill'"),
        ("ill<=0.9", "must promise a recall of at least a number"),
        ("ill->well>=0.9", "must promise a rate of at most a number"),
        ("ill->ill=0.1", "which is right"),
    ],
)
def test_other_promises_are_refused_by_the_option(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_promises([text], CLASSES)
    assert str(caught.value).startswith("--promise must")


def test_cases_are_counted_before_the_fit():
    model = model_of("auto", ModelSettings("classes", "gmean", promise={"ill": 0.95}))
    check_cases(model, [59, 500], CLASSES, 0.25)
    # 45 cases without a failure, and three quarters of the training rows test at most.
    with pytest.raises(ValueError, match=r"takes 59 training rows .* got 58; .* about 2 more"):
        check_cases(model, [58, 500], CLASSES, 0.25)
    check_cases(LogisticRegression(), [1, 1], CLASSES, 0.25)  # promises nothing


def decisions_at(answers, k=2):
    matrix = 1.0 - np.eye(k)
    policy = DecisionPolicy(CostRegion.of_point(matrix), matrix, matrix)
    return Decisions(policy, np.full((len(answers), k), 1 / k), np.asarray(answers))


def result(predicted=None, asked=0.9, *, kept=True):
    return PromiseResult("ill", predicted, asked, 0.9, kept, 50, 1, 0.92)


@pytest.mark.parametrize(
    ("missed", "asked", "status"), [(0, 0.5, "shown"), (0, 0.99, "open"), (30, 0.9, "broken")]
)
def test_test_rows_have_exact_intervals(missed, asked, status):
    codes = np.repeat([0, 1], [50, 5])
    answers = codes.copy()
    answers[:missed] = 1
    (one,) = checked_promises([result(asked=asked)], decisions_at(answers), codes, CLASSES)
    exact = binomtest(50 - missed, 50).proportion_ci(0.95, method="exact")
    assert (one.observed.low, one.observed.high) == (exact.low, exact.high)
    assert (one.observed.n, one.status) == (50, status)
    assert one.sentence.startswith("Promised: a recall of ill of at least")
    # The rate of the same mistakes is the mirror.
    rate = result("well", round(1 - asked, 2))
    (other,) = checked_promises([rate], decisions_at(answers), codes, CLASSES)
    assert other.observed.value == pytest.approx(missed / 50)
    assert other.status == status


def test_rows_left_to_a_person_are_no_recall_and_no_alarm():
    codes = np.zeros(10, dtype=int)
    answers = np.repeat([0, 2], [6, 4])  # 2 asks
    recall, rate = group_promises([result(), result("well", 0.1)], answers, codes, CLASSES)
    assert (recall.observed.value, recall.n_failures) == (0.6, 4)
    assert (rate.observed.value, rate.n_failures) == (0.0, 0)
    assert group_promises([result()], answers, codes + 1, CLASSES) == ()  # no case
    assert group_promises([result(kept=False)], answers, codes, CLASSES) == ()


def test_operating_points_show_what_the_promise_changes():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1], size=200)
    codes = (rng.random(200) > P[:, 0]).astype(int)
    cautious, stated = np.array([[0.0, 9.0], [1.0, 0.0]]), np.array([[0.0, 2.0], [1.0, 0.0]])
    policy = DecisionPolicy(CostRegion.of_point(cautious), cautious, stated)
    decisions = Decisions(policy, P, (P @ cautious).argmin(axis=1))
    found = operating_points(
        decisions, codes, CLASSES, are_stated=True, without_promise=stated
    ).points
    names = [one.name for one in found]
    assert names[:2] == ["the promise (this model)", "without the promise"]
    assert 5 <= len(found) <= 7
    for one, matrix in zip(found, (cautious, stated, stated * [[0.5], [1.0]]), strict=False):
        answers = (P @ matrix).argmin(axis=1)
        assert one.n_missed == ((codes == 0) & (answers == 1)).sum()
        assert one.mean_cost == pytest.approx(stated[codes, answers].mean())


def test_mistakes_are_counted_by_stated_costs():
    decisions = decisions_at([0, 1])
    counted = counted_by(decisions, {("ill", "well"): 7.0}, CLASSES).policy
    assert_array_equal(counted.mean, [[0.0, 7.0], [1.0, 0.0]])
    assert_array_equal(counted.matrix, decisions.policy.matrix)
    assert counted_by(decisions, None, CLASSES) is decisions


def test_models_are_chosen_without_the_rows_that_test():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=300)
    settings = ModelSettings("classes", "gmean", promise={"ill": 0.9}, seed=3)
    model = CostDecisionClassifier(
        LogisticRegression(), promise=settings.promise, random_state=settings.seed
    )
    X = np.arange(300.0)[:, np.newaxis]
    held = hold_out(model, X, codes, CLASSES, None)
    rows = TargetedRows(X, CLASSES[codes], codes, CLASSES)
    chosen_on = _without_promised(rows, settings).X[:, 0]
    assert_array_equal(np.sort(np.append(chosen_on, held.X[:, 0])), X[:, 0])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    n = 400
    ill = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "marker": rng.standard_normal(n) + 1.5 * ill,
            "site": np.where(rng.random(n) < 0.5, "north", "south"),
            "state": np.where(ill, "ill", "well"),
        }
    )
    return Table(frame)


@pytest.mark.parametrize("name", ["auto", "ecselm", "logistic", "boosting", "elm", "w1-elm"])
def test_every_model_promises(table, name, monkeypatch):
    monkeypatch.setitem(CANDIDATES, "classes", ("ecselm", "logistic"))  # auto is slow otherwise
    request = FitRequest(
        "state",
        costs=CostOptions(cost=("ill->well=2",)),
        model_name=name,
        by="site",
        promise=("ill=0.9",),
        n_hidden=10,
        max_epochs=1,
        population_size=4,
    )
    done = study_table(table, request)
    card = done.card
    (one,) = card.test.promises
    assert (one.truth, one.asked, one.confidence, one.kept) == ("ill", 0.9, 0.9, True)
    assert one.bound >= 0.9
    assert one.interval[0] <= one.threshold <= one.interval[1]
    recall = next(found for found in card.test.recalls if found.name == "ill")
    assert (one.observed.value, one.observed.n) == (recall.value, recall.n)
    assert sum(found.promises[0].observed.n for found in card.test.groups) == recall.n
    counted = sum(found.mean_cost.value * found.n for found in card.test.groups)
    assert counted == pytest.approx(card.test.total_cost)  # by the stated costs
    assert [one.name for one in card.test.operating.points][:2] == [
        "the promise (this model)",
        "without the promise",
    ]
    assert Card.from_json(card.to_json()) == card


@pytest.mark.parametrize("name", ["ecselm", "logistic"])
def test_a_fit_that_breaks_its_promise_is_not_lost(table, name):
    request = FitRequest(
        "state",
        model_name=name,
        promise=("ill=0.95", "well->ill<=0.05"),
        n_hidden=10,
        max_epochs=1,
        population_size=4,
    )
    done = study_table(table, request)
    assert [one.kept for one in done.card.test.promises] == [False, False]
    assert done.card.test.promises[0].sentence.startswith("Not promised: a recall of ill")
    assert any("No promise is made" in one for one in done.card.warnings)
    assert any("no number of cases would do" in one for one in done.card.warnings)
    assert done.card.test.scores["balanced_accuracy"] > 0.6
    assert done.card.test.operating.points[0].name == "this model"
    with pytest.raises(PromiseError):  # which a fit in Python raises
        CostDecisionClassifier(
            LogisticRegression(), promise={"ill": 0.95, ("well", "ill"): 0.05}
        ).fit(table.frame[["marker"]], table.frame["state"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "site"}, "--promise must be left out with --groups"),
        ({"costs": CostOptions(columns=("marker",))}, "must be left out with --cost-column"),
        ({"confidence": 1.0}, "--confidence must be between 0 and 1, got 1"),
        ({"target": "marker"}, "--promise must be left out where numbers are predicted"),
    ],
)
def test_what_no_test_could_show_is_refused(table, options, message):
    with pytest.raises(ValueError, match=message):
        study_table(table, FitRequest(**{"target": "state", "promise": ("ill=0.9",), **options}))
