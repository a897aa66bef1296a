"""From a fitted model to one ONNX graph."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from onnx.checker import ValidationError, check_model
from onnx.helper import set_model_props
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
from ecselm.estimators import CostSearchCV
from ecselm.onnx.estimators import output_names
from ecselm.onnx.graph import NoOnnxFormError
from ecselm.onnx.tables import JoinedColumns, TableConverters
from onnx import ModelProto

KINDS = ("number", "text")
ROWS = "X"  # the name of the one input where columns have none
# Runtimes of 2022 and later read these; nothing newer is needed.
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
# What skl2onnx raises for models it does not know, or not in such a place.
_OF_SKL2ONNX = (AttributeError, NameError, NotImplementedError, RuntimeError, TypeError, ValueError)


def column_kinds(model: Any, columns: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return what every input column holds, or None for one table of numbers.

    Columns go by ``feature_names_in_``, or by ``columns`` where the model knows no names.
    What a column holds is read off the encoders that it goes through, unless stated.
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
    """Return names and types of the inputs, as skl2onnx takes them."""
    real = DoubleTensorType if dtype == np.float64 else FloatTensorType
    if kinds is None:
        return [(ROWS, real([None, n_features]))]
    return [
        (name, (StringTensorType if kind == "text" else real)([None, 1]))
        for name, kind in kinds.items()
    ]


def takes_columns(model: Any) -> bool:
    """Tell whether a model begins with something that treats columns one by one."""
    if isinstance(model, Pipeline):
        return any(takes_columns(step) for step in _first_steps(model))
    if isinstance(model, FeatureUnion):
        return any(takes_columns(part) for _, part in model.transformer_list)
    if isinstance(model, CostSearchCV):
        return takes_columns(model.estimator_)
    return isinstance(model, ColumnTransformer)


def _checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    stated = {} if columns is None else dict(columns)
    for name, kind in stated.items():
        if kind not in KINDS:
            raise ValueError(f"columns must be 'number' or 'text', got {kind!r} for {name!r}")
    return stated


def _first_steps(model: Pipeline) -> list[Any]:
    """Return the first step of a pipeline that does anything."""
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    return steps[:1]


def _text_positions(model: Any, positions: Sequence[int]) -> set[int]:
    """Return which of the columns at these positions hold words, by what was learned of them."""
    if isinstance(model, Pipeline):
        return _of_all((step, positions) for step in _first_steps(model))
    if isinstance(model, FeatureUnion):
        return _of_all((part, positions) for _, part in model.transformer_list)
    if isinstance(model, ColumnTransformer):
        return _of_all(
            (part, [positions[j] for j in _places(columns, model)])
            for _, part, columns in model.transformers_
        )
    if isinstance(model, CostSearchCV):
        return _text_positions(model.estimator_, positions)
    learned = getattr(model, "categories_", getattr(model, "statistics_", ()))
    return {
        position
        for position, values in zip(positions, learned, strict=False)
        if any(isinstance(value, str) for value in np.atleast_1d(values).tolist())
    }


def _of_all(parts: Iterable[tuple[Any, Sequence[int]]]) -> set[int]:
    return set().union(*(_text_positions(part, positions) for part, positions in parts))


def _places(columns: Any, model: ColumnTransformer) -> list[int]:
    """Return the positions of columns that are given in any of scikit-learn's ways."""
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

    A classifier answers with ``label``, ``scores`` (as ``decision_function``) and
    ``probabilities``, a regressor with ``variable``; all in the shapes of scikit-learn.
    Models that have seen column names have one input (N, 1) per column, under its name;
    others have one input ``X`` (N, n).

    Parameters
    ----------
    model : estimator
        An estimator of the ELM family, :class:`CostSearchCV` around a classifier that
        skl2onnx converts, a pipeline that ends in one of them, or a fitted grid search.
    path : path, default=None
        The file to write; it is replaced as a whole, or left as it was.
    columns : mapping of str to {"number", "text"}, default=None
        What columns hold, where that is not to be read off the encoders of the model; of a
        model without column names also what all of them are called, in their order.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Of the numbers in the graph. With float32 it is half as large, and near-ties between
        classes may be decided otherwise.

    Returns
    -------
    graph : onnx.ModelProto
        With the version of ecselm and the classes (as JSON) in ``metadata_props``.

    Notes
    -----
    A graph refuses nothing: what scikit-learn would answer with an error (infinite inputs,
    a category that ``handle_unknown="error"`` has not seen), it answers with some number.
    A missing word is an empty one. Sparse rows must be dense.

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
    """Run skl2onnx and check what it gives; say in one sentence what it cannot convert."""
    names = output_names(model) if is_classifier(model) else ("variable",)
    if taken := [name for name in names if kinds and name in kinds]:
        raise ValueError(f"columns must not be called as outputs are, got {taken[0]!r}")
    inputs = input_types(kinds, model.n_features_in_, dtype)
    whole = _joining(model, kinds)
    tables = TableConverters(dtype)
    try:
        graph = convert_sklearn(
            whole,
            name="ecselm",
            initial_types=inputs,
            final_types=[(name, None) for name in names],
            target_opset=OPSETS,
            options={id(whole): {"zipmap": False}} if is_classifier(model) else None,
            custom_conversion_functions=tables.converters,
            custom_shape_calculators=tables.shapes,
        )
        graph.ir_version = IR_VERSION
        _rename_inputs(graph, [name for name, _ in inputs])
        check_model(graph, full_check=True)
    except NoOnnxFormError:
        raise
    except (*_OF_SKL2ONNX, ValidationError, InferenceError) as error:
        reason = " ".join(str(error).split("You may raise an issue")[0].split())
        raise ValueError(
            f"model must have an ONNX form in {dtype}, all parts of it, got {reason:.300}"
        ) from error
    return graph


def _joining(model: Any, kinds: Mapping[str, str] | None) -> Pipeline:
    """Return a pipeline that joins columns first, unless the model wants them apart."""
    apart = kinds is None or "text" in kinds.values() or takes_columns(model)
    steps = [] if apart else [("columns", JoinedColumns())]
    return Pipeline([*steps, ("model", model)])


def _rename_inputs(graph: ModelProto, names: list[str]) -> None:
    """Give inputs the names of their columns, which skl2onnx has made identifiers of.

    A name that is no identifier is the name of no other tensor.
    """
    renamed = {one.name: name for one, name in zip(graph.graph.input, names, strict=True)}
    for one in graph.graph.input:
        one.name = renamed[one.name]
    for node in graph.graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]


def _describe(graph: ModelProto, model: Any) -> None:
    """Say who has made the graph, and what its classes are."""
    graph.producer_name, graph.producer_version = "ecselm", ecselm.__version__
    known = {"ecselm_version": ecselm.__version__}
    if is_classifier(model):
        known["classes"] = json.dumps(model.classes_.tolist(), ensure_ascii=False)
    set_model_props(graph, known)
