"""Converters of the first steps of pipelines: columns, missing values and categories.

The converters of skl2onnx work in float32 and support neither missing text, infrequent
categories nor missing-value indicators. They stay registered; ``to_onnx`` alone uses these.
Missing text is the empty string, since ONNX has no missing strings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm.onnx.graph import Graph, NoOnnxFormError, joined_inputs
from onnx import TensorProto

MISSING_TEXT = ""


class JoinedColumns(TransformerMixin, BaseEstimator):
    """Join numeric columns to one matrix, in front of models that take one input."""

    def fit(self, X: Any, y: Any = None) -> JoinedColumns:
        """Return self."""
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X``."""
        return X


class TableConverters:
    """The converters and shape calculators of one export, by type.

    Parameters
    ----------
    dtype : numpy dtype
        Type of all real numbers.
    """

    def __init__(self, dtype: np.dtype[np.floating]) -> None:
        self._dtype = dtype
        self._real = DoubleTensorType if dtype == np.float64 else FloatTensorType

    @property
    def converters(self) -> dict[type, Any]:
        """Return the converters by type."""
        return {
            JoinedColumns: self._convert_joined,
            SimpleImputer: self._convert_imputer,
            OneHotEncoder: self._convert_encoder,
            OrdinalEncoder: self._convert_encoder,
        }

    @property
    def shapes(self) -> dict[type, Any]:
        """Return the shape calculators by type."""
        return dict.fromkeys(self.converters, self._shape)

    def _shape(self, operator: Any) -> None:
        model, (output,) = operator.raw_operator, operator.outputs
        words = isinstance(model, SimpleImputer) and _has_words(operator)
        output.type = (StringTensorType if words else self._real)([None, _width(operator)])

    def _graph(self, scope: Any, container: Any) -> Graph:
        return Graph(scope, container, self._dtype)

    def _convert_joined(self, scope: Any, operator: Any, container: Any) -> None:
        graph = self._graph(scope, container)
        graph.put_out(joined_inputs(graph, operator), operator.outputs[0])

    def _convert_imputer(self, scope: Any, operator: Any, container: Any) -> None:
        graph, imputer = self._graph(scope, container), operator.raw_operator
        words = _has_words(operator)
        if words and imputer.add_indicator:
            raise NoOnnxFormError(
                "add_indicator of SimpleImputer must be False for words to be written as ONNX, "
                "got True"
            )
        X = (
            graph.joined([one.full_name for one in operator.inputs])
            if words
            else joined_inputs(graph, operator)
        )
        missing = _missing(graph, X, imputer.missing_values, words)
        filled = graph.node("Where", missing, graph.constant(_fillings(imputer, words)), X)
        kept = np.flatnonzero(_kept(imputer))
        parts = [graph.node("Gather", filled, graph.constant(kept), axis=1)]
        if imputer.add_indicator and len(imputer.indicator_.features_):
            features = graph.constant(imputer.indicator_.features_)
            parts.append(graph.cast(graph.node("Gather", missing, features, axis=1)))
        graph.put_out(graph.joined(parts), operator.outputs[0])

    def _convert_encoder(self, scope: Any, operator: Any, container: Any) -> None:
        graph, encoder = self._graph(scope, container), operator.raw_operator
        parts = []
        for j, (column, words) in enumerate(input_columns(graph, operator)):
            table = _table(encoder, j)
            place = place_of(graph, column, encoder.categories_[j], words)
            rows = graph.node("Gather", graph.constant(table), place)
            parts.append(graph.reshaped(rows, -1, table.shape[1]))
        graph.put_out(graph.joined(parts), operator.outputs[0])


def _has_words(operator: Any) -> bool:
    return isinstance(operator.inputs[0].type, StringTensorType)


def _width(operator: Any) -> int:
    model = operator.raw_operator
    if isinstance(model, SimpleImputer):
        indicators = len(model.indicator_.features_) if model.add_indicator else 0
        return int(_kept(model).sum()) + indicators
    if isinstance(model, JoinedColumns):
        return len(operator.inputs)
    return sum(_table(model, j).shape[1] for j in range(len(model.categories_)))


def _is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN or pandas' NA."""
    return (
        value is None
        or value is pd.NA
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
    )


def _kept(imputer: SimpleImputer) -> BoolArray:
    """Return which columns an imputer keeps: those with any value."""
    return np.array([not _is_missing(value) for value in imputer.statistics_])


