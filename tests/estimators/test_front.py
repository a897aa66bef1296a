"""Fronts of fitted classifiers, and copies that decide at other points."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from ecselm import CostDecisionClassifier, CostSearchCV, ECSELMClassifier
from ecselm.saving import load_model, save_model

SMALL = {"max_epochs": 2, "population_size": 10, "random_state": 0}


def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], np.array(["malignant", "benign"])[y]


def models(**options):
    return [
        ECSELMClassifier(**SMALL, **options),
        ECSELMClassifier(10, ensemble=None, **SMALL, **options),
        CostSearchCV(GaussianNB(), **SMALL, **options),
        CostDecisionClassifier(GaussianNB(), calibration="cross", **options),
    ]


def named(model) -> str:
    return type(model).__name__


@pytest.mark.parametrize("model", models(), ids=named)
def test_two_classes_have_thresholds_recalls_errors_and_costs(model):
    X, y = tumours()
    front = model.fit(X, y).front_
    assert isinstance(front, pd.DataFrame)
    labels = ("benign", "malignant")
    assert list(front) == [
        "threshold",
        *(f"{name} {c}" for name in ("recall of", "std error of", "cost of") for c in labels),
    ]
    assert front["threshold"].is_monotonic_increasing
    assert front["recall of malignant"].between(0, 1).all()
    assert (front["std error of malignant"] > 0).all()
    costs = front[["cost of benign", "cost of malignant"]].to_numpy()
    assert_allclose(costs.mean(axis=1), 1.0)
    assert_allclose(costs[:, 0] / costs.sum(axis=1), front["threshold"])


@pytest.mark.parametrize("model", models(cost={0: 3, 1: 1, 2: 1}), ids=named)
def test_three_classes_of_numbers_have_a_mean_cost_where_costs_are_stated(model):
    X, y = load_wine(return_X_y=True)
    front = model.fit(X[:, :4], y).front_
    assert "threshold" not in front
    assert {"recall of 0", "std error of 1", "cost of 2"} <= set(front)
    assert list(front)[-2:] == ["mean cost", "mean cost std error"]
    assert (front["mean cost std error"] > 0).all()
    assert len(front) >= 1


@pytest.mark.parametrize("model", models(), ids=named)
def test_a_point_decides_as_its_threshold_says(model):
    X, y = tumours()
    model.fit(X, y)
    before = model.predict(X)
    front = model.front_
    wanted = float(front["recall of malignant"].quantile(0.7))
    moved = model.at(recall={"malignant": wanted})
    able = front[front["recall of malignant"] >= wanted - 1e-12]
    mean = able[["recall of benign", "recall of malignant"]].mean(axis=1)
    t = able["threshold"].iloc[int(mean.argmax())]
    p = moved.predict_proba(X)[:, 1]
    clear = np.abs(p - t) > 1e-9
    assert_array_equal((moved.predict(X) == "malignant")[clear], (p > t)[clear])
    assert_array_equal(model.predict(X), before)  # the original is unchanged
    assert_array_equal(moved.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", models(), ids=named)
def test_copies_share_parts_and_save_and_clone(model, tmp_path):
    X, y = tumours()
    model.fit(X, y)
    moved = model.at(costs={"malignant": 20})
    assert type(moved) is type(model)
    assert moved.get_params(deep=False) == model.get_params(deep=False)
    part = "estimator_" if hasattr(model, "estimator_") else "beta_"
    assert getattr(moved, part) is getattr(model, part)
    assert (moved.predict(X) == "malignant").sum() > (model.predict(X) == "malignant").sum()
    for one in (model, moved):
        save_model(one, tmp_path / "model.ecselm")
        for read in (load_model(tmp_path / "model.ecselm").model, pickle.loads(pickle.dumps(one))):
            assert_array_equal(read.predict(X), one.predict(X))
            pd.testing.assert_frame_equal(read.front_, one.front_)
            assert_array_equal(read.at(alarms=1.0).predict(X), one.at(alarms=1.0).predict(X))
    assert not hasattr(clone(moved), "front_")
    assert_array_equal(clone(moved).fit(X, y).predict(X), model.predict(X))


@pytest.mark.parametrize("model", models(), ids=named)
def test_copies_are_written_as_onnx(model):
    pytest.importorskip("onnxruntime")
    from tests.onnx.agreement import assert_agrees

    X, y = tumours()
    model.fit(X, y)
    assert_agrees(model.at(costs={"malignant": 9}), X[::7])
    assert_agrees(model.at(recall={"malignant": 0.5}), X[::7])


COSTS = [
    {"malignant": 7},
    [[0, 1], [12, 0]],
    {("malignant", "benign"): (3, 20)},
    "malignant->benign = 3..20 * benign->malignant",
    lambda classes: {classes[1]: 4.0},
]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()], ids=named)
def test_costs_decide_as_if_the_model_was_fitted_with_them(cost, estimator):
    X, y = tumours()
    moved = CostDecisionClassifier(estimator, cost={"benign": 2}).fit(X, y).at(costs=cost)
    fitted = CostDecisionClassifier(estimator, cost=cost).fit(X, y)
    assert_array_equal(moved.predict(X), fitted.predict(X))
    assert_allclose(moved.decision_function(X), fitted.decision_function(X), rtol=1e-12)
    assert_allclose(moved.thresholds_, fitted.thresholds_, rtol=1e-6)
    assert np.isnan(moved.thresholds_std_error_).all()
    assert_array_equal(moved.settled(X), fitted.settled(X))
    assert_allclose(moved.regret(X), fitted.regret(X), atol=1e-9)
    assert_allclose(moved.expected_cost(X), fitted.expected_cost(X))


def test_many_classes_decide_as_if_fitted_with_the_costs():
    X, y = load_wine(return_X_y=True)
    cost = np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [0.5, 3.0, 0.0]])
    moved = CostDecisionClassifier(GaussianNB(), calibration=None).fit(X, y).at(cost)
    fitted = CostDecisionClassifier(GaussianNB(), calibration=None, cost=cost).fit(X, y)
    assert_array_equal(moved.predict(X), fitted.predict(X))


def test_permuted_labels_have_the_same_front():
    X, y = tumours()
    other = np.where(y == "malignant", "a", "b")  # first instead of second
    one = CostDecisionClassifier(GaussianNB(), calibration="cross").fit(X, y).front_
    two = CostDecisionClassifier(GaussianNB(), calibration="cross").fit(X, other).front_[::-1]
    assert_allclose(one["threshold"], 1.0 - two["threshold"].to_numpy(), atol=1e-6)
    assert_allclose(one["recall of malignant"], two["recall of a"].to_numpy())
    assert_allclose(one["std error of benign"], two["std error of b"].to_numpy())


def test_alarms_bound_the_recall_of_the_first_class():
    X, y = tumours()
    model = ECSELMClassifier(**SMALL).fit(X, y)
    front = model.front_
    low = float(1.0 - front["recall of benign"].median())
    moved = model.at(alarms=low)
    point = front[np.isclose(front["cost of malignant"], moved.class_costs_[1])]
    assert (1.0 - point["recall of benign"] <= low + 1e-12).all()


def test_stated_costs_choose_among_points_that_reach_a_recall():
    X, y = tumours()
    model = CostDecisionClassifier(GaussianNB(), cost={"benign": 30}, calibration="cross")
    model.fit(X, y)
    front = model.front_
    able = front[front["recall of malignant"] >= 0.8]
    best = able.loc[able["mean cost"].idxmin()]
    t = model.at(recall={"malignant": 0.8}).cost_matrix_
    assert_allclose(t[0, 1] / t.sum(), best["threshold"])


def test_no_fit_is_made_for_the_front():
    class Counted(GaussianNB):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Counted.fits += 1
            return super().fit(X, y, sample_weight)

    X, y = tumours()
    model = CostDecisionClassifier(Counted(), calibration=None).fit(X, y)
    assert Counted.fits == 1
    assert not hasattr(model, "front_")
    with pytest.raises(AttributeError, match="calibration='cross'"):
        _ = model.front_
    with pytest.raises(AttributeError, match="calibration='cross'"):
        model.at(recall={"malignant": 0.9})
    assert (model.at({"malignant": 50}).predict(X) != model.predict(X)).any()


def test_models_that_ask_have_a_front_of_answers_and_copies_that_answer():
    X, y = tumours()
    asks = CostDecisionClassifier(GaussianNB(), cost={"malignant": 5}, reject_capacity=0.2)
    asks.fit(X, y)
    assert (asks.predict(X) == "reject").any()
    for moved in (asks.at({"malignant": 3}), asks.at(recall={"malignant": 0.5})):
        assert set(moved.predict(X)) == {"benign", "malignant"}
        assert not hasattr(moved, "reject_label_")
        assert moved.settled(X).all()
    assert (asks.predict(X) == "reject").any()


def test_rows_that_repeat_are_in_one_half():
    X, y = tumours()
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    repeated = CostSearchCV(GaussianNB(), fitness=cv, **SMALL).fit(X, y)
    recall = repeated.front_["recall of benign"]
    n = 0.6 * (y == "benign").sum()  # a little more than one half of the rows, not all
    smoothed = (recall * n + 2) / (n + 4)
    least = np.sqrt(smoothed * (1 - smoothed) / (n + 4))
    assert (repeated.front_["std error of benign"] > least).all()
    decides = CostDecisionClassifier(GaussianNB(), calibration="cross", cv=cv).fit(X, y)
    with pytest.raises(AttributeError, match="repeat"):
        _ = decides.front_


def test_prefit_estimators_have_a_front():
    X, y = tumours()
    estimator = GaussianNB().fit(X[::2], y[::2])
    for calibration in ("auto", None):
        model = CostDecisionClassifier(estimator, cv="prefit", calibration=calibration)
        assert len(model.fit(X[1::2], y[1::2]).front_) > 1


def test_weights_and_groups_are_heeded():
    X, y = tumours()
    plain = ECSELMClassifier(**SMALL).fit(X, y)
    grouped = ECSELMClassifier(**SMALL).fit(X, y, groups=np.arange(len(y)) // 4)
    name = "std error of malignant"
    assert grouped.front_[name].max() > plain.front_[name].max()
    weighted = ECSELMClassifier(**SMALL).fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert len(weighted.front_) > 1


def test_costs_by_row_have_a_mean_cost():
    X, y = tumours()
    row_cost = np.where(y == "malignant", 10.0, 1.0) * np.linspace(1, 2, len(y))
    model = ECSELMClassifier(**SMALL).fit(X, y, sample_cost=row_cost)
    assert "mean cost" in model.front_
    moved = model.at({"malignant": 2})
    assert_array_equal(moved.predict(X) == "malignant", moved.predict_proba(X)[:, 1] > 1 / 3)


def test_the_same_fit_has_the_same_front():
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, random_state=0)
    fronts = [ECSELMClassifier(n_jobs=n, **SMALL).fit(X, y).front_ for n in (1, 2)]
    pd.testing.assert_frame_equal(*fronts)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "exactly one of costs, recall and alarms must be given, got none"),
        ({"costs": {"benign": 2}, "alarms": 0.1}, "got costs and alarms"),
        ({"recall": {"ill": 0.9}}, "ill"),
        ({"recall": 0.9}, "recall must be a dict"),
        ({"recall": {"benign": 1.5}}, "recall must be from 0 to 1, got 1.5"),
        ({"alarms": -0.1}, "alarms must be from 0 to 1"),
        ({"recall": {"benign": 0.999, "malignant": 0.999}}, "the best there is 0.* of 'benign'"),
        ({"costs": [[0, 1, 1], [3, 0, 1]]}, "no column for asking"),
        ({"costs": [[0, -1], [3, 0]]}, "cheaper"),
    ],
)
def test_what_cannot_be_is_refused(given, match):
    X, y = tumours()
    model = CostDecisionClassifier(GaussianNB(), calibration="cross").fit(X, y)
    with pytest.raises(ValueError, match=match):
        model.at(**given)


def test_alarms_are_for_two_classes_and_models_for_decisions():
    X, y = load_wine(return_X_y=True)
    model = CostDecisionClassifier(GaussianNB(), calibration="cross").fit(X, y)
    with pytest.raises(ValueError, match="two classes only, there are 3"):
        model.at(alarms=0.1)
    with pytest.raises(NotFittedError):
        CostDecisionClassifier(GaussianNB()).at(alarms=0.1)
    weights = CostSearchCV(GaussianNB(), cost_level="class", **SMALL).fit(X, y)
    assert not hasattr(weights, "front_")
    with pytest.raises(AttributeError, match="has no attribute 'at'"):
        weights.at([1, 2, 3])
    trained = CostSearchCV(GaussianNB(), fitness="train", **SMALL).fit(X, y)
    assert not hasattr(trained, "front_")
    assert len(trained.at([1, 2, 3]).predict(X)) == len(y)
    rule = CostDecisionClassifier(GaussianNB(), rule="minimax_regret").fit(X, y)
    with pytest.raises(ValueError, match="known by number"):
        rule.at({0: (1, 5)})


def test_fresh_rows_lie_within_the_intervals_of_a_fitted_model():
    X, y = make_classification(9000, 8, n_informative=5, flip_y=0.15, random_state=0)
    model = CostDecisionClassifier(GaussianNB(), calibration="cross").fit(X[:1500], y[:1500])
    front, p, z = model.front_, model.predict_proba(X[1500:])[:, 1], y[1500:]
    assert len(front) > 10
    within = []
    for point in front.to_dict("records"):
        answers = (p > point["threshold"]).astype(int)
        for c in (0, 1):
            apart = abs(point[f"recall of {c}"] - (answers[z == c] == c).mean())
            within.append(apart <= 1.96 * point[f"std error of {c}"])
    assert np.mean(within) > 0.8
