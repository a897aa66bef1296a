"""The second pass: sums of (15) over the rows of every partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import dask
import numpy as np
import pandas as pd
from distributed import Client

from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostTerms
from ecselm.dask.cluster import computed, tree_sum
from ecselm.dask.survey import Cells, Grouped, Grouping, Roll, SampleRule, Survey, call_roll
from ecselm.dask.table import Block, Form, Table, by_partition, in_partition, read_block
from ecselm.estimators._base import class_targets
from ecselm.estimators._training import LayerRecipe, Rows
from ecselm.fitness import Split
from ecselm.fitness.folds import Dealing
from ecselm.fitness.hashing import N_LISTED, first_places, row_keys
from ecselm.layers import HiddenLayer, RandomLayer
from ecselm.linalg import GramBlocks


def measured_layer(recipe: LayerRecipe, known: Survey) -> RandomLayer:
    """Return the layer that :meth:`LayerRecipe.make` makes of all rows."""
    if recipe.drawn is None:
        raise TypeError("the recipe must have weights that were drawn")
    scale = known.scale.scale(recipe.scale)
    layer = RandomLayer.from_draw(recipe.drawn, recipe.activation, scale, recipe.dtype)
    layer.warn_if_saturated(known.head.X)
    return layer


def named(X: FloatArray, form: Form) -> Any:
    """Return rows with the names of their columns, if these have names."""
    return X if form.names is None else pd.DataFrame(X, columns=form.names)


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


@dataclass(slots=True)
class GatheredRows:
    """All rows of positive weight, seen from the client.

    What it holds of single rows are a sample and the least keys, however many rows there are.
    """

    client: Client
    table: Table
    known: Survey
    grouped: Grouped
    roll: Roll
    sample: Block
    places: IntArray  # (n,) of the sample
    cells: Cells | None = None
    _layers: list[HiddenLayer] = field(default_factory=list)
    _sums: list[GramBlocks] = field(default_factory=list)

    @classmethod
    def called(
        cls,
        client: Client,
        table: Table,
        known: Survey,
        grouped: Grouped,
        rule: SampleRule,
        n_listed: int,
    ) -> GatheredRows:
        """Read all rows, and keep those that the rule takes."""
        roll = call_roll(client, table, known.sizes, grouped, rule, n_listed)
        sample, places = roll.sampled(rule, grouped.grouping)
        return cls(client, table, known, grouped, roll, sample, places)

    def __len__(self) -> int:
        return int(self.grouped.counts.sum())

    @property
    def n_groups(self) -> int:
        """Return g."""
        return self.grouped.grouping.n_groups

    @property
    def n_judged(self) -> int:
        """Return how many rows candidates are judged by."""
        return len(self.places)

    def stand_in(self) -> tuple[FloatArray, AnyArray, FloatArray | None]:
        """Return inputs, targets and weights of the sample, which stand for all rows.

        By class its weights sum to those of all rows. A class that only rows of weight 0 have
        is shown by a row of weight 0.
        """
        X, y, weight = self.sample.X, self.sample.y, self._sample_weight()
        unseen = np.setdiff1d(self.known.classes, y) if self.grouped.grouping.labels else y[:0]
        if not len(unseen) or weight is None:
            return X, y, weight
        more = np.repeat(X[:1], len(unseen), axis=0)
        zeros = np.zeros(len(unseen))
        return np.vstack([X, more]), np.append(y, unseen), np.append(weight, zeros)

    def _sample_weight(self) -> FloatArray | None:
        """Return the weights of the sample, None where it is all rows and these have none."""
        own = self.sample.weight
        if self.n_judged == len(self):
            return own
        weight = np.ones(self.n_judged) if own is None else own.astype(np.float64)
        codes = self.grouped.grouping.codes(self.sample)
        sampled = np.bincount(codes, weight, self.n_groups)
        return weight * (self.grouped.masses / np.where(sampled > 0, sampled, 1.0))[codes]

    def splits(self, fitness: Any, fraction: float, rng: np.random.Generator) -> list[Split]:
        """Deal all rows out, and return the splits of the sample."""
        listed = {c: least.keys for c, least in enumerate(self.roll.least)}
        self.cells = Cells.made(fitness, Dealing.drawn(listed, rng, N_LISTED), fraction)
        own = self.cells.of(self.sample.X, self.grouped.grouping.codes(self.sample))
        return [
            Split(np.flatnonzero(trained[own]), np.flatnonzero(own == judged))
            for trained, judged in zip(self.cells.trained, self.cells.judged, strict=True)
        ]

    @property
    def dealt(self) -> Cells:
        """Return how all rows were dealt out."""
        if self.cells is None:
            raise TypeError("rows must be dealt out before they are summed")
        return self.cells

    def put_behind(self, layers: list[HiddenLayer]) -> None:
        """Say behind which layers rows are to be summed, all of them in one pass."""
        self._layers, self._sums = layers, []

    def sums(self, layer: HiddenLayer) -> GramBlocks:
        """Return the sums behind a layer by cell and group, in this order."""
        if not self._sums:
            self._sums = layer_sums(
                self.client, self.table, self._layers, self.grouped.grouping, self.dealt
            )
        return self._sums[[one is layer for one in self._layers].index(True)]

    def distinct(self) -> IntArray:
        """Return the first place of distinct rows, those of the least keys, in their order."""
        return self.roll.least_of_all().places

    def distinct_sample(self) -> FloatArray:
        """Return the distinct rows of the sample, in the order of their keys."""
        return self.sample.X[first_places(row_keys(self.sample.X))]

    def inputs_at(self, places: IntArray) -> FloatArray:
        """Return the inputs of rows at places in any order."""
        order = np.argsort(places)
        X = np.empty((len(places), self.table.form.n_features), self.table.form.dtype)
        X[order] = self._rows_at(places[order])
        return X

    def _rows_at(self, places: IntArray) -> FloatArray:
        if np.isin(places, self.places).all():
            return self.sample.X[np.searchsorted(self.places, places)]
        own = by_partition(places, self.known.sizes)
        return picked_rows(self.client, self.table, own, self.grouped.grouping.labels).X
