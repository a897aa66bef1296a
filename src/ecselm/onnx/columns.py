"""The inputs of a graph: one table of numbers, or columns by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from ecselm.elm import CostSearchCV

KINDS = ("number", "text")
ROWS = "X"  # the name of the one input where columns have none


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
