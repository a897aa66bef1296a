"""Baselines on the same test rows, and how a model differs from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_absolute_error

from ecselm import ELMRegressor, WELMClassifier
from ecselm.metrics import geometric_mean_score, mean_cost, paired_difference
from ecselm.study.evaluate import Baselines, fit_baselines, record_predictions


@pytest.fixture
def parts(labelled):
    X, y = labelled
    return X[:300], y[:300], X[300:], y[300:]


def test_baselines_are_the_estimators_of_their_names(parts):
    X_train, y_train, X, y = parts
    cost = {(1, 0): 4.0}
    baselines = fit_baselines(X_train, y_train, seed=3)
    found = {one.name: one for one in baselines.compared(X, y, metric="gmean", cost=cost)}
    assert list(found) == ["ELM", "W1-ELM", "W2-ELM", "most frequent class"]
    y_pred = WELMClassifier(100, weighting="w2", random_state=3).fit(X_train, y_train).predict(X)
    assert_allclose(found["W2-ELM"].scores["gmean"], geometric_mean_score(y, y_pred))
    assert_allclose(found["W2-ELM"].total_cost, len(y) * mean_cost(y, y_pred, cost=cost))
    counts = np.array(found["most frequent class"].confusion)
    assert (counts.sum(axis=0) > 0).tolist() == [True] + [False] * (len(counts) - 1)


def test_baselines_of_numbers_are_a_machine_and_two_constants(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    baselines = fit_baselines(X[:40], y[:40], task="numbers", seed=1)
    found = baselines.compared(X[40:], y[40:], metric="mae")
    y_pred = ELMRegressor(100, random_state=1).fit(X[:40], y[:40]).predict(X[40:])
    expected = [
        mean_absolute_error(y[40:], y_pred),
        abs(y[40:] - y[:40].mean()).mean(),
        abs(y[40:] - np.median(y[:40])).mean(),
    ]
    assert [one.name for one in found] == ["ELM", "mean", "median"]
    assert_allclose([one.scores["mae"] for one in found], expected)


def test_baseline_that_cannot_be_fitted_has_a_note():
    """Of one class alone, only the constant prediction can be learned."""
    X, y = np.ones((4, 1)), np.zeros(4, dtype=int)
    baselines = fit_baselines(X, y)
    assert list(baselines.models) == ["most frequent class"]
    assert baselines.notes[0].startswith(
        "ELM could not be fitted for comparison: y must have at least"
    )
    assert len(baselines.notes) == 3
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
            assert one.difference.beyond_chance == found.beyond_chance(1 - 0.05 / 4)


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
        elm, mean, median = baselines.compared(X[100:], y[100:], metric=metric, model=recorded)
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
