"""Cells of a column, read as numbers, dates, yes or no, or names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._typing import AnyArray, FloatArray

MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"})
# Words that are names among names, and nothing among numbers.
MISSING_NUMBER = MISSING | {"none", "-", "--", "."}
# Words by which people say among numbers or dates that a value is not known.
UNKNOWN = MISSING_NUMBER | {
    *("unknown", "unkn", "unk", "not known", "missing", "undefined", "not available"),
    *("not applicable", "n.a.", "n.a", "(null)", "nil", "k.a.", "unbekannt", "inconnu", "---"),
    *("#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!"),
}
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
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

ISO = ""
YEAR_FIRST, DAY_FIRST, MONTH_FIRST = "year first", "day first", "month first"
NAMED_MONTH = "month by name"
DATE_ORDERS = (ISO, YEAR_FIRST, DAY_FIRST, MONTH_FIRST, NAMED_MONTH)
TIME = "time of day"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})(\.(?P<fraction>\d+))?)?"
    r"(\s*(?P<half>[ap])\.?m\.?)?"
)
_TIME = re.compile(_CLOCK, re.ASCII | re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH, _DAY_OF = r"(?P<year>\d{4}|\d{2})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_NAME = rf"(?P<name>({'|'.join(_MONTHS)})[a-z]*)\.?"
_DATES = {
    order: [
        re.compile(rf"{pattern}([T ,]\s*{_CLOCK})?", re.ASCII | re.IGNORECASE)
        for pattern in patterns
    ]
    for order, patterns in {
        YEAR_FIRST: [rf"(?P<year>\d{{4}})(?P<sep>[-/.]){_MONTH}(?P=sep){_DAY_OF}"],
        DAY_FIRST: [rf"{_DAY_OF}(?P<sep>[-/.]){_MONTH}(?P=sep){_YEAR}"],
        MONTH_FIRST: [rf"{_MONTH}(?P<sep>[-/]){_DAY_OF}(?P=sep){_YEAR}"],
        NAMED_MONTH: [
            rf"{_DAY_OF}\.?[- ]{_NAME}[-, ]+{_YEAR}",
            rf"{_NAME} {_DAY_OF}(st|nd|rd|th)?,? +(?P<year>\d{{4}})",
        ],
    }.items()
}
_CURRENCY = r"[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba]|EUR|USD|GBP|CHF|JPY|kr\.?|Fr\.?"
_BEFORE = re.compile(rf"([+-]?)\s*({_CURRENCY})\s*(?=[+-]?[\d.,])", re.IGNORECASE)
_BEHIND = re.compile(rf"(?<=[\d.,])\s*({_CURRENCY})$", re.IGNORECASE)
_THOUSANDS = re.compile(r"[^.,]*\d\.\d{3}[^.\d]*")  # of money, which has no third decimal


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


def blanked(column: Any, tokens: Iterable[str]) -> Any:
    """Return a column without the cells that hold one of some words, in any case.

    Examples
    --------
    >>> blanked(pd.Series(["1", "Unknown", "2"]), ["unknown"]).tolist()
    ['1', nan, '2']
    >>> blanked(pd.Series([1, -9, 2]), ["-9"]).tolist()
    [1.0, nan, 2.0]
    """
    words = frozenset(token.strip().casefold() for token in tokens)
    if not words:
        return column
    if is_number_column(column):
        values = [value for value in map(_as_float, words) if value is not None]
        found = column.isin(values)
    else:
        codes, distinct = pd.factorize(column)
        found = pd.Series(
            np.append(_among(texts(pd.Series(distinct)), words), False)[codes], column.index
        )
    return column.mask(found) if found.any() else column


def is_number_column(column: Any) -> bool:
    """Tell whether a column holds numbers by its type; flags are none."""
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def unit_of(column: Any) -> str:
    """Return the currency of numbers, none if there are none or several.

    Examples
    --------
    >>> unit_of(pd.Series(["$5", "7", "-$1,200"])), unit_of(pd.Series(["$5", "5 EUR"]))
    ('$', '')
    """
    return _unit(texts(column)) if not pd.api.types.is_numeric_dtype(column) else ""


def read_numbers(column: Any, *, decimal_comma: bool = False, unit: str | None = None) -> Reading:
    """Read numbers, also those written as 1,5 or 1'200 or 12 % or $5.

    Where all commas may part thousands as well as decimals, ``decimal_comma`` decides. Numbers
    may have the currency ``unit``; None takes the one that is there, if all have the same. What
    is infinite is no number.

    Examples
    --------
    >>> read_numbers(pd.Series(["1,5", "NA", "-2"])).values.tolist()
    [1.5, nan, -2.0]
    >>> read_numbers(pd.Series(["1", "many", "inf"])).bad.tolist()
    [False, True, True]
    >>> read_numbers(pd.Series(["$1,200", "-$5", "7"])).values.tolist()
    [1200.0, -5.0, 7.0]
    """
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return finite(Reading(values, np.zeros(len(column), bool)))
    quick = _quick(column)
    if quick is not None:
        return finite(quick)
    codes, words = pd.factorize(texts(column))
    known = ~_among(words, MISSING_NUMBER)
    best = _floats(words, known)
    if best.bad.any():
        styles = (DECIMAL, GROUPING) if decimal_comma else (GROUPING, DECIMAL)
        sign = "%" if all(word.endswith("%") for word in words[known]) else ""
        found = _unit(words[known]) if unit is None else unit
        plain = _without_unit(words, found)
        if found and any(_THOUSANDS.fullmatch(word) for word in plain):
            styles = (DECIMAL, GROUPING)
        tried = [_floats(_restyled(plain, sign, style), known, style) for style in styles]
        best = min([best, *tried], key=lambda reading: int(reading.bad.sum()))
    return finite(Reading(best.values[codes], best.bad[codes], best.style))


def finite(reading: Reading) -> Reading:
    """Return a reading in which infinite values are of another kind."""
    infinite = np.isinf(reading.values)
    if not infinite.any():
        return reading
    values = np.where(infinite, np.nan, reading.values)
    return Reading(values, reading.bad | infinite, reading.style)


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


def read_days(column: Any, order: str = ISO) -> Reading:
    """Read dates as days since 1970; numbers are days already.

    Parameters
    ----------
    column : Series
    order : str, default=ISO
        One of ``DATE_ORDERS``: ISO dates, or which part of a date comes first.

    Examples
    --------
    >>> read_days(pd.Series(["1970-01-03", "1970-01-01T12:00", "May"])).values.tolist()
    [2.0, 0.5, nan]
    >>> read_days(pd.Series(["2.1.1970", "31/12/69 12:00"]), DAY_FIRST).values.tolist()
    [1.0, -0.5]
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
    if order != ISO:  # in which ISO dates are understood, too
        others = known & ~iso
        days[others] = [_day(word, _DATES[order]) for word in words[others]]
    return Reading(days, known & np.isnan(days))


