"""Decisions by cost around any classifier, and models of costs known in part, as graphs."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ecselm import CostDecisionClassifier, CostSearchCV, CSELMClassifier, ECSELMClassifier
from ecselm.onnx import to_onnx
from ecselm.onnx.graph import NoOnnxFormError
from tests.onnx.agreement import assert_agrees, rows_beyond

NAMES = np.array(["fine", "missed", "worse"])
SHORT = {"population_size": 3, "max_epochs": 0, "random_state": 0}


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def rows(request):
    return make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=request.param, flip_y=0.1, random_state=0
    )


@pytest.mark.parametrize("asking", [{}, {"reject_cost": 0.4}, {"reject_capacity": 0.2}], ids=str)
@pytest.mark.parametrize("calibration", [None, "holdout", "cross"])
@pytest.mark.parametrize("words", [True, False], ids=["texts", "integers"])
def test_decisions_agree(rows, words, calibration, asking):
    X, codes = rows
    y = NAMES[codes] if words else codes
    cost = {("missed", "fine") if words else (1, 0): (3, 20)}
    label = {} if words else {"reject_label": -1}
    model = CostDecisionClassifier(
        make_pipeline(StandardScaler(), GaussianNB()),
        cost=cost,
        calibration=calibration,
        **asking,
        **label,
    ).fit(X, y)
    found = assert_agrees(model, rows_beyond(X))
    if asking:
        assert (found["label"] == model.reject_label_).any()


def test_decisions_of_machines_agree(rows):
    model = CostDecisionClassifier(CSELMClassifier(20, random_state=0), cost="1->0 = 3..20")
    assert_agrees(model.fit(*rows), rows_beyond(rows[0]))


@pytest.mark.parametrize(
    "model",
    [
        CSELMClassifier(20, random_state=0),
        ECSELMClassifier(20, **SHORT),
        CostSearchCV(LogisticRegression(), fitness=2, **SHORT),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_of_costs_known_in_part_agree(rows, model):
    model.set_params(cost="1->0 = 3..20 * 0->1").fit(*rows)
    assert model.constraints_ is not None
    assert_agrees(model, rows_beyond(rows[0]))


def test_label_without_an_onnx_form_is_refused(rows):
    model = CostDecisionClassifier(GaussianNB(), reject_cost=0.1, reject_label="ask").fit(*rows)
    with pytest.raises(NoOnnxFormError, match=r"reject_label must be .*: fit with an int"):
        to_onnx(model)


def test_estimator_without_probabilities_is_refused(rows):
    model = CostDecisionClassifier(LinearSVC()).fit(*rows)
    with pytest.raises(NoOnnxFormError, match="estimator must have predict_proba"):
        to_onnx(model)


@pytest.mark.parametrize(
    ("label", "asking"),
    [(-1.0, {"reject_cost": 0.4}), (np.nan, {"reject_capacity": 0.2})],
    ids=["number", "nan"],
)
def test_decisions_about_classes_that_are_floats_agree(rows, label, asking):
    X, codes = rows
    model = CostDecisionClassifier(GaussianNB(), cost={1.0: (3, 20)}, reject_label=label, **asking)
    found = assert_agrees(model.fit(X, codes.astype(float)), rows_beyond(X))
    asked = found["scores"].argmax(axis=1) == len(model.classes_)
    assert asked.any()
    np.testing.assert_array_equal(found["label"][asked], label)
    model.set_params(reject_label="ask").fit(X, codes.astype(float))
    with pytest.raises(NoOnnxFormError, match="fit with a number such as -1"):
        to_onnx(model)


@pytest.mark.parametrize("capacity", [None, 0.2])
def test_the_answer_has_the_largest_score(rows, capacity):
    X, codes = rows
    model = CostDecisionClassifier(
        GaussianNB(), cost={1: (3, 20)}, reject_cost=0.3, reject_capacity=capacity, reject_label=-1
    ).fit(X, codes)
    found = assert_agrees(model, rows_beyond(X))
    answers = np.append(model.classes_, -1)[found["scores"].argmax(axis=1)]
    np.testing.assert_array_equal(answers, found["label"])
