"""Scorers of costs hand costs by row to predictions and score what those answer."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import clone, config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostDecisionClassifier
from ecselm.costs import row_matrices
from ecselm.metrics import get_scorer, mean_cost, savings_score, total_cost

CUT = KFold(3, shuffle=True, random_state=0)
METRICS = {
    "mean_cost": (mean_cost, -1.0),
    "total_cost": (total_cost, -1.0),
    "savings": (savings_score, 1.0),
}
NAMES = pytest.mark.parametrize("name", METRICS)


class CostDecider(ClassifierMixin, BaseEstimator):
    """Predict the class of the least expected cost, by the costs of each row if given."""

    def __init__(self, var_smoothing=1e-9, reject_cost=None, reject_label=None, prices=True):
        self.var_smoothing, self.reject_cost = var_smoothing, reject_cost
        self.reject_label, self.prices = reject_label, prices

    def fit(self, X, y):
        self.model_ = GaussianNB(var_smoothing=self.var_smoothing).fit(X, y)
        self.classes_ = self.model_.classes_
        if self.reject_cost is not None:
            self.reject_label_ = self.reject_label
            prices = np.broadcast_to(self.reject_cost, len(self.classes_))
            self._reject_costs_ = prices.astype(float) if self.prices else None
        return self

    def predict(self, X, sample_cost=None, tp_cost=None, tn_cost=None, fp_cost=None, fn_cost=None):
        P, k = self.model_.predict_proba(X), len(self.classes_)
        M = row_matrices(
            len(X),
            self.classes_,
            sample_cost=sample_cost,
            tp_cost=tp_cost,
            tn_cost=tn_cost,
            fp_cost=fp_cost,
            fn_cost=fn_cost,
        )
        M = np.broadcast_to(1.0 - np.eye(k), (len(X), k, k)) if M is None else M
        expected = np.einsum("ni,nij->nj", P, M)
        answers = self.classes_[expected.argmin(axis=1)]
        if self.reject_cost is None:
            return answers
        asks = expected.min(axis=1) > P @ np.broadcast_to(self.reject_cost, k)
        return np.where(asks, self.reject_label, answers.astype(object))


def random_matrices(rng, n_rows, k):
    return rng.uniform(0.5, 9.0, (n_rows, k, k)) * (1.0 - np.eye(k))


@pytest.fixture
def noisy(rng):
    """Return rows of three classes that overlap, so that costs matter."""
    y = rng.integers(0, 3, 240)
    return rng.standard_normal((240, 4)) + y[:, np.newaxis] * 0.5, y


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@NAMES
def test_costs_by_row_reach_the_predictions_of_a_model_that_takes_them(noisy, rng, name):
    X, y = noisy
    function, sign = METRICS[name]
    model, costs = CostDecider().fit(X, y), random_matrices(rng, len(y), 3)
    expected = sign * function(y, model.predict(X, sample_cost=costs), sample_cost=costs)
    assert get_scorer(name)(model, X, y, sample_cost=costs) == expected
    assert expected != sign * function(y, model.predict(X), sample_cost=costs)
    piped = make_pipeline(StandardScaler(), make_pipeline("passthrough", CostDecider())).fit(X, y)
    expected = sign * function(y, piped.predict(X, sample_cost=costs), sample_cost=costs)
    assert get_scorer(name)(piped, X, y, sample_cost=costs) == expected


@NAMES
def test_a_model_that_does_not_take_costs_is_asked_without_them(noisy, rng, name):
    X, y = noisy
    function, sign = METRICS[name]
    model, costs = GaussianNB().fit(X, y), random_matrices(rng, len(y), 3)
    expected = sign * function(y, model.predict(X), sample_cost=costs)
    assert get_scorer(name)(model, X, y, sample_cost=costs) == expected
    piped = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    expected = sign * function(y, piped.predict(X), sample_cost=costs)
    assert get_scorer(name)(piped, X, y, sample_cost=costs) == expected


@NAMES
def test_outcomes_and_weights_reach_the_score(noisy, rng, name):
    X, y = noisy[0], noisy[1] == 1
    function, sign = METRICS[name]
    model, weight = CostDecider().fit(X, y), rng.uniform(0.2, 3.0, len(y))
    costs = {"fn_cost": rng.uniform(1.0, 9.0, len(y)), "fp_cost": 2.0, "tp_cost": None}
    stated = {"fn_cost": costs["fn_cost"], "fp_cost": 2.0}
    expected = function(y, model.predict(X, **stated), **stated, sample_weight=weight)
    scorer = get_scorer(name)
    assert scorer(model, X, y, sample_weight=weight, **costs) == sign * expected
    assert scorer(model, X, y, weight, **costs) == sign * expected


def test_costs_that_need_the_truth_are_for_the_score_alone(noisy, rng):
    X, y = noisy
    model, costs = CostDecider().fit(X, y), random_matrices(rng, len(y), 3)
    by_row = costs[np.arange(len(y)), y]
    expected = -mean_cost(y, model.predict(X), sample_cost=by_row)
    assert get_scorer("mean_cost")(model, X, y, sample_cost=by_row) == expected
    frame = pd.DataFrame({"amount": costs[:, 0, 1]})
    decided = model.predict(X, sample_cost=costs[:, 0, 1])
    expected = -mean_cost(y, decided, sample_cost=frame)
    assert get_scorer("mean_cost")(model, X, y, sample_cost=frame) == expected


@pytest.mark.usefixtures("routing")
def test_costs_that_need_the_truth_are_refused_by_predictions_that_requested_them(noisy, rng):
    X, y = noisy
    model, by_row = CostDecider().set_predict_request(sample_cost=True).fit(X, y), np.ones((240, 3))
    with pytest.raises(ValueError, match="sample_cost must not have the shape"):
        get_scorer("mean_cost")(model, X, y, sample_cost=by_row)


def by_hand(model, X, y, function, sign, to_predict, **stated):
    """Return the scores of all folds, the costs given to predictions or not."""
    scores = []
    for train, test in CUT.split(X):
        fitted = clone(model).fit(X[train], y[train])
        here = {name: np.asarray(costs)[test] for name, costs in stated.items()}
        predicted = fitted.predict(X[test], **(here if to_predict else {}))
        scores.append(sign * function(y[test], predicted, labels=np.unique(y), **here))
    return scores


@NAMES
@pytest.mark.parametrize("requested", [True, False, None])
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.usefixtures("routing")
def test_routed_costs_reach_predictions_that_requested_them(noisy, rng, name, requested, piped):
    X, y = noisy
    costs = random_matrices(rng, len(y), 3)
    model = CostDecider().set_predict_request(sample_cost=requested)
    model = make_pipeline(StandardScaler(), model) if piped else model
    scorer = get_scorer(name).set_score_request(sample_cost=True)
    params = {"sample_cost": costs}
    found = cross_validate(model, X, y, scoring=scorer, cv=CUT, params=params, error_score="raise")
    plain = make_pipeline(StandardScaler(), CostDecider()) if piped else CostDecider()
    if piped:
        plain[-1].set_predict_request(sample_cost=True)
    expected = by_hand(plain, X, y, *METRICS[name], requested is True, **params)
    assert_allclose(found["test_score"], expected, rtol=1e-12)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.usefixtures("routing")
def test_aliases_are_names_of_the_routed_costs(noisy, rng, piped):
    X, y = noisy
    costs = random_matrices(rng, len(y), 3)
    model = CostDecider().set_predict_request(sample_cost="losses")
    model = make_pipeline(StandardScaler(), model) if piped else model
    scorer = get_scorer("mean_cost").set_score_request(sample_cost="losses")
    scores = cross_val_score(model, X, y, scoring=scorer, cv=CUT, params={"losses": costs})
    plain = CostDecider()
    scaled = StandardScaler().fit_transform(X) if piped else X
    expected = by_hand(plain, scaled, y, mean_cost, -1.0, True, sample_cost=costs)
    assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.usefixtures("routing")
def test_outcomes_are_routed_by_name_through_a_grid(noisy, rng, piped):
    X, y = noisy[0], np.where(noisy[1] == 1, "sick", "fit")
    costs = {"fn_cost": rng.uniform(1.0, 9.0, len(y)), "fp_cost": rng.uniform(0.1, 2.0, len(y))}
    request = dict.fromkeys(costs, True)
    model = CostDecider().set_predict_request(**request)
    whole = make_pipeline("passthrough", model) if piped else model
    scorer = get_scorer("savings").set_score_request(**request)
    name = "costdecider__var_smoothing" if piped else "var_smoothing"
    search = GridSearchCV(whole, {name: [1e-9, 1.0]}, scoring=scorer, cv=CUT, error_score="raise")
    search.fit(X, y, **costs)
    for smoothing, mean in zip([1e-9, 1.0], search.cv_results_["mean_test_score"], strict=True):
        expected = by_hand(CostDecider(smoothing), X, y, savings_score, 1.0, True, **costs)
        assert mean == pytest.approx(np.mean(expected), rel=1e-12)


@pytest.mark.usefixtures("routing")
def test_costs_that_nobody_requested_are_refused_by_scikit_learn(noisy, rng):
    X, y = noisy
    # scikit-learn 1.8 raises TypeError, since the classifier does not request them.
    with pytest.raises((UnsetMetadataPassedError, TypeError), match="sample_cost"):
        cross_validate(
            CostDecider(),
            X,
            y,
            scoring=get_scorer("mean_cost"),
            params={"sample_cost": np.ones(240)},
        )


@pytest.mark.usefixtures("routing")
def test_predictions_by_the_costs_of_one_scorer_are_not_those_of_another(noisy, rng):
    X, y = noisy
    costs = random_matrices(rng, len(y), 3)
    model = CostDecider().set_predict_request(sample_cost=True)
    scoring = {
        "plain": get_scorer("total_cost").set_score_request(sample_cost=False),
        "cost": get_scorer("mean_cost").set_score_request(sample_cost=True),
        "accuracy": "accuracy",
    }
    params = {"sample_cost": costs}
    found = cross_validate(model, X, y, scoring=scoring, cv=CUT, params=params, error_score="raise")
    expected = by_hand(CostDecider(), X, y, mean_cost, -1.0, True, **params)
    assert_allclose(found["test_cost"], expected, rtol=1e-12)
    assert_allclose(found["test_plain"], by_hand(CostDecider(), X, y, total_cost, -1.0, False))
    errors = by_hand(CostDecider(), X, y, mean_cost, -1.0, False)
    assert_allclose(found["test_accuracy"] - 1.0, errors, rtol=1e-9)


def test_the_classes_of_the_model_serve_folds_that_lack_one():
    X, y = np.arange(12.0)[:, np.newaxis], np.repeat([0, 1, 2], 4)
    cost = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
    tested = [(np.arange(12), rows) for rows in np.arange(12).reshape(3, 4)]
    scorer = get_scorer("mean_cost", cost=cost)
    assert_allclose(cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=tested), 0.0)
    trained = [(np.arange(8), np.arange(12))]  # takes the last four for the second class
    assert_allclose(cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=trained), -4.0 / 3.0)


def test_costs_of_rows_of_one_class_have_all_classes_of_the_model(noisy, rng):
    X, y = noisy
    model, ones = CostDecider().fit(X, y), y == 1
    costs = random_matrices(rng, ones.sum(), 3)
    decided = model.predict(X[ones], sample_cost=costs)
    expected = -total_cost(y[ones], decided, sample_cost=costs, labels=[0, 1, 2])
    assert get_scorer("total_cost")(model, X[ones], y[ones], sample_cost=costs) == expected


@NAMES
@pytest.mark.parametrize("reject_cost", [0.3, [0.1, 0.3, 0.6]], ids=["one", "by class"])
@pytest.mark.parametrize(("label", "text"), [(None, False), (-1, False), ("reject", True)])
def test_rejected_predictions_cost_what_the_model_says(noisy, name, reject_cost, label, text):
    X, y = noisy[0], np.array(["a", "b", "c"])[noisy[1]] if text else noisy[1]
    function, sign = METRICS[name]
    model = CostDecider(reject_cost=reject_cost, reject_label=label).fit(X, y)
    y_pred = model.predict(X)
    assert 0 < sum(answer == label for answer in y_pred) < len(y)
    expected = sign * function(y, y_pred, reject_cost=reject_cost, reject_label=label)
    scorer = get_scorer(name)
    assert scorer(model, X, y) == pytest.approx(expected, rel=1e-12)
    piped = make_pipeline("passthrough", model)
    assert scorer(piped, X, y) == pytest.approx(expected, rel=1e-12)
    reordered = get_scorer(name, labels=model.classes_[[2, 0, 1]])
    assert reordered(model, X, y) == pytest.approx(expected, rel=1e-12)
    grid = {"var_smoothing": [1e-9]}
    search = GridSearchCV(clone(model), grid, scoring=scorer, cv=CUT, error_score="raise")
    assert scorer(search.fit(X, y), X, y) == pytest.approx(expected, rel=1e-12)


def test_prices_of_rejected_predictions_stated_to_the_scorer_come_first(noisy):
    X, y = noisy
    model = CostDecider(reject_cost=0.3).fit(X, y)
    rejected = sum(answer is None for answer in model.predict(X))
    free = -get_scorer("total_cost", reject_cost=0.0)(model, X, y)
    assert -get_scorer("total_cost", reject_cost=2.0)(model, X, y) - free == 2.0 * rejected
    cost = np.column_stack([1.0 - np.eye(3), np.full(3, 4.0)])
    assert -get_scorer("total_cost", cost=cost)(model, X, y) - free == 4.0 * rejected
    unpriced = CostDecider(reject_cost=0.3, prices=False).fit(X, y)
    assert -get_scorer("total_cost")(unpriced, X, y) == free


def test_a_class_that_a_rejecting_model_never_saw_costs_the_highest_price(noisy):
    X, y = noisy
    model = CostDecider(reject_cost=[0.1, 0.3]).fit(X[y < 2], y[y < 2])
    expected = -total_cost(y, model.predict(X), reject_cost=[0.1, 0.3, 0.3])
    assert get_scorer("total_cost")(model, X, y) == pytest.approx(expected, rel=1e-12)


def test_rejected_predictions_are_shared_by_several_scorers(noisy):
    X, y = noisy
    scoring = {name: get_scorer(name) for name in METRICS}
    model = CostDecider(reject_cost=0.3)
    found = cross_validate(model, X, y, scoring=scoring, cv=CUT, error_score="raise")
    for name, scorer in scoring.items():
        alone = cross_val_score(model, X, y, scoring=scorer, cv=CUT, error_score="raise")
        assert_allclose(found[f"test_{name}"], alone, rtol=1e-12)


@NAMES
@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("copy", [clone, lambda scorer: pickle.loads(pickle.dumps(scorer))])
def test_copies_of_a_scorer_keep_options_and_requests(noisy, rng, name, copy):
    X, y = noisy
    options = {"labels": [0, 1, 2]}
    scorer = get_scorer(name, **options).set_score_request(sample_cost=True, sample_weight=True)
    same = copy(scorer) if copy is not clone else clone(scorer, safe=False)
    model, costs = CostDecider().fit(X, y), random_matrices(rng, len(y), 3)
    assert same(model, X, y, sample_cost=costs) == scorer(model, X, y, sample_cost=costs)
    assert repr(same) == repr(scorer) == f"get_scorer({name!r}, labels=[0, 1, 2])"
    requests = [one.get_metadata_routing().score.requests for one in (scorer, same)]
    assert requests[0] == requests[1] == {"sample_cost": True, "sample_weight": True}


@NAMES
def test_scorers_tune_thresholds(noisy, name):
    X, y = noisy[0], noisy[1] == 1
    scorer = get_scorer(name, cost={(True, False): 6.0})
    tuned = TunedThresholdClassifierCV(GaussianNB(), scoring=scorer, cv=CUT).fit(X, y)
    assert scorer(tuned, X, y) > scorer(GaussianNB().fit(X, y), X, y)


@NAMES
def test_costs_stated_twice_and_unknown_options_are_refused(noisy, rng, name):
    X, y = noisy
    model, costs = GaussianNB().fit(X, y), random_matrices(rng, len(y), 3)
    with pytest.raises(ValueError, match="costs must be stated once, got cost and sample_cost"):
        get_scorer(name, cost=np.ones(3))(model, X, y, sample_cost=costs)
    with pytest.raises(ValueError, match=rf"options of '{name}' must be among .*, got \['cots'\]"):
        get_scorer(name, cots=3)


@NAMES
def test_options_that_are_none_are_not_stated(noisy, name):
    X, y = noisy
    model = GaussianNB().fit(X, y)
    stated = get_scorer(name, cost=None, labels=None)
    assert repr(stated) == f"get_scorer({name!r})"
    assert stated(model, X, y, sample_cost=None) == get_scorer(name)(model, X, y)


@pytest.mark.parametrize("routed", [False, True], ids=["called", "routed"])
@pytest.mark.parametrize("name", ["mean_cost", "savings"])
def test_prices_of_rows_reach_the_predictions_of_a_model_that_asks(noisy, rng, name, routed):
    X, y = noisy
    prices = rng.uniform(0.05, 0.6, len(y))
    model = CostDecisionClassifier(GaussianNB(), reject_cost=9.0, calibration=None)
    table = np.dstack([np.tile(1.0 - np.eye(3), (len(y), 1, 1)), np.tile(prices, (3, 1)).T])
    with config_context(enable_metadata_routing=routed):
        if routed:
            model = model.set_predict_request(reject_cost=True, sample_cost=True)
        model = model.fit(X, y)
        y_pred = model.predict(X, reject_cost=prices)
        assert 0 < sum(label is None for label in y_pred) < len(y)
        function = {"mean_cost": mean_cost, "savings": savings_score}[name]
        expected = function(y, y_pred, reject_cost=prices) * (-1 if name == "mean_cost" else 1)
        scorer = get_scorer(name)
        assert_allclose(scorer(model, X, y, reject_cost=prices), expected)
        assert_allclose(scorer(model, X, y, sample_cost=table), expected)
    plain = CostDecisionClassifier(GaussianNB()).fit(X, y)  # asking is no answer
    assert_allclose(
        get_scorer(name)(plain, X, y, reject_cost=prices), get_scorer(name)(plain, X, y)
    )
