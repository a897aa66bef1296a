"""Collections of Dask as partitions whose rows belong together, and their blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.utils.validation import column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.outofcore import RowBlock

COLLECTIONS = (da.Array, dd.DataFrame, dd.Series)


def read_block(part: dict[str, Any], form: Form, *, has_labels: bool) -> RowBlock:
    """Return the rows of a partition, or refuse them in words that its number can follow.

    Without ``X`` rows have no inputs.
    """
    y = _targets(part["y"], has_labels)
    X = _numbers(part["X"], form) if "X" in part else np.empty((len(y), 0), form.dtype)
    weight = None
    if "sample_weight" in part:
        weight = _weights(part["sample_weight"]).astype(form.dtype)
    for name in ("y", "sample_weight", "sample_cost"):
        if name in part and len(part[name]) != len(X):
            raise ValueError(f"{name} must have {len(X)} rows as X has, got {len(part[name])}")
    return RowBlock(X, y, weight, cost=part.get("sample_cost"))


def _numbers(block: Any, form: Form) -> FloatArray:
    """Return a block of X as an array of the right shape and type."""
    frame = hasattr(block, "columns")
    if np.ndim(block) != 2 or block.shape[1] != form.n_features:
        raise ValueError(f"X must have {form.n_features} columns, got the shape {np.shape(block)}")
    if frame and form.names is not None and list(block.columns) != form.names.tolist():
        raise ValueError(
            f"X must have the columns {form.names.tolist()}, got {list(block.columns)}"
        )
    try:
        values = block.to_numpy(form.dtype, na_value=np.nan) if frame else np.asarray(block)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only, got: {error}") from error
    if values.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers only, got the type {values.dtype}")
    return _finite(np.ascontiguousarray(values, dtype=form.dtype), "X")


def _targets(block: Any, has_labels: bool) -> AnyArray:
    """Return labels (N,), or real targets (N,) or (N, m)."""
    if has_labels:
        y = _column(block, "y")
        if y.dtype.kind == "O" and (missing := pd.isna(y)).any():
            raise ValueError(
                f"y must have a label for every row, got none in row {missing.argmax()}"
            )
        return _finite(y, "y")
    y = np.asarray(block)
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers only, got the type {y.dtype}")
    return _finite(y.astype(np.float64), "y")


def _weights(block: Any) -> FloatArray:
    weight = _column(block, "sample_weight")
    if weight.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must hold numbers only, got the type {weight.dtype}")
    if (_finite(weight, "sample_weight") < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got {weight.min()}")
    return weight


def _column(block: Any, name: str) -> AnyArray:
    try:
        return np.asarray(column_or_1d(np.asarray(block)))
    except ValueError as error:
        raise ValueError(f"{name} must have the shape (N,), got {np.shape(block)}") from error


def _finite(values: AnyArray, name: str) -> AnyArray:
    """Return ``values``, or refuse the first that is not finite by its place."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row, *column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        place = f"row {row}, column {column[0]}" if column else f"row {row}"
        raise ValueError(
            f"{name} must hold finite numbers, got {values[(row, *column)]} in {place}"
        )
    return values


@dataclass(frozen=True, slots=True)
class Form:
    """Shape, type and column names that every partition must have."""

    n_features: int
    dtype: np.dtype[np.floating]
    names: AnyArray | None  # of the columns


@dataclass(frozen=True, slots=True)
class Table:
    """Partitions, each a dict of delayed blocks by name: X, y, and weights and costs if given."""

    parts: list[dict[str, Any]]
    form: Form
    empty: dict[str, Any]  # by the same names, blocks of no rows
    sizes: IntArray | None  # (p,) rows of every partition, if these are known

    def __len__(self) -> int:
        return len(self.parts)


def is_collection(X: Any) -> bool:
    """Tell whether this is an array, a dataframe or a series of Dask."""
    return isinstance(X, COLLECTIONS)


