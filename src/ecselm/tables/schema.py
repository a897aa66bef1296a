"""The type of every column and how it is encoded, decided by its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import did_you_mean, quoted
from ecselm.tables.cells import (
    NO,
    YES,
    DayNumbers,
    Reading,
    read_days,
    read_names,
    read_numbers,
    read_yes_no,
)

NUMBERS, YES_OR_NO, DATES, NAMES = "numbers", "yes or no", "dates", "names"
USED = (NUMBERS, YES_OR_NO, DATES, NAMES)  # kinds of columns that a model sees
EMPTY, CONSTANT, IDENTIFIER, TEXT = "empty", "constant", "identifier", "text"

MOST_NAMES = 100  # distinct ones, beyond which words are text
NEARLY_ALL = 0.9  # share of distinct values from which on they tell rows apart
FEW_ROWS = 20  # below which distinct values prove nothing
MOST_LEAST = 10  # rows that are enough for a name of any table

_ID = re.compile(r"(^|[^a-z])(id|nr|no|index|key|number)$", re.IGNORECASE)
MEDIAN = "missing values: median, and a column that marks them"


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """An input column, and what was done with it."""

    name: str
    kind: str  # "numbers", "names", "yes or no", "dates", ...
    n_missing: int
    n_values: int  # distinct ones
    treatment: str  # a few words, such as "missing values: median; one-hot encoded"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """What becomes of the input columns of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("fmfm"), "size": [1, 2.5, None, 2], "ill": [0, 1, 1, 0]})
    >>> plan = plan_columns(frame, "ill")
    >>> [(column.name, column.kind, column.treatment) for column in plan.columns]
    [('sex', 'names', 'one-hot encoded'),
     ('size', 'numbers', 'missing values: median, and a column that marks them')]
    >>> plan.transformer().fit_transform(frame).shape
    (4, 4)
    """

    target: str
    columns: tuple[ColumnNote, ...]  # all but the target, in the order of the table
    categories: tuple[tuple[str, ...], ...]  # that are encoded, of every column of names
    notes: tuple[str, ...] = ()  # a sentence each

    def names(self, kind: str) -> list[str]:
        """Return the names of the columns of a kind."""
        return [column.name for column in self.columns if column.kind == kind]

    def transformer(self) -> ColumnTransformer:
        """Return the transformer, not fitted, of what :func:`~ecselm.study.new_rows` returns.

        Names that are rare or not seen before are all zeros.
        """
        numbers = [c.name for c in self.columns if c.kind in {NUMBERS, YES_OR_NO}]
        one_hot = OneHotEncoder(
            categories=[list(names) for names in self.categories],
            handle_unknown="ignore",
            sparse_output=False,
        )
        parts = [
            ("numbers", _filled(), numbers),
            ("dates", make_pipeline(DayNumbers(), _filled()), self.names(DATES)),
            ("names", one_hot, self.names(NAMES)),
        ]
        return ColumnTransformer([part for part in parts if part[2]])


def plan_columns(frame: Any, target: str) -> ColumnPlan:
    """Decide what becomes of every column but the target.

    Parameters
    ----------
    frame : DataFrame
        Rows without a target are left out, and do not count.
    target : str
        The column to be predicted.

    Returns
    -------
    ColumnPlan

    Examples
    --------
    >>> import pandas as pd
    >>> plan_columns(pd.DataFrame({"age": [1, 2], "diagnosis": ["a", "b"]}), "Diagnosis")
    Traceback (most recent call last):
        ...
    ValueError: target must be a column of the table, got 'Diagnosis'; did you mean 'diagnosis'?
    """
    rows = target_rows(frame, target)
    known = frame.loc[rows]
    names = [name for name in frame.columns if name != target]
    planned = [_planned(name, known[name]) for name in names]
    return column_plan(target, planned, int((~rows).sum()), len(rows))


def column_plan(
    target: str,
    planned: Sequence[tuple[ColumnNote, tuple[str, ...]]],
    n_without: int,
    n_rows: int,
) -> ColumnPlan:
    """Return the plan of all columns, unless no input is left.

    Parameters
    ----------
    target : str
    planned : sequence of (ColumnNote, names)
        What becomes of every column, and which of its names are encoded.
    n_without, n_rows : int
        Rows without a target, and all rows.
    """
    columns = tuple(note for note, _ in planned)
    if not any(note.kind in USED for note in columns):
        reasons = [f"{note.name} ({note.treatment})" for note in columns]
        raise ValueError(
            f"the table must have a column that {target!r} can be predicted from, got "
            f"{quoted(reasons) or 'none'}"
        )
    note = f"{n_without} of {n_rows} rows have no {target} and are left out."
    categories = tuple(names for note, names in planned if note.kind == NAMES)
    return ColumnPlan(target, columns, categories, (note,) if n_without else ())


def target_rows(frame: Any, target: str) -> AnyArray:
    """Tell which rows (N,) have a target, and refuse a table without one."""
    strange = [name for name in frame.columns if not isinstance(name, str)]
    if strange:
        raise ValueError(f"names of columns must be texts, got {strange[0]!r}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].tolist()
        raise ValueError(f"names of columns must differ, got {quoted(twice)} twice")
    if target not in frame.columns:
        raise ValueError(
            f"target must be a column of the table, got {target!r}"
            f"{did_you_mean(target, frame.columns)}"
        )
    rows = read_names(frame[target]) != ""
    if not rows.any():
        raise ValueError(f"target must hold something, the column {target!r} is empty")
    return rows


def _planned(name: str, column: Any) -> tuple[ColumnNote, tuple[str, ...]]:
    """Return what becomes of a column, and which of its names are encoded."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return _of_values(name, NUMBERS, read_numbers(column)), ()
    counts = Counter(read_names(column).tolist())
    if is_yes_no(counts):
        return _of_values(name, YES_OR_NO, read_yes_no(column), "yes is 1, no is 0"), ()
    if pd.api.types.is_datetime64_any_dtype(column):  # which could be read as numbers
        return _of_values(name, DATES, read_days(column), "days since 1970"), ()
    numbers = read_numbers(column)
    if numbers.is_clean:
        return _of_values(name, NUMBERS, numbers, "written as text"), ()
    days = read_days(column)
    if days.is_clean:
        return _of_values(name, DATES, days, "days since 1970"), ()
    return _of_names(name, counts, numbers)


