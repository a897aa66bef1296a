"""Convert a fitted model to one ONNX graph."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from onnx.checker import ValidationError, check_model
from onnx.helper import make_node, set_model_props
from onnx.numpy_helper import from_array
from onnx.shape_inference import InferenceError
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

import ecselm
from ecselm._files import write_whole
from ecselm.estimators import CostDecisionClassifier, CostSearchCV
from ecselm.estimators._array_api import check_numpy_model
from ecselm.onnx.estimators import REGRESSORS, answer_labels, output_names
from ecselm.onnx.graph import NoOnnxFormError
from ecselm.onnx.layers import last_step
from ecselm.onnx.tables import JoinedColumns, TableConverters
from ecselm.onnx.trees import BOOSTING, TreeConverters, column_encoder
from onnx import ModelProto

KINDS = ("number", "text")
ROWS = "X"  # name of the single input if columns have no names
# Supported by runtimes since 2022.
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
# Raised by skl2onnx for models that it cannot convert.
_OF_SKL2ONNX = (AttributeError, NameError, NotImplementedError, RuntimeError, TypeError, ValueError)


def column_kinds(model: Any, columns: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return the kind of every input column, or None for a single matrix of numbers.

    Columns are named by ``feature_names_in_``, or by ``columns`` if the model has no names.
    Kinds that are not given are inferred from the encoders of a column.
    """
    stated = _checked(columns)
    names = getattr(model, "feature_names_in_", None)
    words = _text_positions(model, range(model.n_features_in_))
    if names is None and not stated and not words:
        return None
    if names is None:
        names = list(stated) or [f"x{j}" for j in range(model.n_features_in_)]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"columns must name all {model.n_features_in_} columns in their order where the "
            f"model knows no names, got {len(names)}"
        )
    if unknown := [name for name in stated if name not in names]:
        raise ValueError(f"columns must be among those of the model, got {unknown[0]!r}")
    return {
        str(name): stated.get(name, "text" if j in words else "number")
        for j, name in enumerate(names)
    }


def input_types(
    kinds: Mapping[str, str] | None, n_features: int, dtype: np.dtype[np.floating]
) -> list[tuple[str, Any]]:
    """Return names and types of the inputs in the form of skl2onnx."""
    real = DoubleTensorType if dtype == np.float64 else FloatTensorType
    if kinds is None:
        return [(ROWS, real([None, n_features]))]
    return [
        (name, (StringTensorType if kind == "text" else real)([None, 1]))
        for name, kind in kinds.items()
    ]


def takes_columns(model: Any) -> bool:
    """Return whether a model begins with a step that treats columns separately."""
    if isinstance(model, Pipeline):
        return any(takes_columns(step) for step in _first_steps(model))
    if isinstance(model, FeatureUnion):
        return any(takes_columns(part) for _, part in model.transformer_list)
    if isinstance(model, CostSearchCV | CostDecisionClassifier):
        return takes_columns(model.estimator_)
    return isinstance(model, ColumnTransformer) or column_encoder(model) is not None


def _checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    stated = {} if columns is None else dict(columns)
    for name, kind in stated.items():
        if kind not in KINDS:
            raise ValueError(f"columns must be 'number' or 'text', got {kind!r} for {name!r}")
    return stated


def _first_steps(model: Pipeline) -> list[Any]:
    """Return the first step of a pipeline that is not a passthrough."""
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    return steps[:1]


def _text_positions(model: Any, positions: Sequence[int]) -> set[int]:
    """Return which of these columns hold text, by the fitted categories and statistics."""
    if isinstance(model, Pipeline):
        return _of_all((step, positions) for step in _first_steps(model))
    if isinstance(model, FeatureUnion):
        return _of_all((part, positions) for _, part in model.transformer_list)
    if isinstance(model, ColumnTransformer):
        return _of_all(
            (part, [positions[j] for j in _places(columns, model)])
            for _, part, columns in model.transformers_
        )
    if isinstance(model, CostSearchCV | CostDecisionClassifier):
        return _text_positions(model.estimator_, positions)
    if (encoding := column_encoder(model)) is not None:
        return _text_positions(encoding, positions)
    learned = getattr(model, "categories_", getattr(model, "statistics_", ()))
    return {
        position
        for position, values in zip(positions, learned, strict=False)
        if any(isinstance(value, str) for value in np.atleast_1d(values).tolist())
    }