def read_table(X: Any, **others: Any) -> Table:
    """Return the partitions of ``X`` and of all that has its rows, or refuse what does not fit.

    Parameters
    ----------
    X : dask array of shape (N, n) or dask dataframe
    **others : dask array, series or dataframe, or None
        With as many rows as ``X``, by the names that errors call them.

    Examples
    --------
    >>> X, y = da.zeros((6, 2), chunks=3), da.zeros(6, chunks=2)
    >>> table = read_table(X, y=y, sample_weight=None)
    >>> len(table), sorted(table.parts[0])
    (2, ['X', 'y'])
    """
    form = _form(X)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
    given = {name: value for name, value in others.items() if value is not None}
    whole = {"X": X} | {name: _aligned(value, X, name) for name, value in given.items()}
    blocks = zip(*(_delayed(value) for value in whole.values()), strict=True)
    parts = [dict(zip(whole, own, strict=True)) for own in blocks]
    empty = {name: _empty(value) for name, value in whole.items()}
    return Table(parts, form, empty, _sizes(list(whole.values())))


def _sizes(collections: list[Any]) -> IntArray | None:
    """Return the rows of every partition if any of the collections knows them."""
    for value in collections:
        if isinstance(value, da.Array) and not np.isnan(value.chunks[0]).any():
            return np.array(value.chunks[0], dtype=np.intp)
    return None


def _form(X: Any) -> Form:
    if isinstance(X, da.Array):
        if X.ndim != 2 or not X.shape[1] > 0:
            raise ValueError(f"X must have the shape (N, n) with known n > 0, got {X.shape}")
        return Form(int(X.shape[1]), _float_type(X.dtype), None)
    if not isinstance(X, dd.DataFrame):
        raise TypeError(f"X must be a Dask array or dataframe, got {type(X).__name__}")
    for name, kind in X.dtypes.items():
        if not (getattr(kind, "_is_numeric", False) or getattr(kind, "kind", "O") in "biuf"):
            raise ValueError(f"X must hold numbers only, got the column {name!r} of type {kind}")
    if not len(X.columns):
        raise ValueError("X must have at least one column, got none")
    halved = {str(kind).lower() for kind in X.dtypes} == {"float32"}
    dtype = _float_type(np.dtype(np.float32 if halved else np.float64))
    return Form(len(X.columns), dtype, np.asarray(X.columns, dtype=object))


def _float_type(dtype: np.dtype[Any]) -> np.dtype[np.floating]:
    if dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers only, got the type {dtype}")
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def _aligned(value: Any, X: Any, name: str) -> Any:
    """Return a collection whose partitions have the rows of those of ``X``."""
    if not is_collection(value):
        raise TypeError(
            f"{name} must be a Dask array, series or dataframe where X is one, got "
            f"{type(value).__name__}"
        )
    if isinstance(value, da.Array):
        value = value.rechunk(dict.fromkeys(range(1, value.ndim), -1))
    if isinstance(value, da.Array) and isinstance(X, da.Array):
        known = not np.isnan([*X.chunks[0], *value.chunks[0]]).any()
        if known and X.shape[0] != value.shape[0]:
            raise ValueError(
                f"{name} must have as many rows as X, {X.shape[0]}, got {value.shape[0]}"
            )
        value = value.rechunk({0: X.chunks[0]}) if known else value
    elif not isinstance(X, da.Array) and not isinstance(value, da.Array):
        value = _with_divisions(value, X)
    sizes = _n_partitions(value), _n_partitions(X)
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"{name} must have the partitions of X where their sizes are not known, {sizes[1]} of "
            f"them, got {sizes[0]}"
        )
    return value


def _with_divisions(value: Any, X: Any) -> Any:
    """Return a series or frame with the divisions of ``X``, where those of both are known."""
    known = X.known_divisions and value.known_divisions
    if known and X.divisions != value.divisions:
        return value.repartition(divisions=X.divisions, force=True)
    return value


def _n_partitions(value: Any) -> int:
    return int(value.numblocks[0] if isinstance(value, da.Array) else value.npartitions)


def _delayed(value: Any) -> list[Any]:
    if isinstance(value, da.Array):
        return list(np.ravel(np.asarray(value.to_delayed(), dtype=object)))
    # Optimised as a whole, frames of few columns get fewer partitions than they have.
    return list(value.simplify().to_delayed(optimize_graph=False))


def _empty(value: Any) -> Any:
    if isinstance(value, da.Array):
        return np.empty((0, *(int(size) for size in value.shape[1:])), value.dtype)
    return value._meta
