"""From a fitted model to one ONNX graph."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from onnx.checker import ValidationError, check_model
from onnx.helper import set_model_props
from onnx.shape_inference import InferenceError
from skl2onnx import convert_sklearn
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import ecselm
from ecselm._files import write_whole
from ecselm.onnx.columns import column_kinds, input_types, takes_columns
from ecselm.onnx.cost_search import output_names
from ecselm.onnx.graph import NoOnnxFormError
from ecselm.onnx.tables import JoinedColumns, TableConverters
from onnx import ModelProto

# Runtimes of 2022 and later read these; nothing newer is needed.
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
# What skl2onnx raises for models it does not know, or not in such a place.
_OF_SKL2ONNX = (AttributeError, NameError, NotImplementedError, RuntimeError, TypeError, ValueError)


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