def _of_all(parts: Iterable[tuple[Any, Sequence[int]]]) -> set[int]:
    return set().union(*(_text_positions(part, positions) for part, positions in parts))


def _places(columns: Any, model: ColumnTransformer) -> list[int]:
    """Return the positions of columns, given in any form of ColumnTransformer."""
    places = np.arange(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        by_name = dict(zip(names.tolist(), places.tolist(), strict=True))
        if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
            stop = len(places) if columns.stop is None else by_name[columns.stop] + 1
            return list(range(by_name.get(columns.start, 0), stop))
        if isinstance(columns, str):
            return [by_name[columns]]
        if len(wanted := np.asarray(columns, dtype=object).ravel()) and isinstance(wanted[0], str):
            return [by_name[name] for name in wanted.tolist()]
    chosen = columns if isinstance(columns, slice) else np.asarray(columns)
    return np.atleast_1d(places[chosen]).tolist() if np.size(columns) else []


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    dtype: DTypeLike = np.float64,
) -> ModelProto:
    """Convert a fitted model, or a whole pipeline around it, to one ONNX graph.

    The outputs of a classifier are ``label``, ``scores`` (as ``decision_function``) and
    ``probabilities``, the output of a regressor is ``variable``; all in the shapes of
    scikit-learn. Models fitted with column names have one input (N, 1) per column, under its
    name; others have one input ``X`` (N, n).

    Parameters
    ----------
    model : estimator
        An estimator of the ELM family, any model of ``ecselm fit``, boosted trees of
        scikit-learn's HistGradientBoosting, :class:`CostSearchCV` or
        :class:`CostDecisionClassifier` around one of these or around a classifier that
        skl2onnx converts, a pipeline that ends in one of them, or a fitted grid search.
    path : path, default=None
        The file to write; it is replaced atomically.
    columns : mapping of str to {"number", "text"}, default=None
        Kinds of columns that cannot be inferred from the encoders of the model; for a model
        without column names, the names of all columns in their order.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the numbers in the graph. A float32 graph is half as large, and near-ties
        between classes may be decided differently.

    Returns
    -------
    graph : onnx.ModelProto
        With the version of ecselm and the classes (as JSON) in ``metadata_props``; where rows
        may be left to a person, also ``reject_label``, their label. If that is None, it is
        -1 or, where a class is below 0, one less than the lowest class; NaN among floats.

    Notes
    -----
    A graph raises no errors: where scikit-learn would raise (infinite inputs, categories
    unknown to ``handle_unknown="error"``), it returns some number. Missing text is the empty
    string. Sparse rows must be dense.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import WELMClassifier
    >>> from ecselm.onnx import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = WELMClassifier(20, random_state=0).fit(X, y)
    >>> graph = to_onnx(model)
    >>> [output.name for output in graph.graph.output]
    ['label', 'scores', 'probabilities']
    >>> from onnxruntime import InferenceSession
    >>> label, scores, P = InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    check_is_fitted(model)
    number = _checked_dtype(dtype)
    if isinstance(model, GridSearchCV | RandomizedSearchCV):
        model = model.best_estimator_
    check_numpy_model(model, "to_onnx")
    kinds = column_kinds(model, columns)
    graph = _converted(model, kinds, number)
    _describe(graph, model)
    if path is not None:
        write_whole(Path(path), graph.SerializeToString())
    return graph


def _checked_dtype(dtype: DTypeLike) -> np.dtype[np.floating]:
    number: Any = np.dtype(dtype)
    if number not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, got {number}")
    return number


def _converted(
    model: Any, kinds: Mapping[str, str] | None, dtype: np.dtype[np.floating]
) -> ModelProto:
    """Run skl2onnx and check its graph; raise ValueError if a part cannot be converted."""
    names = output_names(model) if is_classifier(model) else ("variable",)
    if taken := [name for name in names if kinds and name in kinds]:
        raise ValueError(f"columns must not be called as outputs are, got {taken[0]!r}")
    inputs = input_types(kinds, model.n_features_in_, dtype)
    whole = _joining(model, kinds)
    tables, trees = TableConverters(dtype), TreeConverters(dtype)
    try:
        graph = convert_sklearn(
            whole,
            name="ecselm",
            initial_types=inputs,
            final_types=[(name, None) for name in names],
            target_opset=OPSETS,
            options={id(whole): {"zipmap": False}} if is_classifier(model) else None,
            custom_conversion_functions=tables.converters | trees.converters,
            custom_shape_calculators=tables.shapes | trees.shapes,
        )
        graph.ir_version = IR_VERSION
        _rename_inputs(graph, [name for name, _ in inputs])
        if names == ("variable",) and _predicts_vectors(model):
            _flatten_output(graph)
        check_model(graph, full_check=True)
    except NoOnnxFormError:
        raise
    except (*_OF_SKL2ONNX, ValidationError, InferenceError) as error:
        raise ValueError(
            f"model must have an ONNX form in {dtype}, all parts of it, got {_reason(error)}: "
            "replace that part, or save the model with ecselm.saving"
        ) from error
    return graph


def _reason(error: Exception) -> str:
    """Return what skl2onnx refuses, without its advice and the values of a node."""
    words = " ".join(str(error).split())
    for end in ("You may raise an issue", "It usually means", " with name=", " and attributes="):
        words = words.split(end)[0]
    return words[:300].rstrip(" .:")


def _predicts_vectors(model: Any) -> bool:
    """Return whether a regressor returns one number per row, (N,) instead of (N, 1).

    That depends on the targets it was fitted to, which estimators of other packages store in
    ways of their own. The last step takes numbers and can be asked.
    """
    last = last_step(model)
    if isinstance(last, (*REGRESSORS, *BOOSTING)):
        return False  # converted in the shape of ``predict``
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names of columns are missing
        return bool(np.ndim(last.predict(np.zeros((1, last.n_features_in_)))) == 1)


def _flatten_output(graph: ModelProto) -> None:
    """Reshape the output of a regressor from (N, 1) to (N,)."""
    (output,) = graph.graph.output
    name, column = output.name, f"{output.name}_column"
    for node in graph.graph.node:
        node.output[:] = [column if one == name else one for one in node.output]
        node.input[:] = [column if one == name else one for one in node.input]
    graph.graph.initializer.append(from_array(np.array([-1]), f"{name}_shape"))
    graph.graph.node.append(make_node("Reshape", [column, f"{name}_shape"], [name]))
    shape = output.type.tensor_type.shape
    del shape.dim[1:]


def _joining(model: Any, kinds: Mapping[str, str] | None) -> Pipeline:
    """Return a pipeline that joins columns first, unless the model needs them separately."""
    separate = kinds is None or "text" in kinds.values() or takes_columns(model)
    steps = [] if separate else [("columns", JoinedColumns())]
    return Pipeline([*steps, ("model", model)])


def _rename_inputs(graph: ModelProto, names: list[str]) -> None:
    """Restore the column names of the inputs, which skl2onnx has turned into identifiers.

    A column name that is not an identifier cannot clash with another tensor.
    """
    renamed = {one.name: name for one, name in zip(graph.graph.input, names, strict=True)}
    for one in graph.graph.input:
        one.name = renamed[one.name]
    for node in graph.graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]


def _describe(graph: ModelProto, model: Any) -> None:
    """Write producer, version and classes into the metadata."""
    graph.producer_name, graph.producer_version = "ecselm", ecselm.__version__
    known = {"ecselm_version": ecselm.__version__}
    if is_classifier(model):
        known["classes"] = json.dumps(model.classes_.tolist(), ensure_ascii=False)
        last = last_step(model)
        if hasattr(last, "reject_label_"):
            known["reject_label"] = json.dumps(answer_labels(last).tolist()[-1], ensure_ascii=False)
    set_model_props(graph, known)
