"""The column to be predicted, in blocks: classes or numbers, and which classes there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ecselm._typing import AnyArray
from ecselm.streaming.columns import MOST_WORDS, ColumnTally
from ecselm.study.card import Task
from ecselm.study.cells import read_names, read_numbers
from ecselm.study.rows import MOST_CODES, MOST_LEVELS


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
