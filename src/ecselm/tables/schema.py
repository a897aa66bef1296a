"""The type of every column and how it is encoded, decided by its values.

A table in memory is one block of rows; one that does not fit in memory comes in several. Both
go through :class:`ColumnTally`, which holds of many blocks no more than the rules need.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.util import hash_array
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ecselm._typing import AnyArray
from ecselm._wording import brief, did_you_mean, quoted
from ecselm.tables.cells import (
    NO,
    PLAIN,
    YES,
    DayNumbers,
    Reading,
    read_days,
    read_names,
    read_numbers,
    read_styled,
    read_yes_no,
)

NUMBERS, YES_OR_NO, DATES, NAMES = "numbers", "yes or no", "dates", "names"
USED = (NUMBERS, YES_OR_NO, DATES, NAMES)  # kinds of columns that a model sees
EMPTY, CONSTANT, IDENTIFIER, TEXT = "empty", "constant", "identifier", "text"

Task = Literal["classes", "numbers"]  # what is predicted

MOST_NAMES = 100  # distinct ones, beyond which words are text
NEARLY_ALL = 0.9  # share of distinct values from which on they identify rows
FEW_ROWS = 20  # below which distinct values prove nothing
MOST_LEAST = 10  # rows that are enough for a name of any table
MOST_LEVELS = 20  # distinct numbers with a fraction that may still be classes
MOST_CODES = 50  # distinct whole numbers that may still be classes
KEPT = 8192  # of the smallest hashes, by which more values are counted to about one per cent
MOST_WORDS = 1000  # distinct ones that are counted in blocks

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
    """How the input columns of a table are encoded.

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
        steps = [
            ("numbers", _filled(), numbers),
            ("dates", make_pipeline(DayNumbers(), _filled()), self.names(DATES)),
            ("names", one_hot, self.names(NAMES)),
        ]
        return ColumnTransformer([step for step in steps if step[2]])


