"""Every model of ``ecselm fit`` as a graph, with the columns of a table before it."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnxruntime import InferenceSession
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline

from ecselm import CostDecisionClassifier, ECSELMClassifier
from ecselm.costs import CostConstraints
from ecselm.onnx import to_onnx
from ecselm.study.models import MODELS, ModelSettings, one_thread
from ecselm.tables.rows import new_rows, training_rows
from ecselm.tables.schema import plan_columns
from tests.onnx.agreement import TOLERANCE, assert_agrees, rows_beyond

LABELS = np.array(["fine", "ill", "worse"])
COSTS = {2: [[0, 1], [5, 0]], 3: [[0, 1, 2], [5, 0, 2], [1, 9, 0]]}
SHORT = {"n_hidden": 10, "max_epochs": 1, "population_size": 3}
HALF_KNOWN = "ill->fine = 3..20 * fine->ill"


@pytest.fixture(autouse=True)
def threads():
    """Boosted trees wait for cores that other tests use, unless they have one thread."""
    with one_thread():
        yield


def table(n_classes, n, seed):
    """Return a table with missing numbers and words, and words that are new in other seeds."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        n, 4, n_informative=3, n_redundant=0, n_classes=n_classes, class_sep=2.0, random_state=0
    )
    frame = pd.DataFrame(X, columns=["age", "size of it", "c", "d"])
    frame["word"] = rng.choice(["red", "green", "blue", f"only {seed}"], n, p=[0.4, 0.3, 0.2, 0.1])
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.05, "word"] = None
    frame["class"], frame["number"] = LABELS[y], 2.0 * X[:, 0] + X[:, 1] ** 2
    return frame


def fitted(name, target, settings, n_classes=2):
    """Return a pipeline as ``ecselm fit`` makes it, and new rows."""
    known, new = (
        table(n_classes, n, seed).drop(columns={"class": "number", "number": "class"}[target])
        for n, seed in ((220, 0), (300, 1))
    )
    plan = plan_columns(known, target)
    rows = training_rows(known, plan, None)
    columns = plan.transformer()
    inputs = columns.fit_transform(rows.X)
    model = MODELS[settings.task][name](settings, inputs, rows.y).fit(inputs, rows.y)
    return Pipeline([("columns", columns), ("model", model)]), new_rows(new, plan.columns)


def compare(model, rows, dtype=np.float64, tolerance=TOLERANCE):
    session = InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
    inputs = {
        one.name: rows[[one.name]].fillna("").to_numpy(object)
        if "string" in one.type
        else rows[[one.name]].to_numpy(dtype)
        for one in session.get_inputs()
    }
    found = dict(
        zip((one.name for one in session.get_outputs()), session.run(None, inputs), strict=True)
    )
    if "variable" in found:
        wanted = model.predict(rows)
        assert found["variable"].shape == wanted.shape
        assert_allclose(found["variable"], wanted, rtol=tolerance, atol=tolerance)
        return found
    assert_array_equal(found["label"], model.predict(rows))
    for name in ("probabilities", "scores"):
        method = {"probabilities": "predict_proba", "scores": "decision_function"}[name]
        wanted = getattr(model, method)(rows)
        assert_allclose(found[name], wanted, rtol=tolerance, atol=tolerance)
    return found


def cases(n_classes):
    cost = COSTS[n_classes]
    return {
        "plain": {},
        "costs": {"cost": cost},
        "half-known costs": {
            "cost": CostConstraints.from_costs(HALF_KNOWN, LABELS[:n_classes]),
        },
        "asking": {"cost": cost, "reject_cost": [0.3] * n_classes},
        "capacity": {"reject_capacity": 0.1},
        "costs by row": {"by_row": True},
    }


@pytest.mark.parametrize("name", MODELS["classes"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("case", cases(2))
def test_classes_of_every_model_agree(name, n_classes, case):
    stated = cases(n_classes)[case]
    metric = "mean_cost" if stated else "balanced_accuracy"
    settings = ModelSettings("classes", metric, search=SHORT, **stated)
    model, rows = fitted(name, "class", settings, n_classes)
    found = compare(model, rows)
    assert len(np.unique(found["label"])) >= 2


@pytest.mark.parametrize("name", MODELS["numbers"])
@pytest.mark.parametrize("metric", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_numbers_of_every_model_agree(name, metric):
    settings = ModelSettings("numbers", metric, search=SHORT)
    compare(*fitted(name, "number", settings))


@pytest.mark.parametrize("shape", [(60,), (60, 1), (60, 2)])
@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor()], ids=["ridge", "neighbours"])
def test_other_regressors_have_the_shape_of_their_predictions(model, shape):
    """One target is (N,) or (N, 1), as the estimator itself has it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    assert_agrees(model.fit(X, rng.normal(size=shape)), X)


@pytest.mark.parametrize("name", ["logistic", "boosting", "elm"])
def test_float32_graphs_agree_to_float32(name):
    settings = ModelSettings("classes", "mean_cost", cost=COSTS[3], search=SHORT)
    model, rows = fitted(name, "class", settings, 3)
    rows = rows.astype(dict.fromkeys(["age", "size of it", "c", "d"], np.float32))
    compare(model, rows, np.float32, 1e-5)


@pytest.mark.parametrize(
    "model",
    [
        CostDecisionClassifier(HistGradientBoostingClassifier(max_iter=10, random_state=0)),
        CostDecisionClassifier(LogisticRegression(), calibration="cross"),
        ECSELMClassifier(n_hidden=10, max_epochs=0, population_size=3, random_state=0),
    ],
    ids=["boosting", "logistic", "ecselm"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_promises_and_other_points_of_the_front_agree(model, n_classes):
    X, y = make_classification(
        500, 4, n_informative=3, n_redundant=0, n_classes=n_classes, random_state=0
    )
    model.set_params(promise={1: 0.6}).fit(X, y)
    rows = rows_beyond(X, 2000)
    assert model.promise_
    labels = assert_agrees(model, rows)["label"]
    moved = model.at(costs={1: 50.0})
    assert (assert_agrees(moved, rows)["label"] != labels).any()
    assert_agrees(model.at(recall={0: float(model.front_["recall of 0"].max())}), rows)


@pytest.mark.parametrize(
    ("make", "written"),
    [
        (lambda codes: codes, -1),
        (lambda codes: codes - 5, -6),
        (lambda codes: codes.astype(np.uint8), -1),
        (lambda codes: codes.astype(float), np.nan),
    ],
    ids=["counted", "negative", "unsigned", "floats"],
)
def test_no_label_of_rejected_rows_is_a_number_that_is_no_class(make, written):
    X, codes = make_classification(200, 4, flip_y=0.2, random_state=0)
    y = make(codes)
    model = CostDecisionClassifier(LogisticRegression(), reject_cost=0.2).fit(X, y)
    graph = to_onnx(model)
    session = InferenceSession(graph.SerializeToString())
    label = session.run(["label"], {"X": X})[0]
    wanted = model.predict(X)
    asked = np.array([one is None for one in wanted])
    assert asked.any()
    assert_array_equal(label[asked], written)
    assert_array_equal(label[~asked], wanted[~asked].astype(label.dtype))
    stored = json.loads(session.get_modelmeta().custom_metadata_map["reject_label"])
    assert_array_equal(stored, written)
