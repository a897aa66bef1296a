"""Indices and numbers from files: within bounds, or refused before anyone follows them."""

from copy import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from ecselm import CSELMClassifier, ELMClassifier, KELMClassifier
from ecselm.estimators._calibration import (
    LogisticCalibration,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.saving import load_model, save_model
from ecselm.saving.checks import check_sound
from tests.saving.forged import attributes, forge, json_node

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("array", "value"),
    [("feature", 4), ("feature", -5), ("children_left", 10**6), ("children_right", 0)],
)
def test_trees_that_lead_astray_are_refused(array, value):
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    check_sound(forest)
    getattr(forest.estimators_[1].tree_, array)[0] = value
    with pytest.raises(ValueError, match="a tree must"):
        check_sound(forest)


@pytest.mark.parametrize("field", ["feature_idx", "left", "right"])
def test_boosted_trees_that_lead_astray_are_refused(field):
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(X, Y)
    check_sound(model)
    model._predictors[1][0].nodes[field][0] = 10**6
    with pytest.raises(ValueError, match="a tree must"):
        check_sound(model)


def test_boosting_by_categories_is_refused():
    rows = np.column_stack([X, RNG.integers(3, size=60)])
    model = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=5, categorical_features=[4], random_state=0
    ).fit(rows, rows[:, 4] == 1)
    with pytest.raises(ValueError, match="must split by numbers"):
        check_sound(model)


def test_trees_wider_than_their_rows_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    save_model(DecisionTreeClassifier(random_state=0).fit(X, Y), path)
    load_model(path)
    forge(path, lambda schema: attributes(schema).update(n_features_in_=json_node(1)))
    with pytest.raises(ValueError, match="a tree must use features from 0 to 0"):
        load_model(path)


def test_trees_of_unknown_width_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    save_model(RandomForestClassifier(2, random_state=0).fit(X, Y), path)
    forge(path, lambda schema: attributes(schema).pop("n_features_in_"))
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)


def test_what_only_says_it_is_a_tree_is_refused(tmp_path):
    path = tmp_path / "model.skops"
    save_model(DecisionTreeClassifier(random_state=0).fit(X, Y), path)
    forge(path, lambda schema: attributes(schema).update(tree_=json_node(1)))
    with pytest.raises(ValueError, match="a tree must be one of scikit-learn's, got int"):
        load_model(path)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array])
def test_matrices_that_lead_astray_are_refused(kind):
    model = KELMClassifier().fit(sparse.csr_array(X), Y)
    rows = kind(X)
    object.__setattr__(model.layer_, "rows", rows)
    check_sound(model)
    places = rows.indices if rows.format == "csr" else rows.coords[1]
    places[0] = 99
    with pytest.raises(ValueError, match=r"must|indices"):
        check_sound(model)


def calibrated(calibration):
    model = CSELMClassifier(5, random_state=0).fit(X, Y)
    model._probabilities_ = calibration
    return model


CALIBRATIONS = [
    LogisticCalibration(2.0, np.array([0.5, -0.5])),
    VectorCalibration(np.array([1.0, 2.0]), np.zeros(2)),
    ScoreCalibration(3.0, np.log([1.0, 4.0])),
    MonotoneCalibration(np.array([-1.0, 0.0, 2.0]), np.array([0.1, 0.4, 0.9])),
]


@pytest.mark.parametrize("calibration", CALIBRATIONS, ids=lambda one: type(one).__name__)
def test_every_calibration_is_read_as_it_was_written(tmp_path, calibration):
    model, path = calibrated(calibration), tmp_path / "model.skops"
    save_model(model, path)
    loaded = load_model(path).model
    assert type(loaded._probabilities_) is type(calibration)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("calibration", "field", "value", "message"),
    [
        (CALIBRATIONS[0], "slope", float("nan"), "slope must be a finite number"),
        (CALIBRATIONS[0], "slope", "steep", "slope of a calibration has the wrong type str"),
        (CALIBRATIONS[0], "offsets", None, "offsets of a calibration has the wrong type NoneType"),
        (CALIBRATIONS[0], "offsets", np.array([0.0, np.inf]), "offsets must be a row"),
        (CALIBRATIONS[1], "slopes", np.ones(3), "slopes must be as many as offsets"),
        (CALIBRATIONS[2], "log_weights", np.ones((2, 2)), "log_weights must be a row"),
        (CALIBRATIONS[3], "knots", np.array([0.0, -1.0, 2.0]), "knots must increase"),
        (CALIBRATIONS[3], "values", np.array([0.1, 0.4, 1.0]), "values must not decrease"),
    ],
)
def test_calibrations_that_are_none_are_refused(calibration, field, value, message):
    broken = copy(calibration)
    object.__setattr__(broken, field, value)
    with pytest.raises((TypeError, ValueError), match=message):
        check_sound(calibrated(broken))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("_probabilities_", None, "probabilities must come from a calibration, got NoneType"),
        ("_weighted_probabilities_", 1.0, "probabilities must come from a calibration, got float"),
        ("_decision_costs_", np.ones((2, 3)), "costs that decide must be 2 by 2 finite numbers"),
        ("_decision_costs_", np.full((2, 2), np.nan), "costs that decide must be 2 by 2"),
        ("_decision_costs_", [[0.0, 1.0], [1.0, 0.0]], "costs that decide must be 2 by 2"),
    ],
)
def test_decisions_by_nothing_are_refused(field, value, message):
    model = calibrated(CALIBRATIONS[0])
    check_sound(model)
    setattr(model, field, value)
    with pytest.raises((TypeError, ValueError), match=message):
        check_sound(model)


@pytest.mark.parametrize("field", ["kernel", "inputs", "C"])
def test_members_that_are_none_are_refused(field):
    model = ELMClassifier(10, ensemble=2, random_state=0).fit(X, Y)
    check_sound(model)
    model._members_ = (model._members_[0]._replace(**{field: 1}),)
    with pytest.raises(ValueError, match="a member must state its layer, C and squared error"):
        check_sound(model)
