"""What is exported, what is refused, and what is left on disk."""

import importlib
import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import ecselm
import onnx
from ecselm import ECSELMClassifier, ELMClassifier, ELMRegressor, KELMClassifier
from ecselm.onnx import to_onnx
from tests.onnx.agreement import outputs, rows_beyond


@pytest.fixture
def model(rng):
    X = rng.standard_normal((40, 3))
    return ELMClassifier(10, random_state=0).fit(X, np.where(X[:, 0] > 0, "übel", "gut"))


def fitted_on_columns(*names):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, len(names))), columns=names)
    return ELMClassifier(5, random_state=0).fit(X, X.iloc[:, 0] > 0)


def test_file_holds_what_is_returned(model, tmp_path):
    graph = to_onnx(model, tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == graph
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_failed_write_leaves_the_file_as_it_was(model, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError("no space left")

    path = tmp_path / "model.onnx"
    path.write_text("before")
    monkeypatch.setattr("ecselm._files.os.fsync", full)
    with pytest.raises(ValueError, match="no space left"):
        to_onnx(model, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_metadata_tell_version_and_classes(model):
    graph = to_onnx(model)
    known = {prop.key: prop.value for prop in graph.metadata_props}
    assert known["ecselm_version"] == graph.producer_version == ecselm.__version__
    assert json.loads(known["classes"]) == ["gut", "übel"]


def test_metadata_of_a_regressor_tell_no_classes(rng):
    X = rng.standard_normal((40, 3))
    graph = to_onnx(ELMRegressor(10, random_state=0).fit(X, X[:, 0]))
    assert [prop.key for prop in graph.metadata_props] == ["ecselm_version"]


def test_same_model_gives_the_same_bytes(model):
    assert to_onnx(model).SerializeToString() == to_onnx(model).SerializeToString()


def test_float32_graph_is_near(model, rng):
    R = rows_beyond(rng.standard_normal((40, 3))).astype(np.float32)
    found = outputs(to_onnx(model, dtype=np.float32), {"X": R})
    assert found["scores"].dtype == np.float32
    np.testing.assert_allclose(found["scores"], model.decision_function(R), rtol=1e-3, atol=1e-3)


def test_float32_graph_is_smaller(model):
    whole, half = (
        len(to_onnx(model, dtype=dtype).SerializeToString()) for dtype in (np.float64, np.float32)
    )
    assert half < whole


def test_centres_of_an_ensemble_are_stored_once_for_every_scale_and_kernel(rng):
    X = rng.standard_normal((80, 30))
    model = ECSELMClassifier(40, population_size=5, max_epochs=1, random_state=0)
    graph = to_onnx(model.fit(X, X[:, 0] > 0))
    tables = [one for one in graph.graph.initializer if sorted(one.dims) == [30, 40]]
    kinds = {(kernel, inputs) for kernel, inputs, *_ in model._members_}
    assert len(tables) == len(kinds) < len(model.layer_.parts)


@pytest.mark.parametrize(
    ("estimator", "what"),
    [
        (ELMClassifier(5, activation=np.cos, random_state=0), "activation must be .* 'cos'"),
        (KELMClassifier(kernel=lambda X, Y: X @ Y.T), "kernel must be .*<lambda>"),
        (
            make_pipeline(StandardScaler(), PolynomialFeatures(), ELMClassifier(5, random_state=0)),
            "model must have an ONNX form in float64",
        ),
        (
            make_pipeline(FunctionTransformer(np.abs), ELMClassifier(5, random_state=0)),
            "model must .* FunctionTransformer",
        ),
    ],
    ids=["activation", "kernel", "float32 only", "function"],
)
def test_what_has_no_onnx_form_is_named_and_nothing_written(estimator, what, tmp_path, rng):
    X = rng.standard_normal((30, 2))
    path = tmp_path / "model.onnx"
    path.write_text("before")
    with pytest.raises(ValueError, match=what):
        to_onnx(estimator.fit(X, X[:, 0] > 0), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_step_is_named(rng):
    class Odd(StandardScaler):
        pass

    X = rng.standard_normal((30, 2))
    model = make_pipeline(Odd(), ELMClassifier(5, random_state=0)).fit(X, X[:, 0] > 0)
    with pytest.raises(
        ValueError, match=r"model must have an ONNX form.*Odd'>': replace that part"
    ):
        to_onnx(model)


def test_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        to_onnx(ELMClassifier())


def test_missing_folder_is_said(model, tmp_path):
    with pytest.raises(ValueError, match="No such file or directory"):
        to_onnx(model, tmp_path / "nowhere" / "model.onnx")


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_other_dtypes_are_refused(model, dtype):
    with pytest.raises(ValueError, match=r"dtype must be float64 or float32, got"):
        to_onnx(model, dtype=dtype)


def test_columns_called_as_outputs_are_refused():
    with pytest.raises(ValueError, match="must not be called as outputs are, got 'scores'"):
        to_onnx(fitted_on_columns("a", "scores"))


def test_columns_called_as_inner_tensors_agree():
    model = fitted_on_columns("variable", "constant", "matmul", "rows", "X", "label1", "inner")
    R = rows_beyond(np.tile([[-1.0], [1.0]], 7), 100)
    frame = pd.DataFrame(R, columns=model.feature_names_in_)
    found = outputs(to_onnx(model), {name: frame[[name]].to_numpy() for name in frame})
    assert (found["label"] == model.predict(frame)).all()


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"a": "word"}, "columns must be 'number' or 'text', got 'word' for 'a'"),
        ({"c": "number"}, "columns must be among those of the model, got 'c'"),
    ],
)
def test_wrong_columns_are_refused(columns, what):
    with pytest.raises(ValueError, match=what):
        to_onnx(fitted_on_columns("a", "b"), columns=columns)


def test_too_few_columns_are_refused(model):
    with pytest.raises(ValueError, match="columns must name all 3 columns"):
        to_onnx(model, columns={"a": "number"})


@pytest.mark.parametrize("missing", ["onnx", "skl2onnx"])
def test_import_without_the_extra_names_it(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "ecselm.onnx")
    with pytest.raises(ImportError, match='install the extra "onnx"'):
        importlib.import_module("ecselm.onnx")