def _fillings(imputer: SimpleImputer, words: bool) -> AnyArray:
    values = [
        (MISSING_TEXT if words else 0.0) if _is_missing(value) else value
        for value in imputer.statistics_
    ]
    return np.array(values, dtype=object if words else np.float64)


def _missing(graph: Graph, X: str, missing_values: Any, words: bool) -> str:
    """Return the mask of missing values (N, n)."""
    if words:
        word = MISSING_TEXT if _is_missing(missing_values) else str(missing_values)
        found = graph.classical_node(
            "LabelEncoder", X, keys_strings=[word], values_int64s=[1], default_int64=0
        )
        return graph.node("Equal", found, graph.constant(1))
    if _is_missing(missing_values):
        return graph.node("IsNaN", X)
    return graph.node("Equal", X, graph.constant(float(missing_values)))


def input_columns(graph: Graph, operator: Any) -> list[tuple[str, bool]]:
    """Return the columns (N, 1) of all inputs, and whether they hold text."""
    columns = []
    for one in operator.inputs:
        words, width = isinstance(one.type, StringTensorType), one.type.shape[1]
        name = one.full_name if words else graph.cast(one.full_name)
        columns += [
            (name if width == 1 else graph.node("Gather", name, graph.constant([j]), axis=1), words)
            for j in range(width)
        ]
    return columns


def place_of(graph: Graph, column: str, categories: AnyArray, words: bool) -> str:
    """Return the category of each value (N, 1), counted from 1; 0 is unknown."""
    numbers = np.arange(1, len(categories) + 1)
    if words:
        return graph.classical_node(
            "LabelEncoder",
            column,
            keys_strings=_keys(categories),
            values_int64s=numbers.tolist(),
            default_int64=0,
        )
    values = categories.astype(np.float64)[np.newaxis]
    same = graph.node("Equal", column, graph.constant(values))
    if np.isnan(values).any():
        is_nan = graph.node("And", graph.node("IsNaN", column), graph.constant(np.isnan(values)))
        same = graph.node("Or", same, is_nan)
    weights = graph.constant(numbers[:, np.newaxis].astype(np.float64))
    place = graph.node("MatMul", graph.cast(same), weights)
    return graph.node("Cast", place, to=TensorProto.INT64)


def _keys(categories: AnyArray) -> list[str]:
    """Return categories as strings, the missing category as the empty string."""
    keys = [MISSING_TEXT if _is_missing(one) else str(one) for one in categories]
    if len(set(keys)) < len(keys):
        raise NoOnnxFormError(
            "categories must be different words to be written as ONNX, where missing words are "
            f"empty ones, got {categories.tolist()}"
        )
    return keys


def _table(encoder: OneHotEncoder | OrdinalEncoder, j: int) -> FloatArray:
    """Return the encoding of an unknown value, then of each category of a column."""
    rare = _rare(encoder, j)
    n_frequent = int((~rare).sum())
    codes = np.full(len(rare), n_frequent)
    codes[~rare] = np.arange(n_frequent)
    if isinstance(encoder, OrdinalEncoder):
        return _codes_table(encoder, codes, encoder.categories_[j])
    n_codes = n_frequent + int(rare.any())
    table = np.vstack([np.zeros(n_codes), np.eye(n_codes)[codes]])
    if rare.any() and encoder.handle_unknown in {"infrequent_if_exist", "warn"}:
        table[0, n_frequent] = 1.0
    if encoder.drop_idx_ is not None and encoder.drop_idx_[j] is not None:
        table = np.delete(table, codes[encoder.drop_idx_[j]], axis=1)
    return table


def _codes_table(encoder: OrdinalEncoder, codes: AnyArray, categories: AnyArray) -> FloatArray:
    values = codes.astype(np.float64)
    values[[_is_missing(one) for one in categories]] = encoder.encoded_missing_value
    unknown = np.nan if encoder.unknown_value is None else encoder.unknown_value
    return np.append(unknown, values)[:, np.newaxis]


def _rare(encoder: OneHotEncoder | OrdinalEncoder, j: int) -> BoolArray:
    """Return which categories of a column are encoded together as infrequent."""
    categories = encoder.categories_[j]
    groups = getattr(encoder, "infrequent_categories_", None)
    if groups is None or groups[j] is None:
        return np.zeros(len(categories), dtype=bool)
    rare = set(groups[j].tolist())
    return np.array([one in rare for one in categories.tolist()])