def read_hours(column: Any) -> Reading:
    """Read times of day as hours since midnight; numbers are hours already.

    Examples
    --------
    >>> read_hours(pd.Series(["14:30", "2:30 pm", "25:00"])).values.tolist()
    [14.5, 14.5, nan]
    """
    if is_number_column(column):
        return read_numbers(column)
    words = texts(column)
    known = ~_among(words, MISSING)
    hours = np.array([_hours(_TIME.fullmatch(word)) for word in words], np.float64)
    return Reading(hours, known & np.isnan(hours))


def _hours(found: re.Match[str] | None) -> float:
    if found is None or found["hour"] is None:
        return np.nan
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if found["half"] is not None:
        if not 1 <= hour <= 12:
            return np.nan
        hour = hour % 12 + 12 * (found["half"].lower() == "p")
    if hour > 23 or minute > 59 or second > 59:
        return np.nan
    return hour + minute / 60 + (second + float(f"0.{found['fraction'] or 0}")) / 3600


def _day(word: str, patterns: list[re.Pattern[str]]) -> float:
    found = next((one for one in (pattern.fullmatch(word) for pattern in patterns) if one), None)
    if found is None:
        return np.nan
    parts = found.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < 69 else 1900  # as POSIX has it
    name = parts.get("name")
    month = int(parts["month"]) if name is None else _MONTHS.index(name[:3].lower()) + 1
    try:
        midnight = datetime(year, month, int(parts["day"]), tzinfo=UTC)
    except ValueError:
        return np.nan
    hours = 0.0 if parts["hour"] is None else _hours(found)
    return (midnight - datetime(1970, 1, 1, tzinfo=UTC)).days + hours / 24


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


def _as_float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _unit(words: AnyArray) -> str:
    found = {
        match.group(2) if pattern is _BEFORE else match.group(1)
        for word in words
        for pattern in (_BEFORE, _BEHIND)
        if (match := (pattern.match(word) if pattern is _BEFORE else pattern.search(word)))
    }
    return str(found.pop()) if len({unit.casefold() for unit in found}) == 1 else ""


def _without_unit(words: AnyArray, unit: str) -> AnyArray:
    """Return words without a currency before or behind the digits."""
    if not unit:
        return words
    sign = re.escape(unit)
    before = re.compile(rf"([+-]?)\s*{sign}\s*(?=[+-]?[\d.,])", re.IGNORECASE)
    behind = re.compile(rf"(?<=[\d.,])\s*{sign}$", re.IGNORECASE)
    return np.array([behind.sub("", before.sub(r"\1", word, 1)) for word in words], object)


def _quick(column: Any) -> Reading | None:
    """Read a column of plain numbers without a look at every cell, None if it is not one."""
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.isnan(values)
    if not _among(texts(column[odd]), MISSING_NUMBER).all():
        return None
    words = column if isinstance(column.dtype, pd.StringDtype) else texts(column)
    if pd.Series(words).str.match(rf"{CODE.pattern}|\+", na=False).any():
        return None
    return Reading(values, np.zeros(len(values), bool))


def _floats(words: AnyArray, known: AnyArray, style: str = PLAIN) -> Reading:
    """Read what Python writes as numbers, which may be infinite."""
    unsigned = np.array(
        [
            "" if not is_known else _PLUS.sub("", word, 1) if word[:1] == "+" else word
            for word, is_known in zip(words, known, strict=True)
        ],
        dtype=object,
    )
    # An array, as a table may have thousands of columns and each Series takes its time.
    values = np.asarray(pd.to_numeric(unsigned, errors="coerce"), dtype=np.float64)
    bad = known & np.isnan(values)
    bad |= np.array([CODE.match(word) is not None for word in words], bool)
    return Reading(np.where(bad, np.nan, values), bad, style)


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
