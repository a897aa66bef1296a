"""Models that decide by costs, known in part, in files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from ecselm import CostDecisionClassifier, CostSearchCV, CSELMClassifier, ECSELMClassifier
from ecselm.costs import CostConstraints
from ecselm.saving import load_model, save_model
from ecselm.saving.checks import check_constraints, check_sound
from ecselm.saving.plain import KnownCosts
from tests.saving.forged import attributes, forge, json_node

SHORT = {"population_size": 3, "max_epochs": 0, "random_state": 0}
NAMES = np.array(["fine", "missed", "worse"])
KNOWN = CostConstraints.from_sentences(
    ["missed->fine = 3..20 * fine->missed", "worse > missed"], NAMES
)
X, CODES = make_classification(
    120, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
)
Y = NAMES[CODES]
MODELS = {
    "decision": CostDecisionClassifier(GaussianNB(), cost=KNOWN),
    "minimax": CostDecisionClassifier(GaussianNB(), cost=KNOWN, rule="minimax_regret"),
    "asking": CostDecisionClassifier(GaussianNB(), cost=KNOWN, reject_cost=0.5),
    "capacity": CostDecisionClassifier(GaussianNB(), cost=KNOWN, reject_capacity=0.2),
    "scores": CostDecisionClassifier(LinearSVC(), cost="missed->fine = 5"),
    "uncalibrated": CostDecisionClassifier(GaussianNB(), calibration=None),
    "machine": CSELMClassifier(20, cost=KNOWN, random_state=0),
    "learned": ECSELMClassifier(20, cost=KNOWN, **SHORT),
    "search": CostSearchCV(LogisticRegression(), cost=KNOWN, fitness=2, **SHORT),
}


@pytest.mark.parametrize("name", MODELS)
def test_loaded_models_decide_as_before(tmp_path, name):
    model, path = MODELS[name].fit(X, Y), tmp_path / "model.skops"
    save_model(model, path)
    loaded = load_model(path).model
    assert loaded.constraints_ == model.constraints_
    for method in ("predict", "predict_proba", "settled", "regret", "predict_set"):
        assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


def test_costs_of_rows_are_read_as_they_were_written():
    known = CostConstraints(
        ["a", "b"], sample_cost=np.arange(12.0).reshape(3, 2, 2) * (1 - np.eye(2))
    )
    assert KnownCosts.of(known).constraints() == known


def test_density_is_refused(tmp_path):
    known = CostConstraints(NAMES, intervals={"missed": (3, 20)}, density=lambda M: M[:, 1, 0])
    model = CostDecisionClassifier(GaussianNB(), cost=known).fit(X, Y)
    with pytest.raises(ValueError, match="cost must have density=None for a model to be saved"):
        save_model(model, tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("cost_matrix_", np.ones((3, 3)), "costs that decide must be 3 by 4"),
        ("_decision_costs_", np.full((3, 4), np.inf), "costs that decide must be 3 by 4"),
        ("_decision_costs_", None, "costs that decide must be numbers"),
        ("_least_gain_", float("nan"), "the least gain of asking"),
        ("_scored_rows_", 0, "the number of scored rows"),
        ("_map_", 1.0, "probabilities must come from a calibration"),
        ("reject_label_", "fine", "reject_label_ must not be a class"),
        ("reject_label_", ["fine"], "reject_label_ must be a text or a number"),
        ("_reject_costs_", np.zeros(2), "costs of asking must be 3 finite numbers"),
        ("reject_rate_", 2.0, "reject_rate_ must be from 0 to 1"),
        ("estimator_", 1, "estimator_ must be an estimator"),
        ("constraints_", None, "constraints_ must be cost constraints"),
        ("constraints_", 1, "constraints_ must be cost constraints, got int"),
        ("constraints_", CostConstraints(["a", "b"]), "constraints_ must be about the classes"),
    ],
)
def test_decisions_by_nothing_are_refused(field, value, message):
    model = CostDecisionClassifier(GaussianNB(), cost=KNOWN, reject_cost=0.5).fit(X, Y)
    setattr(model, field, value)
    check = check_constraints if field == "constraints_" else check_sound
    with pytest.raises((TypeError, ValueError), match=message):
        check(model)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"low": 3.0', '"low": 30.0', "low and high must satisfy"),
        ('"left": [1, 0]', '"left": [7, 0]', "cost constraints must be stated in full"),
        ('"span": 100.0', '"span": 0.5', "span must be a factor > 1"),
        ('"span": 100.0', '"length": 1', "cost constraints must be stated in full"),
    ],
)
def test_forged_constraints_are_refused(tmp_path, old, new, message):
    path = tmp_path / "model.skops"
    said = [one.text for one in KNOWN.statements]  # so that the constraints are stored once
    save_model(CostDecisionClassifier(GaussianNB(), cost=said).fit(X, Y), path)
    text = KnownCosts.of(KNOWN).text
    assert old in text

    def change(schema):
        known = attributes(schema)["constraints_"]["content"]["content"]
        known[0] = json_node(text.replace(old, new))

    forge(path, change)
    with pytest.raises(ValueError, match=message):
        load_model(path)
