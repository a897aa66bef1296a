"""Collections of Dask, cut into partitions whose rows belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from ecselm._typing import AnyArray

COLLECTIONS = (da.Array, dd.DataFrame, dd.Series)


@dataclass(frozen=True, slots=True)
class Form:
    """What every partition must look like."""

    n_features: int
    dtype: np.dtype[np.floating]
    names: AnyArray | None  # of the columns


@dataclass(frozen=True, slots=True)
class Table:
    """Partitions, each a dict of delayed blocks by name: X, y and what else rows have."""

    parts: list[dict[str, Any]]
    form: Form
    empty: dict[str, Any]  # by the same names, blocks of no rows

    def __len__(self) -> int:
        return len(self.parts)


def is_collection(X: Any) -> bool:
    """Tell whether this is an array, a dataframe or a series of Dask."""
    return isinstance(X, COLLECTIONS)


def read_table(X: Any, **others: Any) -> Table:
    """Cut ``X`` and what belongs to its rows into partitions, or refuse what does not fit.

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
    cut = zip(*(_delayed(value) for value in whole.values()), strict=True)
    parts = [dict(zip(whole, blocks, strict=True)) for blocks in cut]
    return Table(parts, form, {name: _empty(value) for name, value in whole.items()})


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
    """Return a series or frame cut as ``X`` is, where the cuts of both are known."""
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
