import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from ecselm.paper.bench.methods import BenchMethod
from ecselm.paper.bench.probabilities import class_values, fit_sigmoids, log_loss
from ecselm.paper.bench.tuning import Fitter, calibrate, inner_folds, label_rows, rank_candidates
from tests.paper.bench.made import tiny

SVM = BenchMethod("SVC")


def test_log_loss_equals_that_of_scikit_learn(rng):
    proba = rng.dirichlet(np.ones(3), size=40)
    y = rng.integers(0, 3, 40)
    expected = metrics.log_loss(y, proba, labels=[0, 1, 2])
    assert log_loss(proba, y) == pytest.approx(expected, rel=1e-5)


def test_a_certain_error_costs_a_bounded_amount():
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(-np.log(1e-6), rel=1e-5)


def test_arguments_are_not_changed():
    proba = np.array([[1.0, 0.0]])
    log_loss(proba, np.array([0]))
    assert proba.tolist() == [[1.0, 0.0]]


def test_absent_classes_have_no_probability_and_the_least_decision_value():
    rows = label_rows(tiny("glass", k=3))
    known = rows.take(np.flatnonzero(rows.y != 1))
    proba = class_values(LogisticRegression().fit(known.X, known.y), rows.X, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert not proba[:, 1].any()
    machine = SVC().fit(known.X, known.y)
    values = class_values(machine, rows.X, 3)
    np.testing.assert_allclose(values[:, 2], machine.decision_function(rows.X))
    np.testing.assert_allclose(values[:, 0], -values[:, 2])
    np.testing.assert_allclose(values[:, 1], values.min(axis=1))


@pytest.mark.parametrize("k", [2, 3])
def test_sigmoids_are_those_of_scikit_learn(k):
    """CalibratedClassifierCV has one sigmoid where there are two classes, we have two."""
    rows = label_rows(tiny("glass", k=k))
    folds = inner_folds(rows.y, 0)
    values = np.zeros((len(rows.y), k))
    for train, validation in folds:
        machine = SVC().fit(rows.X[train], rows.y[train])
        values[validation] = class_values(machine, rows.X[validation], k)
    machine = SVC().fit(rows.X, rows.y)
    found = fit_sigmoids(values, rows.y).probabilities(class_values(machine, rows.X, k))
    theirs = CalibratedClassifierCV(SVC(), method="sigmoid", cv=folds, ensemble=False)
    expected = theirs.fit(rows.X, rows.y).predict_proba(rows.X)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_separable_classes_have_finite_sigmoids():
    values = np.column_stack([np.repeat([1.0, -1.0], 20), np.repeat([-1.0, 1.0], 20)])
    proba = fit_sigmoids(values, np.repeat([0, 1], 20)).probabilities(values)
    assert 0.9 < proba[0, 0] < 1.0


def test_calibrated_machines_beat_shares_of_classes():
    rows = label_rows(tiny("glass", k=3))
    fitter = Fitter(SVM, False, 0)
    proba = calibrate(fitter, {}, rows).probabilities(
        class_values(fitter.fit({}, rows), rows.X, rows.n_classes)
    )
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    shares = np.tile(np.bincount(rows.y) / len(rows.y), (len(rows.y), 1))
    assert log_loss(proba, rows.y) < log_loss(shares, rows.y)


@pytest.mark.parametrize("method", ["SVC", "logistic regression"])
def test_candidates_are_ranked_by_their_log_loss(method):
    rows = label_rows(tiny("glass", k=3))
    candidates = [{"C": 1e-6}, {"C": 1.0}]
    found = rank_candidates(
        Fitter(BenchMethod(method), False, 0), candidates, rows, ("accuracy", "log_loss")
    )
    assert found["log_loss"] == (1, 0)


def test_values_that_are_not_finite_are_refused():
    class Broken:
        classes_ = np.arange(2)

        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(ValueError, match="must be finite"):
        class_values(Broken(), np.zeros((3, 1)), 2)
