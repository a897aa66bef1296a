"""Blocks of rows with their targets, from whatever gives them, or the place of what is wrong."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.datasets.words import brief
from ecselm.streaming.ahead import read_ahead
from ecselm.streaming.blocks import Blocks, open_blocks
from ecselm.study.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows: inputs, targets and, if there are any, weights and groups."""

    X: Any  # array, sparse matrix or dataframe
    y: AnyArray
    weight: FloatArray | None = None
    groups: AnyArray | None = None  # labels of what rows belong to

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, positions: IntArray) -> RowBlock:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[positions]
        groups = None if self.groups is None else self.groups[positions]
        return RowBlock(safe_indexing(self.X, positions), self.y[positions], weight, groups)

    @property
    def parts(self) -> tuple[Any, AnyArray, FloatArray | None]:
        """Return inputs, targets and weights."""
        return self.X, self.y, self.weight


@dataclass(frozen=True, slots=True)
class RowSource:
    """Blocks that can be read again and again."""

    source: Any
    target: str | None

    @classmethod
    def of(cls, source: Any, target: str | None) -> RowSource:
        """Return the source, or refuse what can be read only once."""
        if isinstance(source, str | os.PathLike):
            source = open_blocks(source)
        if not callable(source) and (not isinstance(source, Iterable) or iter(source) is source):
            raise ValueError(
                "source must be blocks that can be read again: a file, a list, open_blocks(...), "
                f"or a function that returns blocks, got {type(source).__name__}"
            )
        return cls(source, target)

    @property
    def n_rows(self) -> int | None:
        """Return the number of rows, if that is known."""
        known = getattr(self.source, "n_rows", None)
        return known if isinstance(known, int) else None

    def __iter__(self) -> Iterator[RowBlock]:
        """Yield blocks of at least a row, checked."""
        # Somebody else's source may not be used by another thread.
        return read_ahead(self._checked()) if isinstance(self.source, Blocks) else self._checked()

    def _checked(self) -> Generator[RowBlock, None, None]:
        start, width = 0, None
        for number, given in enumerate(self.source() if callable(self.source) else self.source, 1):
            block = _block(given, self.target, f"block {number}")
            width = _checked(block, f"block {number}", start, width)
            start += len(block)
            if len(block):
                yield block


@contextmanager
def placed(number: int, start: int, n_rows: int) -> Iterator[None]:
    """Say in which block something was wrong, and which rows are its first and its last.

    Examples
    --------
    >>> with placed(3, 200, 100):
    ...     raise ValueError("age must be a number")
    Traceback (most recent call last):
        ...
    ValueError: block 3, which is rows 201 to 300: age must be a number
    """
    try:
        yield
    except ValueError as error:
        last = start + n_rows
        raise ValueError(f"block {number}, which is rows {start + 1} to {last}: {error}") from error


def _block(given: Any, target: str | None, place: str) -> RowBlock:
    """Return a frame with a target, or a pair or triple, as a block."""
    if isinstance(given, pd.DataFrame):
        if target not in given.columns:
            raise ValueError(
                f"target must be a column of {place}, got {target!r}"
                f"{did_you_mean(str(target), map(str, given.columns))}"
            )
        X = _by_row(given.drop(columns=target))
        return RowBlock(X, given[target].infer_objects().to_numpy())
    if not isinstance(given, tuple) or len(given) not in {2, 3}:
        raise ValueError(
            f"{place} must be a dataframe, or inputs and targets (X, y), or with weights "
            f"(X, y, weights), got {type(given).__name__}"
        )
    X, y, *weights = given
    weight = np.asarray(weights[0], dtype=np.float64) if weights else None
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
    return RowBlock(X, np.asarray(y), weight)


def _by_row(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers that is stored row by row, as products want it."""
    values = X.to_numpy()
    if values.dtype not in (np.float32, np.float64):
        return X
    return pd.DataFrame(np.ascontiguousarray(values), columns=X.columns, copy=False)


def _checked(block: RowBlock, place: str, start: int, width: int | None) -> int:
    """Return the number of columns, or refuse the first bad value by its place."""
    X, n = block.X, len(block)
    if X.ndim != 2 or X.shape[0] != n:
        raise ValueError(f"{place} must have as many rows of X as targets, got {X.shape} and {n}")
    if width is not None and X.shape[1] != width:
        raise ValueError(f"{place} must have {width} columns as those before, got {X.shape[1]}")
    if block.weight is not None and block.weight.shape != (n,):
        raise ValueError(f"{place} must have {n} weights, got the shape {block.weight.shape}")
    if sparse.issparse(X):
        _check_values(X.data, "X", place, start, X.indptr)
    elif isinstance(X, pd.DataFrame) and not _is_finite(X.to_numpy()):
        for name in X.columns:
            _check_values(X[name].to_numpy(), f"column {name!r}", place, start)
    elif not isinstance(X, pd.DataFrame):
        _check_values(X, "X", place, start)
    _check_targets(block.y, place, start)
    return int(X.shape[1])


def _is_finite(values: AnyArray) -> bool:
    """Tell of numbers whether they are finite; of anything else it is not known."""
    # What is not finite makes the sum so, and a sum takes no memory.
    return values.dtype.kind in "biu" or (
        values.dtype.kind == "f" and bool(np.isfinite(values.sum()))
    )


def _check_values(
    values: AnyArray, what: str, place: str, start: int, indptr: IntArray | None = None
) -> None:
    """Refuse the first value that is no finite number; ``indptr`` tells the rows of sparse ones."""
    if _is_finite(values):
        return
    finite = np.isfinite(values) if values.dtype.kind == "f" else _are_numbers(values)
    if finite.all():
        return
    first = np.argwhere(~finite)[0]
    row = int(first[0])
    if indptr is not None:
        row = int(np.searchsorted(indptr, row, side="right")) - 1
    raise ValueError(
        f"{what} must hold finite numbers, got {brief(str(values[tuple(first)]))} in {place}, "
        f"row {row + 1} (row {start + row + 1} of all)"
    )


def _are_numbers(values: AnyArray) -> AnyArray:
    """Tell which of any objects are finite numbers; what is written as words is not."""
    flat = [
        isinstance(value, int | float | np.number) and bool(np.isfinite(value))
        for value in values.ravel().tolist()
    ]
    return np.array(flat, dtype=bool).reshape(values.shape)


def _check_targets(y: AnyArray, place: str, start: int) -> None:
    missing = np.argwhere(np.asarray(pd.isna(y)))
    if len(missing):
        row = int(missing[0][0])
        raise ValueError(
            f"y must hold a target in every row, got none in {place}, row {row + 1} "
            f"(row {start + row + 1} of all)"
        )