def plan_columns(frame: Any, target: str) -> ColumnPlan:
    """Decide how every column but the target is encoded.

    Parameters
    ----------
    frame : DataFrame
        Rows without a target do not count.
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
    planned = [ColumnTally.of(known[name]).planned(name) for name in names]
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
        The note of every column, and which of its names are encoded.
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


class DistinctCount:
    """Count distinct values, exactly up to ``most`` of them.

    Values are hashed evenly over an interval. Where the smallest hashes lie shows how many
    there are altogether, and does not depend on the order of the values.

    Parameters
    ----------
    most : int or None, default=KEPT
        The most hashes that are held; None holds all of them.

    Examples
    --------
    >>> count = DistinctCount()
    >>> count.add(np.array([1.0, 2.0, 2.0]))
    >>> count.add(np.array([2.0, 3.0]))
    >>> count.number
    3
    """

    def __init__(self, most: int | None = KEPT) -> None:
        self._most = most
        self._hashes: Any = np.empty(0, dtype=np.uint64)

    @property
    def number(self) -> int:
        """Return how many distinct values there were."""
        n = len(self._hashes)
        return n if n != self._most else round((n - 1) / (float(self._hashes[-1]) / 2.0**64))

    @property
    def tolerance(self) -> float:
        """Return the relative error that the number may well have."""
        n = len(self._hashes)
        return 0.0 if n != self._most else 5.0 / float(np.sqrt(n))

    def add(self, values: AnyArray) -> None:
        """Take more values (N,) into account."""
        if values.dtype.kind == "f":
            values = values + 0.0  # there are two zeros
        hashes = hash_array(values, categorize=False)
        if len(self._hashes) == self._most:
            hashes = hashes[hashes < self._hashes[-1]]
        self._hashes = np.unique(np.concatenate([self._hashes, hashes]))[: self._most]


class ValueTally:
    """Numbers, or days, of a column: whether all cells are such, and their range."""

    def __init__(self, most: int | None) -> None:
        self.is_possible = True
        self.n_known = 0
        self.is_whole = True
        self.distinct = DistinctCount(most)
        self._low, self._high = np.inf, -np.inf

    @property
    def is_clean(self) -> bool:
        """Tell whether there are values, and all of this kind."""
        return self.is_possible and self.n_known > 0

    def add(self, reading: Reading, times: AnyArray | None = None) -> None:
        """Take more cells into account, each of which may stand for several."""
        self.is_possible = self.is_possible and not reading.bad.any()
        if not self.is_possible:
            return
        known = ~np.isnan(reading.values)
        values = reading.values[known]
        self.n_known += len(values) if times is None else int(times[known].sum())
        self.distinct.add(values)
        if len(values):
            self.is_whole = self.is_whole and bool((values == np.round(values)).all())
            self._low = min(self._low, float(values.min()))
            self._high = max(self._high, float(values.max()))

    def identifies_rows(self, name: str) -> bool:
        """Tell whether whole numbers are distinct, and count the rows or are named as an id."""
        least = (1.0 - self.distinct.tolerance) * self.n_known
        if self.n_known < FEW_ROWS or self.distinct.number < least or not self.is_whole:
            return False
        return self._high - self._low == self.n_known - 1 or _ID.search(name) is not None


class ColumnTally:
    """What the rules need to know of a column.

    Parameters
    ----------
    counts_numbers : bool, default=False
        Whether distinct values of a column of numbers are counted, too.
    is_bounded : bool, default=True
        Whether memory is bounded, and cells of one block must not decide on those of another.
        Otherwise a block is the whole column.

    Examples
    --------
    >>> tally = ColumnTally()
    >>> tally.add(pd.Series(["f", "m"]))
    >>> tally.add(pd.Series(["f", None, "m"]))
    >>> note, names = tally.planned("sex")
    >>> note.kind, note.n_missing, names
    ('names', 1, ('f', 'm'))
    """

    def __init__(self, *, counts_numbers: bool = False, is_bounded: bool = True) -> None:
        most = KEPT if is_bounded else None
        self.n_rows = 0
        self.numbers, self.days = ValueTally(most), ValueTally(most)
        self.counts: Counter[str] = Counter()  # of words; of few if there are too many
        self.is_numeric = True
        self._counts_numbers, self._is_bounded = counts_numbers, is_bounded
        self._words = DistinctCount(most)
        self._overflows = False
        self._n_bad = 0
        self._no_numbers: dict[str, None] = {}  # words, in the order in which they came

    @classmethod
    def of(cls, column: Any, *, counts_numbers: bool = False) -> ColumnTally:
        """Return the tally of a whole column."""
        tally = cls(counts_numbers=counts_numbers, is_bounded=False)
        tally.add(column)
        return tally

    @property
    def has_all_words(self) -> bool:
        """Tell whether all distinct words were counted."""
        return not self._overflows

    @property
    def a_word(self) -> str:
        """Return a word that is no number, if there is one."""
        return next(iter(self._no_numbers), "")

    def add(self, column: Any) -> None:
        """Take the cells of one more block into account."""
        self.n_rows += len(column)
        is_bool = pd.api.types.is_bool_dtype(column)
        if pd.api.types.is_numeric_dtype(column) and not is_bool:
            self.numbers.add(read_numbers(column))
            if self._counts_numbers:
                self._count(column)
            return
        words, times = self._count(column)
        if not any(words):
            return
        self.is_numeric = False
        distinct = pd.Series(words, dtype=object)
        if pd.api.types.is_datetime64_any_dtype(column):
            self.days.add(read_days(column))
        else:
            self.days.add(read_days(distinct), times)
        # Blocks are read one by one later: only numbers that need no other block count.
        numbers = read_styled(words, PLAIN) if self._is_bounded else read_numbers(distinct)
        self.numbers.add(numbers, times)
        self._n_bad += int(times[numbers.bad].sum())
        if len(self._no_numbers) < MOST_WORDS:
            self._no_numbers |= dict.fromkeys(words[numbers.bad].tolist())

    def _count(self, column: Any) -> tuple[AnyArray, AnyArray]:
        """Count the words of a block; return those that are distinct, and how often each is."""
        codes, cells = pd.factorize(column, use_na_sentinel=False)
        words = read_names(pd.Series(cells))
        times = np.bincount(codes, minlength=len(words))
        self._words.add(words[words != ""])
        for word, number in zip(words.tolist(), times.tolist(), strict=True):
            if word == "" or not self._overflows:
                self.counts[word] += number
        if self._is_bounded and len(self.counts) > MOST_WORDS:
            self._overflows, self.counts = True, Counter({"": self.counts[""]})
        return words, times

    def planned(self, name: str) -> tuple[ColumnNote, tuple[str, ...]]:
        """Return the note of the column, and which of its names are encoded."""
        if self.is_numeric:
            return self._of_values(name, NUMBERS, self.numbers, ""), ()
        if self.has_all_words and _is_yes_no(self.counts):
            return self._of_yes_no(name), ()
        if self.numbers.is_clean:
            return self._of_values(name, NUMBERS, self.numbers, "written as text"), ()
        if self.days.is_clean:
            return self._of_values(name, DATES, self.days, "days since 1970"), ()
        no_numbers = list(self._no_numbers)
        return _note_of_names(
            name, self.counts, self.n_rows, self._words.number, self._n_bad, no_numbers
        )

    def _of_yes_no(self, name: str) -> ColumnNote:
        known = read_yes_no(pd.Series(list(self.counts), dtype=object)).values
        n_values = len(np.unique(known[~np.isnan(known)]))
        read_as = "yes is 1, no is 0"
        return _note_of_values(
            name, YES_OR_NO, self.counts[""], n_values, is_id=False, read_as=read_as
        )

    def _of_values(self, name: str, kind: str, tally: ValueTally, read_as: str) -> ColumnNote:
        is_id = kind == NUMBERS and tally.identifies_rows(name)
        n_missing, n_values = self.n_rows - tally.n_known, tally.distinct.number
        return _note_of_values(name, kind, n_missing, n_values, is_id=is_id, read_as=read_as)


def _is_yes_no(words: Iterable[str]) -> bool:
    """Tell whether words are yes and no, with both among them."""
    words = {word.casefold() for word in words if word} - {"0", "1"}
    return bool(words & YES and words & NO and words <= YES | NO)


def _note_of_values(
    name: str, kind: str, n_missing: int, n_values: int, *, is_id: bool, read_as: str = ""
) -> ColumnNote:
    """Return the note of a column of values, which may identify rows."""
    if n_values == 0:
        return ColumnNote(name, EMPTY, n_missing, 0, "left out: nothing in it")
    if n_values == 1 and not n_missing:
        return ColumnNote(name, CONSTANT, 0, 1, "left out: the same in all rows")
    if is_id:
        return ColumnNote(name, IDENTIFIER, n_missing, n_values, "left out: numbers of rows")
    treated = [read_as] * bool(read_as) + [MEDIAN] * bool(n_missing)
    return ColumnNote(name, kind, n_missing, n_values, "; ".join(treated) or "as it is")


def _note_of_names(
    name: str,
    counts: Counter[str],
    n_rows: int,
    n_values: int,
    n_bad: int,
    no_numbers: Sequence[str],
) -> tuple[ColumnNote, tuple[str, ...]]:
    """Return the note of a column of words, and which of them are encoded.

    Parameters
    ----------
    name : str
    counts : Counter
        How often every word occurs; none where there are too many to be names.
    n_rows, n_values : int
        Rows, and distinct words.
    n_bad : int
        Rows whose word is no number.
    no_numbers : sequence of str
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
        kind, treated = TEXT, f"left out: numbers but for {quoted(list(no_numbers), 3)}"
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


