"""Rows of a table as a model takes them: inputs by name and kind, and targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray
from ecselm._wording import brief, did_you_mean
from ecselm.tables.cells import (
    PLAIN,
    dates,
    read_days,
    read_names,
    read_numbers,
    read_styled,
    read_yes_no,
    texts,
)
from ecselm.tables.schema import (
    DATES,
    NAMES,
    NUMBERS,
    USED,
    YES_OR_NO,
    ColumnNote,
    ColumnPlan,
    ColumnTally,
    Task,
    target_of,
    target_rows,
)

_READERS = {NUMBERS: read_numbers, YES_OR_NO: read_yes_no, DATES: read_days}
_WORDS = {NUMBERS: "numbers", YES_OR_NO: "yes or no", DATES: "ISO dates such as 2024-05-01"}


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows with a target."""

    X: Any  # a pandas.DataFrame, as new_rows returns it
    y: AnyArray  # (N,) of whole numbers or texts where classes are predicted, else of floats
    task: Task


def training_rows(frame: Any, plan: ColumnPlan, task: Task | None = None) -> TrainingRows:
    """Return the inputs and targets of the rows that have a target.

    Parameters
    ----------
    frame : DataFrame
    plan : ColumnPlan
    task : {"classes", "numbers"} or None, default=None
        What is predicted; None decides as :func:`task_of` does.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecselm.study import plan_columns
    >>> frame = pd.DataFrame({"age": [5, 7, 9], "ill": ["yes", None, "no"]})
    >>> rows = training_rows(frame, plan_columns(frame, "ill"))
    >>> rows.X["age"].tolist(), rows.y.tolist(), rows.task
    ([5.0, 9.0], ['yes', 'no'], 'classes')
    """
    known = frame.loc[target_rows(frame, plan.target)]
    column = known[plan.target]
    target = target_of(ColumnTally.of(column, counts_numbers=True), task)
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
            values = _READERS[note.kind](column).values
            given[note.name] = dates(values) if note.kind == DATES else values
    return pd.DataFrame(given, index=frame.index)


def _read(column: Any, note: ColumnNote) -> Any:
    """Return a column as the kind that its note says; refuse the first other cell by row."""
    if note.kind == NAMES:
        return read_names(column)
    reading = _READERS[note.kind](column)
    if reading.bad.any():
        row = int(np.flatnonzero(reading.bad)[0])
        raise ValueError(
            f"column {note.name!r} must hold {_WORDS[note.kind]} as it did when the model was "
            f"made, got {brief(str(column.iloc[row]))!r} in row {row + 1}"
        )
    return dates(reading.values) if note.kind == DATES else reading.values
