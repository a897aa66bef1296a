"""Groups that rows have by their targets: classes, or levels of real targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import dask
import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.blocks import Block, read_block
from ecselm.dask.cluster import computed
from ecselm.dask.survey import Survey
from ecselm.dask.table import Form, Table
from ecselm.elm.classification import class_targets
from ecselm.elm.ecselm_regressor import level_edges, level_position


class Grouping(Protocol):
    """What tells the groups of rows."""

    @property
    def labels(self) -> bool:
        """Tell whether targets are labels of classes."""

    @property
    def n_groups(self) -> int:
        """Return g."""

    def codes(self, block: Block) -> IntArray:
        """Return the group (N,) of every row."""

    def targets(self, block: Block) -> FloatArray:
        """Return T (N, m)."""

    def ends(self, block: Block) -> list[IntArray]:
        """Return the rows of which any sample must have the first: each of a kind of its own."""


@dataclass(frozen=True, slots=True)
class ClassGroups:
    """Rows by class."""

    classes: AnyArray  # (k,)

    @property
    def labels(self) -> bool:
        """Tell that targets are labels."""
        return True

    @property
    def n_groups(self) -> int:
        """Return k."""
        return len(self.classes)

    def codes(self, block: Block) -> IntArray:
        """Return classes."""
        return np.searchsorted(self.classes, block.y)

    def targets(self, block: Block) -> FloatArray:
        """Return one column for two classes, else one for each."""
        return class_targets(self.n_groups)[self.codes(block)]

    def ends(self, block: Block) -> list[IntArray]:
        """Return none: any rows of a class will do."""
        return []


@dataclass(frozen=True, slots=True)
class LevelGroups:
    """Rows by levels of equal width over the range of their targets.

    The range is found again in any sample that has its ends.
    """

    low: FloatArray  # (m,)
    high: FloatArray  # (m,)
    span: tuple[float, float]  # of positions
    edges: FloatArray  # (g - 1,)

    @property
    def labels(self) -> bool:
        """Tell that targets are no labels."""
        return False

    @property
    def n_groups(self) -> int:
        """Return the number of levels."""
        return len(self.edges) + 1

    def codes(self, block: Block) -> IntArray:
        """Return levels."""
        return np.digitize(self._position(block), self.edges, right=True)

    def targets(self, block: Block) -> FloatArray:
        """Return the targets."""
        return block.targets()

    def ends(self, block: Block) -> list[IntArray]:
        """Return the rows at either end of every target, and of their positions."""
        T, position = block.targets(), self._position(block)
        at_ends = [*(self.low == T).T, *(self.high == T).T, *(position == end for end in self.span)]
        return [np.flatnonzero(mask) for mask in at_ends]

    def _position(self, block: Block) -> FloatArray:
        return level_position(block.targets(), self.low, self.high)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups, and how many rows of positive weight they have."""

    grouping: Grouping
    counts: IntArray  # (g,)
    masses: FloatArray  # (g,) weighted


def by_class(known: Survey) -> Grouped:
    """Return the classes that a survey has found."""
    return Grouped(ClassGroups(known.classes), known.rows, known.counts)


def by_level(client: Client, table: Table, known: Survey, n_levels: int) -> Grouped:
    """Count levels in a pass over the targets; of several targets another comes before it."""
    low, high = known.low, known.high
    span = (float(low[0]), float(high[0]))
    if len(low) > 1:
        look = dask.delayed(_span, pure=False)
        found = [one for one in computed(client, _of_targets(look, table, low, high)) if one]
        span = min(one[0] for one in found), max(one[1] for one in found)
    grouping = LevelGroups(low, high, span, level_edges(*span, n_levels))
    counts = computed(client, _of_targets(dask.delayed(_counted, pure=False), table, grouping))
    n_rows, masses = reduce(np.add, counts)
    return Grouped(grouping, n_rows.astype(np.intp), masses)


def _of_targets(task: Any, table: Table, *given: Any) -> list[Any]:
    """Return a task for every partition, which sees all but the inputs."""
    return [
        task({name: part[name] for name in part if name != "X"}, table.form, *given)
        for part in table.parts
    ]


def _span(
    part: dict[str, Any], form: Form, low: FloatArray, high: FloatArray
) -> tuple[float, float] | None:
    block = read_block(part, form, labels=False).of_weight()
    if not len(block):
        return None
    position = level_position(block.targets(), low, high)
    return float(position.min()), float(position.max())


def _counted(part: dict[str, Any], form: Form, grouping: LevelGroups) -> FloatArray:
    block = read_block(part, form, labels=False).of_weight()
    codes, g = grouping.codes(block), grouping.n_groups
    return np.array([np.bincount(codes, minlength=g), np.bincount(codes, block.weight, g)])
