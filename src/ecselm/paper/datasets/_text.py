"""Parse rows of text into a matrix, and check arrays that were read."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import brief

_KINDS = {"f": ("f", "real numbers"), "i": ("iu", "whole numbers"), "U": ("U", "text")}


def check_array(
    arrays: Mapping[str, AnyArray],
    name: str,
    kind: str,
    shape: tuple[int | None, ...],
    file: str,
) -> AnyArray:
    """Return the array called ``name`` if it is of its kind and shape.

    Parameters
    ----------
    arrays : dict of arrays
    name : str
    kind : {"f", "i", "U"}
        Finite real numbers (whole ones too), whole numbers, or text.
    shape : tuple
        None stands for any size from 1.
    file : str
        Named in the error.

    Examples
    --------
    >>> import numpy as np
    >>> check_array({"X": np.zeros((2, 3))}, "X", "f", (None, 4), "toy.npz")
    Traceback (most recent call last):
        ...
    ValueError: toy.npz, array X: must have the shape (any, 4), got (2, 3)
    """
    values = arrays[name]
    letters, words = _KINDS[kind]
    if values.dtype.kind not in (letters + "iu" if kind == "f" else letters):
        raise ValueError(f"{file}, array {name}: must hold {words}, got {values.dtype}")
    fits = values.ndim == len(shape) and all(
        n == size or (size is None and n > 0) for n, size in zip(values.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        wanted += "," * (len(shape) == 1)
        raise ValueError(
            f"{file}, array {name}: must have the shape ({wanted}), got {values.shape}"
        )
    if kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{file}, array {name}: must hold finite numbers only")
    if kind == "U":
        _check_text(values, f"{file}, array {name}")
    return values


def _check_text(values: AnyArray, place: str) -> None:
    """Raise ValueError for code points that are no characters."""
    if values.dtype.itemsize == 0:
        return
    native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    largest = int(native.view(np.uint32).max())
    if largest > sys.maxunicode:
        raise ValueError(f"{place}: must hold text, got {largest} for a character")


def check_counts(
    values: AnyArray, labels: Iterable[object], counts: Iterable[int], place: str
) -> None:
    """Refuse ``values`` unless every label occurs as often as it must, or more often."""
    for label, wanted in zip(labels, counts, strict=True):
        got = int((values == label).sum())
        if got < wanted:
            raise ValueError(f"{place}: must have {wanted} rows of {label} or more, got {got}")


class Row(NamedTuple):
    """The fields of one line, and where it stands in its file."""

    line: int
    fields: list[str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers, or of names out of ``categories``."""

    name: str
    categories: tuple[str, ...] = ()

    @property
    def encoded_names(self) -> tuple[str, ...]:
        """The names of the columns of X it becomes: itself, or one per category."""
        return tuple(f"{self.name}={name}" for name in self.categories) or (self.name,)


def split_rows(
    text: str, file: str, n_fields: int | None, separator: str = ",", first_line: int = 1
) -> list[Row]:
    """Return the rows of ``text``, of ``n_fields`` each or of as many as the first has.

    Lines are counted from ``first_line``, empty ones are passed over, and spaces and pairs of
    quotes around fields are dropped. ``separator`` is a regular expression.

    Examples
    --------
    >>> split_rows("1, a", "toy.csv", 3)
    Traceback (most recent call last):
        ...
    ValueError: toy.csv, line 1: must have 3 fields, got 2
    """
    rows = []
    for line, content in enumerate(text.splitlines(), first_line):
        if not content.strip():
            continue
        fields = [_unquoted(field.strip()) for field in re.split(separator, content.strip())]
        n_fields = n_fields or len(fields)
        if len(fields) != n_fields:
            raise ValueError(f"{file}, line {line}: must have {n_fields} fields, got {len(fields)}")
        rows.append(Row(line, fields))
    if not rows:
        raise ValueError(f"{file} must hold rows, got none")
    return rows


def check_length(rows: Sequence[Row], n_rows: int, file: str) -> None:
    """Refuse a table of another length; plain text has no other sign of a lost end."""
    if len(rows) != n_rows:
        raise ValueError(f"{file} must hold {n_rows} rows, got {len(rows)}")


def encode(rows: Sequence[Row], columns: Sequence[Column], file: str) -> FloatArray:
    """Return X (N, d) of the leading ``columns`` of rows, names one-hot encoded.

    Examples
    --------
    >>> columns = [Column("size"), Column("sex", ("f", "m"))]
    >>> encode([Row(1, ["2.5", "m"])], columns, "toy.csv")
    array([[2.5, 0. , 1. ]])
    """
    return np.hstack([_encoded(rows, j, column, file) for j, column in enumerate(columns)])


def encoded_names(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the names of the columns of the matrix that :func:`encode` returns."""
    return tuple(name for column in columns for name in column.encoded_names)


def number(text: str, place: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = None
    # Python also takes 1_0 for ten and digits of other scripts, which no file here means.
    if value is None or "_" in text or not text.isascii():
        raise ValueError(f"{place}: must be a number, got {brief(repr(text))}")
    if not math.isfinite(value):
        raise ValueError(f"{place}: must be a finite number, got {text!r}")
    return value


def codes(rows: Sequence[Row], j: int, column: Column, file: str) -> IntArray:
    """Return the positions (N,) in the categories of field ``j``."""
    places = {name: i for i, name in enumerate(column.categories)}
    for row in rows:
        if row.fields[j] not in places:
            raise ValueError(
                f"{file}, line {row.line}: {column.name} must be one of "
                f"{', '.join(column.categories)}, got {brief(repr(row.fields[j]))}"
            )
    return np.array([places[row.fields[j]] for row in rows], dtype=np.intp)


def integers(rows: Sequence[Row], j: int, allowed: range, file: str) -> IntArray:
    """Return the whole numbers (N,) in field ``j``, which must lie in ``allowed``."""
    labels = Column("the label", tuple(str(value) for value in allowed))
    return codes(rows, j, labels, file) + allowed.start


def seen_categories(rows: Sequence[Row], j: int) -> tuple[str, ...]:
    """Return the distinct values of field ``j``, sorted."""
    return tuple(sorted({row.fields[j] for row in rows}))


def _unquoted(field: str) -> str:
    paired = len(field) > 1 and field[0] == field[-1] and field[0] in "\"'"
    return field[1:-1] if paired else field


def _encoded(rows: Sequence[Row], j: int, column: Column, file: str) -> AnyArray:
    if column.categories:
        return np.eye(len(column.categories))[codes(rows, j, column, file)]
    values = [number(row.fields[j], f"{file}, line {row.line}, {column.name}") for row in rows]
    return np.array(values)[:, np.newaxis]
