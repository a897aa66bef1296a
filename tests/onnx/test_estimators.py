"""Every estimator of the family, in every variant, against its graph."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.estimators._calibration import (
    LogisticCalibration,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.layers import ACTIVATIONS, DRAWS, KERNELS
from ecselm.onnx import to_onnx
from ecselm.onnx.graph import NoOnnxFormError
from tests.onnx.agreement import TOLERANCE, assert_agrees, outputs, rows_beyond

CLASSIFIER_OUTPUTS = {"label", "scores", "probabilities"}
SHORT = {"population_size": 3, "max_epochs": 0, "random_state": 0}
ONE = {"ensemble": None, "fitness": "holdout", **SHORT}
MATRIX = {"cost_level": "matrix", "decision": "min_cost", **ONE}
EVERY_SCALE = [
    (kernel, inputs, 0.3)
    for kernel in ("rbf", "laplacian")
    for inputs in ("standard", "ranks", "root", "minmax", None)
]
NAMED = [name for name in KERNELS if name != "precomputed"]


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def rows(request):
    X, y = make_classification(
        90, 5, n_informative=4, n_redundant=0, n_classes=request.param, flip_y=0.1, random_state=0
    )
    # Features of different sizes and centres, one of whole numbers, so that ranks have ties.
    X = X * [1.0, 20.0, 0.1, 3.0, 1.0] + [0.0, 100.0, 0.0, -7.0, 0.0]
    X[:, 3] = X[:, 3].round()
    return X, y


@pytest.fixture(scope="module")
def two_classes():
    return make_classification(90, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1]
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.standard_normal(80)


def agrees(model, data):
    found = assert_agrees(model.fit(*data), rows_beyond(data[0]))
    assert set(found) == CLASSIFIER_OUTPUTS
    return found


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_agrees(rows, activation):
    agrees(ELMClassifier(20, activation=activation, random_state=0), rows)


@pytest.mark.parametrize("draw", DRAWS)
def test_every_draw_agrees(rows, draw):
    agrees(ELMClassifier(20, activation="tanh", draw=draw, scale="minmax", random_state=0), rows)


@pytest.mark.parametrize("kernel", NAMED)
def test_every_kernel_agrees(rows, kernel):
    agrees(KELMClassifier(kernel=kernel, scale="standard", max_samples=None), rows)


@pytest.mark.parametrize("scale", [None, "minmax"])
def test_every_scale_agrees(rows, scale):
    agrees(KELMClassifier(gamma=0.1, scale=scale), rows)


def test_precomputed_kernel_takes_kernel_values():
    X, y = make_classification(40, 5, random_state=0)
    model = KELMClassifier(kernel="precomputed").fit(X @ X.T, y)
    assert_agrees(model, rows_beyond(X) @ X.T)


@pytest.mark.parametrize(
    "model",
    [
        WELMClassifier(20, weighting="w2", random_state=0),
        WELMClassifier(kernel="rbf", scale="standard"),
        CSELMClassifier(20, cost={(0, 1): 5}, random_state=0),
        CSELMClassifier.paper(n_hidden=20, cost={(0, 1): 5}, random_state=0),
        CSELMClassifier(kernel="laplacian", cost={(1, 0): 3}),
        EELMClassifier(10, population_size=4, max_epochs=1, random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'decision', '')}",
)
def test_every_machine_without_learned_costs_agrees(rows, model):
    agrees(model, rows)


@pytest.mark.parametrize(
    "model",
    [
        ECSELMClassifier(20, activation="sine", **ONE),
        ECSELMClassifier(20, **MATRIX),
        ECSELMClassifier(kernel="rbf", gamma="search", scale="standard", **MATRIX),
        ECSELMClassifier(20, cost_level="sample", **ONE),
        ECSELMClassifier.paper(n_hidden=20, **SHORT),
        ECSELMClassifier(20, cost_level="matrix", cost={(0, 1): 4}, **SHORT),
    ],
    ids=["one layer", "min_cost", "kernel", "by row", "paper", "matrix of an ensemble"],
)
def test_learned_costs_agree(rows, model):
    agrees(model, rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: LogisticCalibration(1.7, np.linspace(-1.0, 1.0, k)),
        lambda k: VectorCalibration(np.linspace(0.0, 3.0, k), np.linspace(-1.0, 1.0, k)),
        lambda k: ScoreCalibration(1.7, np.log(np.arange(1.0, k + 1.0))),
    ],
    ids=["logistic", "vector", "score"],
)
def test_every_calibration_agrees(rows, make):
    X, y = rows
    model = CSELMClassifier(20, cost={(0, 1): 5}, decision="min_cost", random_state=0).fit(X, y)
    model._probabilities_ = make(len(model.classes_))
    assert_agrees(model, rows_beyond(X))


@pytest.mark.parametrize(
    ("knots", "values"),
    [
        ([0.2], [0.3]),
        ([-0.5, 0.5], [0.1, 0.9]),
        ([-0.5, -0.1, 0.0, 1e-9, 0.7, 0.9], [0.1, 0.1, 0.2, 0.6, 0.6, 0.99]),
        (np.linspace(-2.0, 2.0, 128), np.linspace(0.001, 0.999, 128) ** 2),
    ],
    ids=["constant", "line", "steep", "many knots"],
)
def test_monotone_calibrations_agree(two_classes, knots, values):
    X, y = two_classes
    model = CSELMClassifier(20, cost={(0, 1): 5}, decision="min_cost", random_state=0).fit(X, y)
    model._probabilities_ = MonotoneCalibration(np.array(knots), np.array(values))
    found = assert_agrees(model, rows_beyond(X))
    assert found["probabilities"].min() > 0.0


def test_unknown_calibrations_are_refused(two_classes):
    model = CSELMClassifier(20, decision="min_cost", random_state=0).fit(*two_classes)
    model._probabilities_ = lambda Z: np.hstack([0.0 * Z, 1.0 + 0.0 * Z])
    with pytest.raises(NoOnnxFormError, match="function has no ONNX form"):
        to_onnx(model)


@pytest.mark.parametrize("shape", ["by row", "by row and class"])
@pytest.mark.parametrize("ensemble", [None, 3], ids=["one layer", "ensemble"])
def test_decisions_by_costs_of_rows_agree(rows, shape, ensemble):
    X, y = rows
    costs = np.random.default_rng(0).uniform(1.0, 9.0, (len(y), y.max() + 1))
    costs[np.arange(len(y)), y] = 0.0
    costs = costs.sum(axis=1) if shape == "by row" else costs
    model = CSELMClassifier(20, ensemble=ensemble, random_state=0).fit(X, y, sample_cost=costs)
    assert model._weighted_probabilities_ is not None
    assert_agrees(model, rows_beyond(X))


def test_learned_costs_of_rows_agree(rows):
    X, y = rows
    costs = np.random.default_rng(0).uniform(1.0, 9.0, len(y))
    model = ECSELMClassifier(20, **SHORT).fit(X, y, sample_cost=costs)
    assert model._weighted_probabilities_ is not None
    assert_agrees(model, rows_beyond(X))


@pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(20, ensemble=EVERY_SCALE, random_state=0),
        ELMClassifier(ensemble="auto", random_state=0),
        KELMClassifier(ensemble=EVERY_SCALE),
        WELMClassifier(20, ensemble=4, random_state=0),
        CSELMClassifier(20, ensemble="auto", cost={(0, 1): 5}, random_state=0),
        ECSELMClassifier(20, **SHORT),
        ECSELMClassifier(**SHORT),
    ],
    ids=["scales", "exact", "kernel", "weighted", "costs", "learned", "learned exact"],
)
def test_ensembles_agree(rows, model):
    X, y = rows
    # The rows that ranks were measured on, with ties, and others.
    found = assert_agrees(model.fit(X, y), np.vstack([X, rows_beyond(X)]))
    assert set(found) == CLASSIFIER_OUTPUTS


@pytest.mark.parametrize("layer", EVERY_SCALE, ids=str)
def test_ensemble_of_every_kind_agrees(rows, layer):
    X, y = rows
    model = ELMClassifier(20, ensemble=[layer], random_state=0).fit(X, y)
    assert_agrees(model, np.vstack([X, rows_beyond(X)]))


@pytest.mark.parametrize(
    "layer",
    [
        make_pipeline(StandardScaler(), Nystroem(n_components=20)),
        make_pipeline(StandardScaler(), Nystroem("poly", n_components=20, degree=2)),
        make_pipeline(StandardScaler(), RBFSampler(n_components=20)),
        FeatureUnion([("scaled", StandardScaler()), ("turned", PCA(2))]),
        KMeans(4, n_init=1),
    ],
    ids=["Nystroem", "polynomial Nystroem", "RBFSampler", "union", "KMeans"],
)
def test_transformers_as_layers_agree(rows, layer):
    agrees(WELMClassifier(hidden_layer=layer, random_state=0), rows)


@pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(20, random_state=0),
        ELMClassifier(1, random_state=0),
        KELMClassifier(scale="standard"),
        KELMClassifier(kernel="linear", scale="standard"),
        CSELMClassifier(hidden_layer=RBFSampler(n_components=20), random_state=0),
    ],
    ids=["layer", "one unit", "rbf", "linear", "RBFSampler"],
)
def test_one_column_agrees(rows, model):
    """ONNX Runtime must not round the scale of a single column to float32."""
    X = rows[0][:, :1] * 3.7
    model = make_pipeline(StandardScaler(), model).fit(X, rows[1])
    assert_agrees(model, rows_beyond(X))


def test_stream_agrees(rows):
    X, y = rows
    model = ELMClassifier(20, random_state=0)
    for part in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(X[part], y[part], classes=np.unique(y))
    assert_agrees(model, rows_beyond(X))


@pytest.mark.parametrize(
    "model",
    [ELMClassifier(20, random_state=0), KELMClassifier(), ECSELMClassifier(20, **SHORT)],
    ids=lambda model: type(model).__name__,
)
def test_model_of_sparse_rows_agrees_on_dense_ones(rows, model):
    X = np.where(np.abs(rows[0]) < 0.5, 0.0, rows[0]) / [1.0, 100.0, 1.0, 7.0, 1.0]
    model.fit(sparse.csr_matrix(X), rows[1])
    assert_agrees(model, rows_beyond(X))


def test_scaled_kernel_of_sparse_rows_answers_as_for_sparse_rows(rows):
    X, R = rows[0] / 100.0, rows_beyond(rows[0] / 100.0)
    model = KELMClassifier(scale="standard").fit(sparse.csr_matrix(X), rows[1])
    found = outputs(to_onnx(model), {"X": R})
    expected = model.decision_function(sparse.csr_matrix(R))
    np.testing.assert_allclose(found["scores"], expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize(
    "model",
    [
        ELMRegressor(20, random_state=0),
        KELMRegressor(kernel="laplacian", scale="standard"),
        CSELMRegressor(20, activation="tanh", random_state=0),
        EELMRegressor(10, population_size=4, max_epochs=1, random_state=0),
        ECSELMRegressor(20, fitness="holdout", **SHORT),
        ECSELMRegressor(kernel="rbf", fitness="holdout", **SHORT),
        ELMRegressor(20, ensemble="auto", random_state=0),
        KELMRegressor(ensemble=5),
        CSELMRegressor(20, ensemble="auto", random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__} {model.kernel} {model.ensemble}",
)
def test_every_regressor_agrees(numbers, model, n_targets):
    X, y = numbers
    y = y if n_targets == 1 else np.column_stack([y, -2.0 * y + X[:, 2]])
    found = assert_agrees(model.fit(X, y), rows_beyond(X))
    assert set(found) == {"variable"}


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["gesund", "übel", "ärger"]),
        np.array(["健康", "病気", "不明"], dtype=object),
        np.array([-3, 10, 7]),
        np.array([1, 2, 200], dtype=np.uint8),
        np.array([1.0, 2.0, 5.0]),
        np.array([False, True]),
    ],
    ids=["words", "objects", "integers", "bytes", "floats", "bools"],
)
def test_labels_keep_their_kind(labels):
    X, y = make_classification(
        90, 5, n_informative=4, n_redundant=0, n_classes=len(labels), random_state=0
    )
    found = agrees(ELMClassifier(20, random_state=0), (X, labels[y]))
    assert found["label"].dtype.kind == {"U": "O", "u": "i"}.get(
        labels.dtype.kind, labels.dtype.kind
    )


def test_model_of_float32_rows_is_near(rows):
    """The graph computes in float64 what the model computed in float32."""
    X, R = rows[0].astype(np.float32), rows_beyond(rows[0]).astype(np.float32)
    model = ELMClassifier(20, random_state=0).fit(X, rows[1])
    found = outputs(to_onnx(model), {"X": R.astype(np.float64)})
    np.testing.assert_allclose(found["scores"], model.decision_function(R), rtol=1e-3, atol=1e-3)


def test_random_configurations_agree():
    rng = np.random.default_rng(8)
    for seed in range(8):
        k, n = int(rng.integers(2, 5)), int(rng.integers(1, 9))
        X = rng.standard_normal((60, n)) * rng.uniform(0.1, 10.0, n) + rng.uniform(-5.0, 5.0, n)
        y = np.arange(60) % k
        own = {"n_hidden": int(rng.integers(1, 40)), "C": 2.0 ** rng.uniform(-5, 10)}
        own |= {"scale": rng.choice(["standard", "minmax"]), "random_state": seed}
        if rng.random() < 0.5:
            own["kernel"] = str(rng.choice(["rbf", "laplacian", "cosine"]))
        own |= {"activation": str(rng.choice(list(ACTIVATIONS)))}
        own |= {"decision": str(rng.choice(["argmax", "min_cost"]))}
        model = CSELMClassifier(cost=rng.uniform(0.5, 5.0, (k, k)) * (1 - np.eye(k)), **own)
        assert_agrees(model.fit(X, y), rows_beyond(X, 1000))
