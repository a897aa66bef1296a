"""Scores of models on labelled rows, against scikit-learn's functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from ecselm import ELMClassifier
from ecselm.metrics import geometric_mean_score, get_metric, mean_cost, savings_score
from ecselm.study.evaluate import (
    class_scores,
    confusion_counts,
    known_codes,
    number_scores,
    record_predictions,
)


@pytest.fixture
def fitted(labelled):
    X, y = labelled
    return ELMClassifier(20, random_state=0).fit(X[:200], y[:200]), X[200:], y[200:]


def test_scores_are_those_of_the_functions_of_their_names(fitted):
    model, X, y = fitted
    y_pred = model.predict(X)
    expected = {
        "accuracy": accuracy_score(y, y_pred),
        "balanced_accuracy": balanced_accuracy_score(y, y_pred),
        "gmean": geometric_mean_score(y, y_pred),
        "f1_macro": f1_score(y, y_pred, average="macro"),
        "matthews_corrcoef": matthews_corrcoef(y, y_pred),
    }
    found = class_scores(record_predictions(model, X), y, None, None).scores
    assert found.keys() == expected.keys()
    assert_allclose(list(found.values()), [expected[name] for name in found], rtol=1e-12)


def test_requested_metric_stands_first_and_may_need_probabilities(fitted):
    model, X, y = fitted
    found = class_scores(record_predictions(model, X), y, "roc_auc_ovr", None).scores
    P = model.predict_proba(X)
    expected = roc_auc_score(y, P[:, 1] if P.shape[1] == 2 else P, multi_class="ovr")
    assert next(iter(found.items())) == ("roc_auc_ovr", pytest.approx(expected))


@pytest.mark.parametrize(
    ("metric", "function"), [("mean_cost", mean_cost), ("savings", savings_score)]
)
def test_stated_costs_are_counted(fitted, metric, function):
    model, X, y = fitted
    cost = {(1, 0): 7.0}
    found = class_scores(record_predictions(model, X), y, metric, cost)
    y_pred, labels = model.predict(X), model.classes_
    assert_allclose(found.scores[metric], function(y, y_pred, cost=cost, labels=labels))
    assert_allclose(found.scores["mean_cost"], mean_cost(y, y_pred, cost=cost, labels=labels))
    assert_allclose(found.total_cost, len(y) * found.scores["mean_cost"])


def test_mean_cost_without_stated_costs_is_the_error_rate(fitted):
    model, X, y = fitted
    found = class_scores(record_predictions(model, X), y, "mean_cost", None)
    assert_allclose(found.scores["mean_cost"], np.mean(model.predict(X) != y))
    assert found.total_cost is None


def test_metric_that_the_rows_do_not_allow_for_is_left_out(fitted):
    model, X, y = fitted
    only = y == 0
    found = class_scores(record_predictions(model, X[only]), y[only], "roc_auc_ovr", None).scores
    assert "roc_auc_ovr" not in found
    assert np.isfinite(list(found.values())).all()


def test_metric_of_two_classes_needs_a_class_called_one():
    counts, recall = np.array([[[3.0, 1.0], [2.0, 4.0]]]), get_metric("recall")
    assert_allclose(recall.confusion_metric(np.array([0, 1]))(counts), 4 / 6)
    assert recall.confusion_metric(np.array(["no", "yes"])) is None
    assert get_metric("roc_auc").confusion_metric(np.array([0, 1])) is None


def test_numbers_are_scored_by_their_errors(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = LinearRegression().fit(X[:30], y[:30])
    y_pred, truth = model.predict(X[30:]), y[30:]
    found = number_scores(record_predictions(model, X[30:]), truth, "neg_median_absolute_error")
    assert list(found) == ["neg_median_absolute_error", "mae", "rmse", "r2"]
    assert_allclose(found["mae"], mean_absolute_error(truth, y_pred))
    assert_allclose(found["rmse"] ** 2, mean_squared_error(truth, y_pred))
    assert_allclose(found["r2"], r2_score(truth, y_pred))
    assert_allclose(found["neg_median_absolute_error"], -np.median(abs(truth - y_pred)))


def test_share_explained_of_one_row_is_left_out():
    model = DummyRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    assert number_scores(record_predictions(model, [[0.0]]), np.array([1.0]), "r2") == {
        "mae": 0.5,
        "rmse": 0.5,
    }


def test_advantage_knows_where_less_is_better():
    assert get_metric("mean_cost").advantage(1.0, 2.0) > 0
    assert get_metric("accuracy").advantage(2.0, 1.0) > 0
    assert get_metric("gmean").advantage(1.0, 1.0) == 0


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (np.array([0, 1]), ["1", "0"]),
        (np.array(["0", "1"]), [1, 0]),
        (np.array([0, 1]), [1.0, 0.0]),
        (np.array([False, True]), ["True", "False"]),
        (np.array(["größer", "kleiner"], dtype=object), ["kleiner", "größer"]),
    ],
)
def test_labels_are_known_whatever_type_a_file_gave_them(classes, labels):
    assert known_codes(labels, classes).tolist() == [1, 0]


def test_all_unknown_labels_are_named_once():
    with pytest.raises(ValueError, match=r"knows, ill, well, got wel, dead; did you mean well\?$"):
        known_codes(["wel", "ill", "dead", "wel"], np.array(["ill", "well"]))


def test_counts_have_the_truth_as_rows():
    assert confusion_counts(np.array([0, 0, 2]), np.array([1, 1, 2]), 3).tolist() == [
        [0, 2, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
