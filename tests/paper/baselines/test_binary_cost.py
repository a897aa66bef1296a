"""A cost matrix reaches classifiers that want the costs of two mistakes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from ecselm.paper.baselines import BinaryCostClassifier
from ecselm.paper.methods import get_method


class Weighing(ClassifierMixin, BaseEstimator):
    """Logistic regression whose class weights are the costs."""

    def fit(self, X, y, fn_cost=1.0, fp_cost=1.0):
        self.given_ = fn_cost, fp_cost
        weights = {0: fp_cost, 1: fn_cost}
        self.model_ = LogisticRegression(class_weight=weights, max_iter=1000).fit(X, y)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


@parametrize_with_checks([BinaryCostClassifier(Weighing(), cost=[1.0, 2.0])])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.fixture
def tumours(rng):
    y = np.array(["ill", "well"])[(rng.random(600) > 0.4).astype(int)]
    return rng.standard_normal((600, 3)) + (y == "well")[:, np.newaxis], y


def called_ill(model, X, y):
    """Return how many of the rows held out are called ill."""
    return (model.fit(X[::2], y[::2]).predict(X[1::2]) == "ill").sum()


def test_the_second_class_is_the_positive_one(tumours):
    model = BinaryCostClassifier(Weighing(), cost={("ill", "well"): 7, ("well", "ill"): 3})
    model.fit(*tumours)
    assert model.estimator_.given_ == (3.0, 7.0)  # a false positive is an ill one called well
    assert set(model.predict(tumours[0])) == {"ill", "well"}


def test_costs_by_row_are_those_beyond_the_right_class(rng):
    X, y = rng.standard_normal((4, 2)), np.array([0, 0, 1, 1])
    costly = np.array([[1.0, 3.0], [0.0, 4.0], [9.0, 2.0], [6.0, 1.0]])

    class Recording(Weighing):
        def fit(self, X, y, fn_cost, fp_cost):
            self.given_ = fn_cost, fp_cost
            return self

    model = BinaryCostClassifier(Recording()).fit(X, y, sample_cost=costly)
    missed, alarm = model.estimator_.given_
    np.testing.assert_allclose(missed, [6.0, 6.0, 7.0, 5.0])
    np.testing.assert_allclose(alarm, [2.0, 4.0, 3.0, 3.0])
    np.testing.assert_allclose(model.cost_matrix_, [[0.0, 3.0], [6.0, 0.0]])


def test_costs_are_given_once(tumours):
    X, y = tumours
    model = BinaryCostClassifier(Weighing(), cost={"ill": 2})
    with pytest.raises(ValueError, match="costs must be stated once"):
        model.fit(X, y, sample_cost=np.ones((600, 2)))
    with pytest.raises(ValueError, match=r"sample_cost must have the shape \(600, 2\)"):
        BinaryCostClassifier(Weighing()).fit(X, y, sample_cost=np.ones((600, 3)))


def test_costly_errors_become_rarer(tumours):
    plain, costly = (BinaryCostClassifier(Weighing(), cost) for cost in (None, {"ill": 20}))
    assert called_ill(costly, *tumours) > called_ill(plain, *tumours)


def test_more_than_two_classes_are_refused(rng):
    model = BinaryCostClassifier(Weighing())
    with pytest.raises(ValueError, match="y must have two classes, got 3"):
        model.fit(rng.standard_normal((6, 2)), [0, 1, 2, 0, 1, 2])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("name", ["CSLogit", "CSBoost", "CSTree", "CSThreshold"])
def test_empulse_minds_the_costs(name, tumours):
    costs = ({"well": 20}, None, {"ill": 20})
    few, some, many = (called_ill(get_method(name, cost=cost), *tumours) for cost in costs)
    assert few < 0.8 * some
    assert 1.2 * some < many


def test_a_tuned_threshold_minds_the_costs(tumours):
    name = "LightGBM with tuned threshold"
    plain, costly = (get_method(name, cost=c, n_jobs=1) for c in (None, {"ill": 20}))
    assert called_ill(costly, *tumours) > called_ill(plain, *tumours)


def test_a_threshold_is_tuned_for_the_metric(rng):
    y = (rng.random(400) > 0.9).astype(int)
    X = rng.standard_normal((400, 3)) + y[:, np.newaxis]
    name = "LightGBM with tuned threshold"
    y_pred = [
        get_method(name, scoring=scoring, n_estimators=5).fit(X, y).predict(X).mean()
        for scoring in ("gmean", "accuracy")
    ]
    assert y_pred[0] > y_pred[1]
