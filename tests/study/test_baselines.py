"""Baselines on the same test rows, and how a model differs from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_absolute_error

from ecselm import ELMRegressor, WELMClassifier
from ecselm.costs import parse_cost
from ecselm.metrics import geometric_mean_score, mean_cost, paired_difference
from ecselm.study import models
from ecselm.study.evaluate import Baselines, best_constant, fit_baselines, record_predictions

NAMES = ["ELM", "W1-ELM", "logistic regression", "boosting", "best constant answer"]


@pytest.fixture
def parts(labelled):
    X, y = labelled
    return X[:300], y[:300], X[300:], y[300:]


def test_baselines_are_the_estimators_of_their_names(parts):
    X_train, y_train, X, y = parts
    baselines = fit_baselines(X_train, y_train, seed=3, metric="gmean")
    found = {one.name: one for one in baselines.compared(X, y, metric="gmean")}
    assert list(found) == NAMES
    y_pred = WELMClassifier(100, weighting="w1", random_state=3).fit(X_train, y_train).predict(X)
    assert_allclose(found["W1-ELM"].scores["gmean"], geometric_mean_score(y, y_pred))
    counts = np.array(found["best constant answer"].confusion)
    assert (counts.sum(axis=0) > 0).tolist() == [True] + [False] * (len(counts) - 1)
    boosted = HistGradientBoostingClassifier(
        early_stopping=True, max_iter=500, min_samples_leaf=6, random_state=3
    ).fit(X_train, y_train)
    n = np.unique(y_train, return_counts=True)[1]
    best = boosted.classes_[(boosted.predict_proba(X) / n).argmax(axis=1)]
    assert_allclose(found["boosting"].scores["gmean"], geometric_mean_score(y, best))


def test_stated_costs_decide_in_all_baselines(parts):
    X_train, y_train, X, y = parts
    cost, k = {(1, 0): 40.0}, len(np.unique(y_train))
    by = {"metric": "mean_cost", "cost": cost}
    baselines = fit_baselines(X_train, y_train, **by)
    C = parse_cost(cost, np.unique(y_train))
    assert k == len(C)
    for one in baselines.compared(X, y, **by):
        model = baselines.models[one.name]
        if one.name == "best constant answer":
            y_pred = np.full(len(y), (np.bincount(y_train) @ C).argmin())
        else:
            y_pred = (model.predict_proba(X) @ C).argmin(axis=1)
        assert_allclose(one.scores["mean_cost"], mean_cost(y, y_pred, cost=cost))
        assert_allclose(one.total_cost, len(y) * one.scores["mean_cost"])


def test_costs_of_rows_decide_in_all_baselines(parts, rng):
    X_train, y_train, X, y = parts
    k = len(np.unique(y_train))
    costs = rng.uniform(1, 30, (400, k, k)) * (1 - np.eye(k))
    train, test = costs[: len(y_train)], costs[-len(y) :]
    baselines = fit_baselines(X_train, y_train, metric="mean_cost", sample_cost=train)
    for one in baselines.compared(X, y, metric="mean_cost", sample_cost=test):
        P = baselines.models[one.name].predict_proba(X)
        y_pred = np.einsum("ni,nij->nj", P, test).argmin(axis=1)
        if one.name == "best constant answer":
            y_pred = np.full(len(y), train[np.arange(len(y_train)), y_train].sum(axis=0).argmin())
        paid = test[np.arange(len(y)), y, y_pred].mean()
        assert_allclose(one.scores["mean_cost"], paid)


def test_sparse_rows_have_the_same_baselines(rng):
    X = sparse.random_array((300, 20), density=0.3, format="csr", rng=rng)
    y = (X.sum(axis=1) > 3).astype(int)
    baselines = fit_baselines(X, y, metric="gmean")
    assert (list(baselines.models), baselines.notes) == (NAMES, ())
    dense = fit_baselines(X.toarray(), y, metric="gmean").models["boosting"].predict(X.toarray())
    assert (baselines.models["boosting"].predict(X) == dense).all()


def test_boosting_of_sparse_rows_that_are_too_many_has_a_note(rng, monkeypatch):
    monkeypatch.setattr(models, "DENSE_BYTES", 1000)
    X = sparse.random_array((60, 20), density=0.3, format="csr", rng=rng)
    baselines = fit_baselines(X, np.arange(60) % 2)
    assert "boosting" not in baselines.models
    assert baselines.notes[0].startswith("boosting could not be fitted for comparison: dense rows")


@pytest.mark.parametrize(
    ("metric", "options", "constant"),
    [
        ("accuracy", {}, 0),
        ("gmean", {}, 0),
        ("f1", {}, 1),
        ("mean_cost", {}, 0),
        ("mean_cost", {"cost": [[0, 1], [9, 0]]}, 1),
        ("mean_cost", {"sample_cost": np.tile([[0.0, 1.0], [9.0, 0.0]], (8, 1, 1))}, 1),
        ("gmean", {"cost": [[0, 1], [9, 0]]}, 0),
    ],
)
def test_best_constant_is_that_of_the_metric_and_the_costs(metric, options, constant):
    y = np.array([0] * 6 + [1] * 2)
    assert best_constant(y, metric=metric, **options).constant == constant


def test_metrics_of_probabilities_have_shares_as_the_best_constant():
    assert best_constant(np.array([0, 1, 1]), metric="neg_log_loss").strategy == "prior"


def test_a_model_is_no_baseline_of_itself(parts):
    assert "boosting" not in fit_baselines(*parts[:2], without="boosting").models


def test_baselines_of_numbers_are_three_models_and_two_constants(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    baselines = fit_baselines(X[:40], y[:40], task="numbers", seed=1, metric="mae")
    found = baselines.compared(X[40:], y[40:], metric="mae")
    y_pred = ELMRegressor(100, random_state=1).fit(X[:40], y[:40]).predict(X[40:])
    names = ["ELM", "ridge regression", "boosting", "mean", "median"]
    assert [one.name for one in found] == names
    scores = [one.scores["mae"] for one in found]
    assert_allclose(scores[0], mean_absolute_error(y[40:], y_pred))
    assert_allclose(scores[3], abs(y[40:] - y[:40].mean()).mean())
    assert_allclose(scores[4], abs(y[40:] - np.median(y[:40])).mean())


def test_baseline_that_cannot_be_fitted_has_a_note():
    """Of one class alone, only the constant prediction can be learned."""
    X, y = np.ones((4, 1)), np.zeros(4, dtype=int)
    baselines = fit_baselines(X, y)
    assert list(baselines.models) == ["best constant answer"]
    assert baselines.notes[0].startswith(
        "ELM could not be fitted for comparison: y must have at least"
    )
    assert len(baselines.notes) == 4
    assert len(baselines.compared(X, y)) == 1


def test_differences_are_those_of_the_metric_on_the_same_rows(parts):
    X_train, y_train, X, y = parts
    model = LogisticRegression().fit(X_train, y_train)
    baselines = fit_baselines(X_train, y_train)
    recorded = record_predictions(model, X)
    for metric in ("gmean", "accuracy", "mean_cost", "roc_auc_ovr"):
        for one in baselines.compared(X, y, metric=metric, model=recorded):
            own = one.scores[metric] - one.difference.value * (-1 if metric == "mean_cost" else 1)
            assert np.isfinite(own)
            if metric == "roc_auc_ovr":
                continue
            y_pred = baselines.models[one.name].predict(X)
            found = paired_difference(metric, y, model.predict(X), y_pred, labels=model.classes_)
            assert_allclose(one.difference.value, found.difference, atol=1e-12)
            assert one.difference.beyond_chance == found.beyond_chance(1 - 0.05 / 5)


def test_intervals_hold_for_all_baselines_together(parts):
    X_train, y_train, X, y = parts
    recorded = record_predictions(LogisticRegression().fit(X_train, y_train), X)
    baselines = fit_baselines(X_train, y_train)
    alone = Baselines({"ELM": baselines.models["ELM"]})
    (one,) = alone.compared(X, y, metric="accuracy", model=recorded)
    first, *_ = baselines.compared(X, y, metric="accuracy", model=recorded)
    assert first.difference.low < one.difference.low < one.difference.high < first.difference.high


def test_differences_of_numbers_are_positive_where_the_model_leads(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    baselines = fit_baselines(X[:100], y[:100], task="numbers")
    recorded = record_predictions(baselines.models["ELM"], X[100:])
    for metric in ("neg_mean_absolute_error", "mae", "r2"):
        elm, _, _, mean, median = baselines.compared(
            X[100:], y[100:], metric=metric, model=recorded
        )
        assert (elm.difference.value, elm.difference.beyond_chance) == (0.0, False)
        assert mean.difference.low > 0
        assert median.difference.beyond_chance


def test_metric_that_is_not_defined_has_no_difference(parts):
    X_train, y_train, X, y = parts
    recorded = record_predictions(LogisticRegression().fit(X_train, y_train), X[:1])
    found = fit_baselines(X_train, y_train).compared(
        X[:1], y[:1], metric="roc_auc_ovr", model=recorded
    )
    assert all(one.difference is None for one in found)
    (one, *_) = fit_baselines(X_train, y_train).compared(
        X[:1], y[:1], metric="accuracy", model=recorded
    )
    assert (one.difference.low, one.difference.high, one.difference.beyond_chance) == (
        None,
        None,
        False,
    )