def _filled() -> SimpleImputer:
    # Marks are made for columns with gaps in the rows it is fitted to, and for no others. A
    # column that is all gaps in a fold must not change the number of columns.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted."""

    task: Task
    n_values: int  # distinct ones
    classes: AnyArray  # (k,) in sorted order, none where numbers are predicted
    counts: dict[Any, int]  # rows of every class

    def values(self, column: Any) -> AnyArray:
        """Return the targets (N,) of rows that have one."""
        if self.task == "numbers":
            return read_numbers(column).values
        if self.classes.dtype.kind == "i":
            return np.asarray(column.to_numpy(dtype=np.float64).astype(np.int64))
        return read_names(column).astype(str)


def target_of(tally: ColumnTally, task: Task | None) -> Target:
    """Return what is predicted, by the rules of :func:`ecselm.study.task_of`.

    Parameters
    ----------
    tally : ColumnTally
        Of the rows that have a target, with numbers counted.
    task : {"classes", "numbers"} or None
        What is predicted; None decides by the values.

    Examples
    --------
    >>> import pandas as pd
    >>> tally = ColumnTally(counts_numbers=True)
    >>> tally.add(pd.Series([0, 1, 1]))
    >>> target = target_of(tally, None)
    >>> target.task, target.counts
    ('classes', {0: 1, 1: 2})
    """
    if task not in {None, "classes", "numbers"}:
        raise ValueError(f"task must be 'classes' or 'numbers', got {task!r}")
    words = [word for word in tally.counts if word]
    if task is None and tally.has_all_words and len(words) < 2:
        raise ValueError(f"the target must have at least two values, got {len(words)}")
    numbers = tally.numbers
    if task == "numbers" and not numbers.is_clean:
        word = brief(tally.a_word)
        raise ValueError(f"task must be 'classes' where the target holds words, got {word!r}")
    n_values = numbers.distinct.number
    if task is None:
        most = MOST_CODES if numbers.is_whole else MOST_LEVELS
        many = n_values > most or (n_values > 2 and n_values > numbers.n_known / 2)
        task = "numbers" if numbers.is_clean and many else "classes"
    if task == "numbers":
        return Target("numbers", n_values, np.array([]), {})
    if not tally.has_all_words:
        raise ValueError(f"the target must have at most {MOST_WORDS} classes to be read in blocks")
    is_whole = tally.is_numeric and numbers.is_whole
    counts = {int(word) if is_whole else word: tally.counts[word] for word in words}
    return Target("classes", len(counts), np.array(sorted(counts)), counts)


