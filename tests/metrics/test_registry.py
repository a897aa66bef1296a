"""Scorers by name, wherever scikit-learn takes one."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from ecselm.metrics import (
    average_recognition_rate,
    cmc_curve,
    cumulative_score,
    default_metric,
    geometric_mean_score,
    get_scorer,
    get_scorer_names,
    match_rate,
    mean_absolute_error,
    mean_cost,
    savings_score,
    total_cost,
    total_recognition_rate,
)

CUT = KFold(3, shuffle=True, random_state=0)
OWN = {
    "arr": (average_recognition_rate, 1.0, {}),
    "cumulative_score": (cumulative_score, 1.0, {"tolerance": 0}),
    "gmean": (geometric_mean_score, 1.0, {}),
    "mae": (mean_absolute_error, -1.0, {}),
    "mean_cost": (mean_cost, -1.0, {"cost": {(0, 1): 7.0}}),
    "rank_1": (total_recognition_rate, 1.0, {}),
    "savings": (savings_score, 1.0, {"cost": {(0, 1): 7.0}}),
    "total_cost": (total_cost, -1.0, {"cost": {(0, 1): 7.0}}),
    "trr": (total_recognition_rate, 1.0, {}),
}


@pytest.mark.parametrize("name", OWN)
def test_scorers_by_name_give_their_function_with_the_best_greatest(labelled, name):
    X, y = labelled
    function, sign, options = OWN[name]
    model = GaussianNB().fit(X[:200], y[:200])
    score = get_scorer(name, **options)(model, X[200:], y[200:])
    assert score == pytest.approx(sign * function(y[200:], model.predict(X[200:]), **options))


@pytest.mark.parametrize("name", OWN)
def test_scorers_by_name_work_in_cross_validation(labelled, name):
    X, y = labelled
    function, sign, options = OWN[name]
    expected = []
    for train, test in CUT.split(X):
        predicted = GaussianNB().fit(X[train], y[train]).predict(X[test])
        expected.append(sign * function(y[test], predicted, **options))
    scorer = get_scorer(name, **options)
    assert_allclose(cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=CUT), expected)


@pytest.mark.parametrize("name", OWN)
def test_scorers_by_name_choose_the_better_model_in_a_grid(labelled, name):
    X, y = labelled
    function, sign, options = OWN[name]
    grid = {"var_smoothing": [1e-9, 10.0]}
    scorer = get_scorer(name, **options)
    search = GridSearchCV(GaussianNB(), grid, scoring=scorer, cv=CUT).fit(X, y)
    means = []
    for width in grid["var_smoothing"]:
        model, scores = GaussianNB(var_smoothing=width), []
        for train, test in CUT.split(X):
            predicted = model.fit(X[train], y[train]).predict(X[test])
            scores.append(sign * function(y[test], predicted, **options))
        means.append(np.mean(scores))
    assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert means[0] != means[1]
    assert search.best_index_ == np.argmax(means)


def test_costs_decide_which_model_is_better():
    X, y = np.zeros((90, 1)), np.arange(90) % 3 == 0
    grid = {"constant": [False, True]}
    model = DummyClassifier(strategy="constant", constant=False)
    for cost, best in (({(True, False): 1.0}, False), ({(True, False): 5.0}, True)):
        scorer = get_scorer("mean_cost", cost=cost)
        search = GridSearchCV(model, grid, scoring=scorer, cv=CUT).fit(X, y)
        assert search.best_params_ == {"constant": best}


def test_labels_keep_costs_whole_where_a_fold_lacks_a_class():
    X, y = np.zeros((12, 1)), np.array([0] * 4 + [1] * 4 + [2] * 4)
    cost = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
    model = DummyClassifier(strategy="constant", constant=1)
    scorer = get_scorer("mean_cost", cost=cost, labels=[0, 1, 2])
    cut = [(np.arange(12), rows) for rows in np.arange(12).reshape(3, 4)]
    scores = cross_val_score(model, X, y, scoring=scorer, cv=cut)
    assert_allclose(scores, [-5.0, 0.0, -4.0])


def test_weights_of_rows_reach_the_score(labelled, rng):
    X, y = labelled
    model, weight = GaussianNB().fit(X, y), rng.uniform(0.2, 3.0, len(y))
    for name, (function, sign, options) in OWN.items():
        expected = sign * function(y, model.predict(X), sample_weight=weight, **options)
        score = get_scorer(name, **options)(model, X, y, sample_weight=weight)
        assert score == pytest.approx(expected, rel=1e-12)


def test_regressors_have_a_cumulative_score(rng):
    X = rng.standard_normal((60, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.standard_normal(60)
    scores = cross_val_score(Ridge(), X, y, scoring=get_scorer("cumulative_score", tolerance=0.5))
    assert (scores > 0.9).all()


def test_names_are_those_of_the_package_and_of_scikit_learn():
    names = get_scorer_names()
    assert {*OWN, "match_rate"} < set(names)
    assert names == sorted(set(names))
    for name in names:
        assert callable(get_scorer(name))


def test_other_scorers_are_scikit_learns(labelled):
    X, y = labelled
    model = GaussianNB().fit(X, y)
    assert get_scorer("accuracy")(model, X, y) == model.score(X, y)
    own = make_scorer(accuracy_score)
    assert get_scorer(own) is own


@pytest.mark.parametrize("name", OWN)
def test_scorers_survive_pickling(labelled, name):
    X, y = labelled
    model, scorer = GaussianNB().fit(X, y), get_scorer(name, **OWN[name][2])
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


@pytest.mark.parametrize("scoring", ["gmaen", 3])
def test_what_is_no_scorer_is_refused_with_where_to_look(scoring):
    with pytest.raises(
        ValueError, match=rf"scoring must be .*\.get_scorer_names\(\), got {scoring!r}"
    ):
        get_scorer(scoring)


def test_options_are_refused_where_nothing_would_take_them():
    with pytest.raises(ValueError, match=r"options must be of .*, got {'tolerance': 2}"):
        get_scorer("accuracy", tolerance=2)


@pytest.mark.parametrize("model", [SVC(), KNeighborsClassifier()], ids=["decisions", "shares"])
@pytest.mark.parametrize("rank", [1, 2])
def test_the_match_rate_is_a_point_of_the_cmc_curve_of_the_models_scores(labelled, model, rank):
    X, y = labelled
    words = np.array(["a", "b", "c", "d"])[y]
    model.fit(X[:200], words[:200])
    method = "decision_function" if isinstance(model, SVC) else "predict_proba"
    scores = getattr(model, method)(X[200:])
    curve = cmc_curve(words[200:], scores, labels=model.classes_)
    scorer = get_scorer("match_rate", rank=rank)
    assert scorer(model, X[200:], words[200:]) == curve[rank - 1]
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 200)
    heavy = match_rate(words[200:], scores, rank=rank, labels=model.classes_, sample_weight=weight)
    assert scorer(model, X[200:], words[200:], sample_weight=weight) == heavy


def test_the_match_rate_knows_the_classes_that_a_fold_lacks(labelled):
    X, y = labelled
    cut = [(np.arange(400), np.flatnonzero(y == c)) for c in np.unique(y)]
    scores = cross_val_score(GaussianNB(), X, y, scoring=get_scorer("match_rate"), cv=cut)
    assert_allclose(scores, cross_val_score(GaussianNB(), X, y, scoring="accuracy", cv=cut))
    scorer = get_scorer("match_rate", rank=2)
    assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_the_match_rate_refuses_options_it_has_no_use_for():
    with pytest.raises(ValueError, match=r"options of 'match_rate' must be rank alone, got .*cost"):
        get_scorer("match_rate", cost=3)


@pytest.mark.parametrize("name", ["mean_cost", "savings"])
def test_costs_by_row_are_routed_to_the_rows_of_each_fold(labelled, rng, name):
    X, y = labelled
    costs = rng.uniform(0.5, 9.0, (len(y), y.max() + 1))
    function, sign, _ = OWN[name]
    expected = []
    for train, test in CUT.split(X):
        predicted = GaussianNB().fit(X[train], y[train]).predict(X[test])
        expected.append(sign * function(y[test], predicted, sample_cost=costs[test]))
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer(name).set_score_request(sample_cost=True)
        params = {"sample_cost": costs}
        scores = cross_val_score(GaussianNB(), X, y, scoring=scorer, cv=CUT, params=params)
    assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("costs", "name"),
    [
        (None, "balanced_accuracy"),
        ({("ill", "well"): 5}, "mean_cost"),
        ([[0, 5], [1, 0]], "mean_cost"),
        (np.ones(3), "mean_cost"),
    ],
    ids=["no costs", "by confusion", "matrix", "by row"],
)
def test_default_metric_is_the_mean_cost_where_costs_are_stated(costs, name):
    assert default_metric(costs) == name
    assert name in get_scorer_names()
