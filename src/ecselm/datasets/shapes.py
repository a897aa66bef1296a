"""What arrays out of a file must look like."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import numpy as np

from ecselm._typing import AnyArray

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
    """Refuse numbers that are no characters, on which Python stumbles later."""
    if values.dtype.itemsize == 0:
        return
    native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    largest = int(native.view(np.uint32).max())
    if largest > sys.maxunicode:
        raise ValueError(f"{place}: must hold text, got {largest} for a character")


def check_counts(
    values: AnyArray, labels: Iterable[object], counts: Iterable[int], place: str
) -> None:
    """Refuse ``values`` unless every label occurs as often as it must."""
    for label, wanted in zip(labels, counts, strict=True):
        got = int((values == label).sum())
        if got != wanted:
            raise ValueError(f"{place}: must have {wanted} rows of {label}, got {got}")
