"""Fits and predictions on arrays of other namespaces agree with NumPy's."""

import os
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_regression
from sklearn.naive_bayes import GaussianNB

import ecselm
from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.layers import ACTIVATIONS, DRAWS, KERNELS, SaturationWarning
from ecselm.onnx import to_onnx
from ecselm.saving import load_model, prepare, save_model

pytestmark = pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1",
    reason="scikit-learn dispatches only where SCIPY_ARRAY_API is 1",
)
AGREEMENT = {"rtol": 1e-8, "atol": 1e-8}
SINGLE = {"rtol": 2e-3, "atol": 2e-3}  # of float32: H, its scale and the scores have 7 digits
COST = np.array([[0.0, 1.0, 2.0, 1.5], [6.0, 0.0, 1.0, 1.0], [3.0, 2.0, 0.0, 4.0], [9, 1, 1, 0]])
SUPPORTING = {
    "CSELMClassifier",
    "CSELMRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "WELMClassifier",
}


class Space:
    """A namespace under test."""

    def __init__(self, module):
        self.module = module
        self.array_type = type(module.asarray([0.0]))

    def __call__(self, values, device=None):
        return None if values is None else self.module.asarray(np.array(values), device=device)

    def owns(self, value):
        return isinstance(value, self.array_type)


@pytest.fixture(params=["array_api_strict", "torch"])
def space(request):
    reason = f"needs {request.param}, whose arrays are passed to the estimators"
    return Space(pytest.importorskip(request.param, reason=reason))


def numpy_of(values):
    if hasattr(values, "numpy"):
        return values.numpy()
    if hasattr(values, "to_device"):
        module = values.__array_namespace__()
        return np.asarray(values.to_device(module.Device("CPU_DEVICE")))
    return np.asarray(values)


@contextmanager
def dispatching():
    with sklearn.config_context(array_api_dispatch=True):
        yield


def assert_agree(model, space, X, y, tolerance=AGREEMENT, device=None, **by_row):
    """Fit in NumPy and elsewhere, and compare all answers; return both models."""
    known = sklearn.clone(model).fit(X, y, **by_row)
    given = space(X, device)
    with dispatching():
        labels = y if y.dtype.kind == "U" else space(y, device)
        weights = {name: space(value, device) for name, value in by_row.items()}
        found = sklearn.clone(model).fit(given, labels, **weights)
        answers = {
            name: getattr(found, name)(given)
            for name in ("predict", "decision_function", "predict_proba")
            if hasattr(found, name)
        }
    for name, given_answer in answers.items():
        expected = getattr(known, name)(X)
        if expected.dtype.kind == "U":
            assert_array_equal(given_answer, expected)
            continue
        assert space.owns(given_answer), name
        assert given_answer.device == given.device
        answer = numpy_of(given_answer)
        if name == "predict" and expected.dtype.kind == "i":
            unlike = answer != expected
            assert unlike.mean() <= (0.01 if X.dtype == np.float32 else 0.0)
        else:
            scale = max(1.0, np.abs(expected).max())
            assert_allclose(answer / scale, expected / scale, **tolerance)
        assert answer.dtype == expected.dtype or "no_float64" in str(device)
    return known, found


