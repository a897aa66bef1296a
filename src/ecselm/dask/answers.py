"""Answers of a fitted model to collections of Dask, made when they are asked for."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pandas as pd

from ecselm._typing import AnyArray


def lazy_answers(model: Any, name: str, X: Any) -> Any:
    """Return what the method ``name`` of ``model`` says of a Dask array or dataframe.

    An array for an array; for a dataframe a series, or a dataframe with a column for each
    class, of its index.

    Examples
    --------
    >>> from ecselm import ELMRegressor
    >>> model = ELMRegressor(5, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> lazy_answers(model, "predict", da.zeros((4, 1), chunks=2)).chunks
    ((2, 2),)
    """
    none = _no_answers(model, name)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1}
        if none.ndim == 2:
            shape = {"chunks": (X.chunks[0], (none.shape[1],))}
        return X.map_blocks(_of_array, model, name, meta=none, dtype=none.dtype, **shape)
    return X.map_partitions(_of_frame, model, name, meta=_framed(none, X._meta.index[:0], model))


def _no_answers(model: Any, name: str) -> AnyArray:
    """Return the answers to no rows: their shape and type."""
    return np.asarray(getattr(model, name)(_some_row(model)))[:0]


def _some_row(model: Any) -> Any:
    row = np.zeros((1, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    return row if names is None else pd.DataFrame(row, columns=names)


def _of_array(block: AnyArray, model: Any, name: str) -> AnyArray:
    # No estimator of scikit-learn's kind answers to no rows.
    return getattr(model, name)(block) if len(block) else _no_answers(model, name)


def _of_frame(block: Any, model: Any, name: str) -> Any:
    answers = _of_array(block, model, name)
    return _framed(answers, block.index, model)


def _framed(answers: AnyArray, index: Any, model: Any) -> Any:
    """Return answers with the index of their rows."""
    classes: Any = getattr(model, "classes_", None)
    if answers.ndim == 2:
        return pd.DataFrame(answers, index=index, columns=classes)
    # Of objects Dask does not know that all are words, and writes them to no file.
    words = answers.dtype.kind in "OU" and all(isinstance(name, str) for name in classes)
    return pd.Series(answers, index=index, dtype="string" if words else None)
