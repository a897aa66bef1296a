"""Cells of a column, read as numbers, dates, yes or no, or names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._typing import AnyArray, FloatArray

MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"})
# Words that are names among names, and nothing among numbers.
MISSING_NUMBER = MISSING | {"none", "-", "--", "."}
YES = frozenset({"yes", "y", "true", "t", "ja", "j", "oui", "si", "sí", "1"})
NO = frozenset({"no", "n", "false", "f", "nein", "non", "0"})

PLAIN = "plain"
DECIMAL = "decimal"  # commas, as in 1,5
GROUPING = "grouping"  # commas, as in 1,500.5

CODE = re.compile(r"[+-]?0\d")  # 007 is no number
_PLUS = re.compile(r"\+(?=[\d.])")  # with which pandas misses the last digit
_GROUPED = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_POINTED = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_GROUPS = re.compile(r"(?<=\d)['\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_DAY = 24 * 3600 * 10**6  # in microseconds


@dataclass(frozen=True, slots=True)
class Reading:
    """Numbers (N,), NaN where nothing is known, and the cells that are of another kind."""

    values: FloatArray
    bad: AnyArray  # (N,) of bool
    style: str = PLAIN  # of numbers with commas

    @property
    def missing(self) -> AnyArray:
        """Tell which cells hold nothing."""
        return np.isnan(self.values) & ~self.bad

    @property
    def is_clean(self) -> bool:
        """Tell whether there are values, and all of this kind."""
        return not self.bad.any() and not np.isnan(self.values).all()


def texts(column: Any) -> AnyArray:
    """Return the cells (N,) as words without spaces around them, none where there is nothing."""
    there = column.notna().to_numpy()
    cells = column.astype(object).to_numpy()
    return np.array([_text(c) if t else "" for c, t in zip(cells, there, strict=True)], object)


def read_names(column: Any) -> AnyArray:
    """Return the cells (N,) as words, the empty word where there is nothing.

    Examples
    --------
    >>> read_names(pd.Series(["x ", "?", None, 1.0])).tolist()
    ['x', '', '', '1']
    """
    column = pd.Series(column)
    is_plain = not pd.api.types.is_object_dtype(column)
    if is_plain or pd.api.types.infer_dtype(column, skipna=True) == "string":
        codes, distinct = pd.factorize(column)  # most columns have few distinct values
        words = np.append(texts(pd.Series(distinct)), "")  # the last one for gaps
    else:
        codes, words = np.arange(len(column)), texts(column)
    return np.where(_among(words, MISSING), "", words).astype(object)[codes]


def read_numbers(column: Any, *, decimal_comma: bool = False) -> Reading:
    """Read numbers, also those written as 1,5 or 1'200 or 12 %.

    Where all commas may part thousands as well as decimals, ``decimal_comma`` decides.

    Examples
    --------
    >>> read_numbers(pd.Series(["1,5", "NA", "-2"])).values.tolist()
    [1.5, nan, -2.0]
    >>> read_numbers(pd.Series(["1", "many"])).bad.tolist()
    [False, True]
    """
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Reading(np.where(np.isinf(values), np.nan, values), np.zeros(len(column), bool))
    quick = _quick(column)
    if quick is not None:
        return quick
    codes, words = pd.factorize(texts(column))
    known = ~_among(words, MISSING_NUMBER)
    best = _floats(words, known)
    if best.bad.any():
        styles = (DECIMAL, GROUPING) if decimal_comma else (GROUPING, DECIMAL)
        sign = "%" if all(word.endswith("%") for word in words[known]) else ""
        tried = [_floats(_restyled(words, sign, style), known, style) for style in styles]
        best = min([best, *tried], key=lambda reading: int(reading.bad.sum()))
    return Reading(best.values[codes], best.bad[codes], best.style)


def read_styled(words: AnyArray, style: str, *, percent: bool = False) -> Reading:
    """Read words (N,) as numbers of one style, which may all have a per cent sign.

    Examples
    --------
    >>> words = np.array(["1.500", "2,5", ""], object)
    >>> read_styled(words, DECIMAL).values.tolist(), read_styled(words, PLAIN).bad.tolist()
    ([1500.0, 2.5, nan], [False, True, False])
    """
    codes, distinct = pd.factorize(words)
    known = ~_among(distinct, MISSING_NUMBER)
    plain = distinct if style == PLAIN else _restyled(distinct, "%" if percent else "", style)
    reading = _floats(plain, known, style)
    unsigned = known & ~np.array([word.endswith("%") for word in distinct], bool)
    bad = reading.bad | unsigned if percent else reading.bad
    return Reading(reading.values[codes], bad[codes], style)


def read_days(column: Any) -> Reading:
    """Read ISO dates as days since 1970; numbers are days already.

    Examples
    --------
    >>> read_days(pd.Series(["1970-01-03", "1970-01-01T12:00", "May"])).values.tolist()
    [2.0, 0.5, nan]
    """
    if pd.api.types.is_numeric_dtype(column):
        return read_numbers(column)
    if pd.api.types.is_datetime64_any_dtype(column):
        days = _days(pd.to_datetime(column, utc=True))
        return Reading(days, np.zeros(len(days), bool))
    words = texts(column)
    known = ~_among(words, MISSING)
    iso = np.array([_ISO.fullmatch(word) is not None for word in words], bool)
    stamps = pd.to_datetime(
        pd.Series(np.where(iso, words, "")),
        format="ISO8601",
        utc=True,
        errors="coerce",
    )
    days = _days(stamps)
    return Reading(days, known & np.isnan(days))


def read_yes_no(column: Any) -> Reading:
    """Read yes and no, in a few languages, as 1 and 0.

    Examples
    --------
    >>> read_yes_no(pd.Series(["Yes", "n", "", "perhaps"])).values.tolist()
    [1.0, 0.0, nan, nan]
    """
    words = texts(column)
    yes, no = _among(words, YES), _among(words, NO)
    values = np.where(yes, 1.0, np.where(no, 0.0, np.nan))
    return Reading(values, ~(yes | no | _among(words, MISSING)))


def dates(days: FloatArray) -> AnyArray:
    """Return days since 1970 as dates, to the microsecond."""
    known = ~np.isnan(days)
    stamps = np.full(len(days), np.datetime64("NaT", "us"))
    stamps[known] = np.round(days[known] * _DAY).astype(np.int64).astype("datetime64[us]")
    return stamps


def _days(stamps: Any) -> FloatArray:
    utc = stamps.dt.tz_convert(None).to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(utc), np.nan, utc.astype(np.int64) / _DAY)


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace").strip()
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))  # whole numbers are floats wherever a cell of their column is empty
    return str(cell).strip()


def _among(words: AnyArray, known: frozenset[str]) -> AnyArray:
    return np.array([word.casefold() in known for word in words], bool)


def _quick(column: Any) -> Reading | None:
    """Read a column of plain numbers without a look at every cell, None if it is not one."""
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.isnan(values)
    if not _among(texts(column[odd]), MISSING_NUMBER).all():
        return None
    words = column if isinstance(column.dtype, pd.StringDtype) else texts(column)
    if pd.Series(words).str.match(rf"{CODE.pattern}|\+", na=False).any():
        return None
    return Reading(np.where(np.isinf(values), np.nan, values), np.zeros(len(values), bool))


def _floats(words: AnyArray, known: AnyArray, style: str = PLAIN) -> Reading:
    """Read what Python writes as numbers."""
    unsigned = [_PLUS.sub("", word, 1) if word[:1] == "+" else word for word in words]
    numbers = pd.to_numeric(pd.Series(np.where(known, unsigned, "")), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = known & np.isnan(values)
    bad |= np.array([CODE.match(word) is not None for word in words], bool)
    return Reading(np.where(bad | np.isinf(values), np.nan, values), bad, style)


def _restyled(words: AnyArray, sign: str, style: str) -> AnyArray:
    """Return numbers of another style, which may end in a sign, as Python writes them."""
    plain = [_GROUPS.sub("", word.removesuffix(sign).rstrip()) for word in words]
    restyle = _without_groups if style == GROUPING else _with_point
    return np.array([restyle(word) for word in plain], object)


def _without_groups(word: str) -> str:
    return word.replace(",", "") if _GROUPED.fullmatch(word) else word


def _with_point(word: str) -> str:
    if _POINTED.fullmatch(word):
        return word.replace(".", "").replace(",", ".")
    return f"{word} is not of this style" if _GROUPED.fullmatch(word) else word


class DayNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn dates into days since the first of January 1970.

    Takes columns of dates, of ISO texts such as ``2024-05-01`` or ``2024-05-01T12:30``, and
    of numbers, which are days already. What holds nothing becomes NaN. Times without a zone
    are taken as universal time.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> DayNumbers().fit_transform(pd.DataFrame({"seen": ["1970-01-11", None]})).tolist()
    [[10.0], [nan]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the columns; there is nothing to learn."""
        validate_data(self, X, skip_check_array=True)
        self._days(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the days (N, n)."""
        check_is_fitted(self, "n_features_in_")
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._days(X)

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """Return the function that sets the shape of the days in a graph for skl2onnx."""
        return _set_shape

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """Return the function that writes the days to a graph; its inputs are days already."""
        return _convert

    def _days(self, X: Any) -> FloatArray:
        frame = pd.DataFrame(X)
        readings = {name: read_days(frame[name]) for name in frame.columns}
        for name, reading in readings.items():
            if reading.bad.any():
                row = int(np.flatnonzero(reading.bad)[0])
                raise ValueError(
                    f"column {name!r} must hold ISO dates, got {frame[name].iloc[row]!r} in row "
                    f"{row + 1}"
                )
        return np.column_stack([reading.values for reading in readings.values()])


def _set_shape(operator: Any) -> None:
    double = type(operator.inputs[0].type)
    operator.outputs[0].type = double([None, operator.raw_operator.n_features_in_])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from ecselm.onnx.graph import graph_of, joined_inputs  # noqa: PLC0415  an extra

    graph = graph_of(scope, operator, container)
    graph.put_out(joined_inputs(graph, operator), operator.outputs[0])
