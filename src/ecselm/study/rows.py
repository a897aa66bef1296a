"""Rows of a table as a model takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import brief, did_you_mean
from ecselm.study.card import Task
from ecselm.tables.cells import Reading, dates, read_days, read_names, read_numbers, read_yes_no
from ecselm.tables.schema import (
    DATES,
    NAMES,
    NUMBERS,
    USED,
    YES_OR_NO,
    ColumnNote,
    ColumnPlan,
    target_rows,
)

MOST_LEVELS = 20  # distinct numbers with a fraction that may still be classes
MOST_CODES = 50  # distinct whole numbers that may still be classes
READERS = {NUMBERS: read_numbers, YES_OR_NO: read_yes_no, DATES: read_days}
WORDS = {NUMBERS: "numbers", YES_OR_NO: "yes or no", DATES: "ISO dates such as 2024-05-01"}


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
        What is predicted; None finds out, see :func:`task_of`.

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
    task = task_of(column, task)
    y = read_numbers(column).values if task == "numbers" else _labels(column)
    return TrainingRows(new_rows(known, plan.columns), y, task)


def new_rows(frame: Any, columns: Iterable[ColumnNote], *, absent: float | None = None) -> Any:
    """Return the input columns by name, each as the kind it had when the model was made.

    Parameters
    ----------
    frame : DataFrame
        Its columns may stand in any order, and others among them.
    columns : iterable of ColumnNote
        Those of a :class:`ColumnPlan` or of a :class:`Card`; what was left out is not needed.
    absent : float or None, default=None
        What a column of numbers holds that is not there, as in :class:`Table`; None refuses.

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
    """Tell whether a target holds classes or numbers.

    Numbers are told from classes by how many there are: more than 20 distinct ones with
    fractions, more than 50 whole ones, or more distinct ones than half of the rows. Words
    are classes.

    Parameters
    ----------
    y : array or Series of shape (N,)
    task : {"classes", "numbers"} or None, default=None
        What the person has said, which is refused only if it cannot be.

    Examples
    --------
    >>> task_of(["ill", "well", "ill"]), task_of([0.5, 1.25, 7.5, 2.0])
    ('classes', 'numbers')
    """
    if task not in {None, "classes", "numbers"}:
        raise ValueError(f"task must be 'classes' or 'numbers', got {task!r}")
    column = pd.Series(y)
    numbers = read_numbers(column)
    words = set(read_names(column).tolist()) - {""}
    if task is None and len(words) < 2:
        raise ValueError(f"the target must have at least two values, got {len(words)}")
    if task == "numbers" and not numbers.is_clean:
        stranger = brief(str(column.iloc[int(np.flatnonzero(numbers.bad)[0])]))
        raise ValueError(f"task must be 'classes' where the target holds words, got {stranger!r}")
    if task is not None:
        return task
    return "numbers" if numbers.is_clean and _are_many(numbers.values) else "classes"


def _are_many(values: FloatArray) -> bool:
    known = values[~np.isnan(values)]
    n_values = len(np.unique(known))
    most = MOST_CODES if (known == np.round(known)).all() else MOST_LEVELS
    return n_values > most or (n_values > 2 and n_values > len(known) / 2)


def _labels(column: Any) -> AnyArray:
    """Return classes as whole numbers where they are, else as texts."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=np.float64)
        if (values == np.round(values)).all():
            return values.astype(np.int64)
    return read_names(column).astype(str)


def _read(column: Any, note: ColumnNote) -> Any:
    """Return a column as the kind it is to have, or refuse its first stranger by row."""
    if note.kind == NAMES:
        return read_names(column)
    reading: Reading = READERS[note.kind](column)
    if reading.bad.any():
        row = int(np.flatnonzero(reading.bad)[0])
        raise ValueError(
            f"column {note.name!r} must hold {WORDS[note.kind]} as it did when the model was "
            f"made, got {brief(str(column.iloc[row]))!r} in row {row + 1}"
        )
    return dates(reading.values) if note.kind == DATES else reading.values
