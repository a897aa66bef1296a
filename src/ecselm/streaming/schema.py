"""The type of every column of a table that comes in blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.util import hash_array

from ecselm._typing import AnyArray
from ecselm.study.card import Task
from ecselm.study.rows import MOST_CODES, MOST_LEVELS
from ecselm.tables.cells import (
    PLAIN,
    Reading,
    read_days,
    read_names,
    read_numbers,
    read_styled,
    read_yes_no,
)
from ecselm.tables.schema import (
    DATES,
    FEW_ROWS,
    NUMBERS,
    YES_OR_NO,
    ColumnNote,
    is_yes_no,
    note_of_names,
    note_of_values,
    says_identifier,
)

KEPT = 8192  # of the smallest hashes, by which more values are counted to about one per cent
MOST_WORDS = 1000  # distinct ones that are counted


class DistinctCount:
    """Counts distinct values, exactly up to ``KEPT`` of them.

    Values are hashed evenly over an interval. Where the smallest hashes lie tells how many
    there are altogether, and does not depend on the order of the values.

    Examples
    --------
    >>> count = DistinctCount()
    >>> count.add(np.array([1.0, 2.0, 2.0]))
    >>> count.add(np.array([2.0, 3.0]))
    >>> count.number
    3
    """

    def __init__(self) -> None:
        self._hashes: Any = np.empty(0, dtype=np.uint64)

    @property
    def number(self) -> int:
        """Return how many distinct values there were."""
        if len(self._hashes) < KEPT:
            return len(self._hashes)
        return round((KEPT - 1) / (float(self._hashes[-1]) / 2.0**64))

    @property
    def tolerance(self) -> float:
        """Return the relative error that the number may well have."""
        return 0.0 if len(self._hashes) < KEPT else 5.0 / np.sqrt(KEPT)

    def add(self, values: AnyArray) -> None:
        """Take more values (N,) into account."""
        if values.dtype.kind == "f":
            values = values + 0.0  # there are two zeros
        hashes = hash_array(values, categorize=False)
        if len(self._hashes) == KEPT:
            hashes = hashes[hashes < self._hashes[-1]]
        self._hashes = np.unique(np.concatenate([self._hashes, hashes]))[:KEPT]


class ValueTally:
    """Numbers, or days, of a column: whether all cells are such, and which there are."""

    def __init__(self) -> None:
        self.is_possible = True
        self.n_known = 0
        self.is_whole = True
        self.distinct = DistinctCount()
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

    def tells_rows_apart(self, name: str) -> bool:
        """Tell whether distinct whole numbers count the rows, or are said to identify them."""
        least = (1.0 - self.distinct.tolerance) * self.n_known
        if self.n_known < FEW_ROWS or self.distinct.number < least or not self.is_whole:
            return False
        return self._high - self._low == self.n_known - 1 or says_identifier(name)


class ColumnTally:
    """What the rules need to know of a column.

    Parameters
    ----------
    counts_numbers : bool, default=False
        Whether distinct values of a column of numbers are counted, too.

    Examples
    --------
    >>> tally = ColumnTally()
    >>> tally.add(pd.Series(["f", "m"]))
    >>> tally.add(pd.Series(["f", None, "m"]))
    >>> note, names = tally.planned("sex")
    >>> note.kind, note.n_missing, names
    ('names', 1, ('f', 'm'))
    """

    def __init__(self, *, counts_numbers: bool = False) -> None:
        self.n_rows = 0
        self.numbers, self.days = ValueTally(), ValueTally()
        self.counts: Counter[str] = Counter()  # of words; of few if there are too many
        self.is_numeric = True
        self._counts_numbers = counts_numbers
        self._words = DistinctCount()
        self._overflows = False
        self._n_bad = 0
        self._strangers: dict[str, None] = {}

    @property
    def n_missing(self) -> int:
        """Return how many cells hold nothing."""
        return self.n_rows - self.numbers.n_known if self.is_numeric else self.counts[""]

    @property
    def has_all_words(self) -> bool:
        """Tell whether all distinct words were counted."""
        return not self._overflows

    def add(self, column: Any) -> None:
        """Take the cells of one more block into account."""
        self.n_rows += len(column)
        is_bool = pd.api.types.is_bool_dtype(column)
        if pd.api.types.is_numeric_dtype(column) and not is_bool:
            self.numbers.add(read_numbers(column))
            if self._counts_numbers:
                self._count(column)
            return
        self.is_numeric = False
        words, times = self._count(column)
        if pd.api.types.is_datetime64_any_dtype(column):
            self.days.add(read_days(column))
        else:
            self.days.add(read_days(pd.Series(words, dtype=object)), times)
        # Blocks are read one by one later: only numbers that need no other block count.
        plain = read_styled(words, PLAIN)
        self.numbers.add(plain, times)
        self._n_bad += int(times[plain.bad].sum())
        if len(self._strangers) < MOST_WORDS:
            self._strangers |= dict.fromkeys(words[plain.bad].tolist())

    def _count(self, column: Any) -> tuple[AnyArray, AnyArray]:
        """Count the words of a block; return those that are distinct, and how often each is."""
        codes, cells = pd.factorize(column, use_na_sentinel=False)
        words = read_names(pd.Series(cells))
        times = np.bincount(codes, minlength=len(words))
        self._words.add(words[words != ""])
        for word, number in zip(words.tolist(), times.tolist(), strict=True):
            if word == "" or not self._overflows:
                self.counts[word] += number
        if len(self.counts) > MOST_WORDS:
            self._overflows, self.counts = True, Counter({"": self.counts[""]})
        return words, times

    def planned(self, name: str) -> tuple[ColumnNote, tuple[str, ...]]:
        """Return what becomes of the column, and which of its names are encoded."""
        if self.is_numeric:
            return self._of_values(name, NUMBERS, self.numbers, ""), ()
        if self.has_all_words and is_yes_no(self.counts):
            return self._of_yes_no(name), ()
        if self.numbers.is_clean:
            return self._of_values(name, NUMBERS, self.numbers, "written as text"), ()
        if self.days.is_clean:
            return self._of_values(name, DATES, self.days, "days since 1970"), ()
        n_values, strangers = self._words.number, list(self._strangers)
        return note_of_names(name, self.counts, self.n_rows, n_values, self._n_bad, strangers)

    def _of_yes_no(self, name: str) -> ColumnNote:
        known = read_yes_no(pd.Series(list(self.counts), dtype=object)).values
        n_values = len(np.unique(known[~np.isnan(known)]))
        read_as = "yes is 1, no is 0"
        return note_of_values(
            name, YES_OR_NO, self.n_missing, n_values, apart=False, read_as=read_as
        )

    def _of_values(self, name: str, kind: str, tally: ValueTally, read_as: str) -> ColumnNote:
        apart = kind == NUMBERS and tally.tells_rows_apart(name)
        n_missing, n_values = self.n_rows - tally.n_known, tally.distinct.number
        return note_of_values(name, kind, n_missing, n_values, apart=apart, read_as=read_as)


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted."""

    task: Task
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
    """Return what is predicted by a column, by the rules of :func:`ecselm.study.task_of`.

    Parameters
    ----------
    tally : ColumnTally
        Of the rows that have a target, with numbers counted.
    task : {"classes", "numbers"} or None
        What the person has said.

    Examples
    --------
    >>> import pandas as pd
    >>> tally = ColumnTally(counts_numbers=True)
    >>> tally.add(pd.Series([0, 1, 1]))
    >>> target = target_of(tally, None)
    >>> target.task, target.counts
    ('classes', {0: 1, 1: 2})
    """
    n_values = tally.numbers.distinct.number
    if tally.has_all_words and len(tally.counts) < 2:
        raise ValueError(f"the target must have at least two values, got {len(tally.counts)}")
    is_clean = tally.numbers.is_clean
    if task == "numbers" and not is_clean:
        raise ValueError("task must be 'classes' where the target holds words")
    if task is None:
        most = MOST_CODES if tally.numbers.is_whole else MOST_LEVELS
        many = n_values > most or (n_values > 2 and n_values > tally.n_rows / 2)
        task = "numbers" if is_clean and many else "classes"
    if task == "numbers":
        return Target("numbers", np.array([]), {})
    if not tally.has_all_words:
        raise ValueError(f"the target must have at most {MOST_WORDS} classes to be read in blocks")
    is_whole = tally.is_numeric and tally.numbers.is_whole
    counts = {int(word) if is_whole else word: n for word, n in tally.counts.items()}
    return Target("classes", np.array(sorted(counts)), counts)