CLASSIFIERS = [
    ELMClassifier(60, random_state=0),
    ELMClassifier(500, C=4.0, random_state=0),  # wide: more units than rows
    ELMClassifier(40, scale="minmax", activation="sigmoid", draw="uniform", random_state=0),
    ELMClassifier(40, scale=None, activation="tanh", random_state=0),
    KELMClassifier(),
    KELMClassifier(C=0.5, kernel="laplacian", scale="standard"),
    WELMClassifier(60, random_state=0),
    WELMClassifier(60, weighting="w2", normalize=True, random_state=0),
    WELMClassifier(500, weighting="balanced", random_state=0),
    WELMClassifier(kernel="rbf", gamma="auto", weighting={0: 2.0}),
    CSELMClassifier(60, random_state=0),
    CSELMClassifier(60, cost={(0, 1): 7.0}, random_state=0),
    CSELMClassifier(60, cost="0->1 = 2..20 * 1->0", random_state=0),
    CSELMClassifier(kernel="rbf", cost={(1, 0): 3.0}),
    CSELMClassifier.paper(n_hidden=60, cost={(0, 1): 7.0}, random_state=0),
    CSELMClassifier.paper(n_hidden=500, cost={(0, 1): 7.0}, normalize=True, random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_classifiers_agree(space, labelled, model, weighted, rng):
    X, y = labelled
    by_row = {"sample_weight": rng.integers(0, 3, len(y)).astype(float)} if weighted else {}
    known, found = assert_agree(model, space, X, y, **by_row)
    assert found.solver_ == known.solver_
    assert type(found._probabilities_) is type(known._probabilities_)


@pytest.mark.parametrize("model", CLASSIFIERS[:8:3], ids=repr)
def test_single_precision_agrees(space, labelled, model):
    X, y = labelled
    assert_agree(model, space, X.astype(np.float32), y, SINGLE)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_agree(space, labelled, activation):
    X, y = labelled
    assert_agree(ELMClassifier(30, activation=activation, random_state=0), space, X, y)


@pytest.mark.parametrize("draw", DRAWS)
def test_the_same_weights_are_drawn(space, labelled, draw):
    X, y = labelled
    model = ELMClassifier(16, draw=draw, random_state=3)
    known, found = assert_agree(model, space, X, y)
    assert_allclose(numpy_of(found.layer_.weights), known.layer_.weights, rtol=1e-12)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
def test_kernels_agree(space, labelled, kernel):
    X, y = labelled
    assert_agree(KELMClassifier(C=0.1, kernel=kernel, degree=2, coef0=0.5), space, X, y)


def test_precomputed_kernels_agree_and_are_copied(space, labelled):
    X, y = labelled
    K = X @ X.T
    assert_agree(KELMClassifier(C=0.1, kernel="precomputed"), space, K, y)
    with dispatching():
        given = space(K)
        model = KELMClassifier(C=0.1, kernel="precomputed").fit(given, space(y))
        given[0, 0] = 77.0
    assert numpy_of(model.layer_.rows)[0, 0] == K[0, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrations_of_many_rows_agree(space, n_classes):
    X, y = make_classification(
        2600, 8, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=1
    )
    model = CSELMClassifier(30, cost={(0, 1): 2.0}, random_state=0)
    assert_agree(model, space, X, y)  # isotonic, Venn-Abers or a slope per class; 2048 rows


def test_equal_scores_keep_their_class(space):
    X = np.array([[-1.0], [1.0], [1.0], [-1.0]])
    with dispatching():
        model = KELMClassifier(kernel="linear").fit(space(X), space(np.array([0, 1, 2, 0])))
        P, labels = model.predict_proba(space(X)), model.predict(space(X))
    assert_array_equal(numpy_of(P).argmax(axis=1), numpy_of(labels))
    assert_allclose(numpy_of(P)[1, 1:], numpy_of(P)[1, 1], rtol=1e-12)


def test_costs_by_row_agree(space, rng):
    X, y = make_classification(300, 6, random_state=0)
    cost = rng.uniform(1.0, 5.0, 300)
    model = CSELMClassifier(40, random_state=0)
    known, found = assert_agree(model, space, X, y, sample_cost=cost)
    matrices = np.abs(rng.standard_normal((300, 2, 2)))
    matrices[:, [0, 1], [0, 1]] = 0.0
    with dispatching():
        for stated in ({"fn_cost": cost}, {"sample_cost": matrices}):
            moved = {name: space(value) for name, value in stated.items()}
            assert_array_equal(
                numpy_of(found.predict(space(X), **moved)), known.predict(X, **stated)
            )


def test_a_whole_cost_matrix_agrees(space):
    X, y = make_classification(400, 8, n_informative=6, n_classes=4, random_state=4)
    known, found = assert_agree(CSELMClassifier(50, cost=COST, random_state=0), space, X, y)
    assert_array_equal(numpy_of(found.cost_matrix_), known.cost_matrix_)
    assert (known.predict(X) != known.predict_proba(X).argmax(axis=1)).any()


def test_labels_may_be_text(space, labelled):
    X, y = labelled
    names = np.array(["ill", "well", "odd", "new"])[y]
    _, found = assert_agree(ELMClassifier(30, random_state=0), space, X, names)
    assert isinstance(found.classes_, np.ndarray)


REGRESSORS = [
    ELMRegressor(60, random_state=0),
    ELMRegressor(400, random_state=0),
    KELMRegressor(C=2.0),
    CSELMRegressor(60, cost=lambda y: 1.0 + (np.ravel(y)[: len(y)] > 0), random_state=0),
    CSELMRegressor(kernel="cosine"),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_regressors_agree(space, model, n_targets, rng):
    X, y = make_regression(300, 6, n_targets=n_targets, random_state=0)
    known, found = assert_agree(model, space, X, y, sample_weight=rng.uniform(0.5, 2.0, 300))
    assert found.solver_ == known.solver_
    with dispatching():
        assert found.score(space(X), space(y)) == pytest.approx(known.score(X, y), abs=1e-9)


@pytest.mark.parametrize("n_hidden", [20, 60], ids=["tall", "wide"])
def test_beta_is_that_of_the_equation_as_printed(space, n_hidden):
    X, y = make_classification(40, 5, random_state=0)
    with dispatching():
        model = ELMClassifier(n_hidden, C=2.0, random_state=0).fit(space(X), space(y))
    weights, biases = numpy_of(model.layer_.weights), numpy_of(model.layer_.biases)
    H = np.exp(-((X @ weights + biases) ** 2))  # (16)-(17)
    T = np.where(y[:, np.newaxis] == [0, 1], 1.0, -1.0)
    beta = np.linalg.inv(np.eye(n_hidden) / 2.0 + H.T @ H) @ H.T @ T  # (5)
    assert_allclose(numpy_of(model.beta_), beta, **AGREEMENT)


def test_alpha_is_that_of_the_equation_as_printed(space):
    X, y = make_classification(40, 5, random_state=0)
    with dispatching():
        model = WELMClassifier(kernel="rbf", gamma=0.3, C=2.0).fit(space(X), space(y))
    K = np.exp(-0.3 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))  # (6)
    B = np.diag(1.0 / np.bincount(y)[y])  # (9)
    T = np.where(y[:, np.newaxis] == [0, 1], 1.0, -1.0)
    alpha = np.linalg.solve(np.eye(40) / 2.0 + B @ K, B @ T)  # (15)
    assert_allclose(numpy_of(model.beta_), alpha, **AGREEMENT)


def test_fitted_arrays_are_of_the_namespace(space, labelled):
    X, y = labelled
    for model in (
        CSELMClassifier(30, cost={(0, 1): 3.0}, random_state=0),
        WELMClassifier(kernel="rbf", scale="standard"),
    ):
        known, found = assert_agree(model, space, X, y)
        arrays = [name for name, value in vars(known).items() if isinstance(value, np.ndarray)]
        assert {"beta_", "classes_", "cost_vector_"} <= set(arrays)
        for name in arrays:
            assert space.owns(getattr(found, name)), name
            expected = getattr(known, name)
            assert_allclose(numpy_of(getattr(found, name)), expected, **AGREEMENT)
        layer = found.layer_
        parts = [layer.weights, layer.biases] if hasattr(layer, "weights") else [layer.rows]
        assert all(space.owns(part) for part in parts)
        assert found.n_features_in_ == X.shape[1]


@pytest.mark.parametrize(
    "model", [KELMRegressor(C=1e16, gamma=0.1), ELMRegressor(60, C=1e16, random_state=0)]
)
def test_singular_systems_take_the_spectrum(space, model):
    X = np.repeat(np.arange(20.0), 5)[:, np.newaxis]
    y = np.sin(X[:, 0])
    known, found = assert_agree(model, space, X, y, {"rtol": 1e-6, "atol": 1e-6})
    assert found.solver_ == known.solver_
    assert found.solver_.endswith("-spectral")


@pytest.mark.parametrize("device", ["device1", "no_float64"])
def test_arrays_stay_on_their_device(device, labelled):
    strict = pytest.importorskip("array_api_strict", reason="needs devices without hardware")
    X, y = labelled
    X = X.astype(np.float32)
    for model in (ELMClassifier(30, random_state=0), KELMClassifier()):
        place = strict.Device(device)
        _, found = assert_agree(model, Space(strict), X, y, SINGLE, device=place)
        assert found.beta_.device == place


def test_y_and_weights_may_be_of_another_namespace(space, labelled, rng):
    X, y = labelled
    weight = rng.uniform(1.0, 2.0, len(y))
    known = ELMClassifier(20, random_state=0).fit(X, y, weight)
    with dispatching():
        found = ELMClassifier(20, random_state=0).fit(space(X), y, weight)
        P = found.predict_proba(space(X))
        here = ELMClassifier(20, random_state=0).fit(X, space(y), space(weight))
    assert_allclose(numpy_of(P), known.predict_proba(X), **AGREEMENT)
    assert_array_equal(here.predict_proba(X), known.predict_proba(X))


def test_arguments_are_not_modified(space, labelled):
    X, y = labelled
    given, labels = space(X), space(y)
    with dispatching():
        KELMClassifier(scale="standard").fit(given, labels).predict_proba(given)
        ELMClassifier(20, random_state=0).fit(given, labels).predict_proba(given)
    assert_array_equal(numpy_of(given), X)
    assert_array_equal(numpy_of(labels), y)


def test_without_dispatch_arrays_become_those_of_numpy(labelled):
    torch = pytest.importorskip("torch", reason="needs torch, whose arrays NumPy can read")
    X, y = labelled
    known = CSELMClassifier(30, random_state=0).fit(X, y)
    found = CSELMClassifier(30, random_state=0).fit(torch.asarray(X), torch.asarray(y))
    for name in ("predict", "predict_proba", "decision_function"):
        answer = getattr(found, name)(torch.asarray(X))
        assert isinstance(answer, np.ndarray)
        assert_array_equal(answer, getattr(known, name)(X))


def test_arrays_of_numpy_are_computed_as_without_dispatch(labelled):
    X, y = labelled
    known = CSELMClassifier(30, random_state=0).fit(X, y)
    with dispatching():
        found = CSELMClassifier(30, random_state=0).fit(X, y)
        assert_array_equal(found.predict_proba(X), known.predict_proba(X))


def test_saturated_layers_are_reported(space, labelled):
    X, y = labelled
    model = ELMClassifier(20, draw="uniform", scale=None, random_state=0)
    with dispatching(), pytest.warns(SaturationWarning, match="activation='radbas'"):
        model.fit(space(1000.0 * X), space(y))


def test_models_can_be_pickled(space, labelled):
    X, y = labelled
    with dispatching():
        model = CSELMClassifier(30, random_state=0).fit(space(X), space(y))
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(
            numpy_of(copy.predict_proba(space(X))), numpy_of(model.predict_proba(space(X)))
        )


def test_models_can_be_moved_to_numpy_and_saved(space, labelled, tmp_path):
    arrays = pytest.importorskip("sklearn.utils._array_api")
    if not hasattr(arrays, "move_estimator_to"):
        pytest.skip("needs scikit-learn 1.9, which moves estimators")
    X, y = labelled
    for model in (CSELMClassifier(30, cost={(0, 1): 3.0}, random_state=0), KELMClassifier()):
        known, found = assert_agree(model, space, X, y)
        with dispatching():
            moved = arrays.move_estimator_to(found, np, "cpu")
        assert_allclose(moved.predict_proba(X), known.predict_proba(X), **AGREEMENT)
        assert_array_equal(moved.predict_set(X), known.predict_set(X))
        save_model(moved, tmp_path / "model.skops")
        loaded = load_model(tmp_path / "model.skops").model
        assert_array_equal(loaded.predict(X), known.predict(X))
        with dispatching():
            back = arrays.move_estimator_to(known, arrays.get_namespace(space(X))[0], None)
            assert_array_equal(numpy_of(back.predict(space(X))), known.predict(X))


# What is refused, and what says so.


REFUSED = [
    (ELMClassifier(ensemble="auto"), r"ensemble must be None, got 'auto'"),
    (KELMRegressor(ensemble=3), r"ensemble must be None, got 3"),
    (ELMClassifier(C=None), r"C must be a number or 'auto', got None"),
    (ELMClassifier(activation=np.tanh), r"activation must be a name, got <ufunc 'tanh'>"),
    (KELMClassifier(kernel=lambda A, B: A @ B.T), r"kernel must be a name, got <function"),
    (ELMClassifier(hidden_layer=sklearn.preprocessing.StandardScaler()), r"hidden_layer must be"),
    (ECSELMClassifier(), "ECSELMClassifier computes with NumPy alone"),
    (ECSELMRegressor(), "ECSELMRegressor computes with NumPy alone"),
    (EELMClassifier(), "EELMClassifier computes with NumPy alone"),
]


@pytest.mark.parametrize(("model", "reason"), REFUSED)
def test_other_forms_are_refused_before_any_work(space, labelled, model, reason):
    X, y = labelled
    with dispatching(), pytest.raises(ValueError, match=f"X must be an array of NumPy.*{reason}"):
        model.fit(space(X), space(y))
    assert not hasattr(model, "n_features_in_")
    assert not sklearn.utils.get_tags(model).array_api_support


def test_the_tag_is_set_where_it_holds():
    inner = GaussianNB()  # which has the tag
    around = {"CostDecisionClassifier": [inner], "CostSearchCV": [inner]}
    tagged = set()
    for name in ecselm.__all__:
        model = getattr(ecselm, name)(*around.get(name, []))
        if sklearn.utils.get_tags(model).array_api_support:
            tagged.add(name)
    assert tagged == SUPPORTING
    assert sklearn.utils.get_tags(WELMClassifier(kernel="rbf")).array_api_support


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_rows_of_another_namespace_are_refused(space, labelled, method):
    X, y = labelled
    with dispatching():
        found = ELMClassifier(20, random_state=0).fit(space(X), space(y))
        known = ELMClassifier(20, random_state=0).fit(X, y)
        message = rf"ELMClassifier.{method}\(\) must use the same namespace"
        with pytest.raises(ValueError, match=message):
            getattr(found, method)(X)
        with pytest.raises(ValueError, match=message):
            getattr(known, method)(space(X))
    with pytest.raises(ValueError, match=r"array_api_dispatch must be True .* got False"):
        getattr(found, method)(X)


def test_what_stays_numpy_says_so(space, labelled, tmp_path):
    X, y = labelled
    with dispatching():
        model = CSELMClassifier(20, random_state=0)
        with pytest.raises(ValueError, match="X must be an array of NumPy in partial_fit"):
            model.partial_fit(space(X), space(y), classes=np.unique(y))
        assert not hasattr(model, "beta_")
        model.fit(space(X), space(y))
        for refused in (
            lambda: model.partial_fit(X, y),
            lambda: model.predict_set(space(X)),
            lambda: model.expected_cost(space(X)),
            lambda: prepare(model),
            lambda: save_model(model, tmp_path / "model.skops"),
            lambda: to_onnx(model),
        ):
            with pytest.raises(ValueError, match="the model must hold arrays of NumPy for"):
                refused()
    assert not list(tmp_path.iterdir())


def test_overflow_is_refused_in_one_sentence(space, labelled):
    X, y = labelled
    with dispatching():
        model = ELMClassifier(20, activation="polynomial", scale=None, random_state=0)
        with pytest.raises(ValueError, match="activation must give finite values"):
            model.fit(space(1e200 * X), space(y))
        with pytest.raises(ValueError, match="X must have a largest magnitude between"):
            KELMClassifier().fit(space(1e200 * X), space(y))
        fitted = model.fit(space(X), space(y))
        with pytest.raises(ValueError, match="X must give finite scores"):
            fitted.predict(space(1e200 * X))


def test_more_rows_than_a_kernel_may_have_are_refused(space, labelled):
    X, y = labelled
    with dispatching(), pytest.raises(ValueError, match="max_samples=20 rows, got 400"):
        KELMClassifier(max_samples=20).fit(space(X), space(y))