def is_yes_no(words: Iterable[str]) -> bool:
    """Tell whether words are yes and no, and hold both."""
    words = {word.casefold() for word in words if word} - {"0", "1"}
    return bool(words & YES and words & NO and words <= YES | NO)


def _of_values(name: str, kind: str, reading: Reading, read_as: str = "") -> ColumnNote:
    known = reading.values[~np.isnan(reading.values)]
    n_missing, n_values = len(reading.values) - len(known), len(np.unique(known))
    apart = kind == NUMBERS and _tells_rows_apart(name, known)
    return note_of_values(name, kind, n_missing, n_values, apart=apart, read_as=read_as)


def note_of_values(
    name: str, kind: str, n_missing: int, n_values: int, *, apart: bool, read_as: str = ""
) -> ColumnNote:
    """Return what becomes of a column of values, which may tell all rows ``apart``."""
    if n_values == 0:
        return ColumnNote(name, EMPTY, n_missing, 0, "left out: nothing in it")
    if n_values == 1 and not n_missing:
        return ColumnNote(name, CONSTANT, 0, 1, "left out: the same in all rows")
    if apart:
        return ColumnNote(name, IDENTIFIER, n_missing, n_values, "left out: numbers of rows")
    treated = [read_as] * bool(read_as) + [MEDIAN] * bool(n_missing)
    return ColumnNote(name, kind, n_missing, n_values, "; ".join(treated) or "as it is")


def _tells_rows_apart(name: str, values: FloatArray) -> bool:
    """Tell whether distinct whole numbers count the rows, or are said to identify them."""
    if len(values) < FEW_ROWS or len(np.unique(values)) < len(values):
        return False
    if (values != np.round(values)).any():
        return False
    return bool(np.ptp(values) == len(values) - 1) or says_identifier(name)


def says_identifier(name: str) -> bool:
    """Tell whether the name of a column says that it identifies rows."""
    return _ID.search(name) is not None


def _of_names(
    name: str, counts: Counter[str], numbers: Reading
) -> tuple[ColumnNote, tuple[str, ...]]:
    n_values, n_bad = len(counts) - ("" in counts), int(numbers.bad.sum())
    strangers = _strangers(counts) if n_bad else []
    return note_of_names(name, counts, counts.total(), n_values, n_bad, strangers)


def note_of_names(
    name: str,
    counts: Counter[str],
    n_rows: int,
    n_values: int,
    n_bad: int,
    strangers: Sequence[str],
) -> tuple[ColumnNote, tuple[str, ...]]:
    """Return what becomes of a column of words, and which of them are encoded.

    Parameters
    ----------
    name : str
    counts : Counter
        How often every word occurs; none where there are too many to be names.
    n_rows, n_values : int
        Rows, and distinct words.
    n_bad : int
        Rows whose word is no number.
    strangers : sequence of str
        Words that are no numbers.
    """
    n_missing, n_known = counts[""], n_rows - counts[""]
    least = min(max(2, n_rows // 100), MOST_LEAST)
    frequent = tuple(sorted(word for word, n in counts.items() if n >= least))
    kind, treated = NAMES, _encoding(counts, frequent)
    if n_values == 0:
        kind, treated = EMPTY, "left out: nothing in it"
    elif n_values == 1 and not n_missing:
        kind, treated = CONSTANT, "left out: the same in all rows"
    elif 0 < n_bad < (1 - NEARLY_ALL) * n_known:
        kind, treated = TEXT, f"left out: numbers but for {quoted(list(strangers), 3)}"
    elif n_known >= FEW_ROWS and n_values > NEARLY_ALL * n_known:
        kind, treated = IDENTIFIER, "left out: another value in nearly every row"
    elif n_values > MOST_NAMES or not any(frequent):
        kind, treated = TEXT, f"left out: text of {n_values} values"
    return ColumnNote(name, kind, n_missing, n_values, treated), frequent


def _encoding(counts: Counter[str], frequent: tuple[str, ...]) -> str:
    rare = len(counts) - len(frequent) - ("" in counts and "" not in frequent)
    parts = ["one-hot encoded"]
    if "" in frequent:
        parts.append("missing values: a name of their own")
    if rare:
        parts.append(f"rare names ({rare}): none of the others")
    return "; ".join(parts)


def _strangers(counts: Counter[str]) -> list[str]:
    """Return the words among numbers."""
    words = pd.Series(list(counts), dtype=object)
    return list(words[read_numbers(words).bad])


def _filled() -> SimpleImputer:
    # Marks are made for columns with gaps in the rows it is fitted to, and for no others. A
    # column that is all gaps in a fold must not change the number of columns.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
