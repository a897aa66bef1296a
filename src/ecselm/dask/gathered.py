"""What the client holds of all rows while costs are searched: a sample, and sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.blocks import Block
from ecselm.dask.cells import Cells
from ecselm.dask.grouping import Grouped
from ecselm.dask.places import by_partition
from ecselm.dask.roll import Roll, SampleRule, call_roll
from ecselm.dask.sums import layer_sums, picked_rows
from ecselm.dask.survey import Survey
from ecselm.dask.table import Table
from ecselm.hidden import HiddenLayer
from ecselm.objectives import Split
from ecselm.objectives.dealing import Dealing
from ecselm.objectives.keys import N_LISTED, first_places, row_keys
from ecselm.solvers import GramBlocks


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
