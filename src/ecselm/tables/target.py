"""The column to be predicted: whether it holds classes or numbers, and which."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import AnyArray
from ecselm._wording import brief, listed, quoted
from ecselm.tables.cells import MISSING_NUMBER, UNKNOWN, read_names, read_numbers
from ecselm.tables.schema import (
    MOST_CODES,
    MOST_LEVELS,
    MOST_WORDS,
    NEARLY_ALL,
    ColumnTally,
    LabelCase,
    Task,
    respelled,
    without_case,
)


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted."""

    task: Task
    n_values: int  # distinct ones
    classes: AnyArray  # (k,) in sorted order, none where numbers are predicted
    counts: dict[Any, int]  # rows of every class
    merges_case: bool = False  # whether labels that differ by case only are one class

    def values(self, column: Any) -> AnyArray:
        """Return the targets (N,) of rows that have one."""
        if self.task == "numbers":
            return read_numbers(column).values
        if self.classes.dtype.kind == "i":
            return np.asarray(column.to_numpy(dtype=np.float64).astype(np.int64))
        words = read_names(column)
        return (respelled(words, self.classes) if self.merges_case else words).astype(str)

    def respelled(self, spellings: Mapping[str, str]) -> Target:
        """Return the target with classes in other spellings, which merge their cases."""
        counts = {spellings[name]: n for name, n in self.counts.items()}
        ordered = sorted(counts)
        return replace(
            self,
            classes=np.array(ordered),
            counts={name: counts[name] for name in ordered},
            merges_case=True,
        )


def target_of(
    tally: ColumnTally,
    task: Task | None,
    label_case: LabelCase | None = None,
    rows: Callable[[Iterable[str]], str] | None = None,
) -> Target:
    """Return what is predicted, by the rules of :func:`ecselm.study.task_of`.

    Parameters
    ----------
    tally : ColumnTally
        Of the rows that have a target, with numbers counted.
    task : {"classes", "numbers"} or None
        What is predicted; None decides by the values.
    label_case : {"merge", "keep"} or None, default=None
        None refuses labels that differ by case only.
    rows : callable or None, default=None
        Returns which rows hold one of some words, as a message says it.

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
    if task != "classes":
        _check_tokens(tally, task, rows)
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
    if label_case is None:
        _check_spellings(tally)
    is_whole = tally.is_numeric and numbers.is_whole
    counts = {int(word) if is_whole else word: tally.counts[word] for word in words}
    return Target("classes", len(counts), np.array(sorted(counts)), counts)


def _check_tokens(
    tally: ColumnTally, task: Task | None, rows: Callable[[Iterable[str]], str] | None
) -> None:
    """Raise ValueError for a few words in a target that are none of its values."""
    tokens = tally.numbers.tokens()
    if not tokens and task is None and not tally.numbers.n_known:
        others = {word: n for word, n in tally.counts.items() if word}
        found = {
            word: n
            for word, n in others.items()
            if word.casefold() in UNKNOWN and word.casefold() not in MISSING_NUMBER
        }
        if len(others) - len(found) >= 2:
            few = sum(found.values()) < (1 - NEARLY_ALL) * sum(others.values())
            tokens = found if few else {}
    if not tokens:
        return
    words = [*tokens]
    where = f" in {rows(words)}" if rows is not None else f" in {sum(tokens.values())} rows"
    options = " ".join(f"--missing {shlex.quote(word)}" for word in words)
    another = "" if task == "numbers" else ", and --task classes takes every word for a class"
    raise ValueError(
        f"the target must hold values throughout, got {quoted(words)}{where}; {options} leaves "
        f"these rows out{another}"
    )


def _check_spellings(tally: ColumnTally) -> None:
    """Raise ValueError for labels that differ by case only."""
    _, merged = without_case(Counter({word: n for word, n in tally.counts.items() if word}))
    if merged:
        said = [
            listed([f"{brief(word)!r} ({tally.counts[word]} rows)" for word in group])
            for group in merged
        ]
        raise ValueError(
            f"labels of the target must differ by more than case, got {listed(said, 3)}; "
            "--label-case merge makes each of these one class, and --label-case keep separate ones"
        )
