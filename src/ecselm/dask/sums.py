"""The second pass: sums of (15) over the rows of every partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import dask
import numpy as np
from distributed import Client

from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostTerms
from ecselm.dask.blocks import Block, in_partition, read_block
from ecselm.dask.cells import Cells
from ecselm.dask.cluster import computed, tree_sum
from ecselm.dask.grouping import Grouping
from ecselm.dask.table import Form, Table
from ecselm.elm.classification import class_targets
from ecselm.elm.rows import Rows
from ecselm.hidden import HiddenLayer
from ecselm.solvers import GramBlocks


class RowReader(Protocol):
    """What turns blocks into rows with targets and costs."""

    @property
    def model(self) -> Any:
        """Return the estimator that reads."""

    @property
    def labels(self) -> bool:
        """Tell whether ``y`` holds labels."""

    @property
    def n_classes(self) -> int:
        """Return k."""

    def __call__(self, block: Block) -> Rows:
        """Return the rows of a block."""


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Rows of classes, with the costs that an estimator reads."""

    model: Any
    classes: AnyArray

    @property
    def labels(self) -> bool:
        """Tell that ``y`` holds labels."""
        return True

    @property
    def n_classes(self) -> int:
        """Return k."""
        return len(self.classes)

    def __call__(self, block: Block) -> Rows:
        """Return the rows of a block."""
        codes = np.searchsorted(self.classes, block.y)
        costs = self.costs(codes, block.cost)
        T = class_targets(self.n_classes).astype(block.X.dtype)[codes]
        return Rows(block.X, T, codes, costs.terms(codes), block.weight)

    def costs(self, codes: IntArray, by_row: Any) -> Any:
        """Return the costs of rows of these classes."""
        return self.model._read_costs(codes, self.classes, sample_cost=by_row)


@dataclass(frozen=True, slots=True)
class TargetReader:
    """Rows of real targets."""

    model: Any

    @property
    def labels(self) -> bool:
        """Tell that ``y`` holds no labels."""
        return False

    @property
    def n_classes(self) -> int:
        """Return 1."""
        return 1

    def __call__(self, block: Block) -> Rows:
        """Return the rows of a block."""
        codes = np.zeros(len(block), dtype=np.intp)
        terms = self.model._row_costs(block.y, block.cost).terms(codes)
        return Rows(block.X, block.targets().astype(block.X.dtype), codes, terms, block.weight)


@dataclass(frozen=True, slots=True)
class CostSums:
    """Normal equations by cost group, counts, and the rows that were picked out."""

    blocks: GramBlocks
    counts: FloatArray  # (k,) weighted
    masses: FloatArray  # (g,) weighted
    picked: Rows

    def __add__(self, other: CostSums) -> CostSums:
        """Return the sums over the rows of both."""
        return CostSums(
            self.blocks + other.blocks,
            self.counts + other.counts,
            self.masses + other.masses,
            self.picked.joined(other.picked),
        )


def cost_sums(
    client: Client, table: Table, reader: RowReader, layer: HiddenLayer, picked: list[IntArray]
) -> CostSums:
    """Sum over all partitions; ``picked`` are positions of rows to bring, by partition."""
    add_up = dask.delayed(_cost_sums, pure=False)
    given = dask.delayed((table.form, reader, layer), pure=False, traverse=False)
    parts = [
        add_up(number, part, given, own)
        for number, (part, own) in enumerate(zip(table.parts, picked, strict=True))
    ]
    (total,) = computed(client, [tree_sum(parts, CostSums.__add__)])
    return total


def _cost_sums(
    number: int,
    part: dict[str, Any],
    given: tuple[Form, RowReader, HiddenLayer],
    picked: IntArray,
) -> CostSums:
    form, reader, layer = given
    with in_partition(number):
        rows = reader(read_block(part, form, labels=reader.labels))
    with one_blas_thread():
        blocks = rows.blocks(layer)
    return CostSums(blocks, rows.counts(reader.n_classes), rows.masses(), rows.taken(picked))


@dataclass(frozen=True, slots=True)
class LayerSums:
    """Normal equations by cell and cost group, behind one layer after the other."""

    behind: list[GramBlocks]

    def __add__(self, other: LayerSums) -> LayerSums:
        """Return the sums over the rows of both."""
        return LayerSums([a + b for a, b in zip(self.behind, other.behind, strict=True)])


def layer_sums(
    client: Client, table: Table, layers: list[HiddenLayer], grouping: Grouping, cells: Cells
) -> list[GramBlocks]:
    """Sum over the rows of positive weight behind all layers, in one pass, by cell and group."""
    add_up = dask.delayed(_layer_sums, pure=False)
    given = dask.delayed((table.form, layers, grouping, cells), pure=False, traverse=False)
    parts = [add_up(number, part, given) for number, part in enumerate(table.parts)]
    (total,) = computed(client, [tree_sum(parts, LayerSums.__add__)])
    return list(total.behind)


def _layer_sums(
    number: int, part: dict[str, Any], given: tuple[Form, list[HiddenLayer], Grouping, Cells]
) -> LayerSums:
    form, layers, grouping, cells = given
    block = read_block(part, form, labels=grouping.labels).of_weight()
    groups, n_groups = grouping.codes(block), grouping.n_groups
    with in_partition(number):
        codes = cells.of(block.X, groups) * n_groups + groups
    ones = np.ones((len(codes), 1))
    terms = CostTerms(codes[:, np.newaxis], ones, cells.n_cells * n_groups, "cell")
    rows = Rows(block.X, grouping.targets(block), codes, terms, block.weight)
    with one_blas_thread():
        return LayerSums([rows.blocks(layer) for layer in layers])


def picked_rows(client: Client, table: Table, positions: list[IntArray], labels: bool) -> Block:
    """Return rows at positions, by partition."""
    pick = dask.delayed(_picked, pure=False)
    tasks = [
        pick(part, table.form, own, labels)
        for part, own in zip(table.parts, positions, strict=True)
        if len(own)
    ]
    return Block.joined(computed(client, tasks))


def _picked(part: dict[str, Any], form: Form, positions: IntArray, labels: bool) -> Block:
    return read_block(part, form, labels=labels).taken(positions)