class TableTally:
    """Tallies of all columns of a table that comes in blocks.

    Parameters
    ----------
    names : iterable of str
        Of all columns.
    target : str
        The column to be predicted; rows without it do not count.
    groups : str or None, default=None
        A column that is no input.

    Examples
    --------
    >>> tally = TableTally(["age", "ill"], "ill")
    >>> known = tally.add(pd.DataFrame({"age": [5, 7, 9], "ill": ["yes", None, "no"]}))
    >>> len(known), tally.plan().notes
    (2, ('1 of 3 rows have no ill and are left out.',))
    >>> tally.target().counts
    {'yes': 1, 'no': 1}
    """

    def __init__(self, names: Iterable[str], target: str, groups: str | None = None) -> None:
        names = list(names)
        for option, name in (("target", target), ("groups", groups)):
            if name is not None and name not in names:
                raise ValueError(
                    f"{option} must be a column of the table, got {name!r}"
                    f"{did_you_mean(name, names)}"
                )
        if groups == target:
            raise ValueError(f"groups must not be the target, got {groups!r}")
        self._name = target
        self._n_rows = 0
        self._inputs = {name: ColumnTally() for name in names if name not in {target, groups}}
        self._target = ColumnTally(counts_numbers=True)

    def add(self, frame: Any) -> Any:
        """Take one more block into account and return its rows that have a target."""
        known = frame.loc[read_names(frame[self._name]) != ""].reset_index(drop=True)
        self._n_rows += len(frame)
        self._target.add(known[self._name])
        for name, tally in self._inputs.items():
            tally.add(known[name])
        return known

    def notes(self) -> list[ColumnNote]:
        """Return the notes of all inputs."""
        return [tally.planned(name)[0] for name, tally in self._inputs.items()]

    def plan(self) -> ColumnPlan:
        """Return how the inputs are encoded."""
        if not self._target.n_rows:
            raise ValueError(f"target must hold something, the column {self._name!r} is empty")
        planned = [tally.planned(name) for name, tally in self._inputs.items()]
        return column_plan(self._name, planned, self._n_rows - self._target.n_rows, self._n_rows)

    def target(self, task: Task | None = None) -> Target:
        """Return what is predicted; ``task`` is None if the values are to decide."""
        return target_of(self._target, task)

    def likely_task(self, task: Task | None = None) -> Task:
        """Return the task as far as it is known, also where there is not yet a second class."""
        try:
            return self.target(task).task
        except ValueError:
            return task or "classes"
