"""Rows of a table that comes in blocks: to learn from, or held out, by what they hold.

A row is held out if a hash of its inputs, or of its group, says so. That takes no memory, is
the same in every pass and for any blocks, and keeps rows together that are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pandas.util import hash_array

from ecselm._typing import AnyArray, BoolArray
from ecselm.streaming.blocks import Blocks
from ecselm.streaming.columns import ColumnTally
from ecselm.streaming.passes import Passes
from ecselm.streaming.rows import RowBlock, placed
from ecselm.streaming.targets import Target, target_of
from ecselm.study.card import Task
from ecselm.study.cells import read_names
from ecselm.study.columns import USED, ColumnPlan, column_plan
from ecselm.study.rows import new_rows
from ecselm.study.wording import did_you_mean

FEW = 20  # rows of a class below which none is held out: chance could take all of them
LOOK = "looking at the columns"


@dataclass(frozen=True, slots=True)
class HeldOutRule:
    """Which rows are held out."""

    share: float
    seed: int

    def __call__(self, X: Any, groups: AnyArray | None = None) -> BoolArray:
        """Tell of rows (N,) of a frame, or of their groups, whether they are held out."""
        columns = [X[name].to_numpy() for name in X.columns] if groups is None else [groups]
        total: Any = np.full(len(X), self.seed, dtype=np.uint64)
        for values in columns:
            plain = values + 0.0 if values.dtype.kind == "f" else values  # there are two zeros
            total = hash_array(total * np.uint64(0x9E3779B97F4A7C15) + hash_array(plain))
        return np.asarray((total >> np.uint64(11)) * 2.0**-53 < self.share)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows of one block that have a target, which are held out, and how many were read."""

    rows: RowBlock
    held: BoolArray
    n_read: int

    def __len__(self) -> int:
        return self.n_read

    @property
    def kept(self) -> RowBlock:
        """Return the rows to learn from."""
        return self.rows.taken(np.flatnonzero(~self.held))

    @property
    def put_by(self) -> RowBlock:
        """Return the rows held out."""
        return self.rows.taken(np.flatnonzero(self.held))


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows with a target, as a plan of the columns wants them."""

    blocks: Blocks
    plan: ColumnPlan
    target: Target
    groups: str | None
    rule: HeldOutRule

    @property
    def spared(self) -> list[Any]:
        """Return the classes of which no row is held out."""
        return [name for name, n in self.target.counts.items() if n < FEW]

    def __iter__(self) -> Iterator[TableBlock]:
        """Yield the rows of every block that have a target."""
        used = [column.name for column in self.plan.columns if column.kind in USED]
        others = [self.plan.target, *([] if self.groups is None else [self.groups])]
        start = 0
        for number, frame in enumerate(replace(self.blocks, columns=(*used, *others)), 1):
            with placed(number, start, len(frame)):
                block = self._read(frame)
            yield block
            start += len(frame)

    def _read(self, frame: Any) -> TableBlock:
        known = frame.loc[read_names(frame[self.plan.target]) != ""]
        X = new_rows(known, self.plan.columns).reset_index(drop=True)
        groups = None if self.groups is None else known[self.groups].astype(str).to_numpy()
        y = self.target.values(known[self.plan.target])
        held = self.rule(X, groups) & ~np.isin(y, self.spared)
        return TableBlock(RowBlock(X, y, groups=groups), held, len(frame))


def look_at_table(
    blocks: Blocks, target: str, groups: str | None, task: Task | None, passes: Passes
) -> tuple[ColumnPlan, Target]:
    """Read a table once to decide what becomes of its columns, and what is predicted."""
    _check_columns(blocks, target, groups)
    names = [name for name in blocks.columns if name not in {target, groups}]
    tallies = {name: ColumnTally() for name in names}
    aim = ColumnTally(counts_numbers=True)
    n_rows = 0
    for frame in passes.over(blocks, LOOK, len):
        known = frame.loc[read_names(frame[target]) != ""]
        n_rows += len(frame)
        aim.add(known[target])
        for name, tally in tallies.items():
            tally.add(known[name])
    if not aim.n_rows:
        raise ValueError(f"target must hold something, the column {target!r} is empty")
    planned = [tally.planned(name) for name, tally in tallies.items()]
    return column_plan(target, planned, n_rows - aim.n_rows, n_rows), target_of(aim, task)


def _check_columns(blocks: Blocks, target: str, groups: str | None) -> None:
    """Refuse names that the table does not have."""
    for option, name in (("target", target), ("groups", groups)):
        if name is not None and name not in blocks.columns:
            raise ValueError(
                f"{option} must be a column of the table, got {name!r}"
                f"{did_you_mean(name, blocks.columns)}"
            )
    if groups == target:
        raise ValueError(f"groups must not be the target, got {groups!r}")
