"""Rows of a table as a model takes them, and which of them are held out as test rows."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_consistent_length, column_or_1d, has_fit_parameter

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm._wording import brief, did_you_mean, listed
from ecselm.costs.parse import numbers
from ecselm.estimators._base import class_codes
from ecselm.estimators._prior_test import FewCasesWarning
from ecselm.fitness import holdout
from ecselm.fitness.folds import Groups, read_groups
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


@dataclass(frozen=True, slots=True)
class Dealt:
    """Positions of the rows on both sides, and what is to be told of them."""

    train: IntArray
    held_out: IntArray
    notes: tuple[str, ...] = ()


def hold_out(
    X: Any,
    codes: IntArray,
    names: AnyArray,
    *,
    share: float,
    rng: np.random.Generator,
    groups: Any = None,
) -> Dealt:
    """Hold out a share of the rows of every class.

    Rows that are equal, or of one group, stay together; a class that cannot give a row
    without losing its last one stays with the training rows, which a note tells.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    codes : array of shape (N,)
        Positions in ``names``; all 0 where numbers are predicted.
    names : array of shape (k,)
        The classes.
    share : float
        Between 0 and 1.
    rng : numpy.random.Generator
    groups : array of shape (N,), default=None
        Labels of what rows belong to, such as patients.

    Examples
    --------
    >>> X, codes = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1], [8, 1])
    >>> dealt = hold_out(X, codes, np.array(["well", "ill"]), share=0.25,
    ...                  rng=np.random.default_rng(0))
    >>> len(dealt.train), len(dealt.held_out), dealt.notes
    (7, 2, ('No row of ill was held out: every class keeps rows to train on.',))
    """
    if not 0 < share < 1:
        raise ValueError(f"held_out must lie between 0 and 1, got {share}")
    together = read_groups(groups, len(codes), None)
    inputs = X if sparse.issparse(X) else np.asarray(X)
    (split,) = holdout(inputs, codes, share, rng, None if together is None else together.codes)
    held = np.zeros(len(codes), dtype=bool)
    held[split.test] = True
    held &= ~_last_of_class(held, codes, together)
    if not held.any():
        raise ValueError(
            f"held_out must leave rows to judge by, got {share} of {len(codes)} rows whose "
            "classes or groups cannot be parted"
        )
    notes = _notes(codes[held], names) if len(names) > 1 else ()
    return Dealt(np.flatnonzero(~held), np.flatnonzero(held), notes)


def _last_of_class(held: BoolArray, codes: IntArray, groups: Groups | None) -> BoolArray:
    """Return the rows held out whose class would have none to train on, with their groups.

    That can happen only to classes that share all their groups with rarer ones.
    """
    missing = np.setdiff1d(codes[held], codes[~held])
    rows = held & np.isin(codes, missing)
    return rows if groups is None else np.isin(groups.codes, groups.codes[rows])


def _notes(held: IntArray, names: AnyArray) -> tuple[str, ...]:
    without = [str(names.tolist()[c]) for c in np.setdiff1d(np.arange(len(names)), held)]
    if not without:
        return ()
    return (f"No row of {listed(without)} was held out: every class keeps rows to train on.",)


@dataclass(frozen=True, slots=True)
class TargetedRows:
    """Rows with their targets, and the classes of these at positions ``codes``."""

    X: Any
    y: AnyArray
    codes: IntArray  # (N,), all 0 where numbers are predicted
    classes: AnyArray  # (k,), none where numbers are predicted
    groups: Any = None  # (N,) labels of what rows belong to

    def taken(self, positions: IntArray) -> TargetedRows:
        """Return some of the rows."""
        return replace(
            self,
            X=safe_indexing(self.X, positions),
            y=self.y[positions],
            codes=self.codes[positions],
            groups=None if self.groups is None else safe_indexing(self.groups, positions),
        )

    @property
    def counts(self) -> list[int]:
        """Return how many rows each class has."""
        k = len(self.classes)
        return np.bincount(self.codes, minlength=k).tolist() if k else []


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted pipeline, the training rows as its last step saw them, and how it went."""

    pipeline: Pipeline
    inputs: Any
    seconds: float
    interrupted: bool

    def inputs_of(self, X: Any) -> Any:
        """Return other rows as the last step sees them."""
        for _, step in self.pipeline.steps[:-1]:
            X = step.transform(X)
        return X


def read_rows(X: Any, y: Any, task: Task, groups: Any = None) -> TargetedRows:
    """Return rows fit for a task, or refuse them.

    Examples
    --------
    >>> read_rows([[1.0], [2.0], [3.0]], ["well", "ill", "well"], "classes").counts
    [1, 2]
    """
    y = column_or_1d(np.asarray(y))
    check_consistent_length(X, y, groups)
    if task == "numbers":
        one_level = np.zeros(len(y), dtype=np.intp)
        return TargetedRows(X, numbers(y, "y"), one_level, np.array([]), groups)
    classes, codes = class_codes(y)
    return TargetedRows(X, classes[codes], codes, classes, groups)


def prepared(model: Any, task: Task, seed: int, callbacks: Any = None) -> Any:
    """Return a copy that has a seed, and tells those who want to know how the search goes.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> prepared(ELMClassifier(), "classes", 3)
    ELMClassifier(random_state=3)
    """
    if not (is_classifier(model) if task == "classes" else is_regressor(model)):
        kind = "classifier" if task == "classes" else "regressor"
        raise ValueError(f"model must be a {kind} to predict {task}, got {model!r}")
    model = clone(model)
    parameters = model.get_params(deep=False)
    if "random_state" in parameters and parameters["random_state"] is None:
        model.set_params(random_state=seed)
    if callbacks is not None and "callbacks" in parameters:
        model.set_params(callbacks=callbacks)
    return model


def fit_steps(
    train: TargetedRows, steps: Sequence[Any], model: Any, sample_weight: Any = None
) -> Fit:
    """Fit copies of the steps one after the other, and the model itself at their end.

    Weights are the model's alone. It does not keep its callbacks: they have been told, and
    cannot be stored.
    """
    done, inputs = [], train.X
    for step in steps:
        done.append(clone(step))
        inputs = done[-1].fit_transform(inputs, train.y)
    takes_groups = train.groups is not None and has_fit_parameter(model, "groups")
    given = {"groups": train.groups} if takes_groups else {}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    start = time.monotonic()
    with warnings.catch_warnings():  # the card tells of both
        warnings.simplefilter("ignore", FewCasesWarning)
        warnings.filterwarnings("ignore", "the search was interrupted", ConvergenceWarning)
        model.fit(inputs, train.y, **given)
    seconds = time.monotonic() - start
    if "callbacks" in model.get_params(deep=False):
        model.set_params(callbacks=None)
    reason = getattr(getattr(model, "_history_", None), "reason", "")
    return Fit(make_pipeline(*done, model), inputs, seconds, reason == "interrupted")


def settings_of(model: Any) -> dict[str, str]:
    """Return the name of a model and its parameters that are not as by default, as text.

    Examples
    --------
    >>> from ecselm import ELMClassifier
    >>> settings_of(ELMClassifier(50, activation="tanh"))
    {'model': 'ELMClassifier', 'activation': "'tanh'", 'n_hidden': '50'}
    """
    defaults = inspect.signature(type(model).__init__).parameters
    given = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    changed = {
        name: text for name, text in sorted(given.items()) if text != repr(defaults[name].default)
    }
    return {"model": type(model).__name__, **changed}
