"""Tables of results, rows by columns, checked once."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from ecselm._typing import FloatArray


def read_table(table: Any) -> Any:
    """Return a complete DataFrame of numbers, data sets or splits by methods.

    Parameters
    ----------
    table : DataFrame of pandas or polars, or what ``pandas.DataFrame`` takes
        A column per method; at least two rows and two columns.

    Examples
    --------
    >>> read_table({"ELM": [70, 80], "ECSELM": [75, 85]}).shape
    (2, 2)
    """
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    if hasattr(table, "columns") and not hasattr(table, "index"):  # polars
        table = {name: table[name].to_numpy() for name in table.columns}
    frame = pd.DataFrame(table)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"table must have every method once, got {twice!r} twice")
    rows, columns = frame.shape
    if rows < 2 or columns < 2:
        raise ValueError(
            "table must have at least two rows (data sets or splits) and two columns "
            f"(methods), got {rows} and {columns}"
        )
    try:
        numeric = frame.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"table must hold numbers only, got {error}") from error
    _check_complete(numeric)
    return numeric


def read_pair(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    """Return two samples of numbers in pairs, at least two of them."""
    first, second = (np.asarray(values, dtype=np.float64) for values in (a, b))
    if first.ndim != 1 or first.shape != second.shape or len(first) < 2:
        raise ValueError(
            f"a and b must have one shape (n,), n >= 2, got {first.shape} and {second.shape}"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a and b must be finite, got NaN or infinity; leave those pairs out")
    return first, second


def differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``a - b`` without the noise of its last bits.

    0.95 - 0.9 and 0.85 - 0.8 are one difference to whoever counts ties and ranks.
    """
    _, exponent = np.frexp(max(np.abs(a).max(), np.abs(b).max()))
    unit = np.ldexp(1.0, exponent - 44)  # of 53 bits; a power of two, so nothing else rounds
    return np.round((a - b) / unit) * unit


def column_of(frame: Any, baseline: Any) -> int:
    """Return the position of the method ``baseline`` among the columns."""
    names = list(frame.columns)
    if baseline not in names:
        close = get_close_matches(str(baseline), [str(name) for name in names], n=1)
        raise ValueError(
            f"baseline must be a column of table, {names}, got {baseline!r}"
            + (f"; did you mean {close[0]!r}?" if close else "")
        )
    return names.index(baseline)


def _check_complete(frame: Any) -> None:
    missing = np.argwhere(~np.isfinite(frame.to_numpy()))
    if len(missing):
        i, j = missing[0]
        raise ValueError(
            f"table must be complete, got {frame.iat[i, j]} in row {frame.index[i]!r}, column "
            f"{frame.columns[j]!r}: leave out that row or that column, so that all methods "
            "are compared on the same rows"
        )
