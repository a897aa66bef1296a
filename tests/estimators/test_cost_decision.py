"""Decisions of least expected cost around any classifier, and half-known costs in the family."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from ecselm import (
    CostDecisionClassifier,
    CostSearchCV,
    CSELMClassifier,
    ECSELMClassifier,
    ELMClassifier,
    WELMClassifier,
)
from ecselm.costs import CostConstraints, min_cost_decision
from ecselm.metrics import get_scorer, mean_cost

BUDGET = {"population_size": 4, "max_epochs": 1}
COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [6.0, 3.0, 0.0]])


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(600, 6, weights=[0.7], flip_y=0.1, random_state=0)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def three():
    X, y = make_classification(
        600, 8, n_classes=3, n_informative=5, flip_y=0.1, class_sep=0.7, random_state=1
    )
    y = np.array(["a", "b", "c"])[y]
    return X[:400], y[:400], X[400:], y[400:]


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), GaussianNB(), LinearSVC(), ELMClassifier(20, random_state=0)],
    ids=lambda one: type(one).__name__,
)
def test_known_costs_decide_on_the_probabilities_as_min_cost_does(estimator, three):
    X, y, X_test, _ = three
    model = CostDecisionClassifier(estimator, cost=COST).fit(X, y)
    P = model.predict_proba(X_test)
    assert_allclose(P.sum(axis=1), 1.0)
    answers = min_cost_decision(P, COST)
    assert_array_equal(model.predict(X_test), model.classes_[answers])
    assert_allclose(model.decision_function(X_test), -(P @ COST))
    assert_allclose(model.expected_cost(X_test), (P @ COST).min(axis=1))
    assert model.settled(X_test).all()
    assert_array_equal(model.regret(X_test), 0.0)
    assert_array_equal(model.predict_set(X_test), np.eye(3, dtype=bool)[answers])


def test_two_classes_are_settled_outside_the_thresholds_of_both_ends(two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(LogisticRegression(), cost={(1, 0): (3, 20)}).fit(X, y)
    p = model.predict_proba(X_test)[:, 1]
    assert_array_equal(model.settled(X_test), (p <= 1 / 21) | (p >= 1 / 4))
    threshold = model.thresholds_[0]
    assert 1 / 21 < threshold < 1 / 4
    assert_array_equal(model.predict(X_test), (p > threshold).astype(int))
    # Regret: of 0 at the greatest cost of a miss, of 1 at the least.
    worst = np.where(model.predict(X_test) == 1, (1 - p) - 3 * p, 20 * p - (1 - p))
    assert_allclose(model.regret(X_test), np.maximum(worst, 0.0), atol=1e-12)


def test_more_knowledge_never_unsettles_an_answer(two):
    X, y, X_test, _ = two
    settled = [
        CostDecisionClassifier(LogisticRegression(), cost=cost).fit(X, y).settled(X_test)
        for cost in ("1->0 > 0->1", "1->0 = 2..20 * 0->1", "1->0 = 4..6 * 0->1", {(1, 0): 5})
    ]
    for before, after in pairwise(settled):
        assert (after >= before).all()
    assert settled[-1].all()


def test_thresholds_are_on_the_scale_of_the_estimator(two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(GaussianNB(), cost={1: 5}, calibration="cross").fit(X, y)
    inner = model.estimator_.predict_proba(X_test)[:, 1]
    assert_array_equal(model.predict(X_test), (inner > model.thresholds_[0]).astype(int))
    assert 0 < model.thresholds_std_error_[0] < 0.2
    plain = CostDecisionClassifier(GaussianNB(), cost={1: 5}, calibration=None).fit(X, y)
    assert_allclose(plain.thresholds_, 1 / 6, atol=1e-9)
    assert_array_equal(plain.thresholds_std_error_, 0.0)


def test_the_standard_error_of_a_threshold_is_that_of_repeated_calibrations():
    rng = np.random.default_rng(0)
    found, said = [], []
    inner = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    inner.coef_, inner.intercept_ = np.array([[2.0]]), np.array([0.0])  # twice too steep
    for _ in range(60):
        x = rng.normal(size=(400, 1))
        y = (rng.random(400) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
        model = CostDecisionClassifier(inner, cost={1: 4}, cv="prefit").fit(x, y)
        found.append(model.thresholds_[0])
        said.append(model.thresholds_std_error_[0])
    assert_allclose(np.mean(said), np.std(found), rtol=0.3)


def test_prefit_leaves_the_estimator_untouched(two):
    X, y, X_test, y_test = two
    inner = RandomForestClassifier(20, random_state=0).fit(X, y)
    before = pickle.dumps(inner)
    model = CostDecisionClassifier(inner, cost={1: 5}, cv="prefit").fit(X_test, y_test)
    assert model.estimator_ is inner
    assert pickle.dumps(inner) == before
    with pytest.raises(NotFittedError, match="estimator must be fitted with cv='prefit'"):
        CostDecisionClassifier(GaussianNB(), cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold classes of the estimator, \[0, 1\], got"):
        CostDecisionClassifier(inner, cv="prefit").fit(X_test, y_test + 5)


def test_one_part_calibrates_where_it_has_enough_rows_of_every_class(two):
    X, y, X_test, y_test = two
    model = CostDecisionClassifier(GaussianNB(), cv=3).fit(X, y)
    assert model.calibration_ == "holdout"
    split = CostDecisionClassifier(GaussianNB(), calibration="holdout", cv=KFold(4)).fit(X, y)
    assert split.calibration_ == "holdout"
    assert_allclose(split.estimator_.class_count_.sum(), 300)
    losses = [
        -get_scorer("neg_log_loss")(one.fit(X, y), X_test, y_test)
        for one in (model, clone(model).set_params(calibration=None))
    ]
    assert losses[0] < losses[1] + 0.05


def test_rows_are_asked_about_where_that_is_cheapest(three):
    X, y, X_test, y_test = three
    model = CostDecisionClassifier(LogisticRegression(), cost=COST, reject_cost=0.5).fit(X, y)
    costs = np.column_stack([model.predict_proba(X_test) @ COST, np.full(len(X_test), 0.5)])
    labels = np.array(["a", "b", "c", "reject"])
    assert_array_equal(model.predict(X_test), labels[costs.argmin(axis=1)])
    assert model.reject_label_ == "reject"
    assert model.decision_function(X_test).shape == (200, 4)
    by_matrix = CostDecisionClassifier(
        LogisticRegression(), cost=np.column_stack([COST, np.full(3, 0.5)])
    ).fit(X, y)
    assert_array_equal(by_matrix.predict(X_test), model.predict(X_test))
    answered = model.predict(X_test) != "reject"
    assert_allclose(
        -get_scorer("mean_cost", cost=COST)(model, X_test, y_test),
        (
            0.5 * (~answered).sum()
            + mean_cost(y_test[answered], model.predict(X_test)[answered], cost=COST)
            * answered.sum()
        )
        / 200,
    )


def test_a_capacity_asks_about_the_rows_that_gain_most(two):
    X, y, X_test, y_test = two
    inner = LogisticRegression().fit(X, y)
    model = CostDecisionClassifier(inner, cost={1: 3}, reject_capacity=0.1, cv="prefit")
    model.fit(X_test, y_test)
    asked = np.array([one is None for one in model.predict(X_test)])
    assert asked.sum() == 20
    assert model.reject_rate_ == 0.1
    low, high = model.reject_rate_interval_
    assert low < 0.1 < high
    P = model.predict_proba(X_test)
    cost = (P @ np.array([[0.0, 1.0], [3.0, 0.0]])).min(axis=1)
    assert cost[asked].min() >= cost[~asked].max()
    assert model.reject_label_ is None
    assert model.score(X_test, np.zeros(len(X_test))) <= 0.9
    numbered = model.set_params(reject_label=-1).fit(X_test, y_test)
    assert numbered.predict(X_test).dtype.kind == "i"


@pytest.mark.parametrize(
    "model",
    [
        CostDecisionClassifier(LogisticRegression()),
        CostSearchCV(LogisticRegression(), **BUDGET),
        CSELMClassifier(20, random_state=0),
        ECSELMClassifier(20, random_state=0, **BUDGET),
        WELMClassifier(20, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_costs_of_rows_decide_in_the_place_of_all_others(model, two):
    X, y, X_test, _ = two
    model = clone(model).fit(X, y)
    P = model.predict_proba(X_test)
    fn = np.linspace(0.5, 30.0, len(P))
    by_outcome = model.predict(X_test, fn_cost=fn)
    assert_array_equal(by_outcome, (P[:, 1] * fn > P[:, 0]).astype(int))
    matrices = np.zeros((len(P), 2, 2))
    matrices[:, 0, 1], matrices[:, 1, 0] = 1.0, fn
    assert_array_equal(model.predict(X_test, sample_cost=matrices), by_outcome)
    expected = np.where(by_outcome == 1, P[:, 0], P[:, 1] * fn)
    assert_allclose(model.expected_cost(X_test, sample_cost=matrices), expected)
    with pytest.raises(ValueError, match="sample_cost must not have the shape"):
        model.predict(X_test, sample_cost=np.ones((len(P), 2)))


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "pipeline"])
def test_costs_of_rows_are_routed_to_predict_and_score(wrapped, two):
    X, y, _, _ = two
    fn = np.random.default_rng(0).lognormal(1.0, 1.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = CostDecisionClassifier(LogisticRegression()).set_predict_request(fn_cost=True)
        model = model.set_fit_request(fn_cost=False, sample_weight=False)
        model = make_pipeline(StandardScaler(), model) if wrapped else model
        scorer = get_scorer("mean_cost").set_score_request(fn_cost=True)
        found = cross_validate(model, X, y, scoring=scorer, params={"fn_cost": fn}, cv=KFold(3))
        plain = make_pipeline(StandardScaler(), LogisticRegression()) if wrapped else None
        inner = plain or LogisticRegression()
    for score, (train, test) in zip(found["test_score"], KFold(3).split(X), strict=True):
        P = clone(inner).fit(X[train], y[train]).predict_proba(X[test])
        y_pred = (P[:, 1] * fn[test] > P[:, 0]).astype(int)
        assert_allclose(-score, mean_cost(y[test], y_pred, fn_cost=fn[test]))


@pytest.mark.parametrize("rule", ["expected", "minimax_regret"])
@pytest.mark.parametrize(
    "model",
    [
        CSELMClassifier(20, random_state=0),
        CSELMClassifier(ensemble=2, random_state=0),
        ECSELMClassifier(20, random_state=0, **BUDGET),
        CostSearchCV(LogisticRegression(), **BUDGET),
        CostDecisionClassifier(LogisticRegression()),
    ],
    ids=["CSELM", "ensemble", "ECSELM", "CostSearchCV", "CostDecisionClassifier"],
)
def test_half_known_costs_decide_by_a_rule(model, rule, three):
    X, y, X_test, _ = three
    said = CostConstraints.from_sentences(
        ["c->a > a->c", "c = 2..9", "a->b = 1..3"], classes=["a", "b", "c"]
    )
    model = clone(model).set_params(cost=said, rule=rule).fit(X, y)
    assert model.constraints_ == said
    P, y_pred = model.predict_proba(X_test), model.predict(X_test)
    assert_array_equal(y_pred, model.classes_[min_cost_decision(P, model._decision_costs_)])
    regret = np.zeros(len(P))
    for M in np.concatenate([said.vertices(), said.sample(500, 0)]):
        costs = P @ M
        own = costs[np.arange(len(P)), np.searchsorted(model.classes_, y_pred)]
        regret = np.maximum(regret, own - costs.min(axis=1))
    assert_allclose(model.regret(X_test), regret, atol=1e-9)
    assert_array_equal(model.settled(X_test), model.regret(X_test) == 0)
    possible = model.predict_set(X_test)
    assert_array_equal(possible.sum(axis=1) == 1, model.settled(X_test))
    assert possible[np.arange(len(P)), np.searchsorted(model.classes_, y_pred)].all()


def test_exact_constraints_are_the_matrix_they_state(three):
    X, y, X_test, _ = three
    said = CostConstraints.from_costs(COST, ["a", "b", "c"])
    for model in (CSELMClassifier(20, random_state=0), ECSELMClassifier(20, **BUDGET)):
        fits = [
            clone(model).set_params(cost=cost, random_state=0).fit(X, y) for cost in (said, COST)
        ]
        assert_array_equal(fits[0].predict_proba(X_test), fits[1].predict_proba(X_test))
        assert_array_equal(fits[0].predict(X_test), fits[1].predict(X_test))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "0->1 > 2->0"}, "cost must name classes of the data, '0', '1', got '2'"),
        ({"cost": [[0, np.nan], [1, 0]]}, "cost must be finite, got nan"),
        ({"cost": np.ones((3, 3))}, r"cost must have the shape \(2, 2\)"),
        ({"cost": {(0, 1): (5, 2)}}, r"cost.*\(0, 1\).* must .*got \(5, 2\)"),
        ({"cost": ["0->1 = 2", "0->1 = 3"]}, "must not contradict each other, got '0->1 = 2' and"),
        ({"reject_cost": -1}, "The 'reject_cost' parameter"),
        ({"reject_cost": [1, 2, 3]}, "reject_cost must be one number or one per class"),
        ({"reject_capacity": 1.5}, "The 'reject_capacity' parameter"),
        ({"reject_cost": 1, "reject_label": 1}, "reject_label must not be a class, got 1"),
        ({"estimator": LinearRegression()}, "estimator must be a classifier"),
        ({"cv": 1}, "The 'cv' parameter"),
        ({"rule": "best"}, "The 'rule' parameter"),
    ],
)
def test_bad_parameters_are_refused_before_any_fit(options, message, two):
    X, y, _, _ = two
    with pytest.raises(ValueError, match=message):
        CostDecisionClassifier(**{"estimator": LogisticRegression(), **options}).fit(X, y)


def test_constraints_for_other_classes_are_refused(two):
    X, y, _, _ = two
    said = CostConstraints(["ill", "well"], order=[("ill", "well")])
    with pytest.raises(ValueError, match=r"cost must name the classes of y, \[0, 1\], got"):
        CSELMClassifier(5, cost=said).fit(X, y)


def test_asking_saves_on_tumours():
    X, y = load_breast_cancer(return_X_y=True)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    both = [
        CostDecisionClassifier(inner, cost={0: 10}, reject_cost=price).fit(X[::2], y[::2])
        for price in (None, 0.2)
    ]
    scorer = get_scorer("mean_cost", cost={0: 10})
    without, asking = (-scorer(one, X[1::2], y[1::2]) for one in both)
    assert asking < without


def codes_of(model, y_pred):
    """Return the column of every answer, the last for rows that are left to a person."""
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    return np.array([places.get(label, len(places)) for label in y_pred.tolist()])


@pytest.mark.parametrize("calibration", ["holdout", "cross"])
def test_rows_of_weight_zero_are_no_rows(calibration, two):
    X, y, X_test, _ = two
    weight = np.ones(len(y))
    weight[::3] = 0.0
    model = CostDecisionClassifier(
        GaussianNB(), cost={1: (3, 20)}, reject_capacity=0.1, calibration=calibration
    )
    one = clone(model).fit(X, y, sample_weight=weight)
    other = clone(model).fit(X[weight > 0], y[weight > 0])
    assert_array_equal(one.predict_proba(X_test), other.predict_proba(X_test))
    assert one.reject_rate_interval_ == other.reject_rate_interval_
    y = np.where(np.arange(len(y)) < 2, 7, y)
    only = clone(model).set_params(cost={7: 3}).fit(X, y, sample_weight=(y < 7).astype(float))
    assert_array_equal(only.classes_, [0, 1, 7])
    assert np.isfinite(only.predict_proba(X_test)).all()


def test_a_class_that_folds_lack_is_read_from_decision_functions(two):
    X, y, X_test, _ = two
    y = np.where(np.arange(len(y)) < 1, 7, y)
    for inner in (LinearSVC(), SVC()):
        P = CostDecisionClassifier(inner).fit(X, y).predict_proba(X_test)
        assert P.shape == (200, 3)
        assert P[:, 2].max() < 0.1
    few = CostDecisionClassifier(LinearSVC(), cv=[(np.arange(60, 100), np.arange(60))])
    assert few.fit(X[:100], np.where(y[:100] == 7, 0, y[:100])).predict_proba(X).shape == (400, 2)


def test_decision_values_of_pairs_of_classes_are_refused(three):
    X, y, X_test, y_test = three
    with pytest.raises(ValueError, match="one decision value per class, got decision_function_sh"):
        CostDecisionClassifier(SVC(decision_function_shape="ovo")).fit(X, y)
    inner = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")).fit(X, y)
    with pytest.raises(ValueError, match="got svc__decision_function_shape='ovo': set it to"):
        CostDecisionClassifier(inner, cv="prefit").fit(X_test, y_test)


def test_thresholds_of_decision_values_are_on_their_scale(two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(LinearSVC(), cost={1: 5}, reject_cost=0.4).fit(X, y)
    s = model.estimator_.decision_function(X_test)
    low, high = model.thresholds_
    expected = np.where(s < low, 0, np.where(s > high, 1, 2))
    assert_array_equal(codes_of(model, model.predict(X_test)), expected)
    assert (model.thresholds_std_error_ > 0).all()
    assert (model.thresholds_std_error_ < 1).all()


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=lambda one: type(one).__name__)
def test_the_standard_error_of_a_threshold_is_that_of_a_bootstrap(inner):
    X, y = make_classification(1200, 6, n_informative=4, flip_y=0.1, weights=[0.7], random_state=3)
    inner = clone(inner).fit(X[:500], y[:500])
    model = CostDecisionClassifier(inner, cost={1: 4}, cv="prefit")
    stated = clone(model).set_params(estimator=inner).fit(X[500:], y[500:]).thresholds_std_error_[0]
    rng, found = np.random.default_rng(0), []
    for _ in range(40):
        rows = rng.integers(500, 1200, 700)
        found.append(model.fit(X[rows], y[rows]).thresholds_[0])
    assert np.std(found) / 2 < stated < 2 * np.std(found)


ASKING = [{"reject_cost": 0.4}, {"reject_cost": 0.4, "reject_capacity": 0.1}]


@pytest.mark.parametrize("asking", [*ASKING, {"reject_capacity": 0.1}], ids=str)
@pytest.mark.parametrize("rule", ["expected", "minimax_regret"])
def test_the_answer_has_the_largest_score_and_is_in_the_set(rule, asking, two):
    X, y, X_test, _ = two
    cost = {(0, 1): (1, 10), (1, 0): (1, 30)}
    model = CostDecisionClassifier(LogisticRegression(), cost=cost, rule=rule, **asking).fit(X, y)
    answers, possible = codes_of(model, model.predict(X_test)), model.predict_set(X_test)
    assert_array_equal(model.decision_function(X_test).argmax(axis=1), answers)
    answered = np.flatnonzero(answers < 2)
    assert possible[answered, answers[answered]].all()
    if "reject_capacity" in asking:
        sure = possible[answered].sum(axis=1) == 1
        assert_array_equal(sure, model.settled(X_test)[answered])
        assert sure.any()


@pytest.mark.parametrize("asking", ASKING, ids=str)
def test_prices_of_rows_are_in_the_unit_of_the_stated_costs(asking, two):
    X, y, X_test, _ = two
    cost = {(0, 1): (1, 10), (1, 0): (1, 30)}  # so that what decides is in another unit
    model = CostDecisionClassifier(LogisticRegression(), cost=cost, **asking).fit(X, y)
    y_pred = model.predict(X_test)
    assert_array_equal(model.predict(X_test, reject_cost=np.full(200, 0.4)), y_pred)
    assert_array_equal(model.predict(X_test, reject_cost=0.4), y_pred)
    assert (codes_of(model, model.predict(X_test, reject_cost=1e6)) < 2).all()


def test_costs_of_rows_may_have_a_column_for_asking(two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(LogisticRegression(), reject_cost=9).fit(X, y)
    rng, P = np.random.default_rng(0), model.predict_proba(X_test)
    rows = rng.uniform(1, 5, (200, 2, 3))
    rows[:, [0, 1], [0, 1]] = 0.5
    rows[:, :, 2] = rng.uniform(0.5, 1.5, (200, 2))
    expected = np.einsum("ni,nij->nj", P, rows) - 0.5  # beyond the right answer
    answers = codes_of(model, model.predict(X_test, sample_cost=rows))
    assert_array_equal(answers, expected.argmin(axis=1))
    assert_allclose(model.expected_cost(X_test, sample_cost=rows), expected.min(axis=1))
    for change, message in (
        ({"reject_cost": 1.0}, "costs must be stated once, got reject_cost and sample_cost"),
        ({"sample_cost": np.where(rows == 0.5, 2.0, rows)}, "sample_cost must not make"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X_test, **{"sample_cost": rows, **change})
    plain = CostDecisionClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="where asking is no answer"):
        plain.predict(X_test, sample_cost=rows)


def test_costs_may_be_stated_by_row_and_by_functions(two):
    X, y, X_test, _ = two
    matrix = np.array([[0.0, 1.0, 0.3], [7.0, 0.0, 0.3]])
    expected = CostDecisionClassifier(LogisticRegression(), cost=matrix).fit(X, y)
    known = pd.DataFrame([["0", 1, 0.3], ["3..20", 0, 0.3]], columns=[0, 1, "ask"])
    for cost in (lambda classes: matrix, pd.DataFrame(matrix, columns=[0, 1, "ask"]), known):
        model = CostDecisionClassifier(LogisticRegression(), cost=cost).fit(X, y)
        assert_allclose(model._reject_costs_, 0.3)
        assert model.reject_label_ is None
        if cost is known:
            assert_allclose(model.constraints_.high, [[0, 1], [20, 0]])
        else:
            assert_array_equal(model.predict(X_test), expected.predict(X_test))
    by_class = matrix[:, :2]
    for cost in (by_class[y], np.tile(by_class, (len(y), 1, 1)), np.where(y == 1, 7.0, 1.0)):
        model = CostDecisionClassifier(LogisticRegression(), cost=cost).fit(X, y)
        assert_allclose(model.cost_matrix_, by_class)


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        (np.uint8, -1, "i"),
        (np.int8, 300, "i"),
        (np.float64, -1, "f"),
        (np.float32, np.nan, "f"),
        (bool, None, "O"),
        (np.int64, "ask", "O"),
        (np.int64, None, "O"),
        (str, "a longer label", "U"),
    ],
)
def test_the_label_of_rejected_rows_fits_into_the_type_of_predictions(kind, label, expected, two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(GaussianNB(), reject_cost=0.2, reject_label=label)
    y_pred = model.fit(X, y.astype(kind)).predict(X_test)
    assert y_pred.dtype.kind == expected
    asked = (model.decision_function(X_test).argmax(axis=1) == 2).sum()
    found = [one == label or (one != one and label != label) for one in y_pred.tolist()]
    assert sum(found) == asked > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reject_cost": 1, "reject_label": [1, 2]}, "reject_label must be a text, a number or N"),
        ({"reject_cost": 1, "reject_label": np.zeros(2)}, "reject_label must be a text, a number"),
        ({"estimator": GaussianNB(), "cv": 500}, "cv must be at most the number of rows, 400, got"),
        ({"cost": "0->1 = 0", "reject_cost": -1}, "The 'reject_cost' parameter"),
        ({"cost": ["0->1 = 0", "1->0 = 0"]}, "must let at least one mistake cost something"),
    ],
)
def test_more_bad_parameters_are_refused(options, message, two):
    X, y, _, _ = two
    with pytest.raises(ValueError, match=message):
        CostDecisionClassifier(**{"estimator": LogisticRegression(), **options}).fit(X, y)


@pytest.mark.parametrize(
    ("price", "message"),
    [
        (np.full(200, -1.0), "reject_cost must be >= 0, got -1"),
        (np.full(200, np.nan), "reject_cost must be finite, got nan"),
        (
            np.ones(199),
            r"reject_cost must be one number or one per row, shape \(200,\), got \(199,",
        ),
        ("much", "reject_cost must hold numbers only, got 'much'"),
    ],
)
def test_bad_prices_of_rows_are_refused_in_one_sentence(price, message, two):
    X, y, X_test, _ = two
    model = CostDecisionClassifier(LogisticRegression(), reject_cost=1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(X_test, reject_cost=price)


METHODS = (
    *("predict", "predict_proba", "decision_function"),
    *("predict_set", "settled", "regret", "expected_cost"),
)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_is_not_fitted_says_so(method, two):
    with pytest.raises(NotFittedError):
        getattr(CostDecisionClassifier(GaussianNB()), method)(two[0])


def test_one_class_cannot_calibrate(two):
    X, y, X_test, y_test = two
    inner, ones = LogisticRegression().fit(X, y), y_test == 1
    model = CostDecisionClassifier(inner, cv="prefit")
    with pytest.raises(ValueError, match="y must have at least two classes to calibrate"):
        model.fit(X_test[ones], y_test[ones])
    model.set_params(calibration=None).fit(X_test[ones], y_test[ones])
    assert_array_equal(model.predict_proba(X_test), inner.predict_proba(X_test))


def test_frames_with_missing_values_reach_the_estimator_as_they_are(two):
    X, y, _, _ = two
    frame = pd.DataFrame(X, columns=list("abcdef")).mask(
        np.arange(X.size).reshape(X.shape) % 7 == 0
    )
    frame["kind"] = np.array(["u", "v"])[y]
    before = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    inner = make_pipeline(before, HistGradientBoostingClassifier(max_iter=5))
    fits = []
    for rows in (frame, pl.from_pandas(frame)):
        model = CostDecisionClassifier(inner, cost={1: (3, 20)}, reject_cost=0.3).fit(rows, y)
        assert_array_equal(model.feature_names_in_, frame.columns)
        fits.append(model.predict(rows))
    assert_array_equal(*fits)


def test_constraints_are_parameters_that_are_searched_cloned_and_shown(two):
    X, y, _, _ = two
    costs = [CostConstraints([0, 1], intervals={1: (3, 20)}), "1->0 > 0->1", {1: 5}]
    model = CostDecisionClassifier(LogisticRegression(), cost=costs[0])
    assert clone(model).get_params()["cost"] == costs[0]
    assert "CostConstraints.from_sentences(['1 = 3..20']" in repr(model)
    search = GridSearchCV(
        model,
        {"cost": costs, "estimator__C": [0.1, 1.0]},
        scoring=get_scorer("mean_cost", cost={1: 5}),
        cv=3,
    ).fit(X, y)
    assert search.best_params_["cost"] in costs


def test_answers_are_the_same_in_many_threads(three):
    X, y, X_test, _ = three
    stated = ["c->a > a->c", "c = 2..9 * b->a", "b->a = 1..3"]
    model = CostDecisionClassifier(LogisticRegression(), cost=stated).fit(X, y)
    regret, possible = model.regret(X_test), model.predict_set(X_test)
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: (model.regret(X_test), model.predict_set(X_test)), range(16))
        )
    for one in found:
        assert_array_equal(one[0], regret)
        assert_array_equal(one[1], possible)


def test_rows_of_weight_zero_do_not_count_in_listed_splits(two):
    X, y, _, _ = two
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    for inner in (GaussianNB(), LogisticRegression()):
        model = CostDecisionClassifier(
            inner, reject_capacity=0.1, cv=list(KFold(3).split(X)), calibration="auto"
        ).fit(X, y, sample_weight=weight)
        assert model.reject_rate_ == int(0.1 * weight.sum()) / weight.sum()
