"""The type of every column and how it is encoded, decided by its values.

A table in memory is one block of rows; one that does not fit in memory comes in several. Both
go through :class:`ColumnTally`, which holds of many blocks no more than the rules need.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.util import hash_array
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ecselm._typing import AnyArray
from ecselm._wording import brief, did_you_mean, listed, quoted
from ecselm.tables.cells import (
    DATE_ORDERS,
    DAY_FIRST,
    INFINITE,
    ISO,
    MONTH_FIRST,
    NO,
    PLAIN,
    TIME,
    UNKNOWN,
    YES,
    DayNumbers,
    Reading,
    blanked,
    finite,
    is_number_column,
    read_days,
    read_hours,
    read_names,
    read_numbers,
    read_styled,
    read_yes_no,
    unit_of,
)

NUMBERS, YES_OR_NO, DATES, NAMES = "numbers", "yes or no", "dates", "names"
USED = (NUMBERS, YES_OR_NO, DATES, NAMES)  # kinds of columns that a model sees
EMPTY, CONSTANT, IDENTIFIER, TEXT = "empty", "constant", "identifier", "text"
DROPPED, KEPT_ASIDE = "dropped", "kept"  # by request

Task = Literal["classes", "numbers"]  # what is predicted
LabelCase = Literal["merge", "keep"]  # what becomes of labels that differ by case only

MOST_NAMES = 100  # distinct ones, beyond which words are text
NEARLY_ALL = 0.9  # share of distinct values from which on they identify rows
FEW_ROWS = 20  # below which distinct values prove nothing
MOST_LEAST = 10  # rows that are enough for a name of any table
MOST_LEVELS = 20  # distinct numbers with a fraction that may still be classes
MOST_CODES = 50  # distinct whole numbers that may still be classes
KEPT = 8192  # of the smallest hashes, by which more values are counted to about one per cent
MOST_WORDS = 1000  # distinct ones that are counted in blocks

MOST_TOKENS = 5  # distinct words among numbers or dates that may mean a missing value
MOST_SHOWN = 5  # rows that a message names
PROBED = 32  # words by which most columns are seen to hold no dates

_ID = re.compile(r"(^|[^a-z])(id|nr|no|index|key|number)$", re.IGNORECASE)
# Names of keys proper, whose values may repeat. A price index or a house number is none.
_KEY = re.compile(
    r"(^|[^A-Za-z])([Ii][Dd]|[Uu]?[Uu][Ii][Dd]|(?i:guid|identifier|key))$|[a-z]I[dD]$"
)
_COST = re.compile(r"(^|[^a-z])(costs?|kosten|penalt(y|ies))($|[^a-z])", re.IGNORECASE)
MEDIAN = "missing values: median, and a column that marks them"


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """An input column, and what was done with it."""

    name: str
    kind: str  # "numbers", "names", "yes or no", "dates", ...
    n_missing: int
    n_values: int  # distinct ones
    treatment: str  # a few words, such as "missing values: median; one-hot encoded"
    format: str = ""  # order of dates other than ISO, "time of day", or the currency of numbers
    missing: tuple[str, ...] = ()  # words that stand for a missing value in this column
    spellings: tuple[str, ...] = ()  # of names whose case is ignored, where some differed by it


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What a person states about columns.

    Parameters
    ----------
    drop : tuple of str, default=()
        Columns that are no inputs.
    keep : tuple of str, default=()
        Columns that are no inputs and are written beside predictions.
    missing : tuple of str, default=()
        Words that stand for a missing value in any column, in upper or lower case.
    day_first : bool, default=False
        Whether 05/03/2024 is the fifth of March, in columns whose dates do not show it.
    """

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    day_first: bool = False

    def check(self, names: Sequence[str], target: str | None = None) -> None:
        """Raise ValueError for columns that are not there, or are the target."""
        for option, chosen in (("--drop", self.drop), ("--keep", self.keep)):
            for name in chosen:
                if name not in names:
                    raise ValueError(
                        f"{option} must name columns of the table, got {name!r}"
                        f"{did_you_mean(name, names)}"
                    )
                if name == target:
                    raise ValueError(f"{option} must not name the target, got {name!r}")
        both = [name for name in self.keep if name in self.drop]
        if both:
            raise ValueError(f"--keep must not name what --drop does, got {quoted(both)}")


