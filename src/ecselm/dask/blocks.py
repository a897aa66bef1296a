"""One partition where its rows are: read, checked, and refused by its number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import column_or_1d

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.table import Form


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one partition."""

    X: FloatArray  # (N, n)
    y: AnyArray  # (N,) or (N, m)
    weight: FloatArray | None  # (N,)
    cost: Any  # by row, as it was given

    def __len__(self) -> int:
        return len(self.X)

    def used(self) -> IntArray:
        """Return the positions of the rows of positive weight."""
        return np.arange(len(self)) if self.weight is None else np.flatnonzero(self.weight > 0)

    def of_weight(self) -> Block:
        """Return the rows of positive weight; costs by row do not go with them."""
        used = self.used()
        return self if len(used) == len(self) else self.taken(used)

    def targets(self) -> FloatArray:
        """Return real targets (N, m)."""
        return self.y if self.y.ndim == 2 else self.y[:, np.newaxis]

    def taken(self, positions: IntArray) -> Block:
        """Return some of the rows; costs by row do not go with them."""
        weight = None if self.weight is None else self.weight[positions]
        return Block(self.X[positions], self.y[positions], weight, None)

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """Return the rows of all, in their order; all have weights or none."""
        weights = [block.weight for block in blocks if block.weight is not None]
        return cls(
            np.concatenate([block.X for block in blocks]),
            np.concatenate([block.y for block in blocks]),
            np.concatenate(weights) if weights else None,
            None,
        )


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Say in which partition something was wrong.

    Examples
    --------
    >>> with in_partition(3):
    ...     raise ValueError("y must hold numbers only")
    Traceback (most recent call last):
        ...
    ValueError: y must hold numbers only, in partition 3
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error}, in partition {number}") from error


def read_block(part: dict[str, Any], form: Form, *, labels: bool) -> Block:
    """Return the rows of a partition, or refuse them in words that its number can follow.

    Without ``X`` rows have no inputs.
    """
    y = _targets(part["y"], labels)
    X = _numbers(part["X"], form) if "X" in part else np.empty((len(y), 0), form.dtype)
    weight = None
    if "sample_weight" in part:
        weight = _weights(part["sample_weight"]).astype(form.dtype)
    for name in ("y", "sample_weight", "sample_cost"):
        if name in part and len(part[name]) != len(X):
            raise ValueError(f"{name} must have {len(X)} rows as X has, got {len(part[name])}")
    return Block(X, y, weight, part.get("sample_cost"))


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


def _targets(block: Any, labels: bool) -> AnyArray:
    """Return labels (N,), or real targets (N,) or (N, m)."""
    if labels:
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
    """Return ``values``, or say where the first is that is not finite."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row, *column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        place = f"row {row}, column {column[0]}" if column else f"row {row}"
        raise ValueError(
            f"{name} must hold finite numbers, got {values[(row, *column)]} in {place}"
        )
    return values
