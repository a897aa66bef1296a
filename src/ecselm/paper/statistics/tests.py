"""Paired tests of two methods on the same rows, and Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import stats

from ecselm._typing import FloatArray


@dataclass(frozen=True, slots=True)
class Finding:
    """The statistic of a test and its two-sided p value."""

    statistic: float
    p: float


NO_DIFFERENCE = Finding(0.0, 1.0)  # of results that are all equal, where formulas give 0 / 0


def holm(p: Any) -> FloatArray:
    """Return p values corrected for there being several of them.

    In rising order, ``p~_(i) = max_{j <= i} min(1, (n - j + 1) p_(j))`` (Holm 1979): what
    is below alpha may be rejected, with a chance of at most alpha of any false rejection.

    Parameters
    ----------
    p : array of shape (n,)

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"p must have the shape (n,), got {values.shape}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


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
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

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
    """Return ``a - b`` without rounding errors of its last bits.

    0.95 - 0.9 and 0.85 - 0.8 are one difference in ties and ranks.
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


def paired_t_test(a: Any, b: Any) -> Finding:
    """Test whether the mean of ``a - b`` is 0, rows being independent: table XIII.

    ``t = mean(d) / sqrt(var(d) / n)`` with n - 1 degrees of freedom. Splits of one data
    set are not independent: see :func:`corrected_t_test`.

    Parameters
    ----------
    a, b : array of shape (n,)

    Examples
    --------
    >>> paired_t_test([50.0, 55.0, 93.0], [33.0, 37.0, 82.0]).p < 0.05
    True
    """
    return _t_test(a, b, 0.0)


def corrected_t_test(a: Any, b: Any, *, test_train_ratio: float) -> Finding:
    """Test whether the mean of ``a - b`` is 0 over repeated splits of one data set.

    ``t = mean(d) / sqrt((1/n + n_test/n_train) var(d))`` with n - 1 degrees of freedom
    (Nadeau and Bengio 2003): training sets that overlap make results vary together, which
    the plain test takes for certainty.

    Parameters
    ----------
    a, b : array of shape (n,)
        Results of n random splits, or of n folds of repeated cross-validation.
    test_train_ratio : float
        ``n_test / n_train``: 220 / 400 in table I, 1 / (k - 1) with k folds.

    Examples
    --------
    >>> a, b = [0.51, 0.53, 0.50, 0.54], [0.49, 0.50, 0.49, 0.50]
    >>> paired_t_test(a, b).p < 0.05 < corrected_t_test(a, b, test_train_ratio=220 / 400).p
    True
    """
    if not (np.isfinite(test_train_ratio) and test_train_ratio > 0):
        raise ValueError(f"test_train_ratio must be > 0, got {test_train_ratio}")
    return _t_test(a, b, test_train_ratio)


def wilcoxon_test(a: Any, b: Any) -> Finding:
    """Test whether ``a - b`` is symmetric about 0, by signed ranks (Wilcoxon 1945).

    Pairs without a difference are dropped. The p value is exact for few rows; of n rows
    it cannot be less than ``2 / 2^n``.

    Parameters
    ----------
    a, b : array of shape (n,)

    Examples
    --------
    >>> wilcoxon_test([2.0, 4.0, 6.0, 8.0, 10.0, 12.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    Finding(statistic=0.0, p=0.03125)
    """
    difference = differences(*read_pair(a, b))
    if not difference.any():
        return NO_DIFFERENCE
    found = stats.wilcoxon(difference)
    return Finding(float(found.statistic), float(found.pvalue))


def _t_test(a: Any, b: Any, ratio: float) -> Finding:
    difference = differences(*read_pair(a, b))
    if not difference.any():
        return NO_DIFFERENCE
    n = len(difference)
    deviation = np.sqrt((1.0 / n + ratio) * difference.var(ddof=1))
    with np.errstate(divide="ignore"):  # one difference in all rows is beyond any doubt
        t = difference.mean() / deviation
    return Finding(float(t), float(2.0 * stats.t.sf(np.abs(t), n - 1)))
