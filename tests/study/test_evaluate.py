"""Results on test rows: intervals, curves, and rows that lack a class."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.svm import SVC, LinearSVC

from ecselm import ELMClassifier
from ecselm.metrics.intervals import bootstrap_interval
from ecselm.study.evaluate import evaluate, recall_estimate


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier that only predicts."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


@pytest.fixture
def parts(labelled):
    X, y = labelled
    names = np.array(["anämisch", "benign", "malignant", "unknown"])[y]
    return X[:200], names[:200], X[200:], names[200:]


def test_interval_is_that_of_the_bootstrap():
    right = np.repeat([1.0, 0.0], [33, 12])
    drawn = bootstrap_interval(right, method="percentile", n_resamples=20000)
    found = recall_estimate("ill", 33, 45)
    assert_allclose([found.low, found.high], [drawn.low, drawn.high], atol=1 / 45)
    assert (found.value, found.n) == (33 / 45, 45)


@pytest.mark.parametrize("n", [1, 2, 20])
def test_interval_of_equal_predictions_is_exact(n):
    """Clopper and Pearson: at the bound, n correct predictions have the chance 2.5 %."""
    all_right, none_right = recall_estimate("ill", n, n), recall_estimate("ill", 0, n)
    assert_allclose(all_right.low**n, 0.025)
    assert_allclose((1 - none_right.high) ** n, 0.025)
    assert (all_right.high, none_right.low) == (1.0, 0.0)


def test_counts_recalls_and_curves_agree_with_the_predictions(parts):
    X_train, y_train, X, y = parts
    model = ELMClassifier(30, random_state=0).fit(X_train, y_train)
    found = evaluate(model, X, y, metric="gmean")
    counts = confusion_matrix(y, model.predict(X), labels=model.classes_)
    assert found.confusion == tuple(map(tuple, counts.tolist()))
    assert_allclose([one.value for one in found.recalls], counts.diagonal() / counts.sum(axis=1))
    assert all(one.low <= one.value <= one.high for one in found.recalls)
    P = model.predict_proba(X)
    places = {name: i for i, name in enumerate(model.classes_.tolist())}
    for curve in found.roc:
        assert_allclose(curve.area, roc_auc_score(y == curve.name, P[:, places[curve.name]]))
    assert len(found.roc) == len(found.precision_recall) == (1 if len(places) == 2 else len(places))


def test_curve_of_two_classes_is_that_of_the_rarer_one(parts):
    X_train, y_train, X, y = parts
    two = np.isin(y, ["anämisch", "benign"])
    known = np.isin(y_train, ["anämisch", "benign"])
    model = LogisticRegression().fit(X_train[known], y_train[known])
    found = evaluate(model, X[two], y[two])
    rarer = min(("anämisch", "benign"), key=lambda name: np.sum(y == name))
    assert [found.roc[0].name, found.precision_recall[0].name] == [rarer, rarer]
    assert found.reliability.name == rarer


def test_reliability_of_many_classes_is_that_of_the_predicted_class(rng):
    X = rng.normal(size=(300, 3))
    y = X.argmax(axis=1)
    model = LogisticRegression().fit(X[:100], y[:100])
    found = evaluate(model, X[100:], y[100:]).reliability
    P = model.predict_proba(X[100:])
    assert_allclose(np.mean(found.x), P.max(axis=1).mean(), rtol=1e-3)
    assert_allclose(np.mean(found.y), np.mean(P.argmax(axis=1) == y[100:]), rtol=1e-3)


@pytest.mark.parametrize("present", [["anämisch"], ["benign"]])
def test_missing_classes_are_omitted(parts, present):
    X_train, y_train, X, y = parts
    model = ELMClassifier(30, random_state=0).fit(X_train, y_train)
    few = np.isin(y, present)
    found = evaluate(model, X[few], y[few], metric="roc_auc_ovr", cost={("benign", "anämisch"): 5})
    assert [one.name for one in found.recalls] == present
    assert found.roc == ()
    assert len(found.confusion) == len(model.classes_)
    json.dumps(asdict(found), allow_nan=False)


def test_decisions_without_probabilities_have_curves_but_no_reliability(parts):
    X_train, y_train, X, y = parts
    found = evaluate(LinearSVC().fit(X_train, y_train), X, y)
    assert found.roc
    assert found.reliability is None
    two_by_two = SVC(decision_function_shape="ovo").fit(X_train, y_train)
    assert len(evaluate(two_by_two, X, y).roc) == (1 if len(two_by_two.classes_) == 2 else 0)


def test_predictions_alone_have_scores_alone(parts):
    X_train, y_train, X, y = parts
    found = evaluate(Constant().fit(X_train, y_train), X, y, metric="neg_log_loss")
    assert (found.roc, found.precision_recall, found.reliability) == ((), (), None)
    assert "neg_log_loss" not in found.scores
    assert found.scores["accuracy"] == np.mean(y == "anämisch")


def test_stated_costs_are_kept_in_the_order_of_the_classes(parts):
    X_train, y_train, X, y = parts
    model = Constant().fit(X_train, y_train)
    found = evaluate(model, X, y, cost={("benign", "anämisch"): 5.0})
    assert found.cost_matrix[1][0] == 5.0
    others = np.sum(~np.isin(y, ["anämisch", "benign"]))
    assert found.total_cost == 5.0 * np.sum(y == "benign") + others


def test_regressors_have_errors_and_their_shares(rng):
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    model = LinearRegression().fit(pd.DataFrame(X[:40]), y[:40])
    found = evaluate(model, pd.DataFrame(X[40:]), pd.Series(y[40:]), metric="mae")
    assert list(found.scores) == ["mae", "rmse", "r2"]
    assert found.cumulative.y[-1] == 1.0
    assert_allclose(found.cumulative.x[-1], abs(y[40:] - model.predict(X[40:])).max(), rtol=1e-4)


def test_what_cannot_be_evaluated_is_refused(parts):
    X_train, y_train, X, y = parts
    model = ELMClassifier(5, random_state=0)
    with pytest.raises(NotFittedError):
        evaluate(model, X, y)
    model.fit(X_train, y_train)
    with pytest.raises(ValueError, match="scoring must be a scorer"):
        evaluate(model, X, y, metric="goodness")
    with pytest.raises(ValueError, match="y must have at least one row"):
        evaluate(model, X[:0], y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        evaluate(model, X, y[:-1])
    with pytest.raises(ValueError, match="y must be finite"):
        evaluate(LinearRegression().fit([[0.0], [1.0]], [0, 1]), [[0.0]], [np.nan])