NO_COLUMN_OPTIONS = ColumnOptions()


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


@dataclass(frozen=True, slots=True)
class PlannedColumn:
    """A column, which of its names are encoded, and what a person should know, if anything."""

    note: ColumnNote
    names: tuple[str, ...] = ()
    remark: str = ""


def plan_columns(frame: Any, target: str, options: ColumnOptions = NO_COLUMN_OPTIONS) -> ColumnPlan:
    """Decide how every column but the target is encoded.

    Parameters
    ----------
    frame : DataFrame
        Rows without a target do not count.
    target : str
        The column to be predicted.
    options : ColumnOptions, default=ColumnOptions()

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
    options.check(frame.columns.tolist(), target)
    known = frame.loc[rows]
    names = [name for name in frame.columns if name != target]
    planned = [ColumnTally.of(known[name], options=options).planned(name) for name in names]
    return column_plan(target, planned, int((~rows).sum()), len(rows))


def column_plan(
    target: str | None, planned: Sequence[PlannedColumn], n_without: int = 0, n_rows: int = 0
) -> ColumnPlan:
    """Return the plan of all columns, unless no input is left.

    Parameters
    ----------
    target : str or None
    planned : sequence of PlannedColumn
    n_without, n_rows : int
        Rows without a target, and all rows.
    """
    columns = tuple(one.note for one in planned)
    if not any(note.kind in USED for note in columns):
        reasons = [f"{note.name} ({note.treatment})" for note in columns]
        aim = "can be encoded" if target is None else f"{target!r} can be predicted from"
        raise ValueError(
            f"the table must have a column that {aim}, got {quoted(reasons) or 'none'}"
        )
    notes = [f"{n_without} of {n_rows} rows have no {target} and are left out."] * bool(n_without)
    notes += [one.remark for one in planned if one.remark]
    categories = tuple(one.names for one in planned if one.note.kind == NAMES)
    return ColumnPlan(target or "", columns, categories, (*notes, *_name_remarks(columns)))


def _name_remarks(columns: Sequence[ColumnNote]) -> Iterable[str]:
    """Yield what the names of inputs suggest: keys of rows, and costs of mistakes."""
    used = [note.name for note in columns if note.kind in USED]
    keys = [name for name in used if _KEY.search(name)]
    if keys:
        yield (
            f"Named as identifiers, but inputs: {quoted(keys)}. --drop leaves a column out, and "
            "--groups keeps the rows of each value together."
        )
    costs = [name for name in used if _COST.search(name)]
    if costs:
        yield (
            f"Named as costs, but inputs: {quoted(costs)}. --cost-column takes a column for what "
            "mistakes cost, and --drop leaves it out."
        )


def rows_with_target(frame: Any, target: str, missing: Iterable[str]) -> Any:
    """Return the rows of a block that have a target, of which some words say that it is missing."""
    column = blanked(frame[target], missing)
    return frame.assign(**{target: column}).loc[read_names(column) != ""].reset_index(drop=True)


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
    """Numbers, or days, of a column: their range, and the words that are none of them."""

    def __init__(self, most: int | None) -> None:
        self.n_known = 0
        self.n_other = 0  # cells of another kind
        self.others: Counter[str] = Counter()  # their words; some if there are many
        self.is_whole = True
        self.distinct = DistinctCount(most)
        self.low, self.high = np.inf, -np.inf

    @property
    def is_clean(self) -> bool:
        """Tell whether there are values, and all of this kind."""
        return not self.n_other and self.n_known > 0

    def tokens(self) -> dict[str, int]:
        """Return the words that stand for missing values, with their numbers; none if unsure.

        They are few, have no digits, and are rare or known to mean this.
        """
        if not (0 < len(self.others) <= MOST_TOKENS) or self.n_other != self.others.total():
            return {}
        if any(letter.isdigit() for word in self.others for letter in word):
            return {}
        is_known = all(word.casefold() in UNKNOWN | INFINITE for word in self.others)
        most = self.n_known if is_known else (1 - NEARLY_ALL) * (self.n_known + self.n_other)
        return dict(self.others) if self.n_other < most else {}

    def add(self, reading: Reading, words: AnyArray, times: AnyArray | None = None) -> None:
        """Take more cells (N,) and their words into account; each may stand for several."""
        known = ~np.isnan(reading.values)
        values = reading.values[known]
        self.n_known += len(values) if times is None else int(times[known].sum())
        if reading.bad.any():
            bad = words[reading.bad].tolist()
            n_bad = [1] * len(bad) if times is None else times[reading.bad].tolist()
            self.n_other += sum(n_bad)
            if len(self.others) < MOST_WORDS:
                for word, n in zip(bad, n_bad, strict=True):
                    self.others[word] += n
        if len(values):
            self.distinct.add(values)
            self.is_whole = self.is_whole and bool((values == np.round(values)).all())
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))

    def identifies_rows(self, name: str) -> bool:
        """Tell whether whole numbers are distinct, and count the rows or are named as an id."""
        least = (1.0 - self.distinct.tolerance) * self.n_known
        if self.n_known < FEW_ROWS or self.distinct.number < least or not self.is_whole:
            return False
        return self.high - self.low == self.n_known - 1 or _ID.search(name) is not None

    def is_key(self, name: str) -> bool:
        """Tell whether whole numbers are named as a key, and are many though they repeat."""
        n_values = self.distinct.number
        many = n_values > MOST_NAMES or n_values > self.n_known / 2
        return self.n_known >= FEW_ROWS and self.is_whole and many and bool(_KEY.search(name))


class ColumnTally:
    """What the rules need to know of a column.

    Parameters
    ----------
    counts_numbers : bool, default=False
        Whether distinct values of a column of numbers are counted, too.
    is_bounded : bool, default=True
        Whether memory is bounded, and cells of one block must not decide on those of another.
        Otherwise a block is the whole column.
    options : ColumnOptions, default=ColumnOptions()

    Examples
    --------
    >>> tally = ColumnTally()
    >>> tally.add(pd.Series(["f", "m"]))
    >>> tally.add(pd.Series(["f", None, "m"]))
    >>> planned = tally.planned("sex")
    >>> planned.note.kind, planned.note.n_missing, planned.names
    ('names', 1, ('f', 'm'))
    """

    def __init__(
        self,
        *,
        counts_numbers: bool = False,
        is_bounded: bool = True,
        options: ColumnOptions = NO_COLUMN_OPTIONS,
    ) -> None:
        most = KEPT if is_bounded else None
        self.n_rows = 0
        self.numbers, self.hours = ValueTally(most), ValueTally(most)
        self.days = {order: ValueTally(most) for order in DATE_ORDERS}
        self.counts: Counter[str] = Counter()  # of words; of few if there are too many
        self.is_numeric = True
        self._counts_numbers, self._is_bounded = counts_numbers, is_bounded
        self._options = options
        self._words = DistinctCount(most)
        self._overflows = False
        self._unit = ""

    @classmethod
    def of(
        cls,
        column: Any,
        *,
        counts_numbers: bool = False,
        options: ColumnOptions = NO_COLUMN_OPTIONS,
    ) -> ColumnTally:
        """Return the tally of a whole column."""
        tally = cls(counts_numbers=counts_numbers, is_bounded=False, options=options)
        tally.add(column)
        return tally

    @property
    def has_all_words(self) -> bool:
        """Tell whether all distinct words were counted."""
        return not self._overflows

    @property
    def a_word(self) -> str:
        """Return a word that is no number, if there is one."""
        return next(iter(self.numbers.others), "")

    def add(self, column: Any) -> None:
        """Take the cells of one more block into account."""
        column = blanked(column, self._options.missing)
        self.n_rows += len(column)
        if is_number_column(column):
            reading = read_numbers(column)
            words = np.where(column.to_numpy(dtype=np.float64, na_value=np.nan) > 0, "inf", "-inf")
            self.numbers.add(reading, words)
            if self._counts_numbers:
                self._count(column)
            return
        words, times = self._count(column)
        if not any(words):
            return
        self.is_numeric = False
        distinct = pd.Series(words, dtype=object)
        if pd.api.types.is_datetime64_any_dtype(column):
            self.days[ISO].add(read_days(column), np.empty(len(column), dtype=object))
            self.numbers.n_other += len(column)
            return
        # Blocks are read one by one later: only numbers that need no other block count.
        plain = self._is_bounded
        numbers = finite(read_styled(words, PLAIN)) if plain else read_numbers(distinct)
        self.numbers.add(numbers, words, times)
        self._unit = "" if plain else unit_of(distinct)
        probe = np.flatnonzero(words != "")[:PROBED]
        readers: list[tuple[ValueTally, Callable[[Any], Reading]]] = [
            (self.days[order], partial(read_days, order=order)) for order in DATE_ORDERS
        ]
        for tally, read in [*readers, (self.hours, read_hours)]:
            if len(tally.others) > MOST_TOKENS:
                continue
            first = read(distinct.iloc[probe])
            if first.bad.sum() > MOST_TOKENS:  # so many words that are no dates: enough to know
                tally.add(first, words[probe], times[probe])
            else:
                tally.add(read(distinct), words, times)

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

    def planned(self, name: str) -> PlannedColumn:
        """Return how the column is encoded."""
        if name in {*self._options.drop, *self._options.keep}:
            return PlannedColumn(self._on_request(name))
        if self.is_numeric:
            return PlannedColumn(self._of_values(name, NUMBERS, self.numbers, ""))
        if self.has_all_words and _is_yes_no(self.counts):
            return PlannedColumn(self._of_yes_no(name))
        # Values with a few words among them come after values alone, of any kind.
        rules: tuple[Callable[[ValueTally], bool], ...] = (
            lambda tally: tally.is_clean,
            lambda tally: bool(tally.tokens()),
        )
        for is_found in rules:
            orders = [order for order, tally in self.days.items() if is_found(tally)]
            if is_found(self.numbers):
                written = "written as text" + f", in {self._unit}" * bool(self._unit)
                note = self._of_values(name, NUMBERS, self.numbers, written, self._unit)
                return PlannedColumn(note)
            if orders:
                return self._of_dates(name, orders)
            if is_found(self.hours):
                read_as = "times of day, in hours"
                return PlannedColumn(self._of_values(name, NUMBERS, self.hours, read_as, TIME))
        numbers = self.numbers
        note, names = _note_of_names(
            name, self.counts, self.n_rows, self._words.number, numbers.n_other, [*numbers.others]
        )
        return PlannedColumn(replace(note, missing=self._options.missing), names)

    def _on_request(self, name: str) -> ColumnNote:
        n_values = self.numbers.distinct.number if self.is_numeric else self._words.number
        n_missing = self.n_rows - self.numbers.n_known if self.is_numeric else self.counts[""]
        if name in self._options.keep:
            treated = "no input; written beside the predictions"
            return ColumnNote(name, KEPT_ASIDE, n_missing, n_values, treated)
        return ColumnNote(name, DROPPED, n_missing, n_values, "left out as requested")

    def _of_dates(self, name: str, orders: Sequence[str]) -> PlannedColumn:
        """Return a column of dates that are possible in some orders, of which one counts."""
        order, remark = orders[0], ""
        if order == DAY_FIRST and MONTH_FIRST in orders and not self._options.day_first:
            order = MONTH_FIRST
        if {DAY_FIRST, MONTH_FIRST} <= set(orders) and not self._options.day_first:
            # 01/01/2024 alone is the same day in both.
            ends = {(self.days[one].low, self.days[one].high) for one in (DAY_FIRST, MONTH_FIRST)}
            remark = (
                f"Dates in {name!r} are possible with the day first and with the month first; "
                "read with the month first, and --day-first reads them the other way."
            ) * (len(ends) > 1)
        read_as = "days since 1970" if order == ISO else f"{order}; days since 1970"
        return PlannedColumn(
            self._of_values(name, DATES, self.days[order], read_as, order), remark=remark
        )

    def _of_yes_no(self, name: str) -> ColumnNote:
        known = read_yes_no(pd.Series(list(self.counts), dtype=object)).values
        n_values = len(np.unique(known[~np.isnan(known)]))
        read_as = "yes is 1, no is 0"
        note = _note_of_values(
            name, YES_OR_NO, self.counts[""], n_values, left_out="", read_as=read_as
        )
        return replace(note, missing=self._options.missing)

    def _of_values(
        self, name: str, kind: str, tally: ValueTally, read_as: str, form: str = ""
    ) -> ColumnNote:
        left_out = ""
        if kind == NUMBERS and tally.identifies_rows(name):
            left_out = "numbers of rows"
        elif kind == NUMBERS and not form and tally.is_key(name):
            left_out = "named as an identifier; --groups keeps the rows of each together"
        tokens = tally.tokens()
        if tally.n_other and not tokens:
            left_out = f"numbers but for {quoted([*tally.others], 3)}"
        elif tokens:
            said = listed([f"{brief(word)!r} ({n})" for word, n in tokens.items()])
            read_as = "; ".join([read_as] * bool(read_as) + [f"{said} taken as missing"])
        n_missing, n_values = self.n_rows - tally.n_known, tally.distinct.number
        note = _note_of_values(name, kind, n_missing, n_values, left_out=left_out, read_as=read_as)
        missing = (*self._options.missing, *tokens)
        return replace(note, format=form, missing=missing)


def _is_yes_no(words: Iterable[str]) -> bool:
    """Tell whether words are yes and no, with both among them."""
    words = {word.casefold() for word in words if word} - {"0", "1"}
    return bool(words & YES and words & NO and words <= YES | NO)


def _note_of_values(
    name: str, kind: str, n_missing: int, n_values: int, *, left_out: str, read_as: str = ""
) -> ColumnNote:
    """Return the note of a column of values, and why it is left out, if it is."""
    if n_values == 0:
        return ColumnNote(name, EMPTY, n_missing, 0, "left out: nothing in it")
    if n_values == 1 and not n_missing:
        return ColumnNote(name, CONSTANT, 0, 1, "left out: the same in all rows")
    if left_out:
        kind = TEXT if left_out.startswith("numbers but") else IDENTIFIER
        return ColumnNote(name, kind, n_missing, n_values, f"left out: {left_out}")
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
    counts, merged = without_case(counts)
    n_values -= sum(map(len, merged)) - len(merged)
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
    if kind != NAMES or not merged:
        return ColumnNote(name, kind, n_missing, n_values, treated), frequent
    said = [f"{listed([repr(brief(one)) for one in group])} as one" for group in merged]
    treated = f"{treated}; case ignored: {listed(said, 3)}"
    return ColumnNote(name, kind, n_missing, n_values, treated, spellings=frequent), frequent


def without_case(counts: Counter[str]) -> tuple[Counter[str], list[list[str]]]:
    """Return counts of words whose case is ignored, and the words that became one."""
    groups: dict[str, list[str]] = {}
    for word in counts:
        groups.setdefault(word.casefold(), []).append(word)
    merged = [sorted(group) for group in groups.values() if len(group) > 1]
    if not merged:
        return counts, []
    found: Counter[str] = Counter()
    for group in groups.values():
        spelling = min(group, key=lambda word: (-counts[word], word))  # the most frequent one
        found[spelling] = sum(counts[word] for word in group)
    return found, merged


def respelled(words: AnyArray, spellings: Iterable[str]) -> AnyArray:
    """Return words (N,) in the spelling of those that differ by case only.

    Examples
    --------
    >>> respelled(np.array(["KÖLN", "Bonn"], object), ["Köln"]).tolist()
    ['Köln', 'Bonn']
    """
    known = {word.casefold(): word for word in spellings}
    codes, distinct = pd.factorize(words)
    return np.array([known.get(word.casefold(), word) for word in distinct], object)[codes]


def merged_labels(column: Any) -> Any:
    """Return a column of labels in which those that differ by case only are one.

    Each has its most frequent spelling.

    Examples
    --------
    >>> merged_labels(pd.Series(["Ill", "ill ", "well", "ill", None])).tolist()
    ['ill', 'ill', 'well', 'ill', '']
    """
    if is_number_column(column):
        return column
    words = read_names(column)
    counts, _ = without_case(Counter(words.tolist()))
    return pd.Series(respelled(words, counts), column.index, dtype=object, name=column.name)


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
