"""All columns of a table that comes in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ecselm._wording import did_you_mean
from ecselm.tables.cells import read_names
from ecselm.tables.schema import (
    NO_COLUMN_OPTIONS,
    ColumnNote,
    ColumnOptions,
    ColumnPlan,
    ColumnTally,
    Task,
    column_plan,
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
        return [tally.planned(name).note for name, tally in self._inputs.items()]

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
