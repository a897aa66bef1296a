"""Rows of a table as a model takes them: inputs by name and kind, and targets."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray
from ecselm._wording import brief, did_you_mean, listed
from ecselm.tables.cells import (
    DAY_FIRST,
    ISO,
    MONTH_FIRST,
    NAMED_MONTH,
    PLAIN,
    TIME,
    UNKNOWN,
    YEAR_FIRST,
    Reading,
    blanked,
    dates,
    read_days,
    read_hours,
    read_names,
    read_numbers,
    read_styled,
    read_yes_no,
    texts,
)
from ecselm.tables.schema import (
    DATES,
    MOST_SHOWN,
    NAMES,
    NUMBERS,
    USED,
    YES_OR_NO,
    ColumnNote,
    ColumnPlan,
    ColumnTally,
    LabelCase,
    Task,
    respelled,
    target_rows,
)
from ecselm.tables.target import target_of

LARGEST = 1e100  # number of a column, as in the estimators
_DATE_WORDS = {
    ISO: "ISO dates such as 2024-05-01",
    YEAR_FIRST: "dates such as 2024/05/31",
    DAY_FIRST: "dates such as 31.05.2024",
    MONTH_FIRST: "dates such as 05/31/2024",
    NAMED_MONTH: "dates such as 31 May 2024",
}


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows with a target."""

    X: Any  # a pandas.DataFrame, as new_rows returns it
    y: AnyArray  # (N,) of whole numbers or texts where classes are predicted, else of floats
    task: Task


def training_rows(
    frame: Any,
    plan: ColumnPlan,
    task: Task | None = None,
    label_case: LabelCase | None = None,
) -> TrainingRows:
    """Return the inputs and targets of the rows that have a target.

    Parameters
    ----------
    frame : DataFrame
    plan : ColumnPlan
    task : {"classes", "numbers"} or None, default=None
        What is predicted; None decides as :func:`task_of` does.
    label_case : {"merge", "keep"} or None, default=None
        None refuses labels that differ by case only.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecselm.study import plan_columns
    >>> frame = pd.DataFrame({"age": [5, 7, 9], "ill": ["yes", None, "no"]})
    >>> rows = training_rows(frame, plan_columns(frame, "ill"))
    >>> rows.X["age"].tolist(), rows.y.tolist(), rows.task
    ([5.0, 9.0], ['yes', 'no'], 'classes')
    """
    has_target = target_rows(frame, plan.target)
    known = frame.loc[has_target]
    column = known[plan.target]

    def rows_with(words: Iterable[str]) -> str:
        cells = read_names(column) if column.dtype.kind != "f" else column.astype(str).to_numpy()
        places = (np.flatnonzero(has_target) + 1)[np.isin(cells.astype(str), [*words])]
        return f"row{'s' * (len(places) > 1)} {listed([str(i) for i in places], MOST_SHOWN)}"

    tally = ColumnTally.of(column, counts_numbers=True)
    target = target_of(tally, task, label_case, rows_with)
    return TrainingRows(new_rows(known, plan.columns), target.values(column), target.task)


def new_rows(frame: Any, columns: Iterable[ColumnNote], *, absent: float | None = None) -> Any:
    """Return the input columns by name, each as the kind it had when the model was made.

    Parameters
    ----------
    frame : DataFrame
        Its columns may stand in any order, and others among them.
    columns : iterable of ColumnNote
        Those of a :class:`ColumnPlan` or of a :class:`Card`; unused ones need not be there.
    absent : float or None, default=None
        Value of columns that are missing, as in :class:`Table`; None refuses them.

    Returns
    -------
    DataFrame
        Floats, words (the empty one where a name is missing) and dates. Names may be new.

    Examples
    --------
    >>> import pandas as pd
    >>> age = ColumnNote("age", "numbers", 0, 2, "as it is")
    >>> new_rows(pd.DataFrame({"sex": ["f"], "age": ["12"]}), [age])
        age
    0  12.0
    >>> new_rows(pd.DataFrame({"Age": [1]}), [age])
    Traceback (most recent call last):
        ...
    ValueError: the table must have the column 'age'; did you mean 'Age'?
    """
    used = [column for column in columns if column.kind in USED]
    missing = [column.name for column in used if column.name not in frame.columns]
    if missing and absent is None:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(
            f"the table must have the column {missing[0]!r}{others}"
            f"{did_you_mean(missing[0], map(str, frame.columns))}"
        )
    given = {
        column.name: _read(frame[column.name], column)
        if column.name not in missing
        else np.full(len(frame), absent)
        for column in used
    }
    return pd.DataFrame(given, index=frame.index)


