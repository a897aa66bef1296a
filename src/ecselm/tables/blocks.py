"""All columns of a table that comes in blocks of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ecselm._wording import did_you_mean
from ecselm.tables.cells import is_number_column, read_names
from ecselm.tables.schema import (
    NO_COLUMN_OPTIONS,
    ColumnNote,
    ColumnOptions,
    ColumnPlan,
    ColumnTally,
    LabelCase,
    Task,
    column_plan,
    rows_with_target,
    without_case,
)
from ecselm.tables.target import Target, target_of


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
    options : ColumnOptions, default=ColumnOptions()
    label_case : {"merge", "keep"} or None, default=None
        None refuses labels that differ by case only. Until :meth:`spellings` is known, merged
        ones have no case.

    Examples
    --------
    >>> import pandas as pd
    >>> tally = TableTally(["age", "ill"], "ill")
    >>> known = tally.add(pd.DataFrame({"age": [5, 7, 9], "ill": ["yes", None, "no"]}))
    >>> len(known), tally.plan().notes
    (2, ('1 of 3 rows have no ill and are left out.',))
    >>> tally.target().counts
    {'yes': 1, 'no': 1}
    """

    def __init__(
        self,
        names: Iterable[str],
        target: str,
        groups: str | None = None,
        options: ColumnOptions = NO_COLUMN_OPTIONS,
        label_case: LabelCase | None = None,
    ) -> None:
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
        options.check(names, target)
        self._inputs = {
            name: ColumnTally(options=options) for name in names if name not in {target, groups}
        }
        self._target = ColumnTally(counts_numbers=True)
        self._missing, self._label_case = options.missing, label_case
        self._written: Counter[str] = Counter()  # labels as they are, where their case is ignored

    def add(self, frame: Any) -> Any:
        """Take one more block into account and return its rows that have a target."""
        known = rows_with_target(frame, self._name, self._missing)
        column = known[self._name]
        if self._label_case == "merge" and not is_number_column(column):
            words = read_names(column)
            self._written.update(words.tolist())
            known = known.assign(**{self._name: [word.casefold() for word in words]})
        self._n_rows += len(frame)
        self._target.add(known[self._name])
        for name, tally in self._inputs.items():
            tally.add(known[name])
        return known

    def notes(self) -> list[ColumnNote]:
        """Return the notes of all inputs."""
        return [tally.planned(name).note for name, tally in self._inputs.items()]

    def plan(self) -> ColumnPlan:
        """Return how the inputs are encoded."""
        if not self._target.n_rows:
            raise ValueError(f"target must hold something, the column {self._name!r} is empty")
        planned = [tally.planned(name) for name, tally in self._inputs.items()]
        return column_plan(self._name, planned, self._n_rows - self._target.n_rows, self._n_rows)

    def target(self, task: Task | None = None) -> Target:
        """Return what is predicted; ``task`` is None if the values are to decide."""
        return target_of(self._target, task, self._label_case)

    def spellings(self) -> dict[str, str]:
        """Return the most frequent spelling of every label without its case, if they are merged."""
        counts, _ = without_case(self._written)
        return {word.casefold(): word for word in counts}

    def n_respelled(self) -> int:
        """Return how many rows have a label in another case than the most frequent one."""
        kept = set(self.spellings().values())
        return sum(n for word, n in self._written.items() if word not in kept)

    def likely_task(self, task: Task | None = None) -> Task:
        """Return the task as far as it is known, also where there is not yet a second class."""
        try:
            return self.target(task).task
        except ValueError:
            return task or "classes"