def task_of(y: Any, task: Task | None = None) -> Task:
    """Return whether a target holds classes or numbers.

    It holds numbers if there are many: more than 20 distinct ones with fractions, more than
    50 whole ones, or more distinct ones than half of the rows. Words are classes.

    Parameters
    ----------
    y : array or Series of shape (N,)
    task : {"classes", "numbers"} or None, default=None
        Returned as it is, unless it is impossible.

    Examples
    --------
    >>> task_of(["ill", "well", "ill"]), task_of([0.5, 1.25, 7.5, 2.0])
    ('classes', 'numbers')
    """
    return target_of(ColumnTally.of(pd.Series(y), counts_numbers=True), task).task


def hashed_rows(frame: Any, columns: Iterable[ColumnNote]) -> Any:
    """Return the used columns as :func:`new_rows` does, with gaps for cells of another kind.

    The kinds may be a guess by other rows. Rows that are equal stay so.
    """
    given = {}
    for note in columns:
        column = frame[note.name]
        if note.kind == NAMES:
            given[note.name] = read_names(column)
        elif note.kind == NUMBERS and not pd.api.types.is_numeric_dtype(column):
            # In one style: which one is most likely depends on the rows of the block.
            given[note.name] = read_styled(texts(column), PLAIN).values
        elif note.kind in USED:
            values = _reading(column, note).values
            given[note.name] = dates(values) if note.kind == DATES else values
    return pd.DataFrame(given, index=frame.index)


def _reading(column: Any, note: ColumnNote) -> Reading:
    """Return a column of values as its note says, with the cells of another kind marked."""
    column = blanked(column, note.missing)
    if note.kind == YES_OR_NO:
        return read_yes_no(column)
    if note.kind == DATES:
        return read_days(column, note.format)
    if note.format == TIME:
        return read_hours(column)
    return read_numbers(column, unit=note.format)


def _without_unknown(column: Any, note: ColumnNote, reading: Reading) -> Reading:
    """Return a reading in which words that say that a value is not known are gaps, and warn."""
    words = texts(column[reading.bad])
    found = Counter(word for word in words.tolist() if word.casefold() in UNKNOWN)
    if not found:
        return reading
    said = listed([f"{brief(word)!r} ({n})" for word, n in found.items()])
    warnings.warn(f"column {note.name!r}: {said} taken as missing", UserWarning, stacklevel=4)
    return _reading(blanked(column, found), note)


def _read(column: Any, note: ColumnNote) -> Any:
    """Return a column as the kind that its note says; refuse the first other cell by row."""
    if note.kind == NAMES:
        words = read_names(blanked(column, note.missing))
        return respelled(words, note.spellings) if note.spellings else words
    reading = _reading(column, note)
    if reading.bad.any():
        reading = _without_unknown(column, note, reading)
    if reading.bad.any():
        row = int(np.flatnonzero(reading.bad)[0])
        if note.kind == DATES:
            wanted = _DATE_WORDS[note.format]
        elif note.kind == YES_OR_NO:
            wanted = "yes or no"
        elif note.format == TIME:
            wanted = "times such as 14:30"
        else:
            wanted = "finite numbers" if column.dtype.kind == "f" else "numbers"
        raise ValueError(
            f"column {note.name!r} must hold {wanted} as it did when the model was "
            f"made, got {brief(str(column.iloc[row]))!r} in row {row + 1}"
        )
    if note.kind == DATES:
        return dates(reading.values)
    large = np.flatnonzero(np.abs(reading.values) > LARGEST)
    if len(large):
        raise ValueError(
            f"column {note.name!r} must hold numbers up to {LARGEST:g}, whose squares are finite, "
            f"got {reading.values[large[0]]:g} in row {large[0] + 1}"
        )
    return reading.values
