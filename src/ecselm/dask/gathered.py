"""What the client holds of all rows while costs are searched: keys, cells and a sample."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.blocks import Block
from ecselm.dask.dealing import Dealt, dealt, key_ranks
from ecselm.dask.places import by_partition, cut
from ecselm.dask.sums import layer_sums, picked_rows
from ecselm.dask.survey import Survey
from ecselm.dask.table import Table
from ecselm.hidden import HiddenLayer
from ecselm.objectives import Split
from ecselm.solvers import GramBlocks


class GatheredRows:
    """All rows of positive weight, seen from the client.

    Parameters
    ----------
    client : distributed.Client
    table : Table
    known : Survey
        With keys.
    codes : array of shape (N,)
        Classes, or levels of the target.
    n_groups : int
    judged : array of shape (n,)
        Places of the rows to judge by, in order.
    """

    def __init__(
        self,
        client: Client,
        table: Table,
        known: Survey,
        codes: IntArray,
        n_groups: int,
        judged: IntArray,
    ) -> None:
        self.known, self.n_groups = known, n_groups
        self._client, self._table, self._codes, self._judged = client, table, codes, judged
        self._dealt: Dealt | None = None
        self._layers: list[HiddenLayer] = []
        self._sums: list[GramBlocks] = []
        self.sample = self._rows_at(judged)

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def has_labels(self) -> bool:
        """Tell whether rows have classes, not real targets."""
        return len(self.known.classes) > 0

    @cached_property
    def ranks(self) -> IntArray:
        """Return the places (N,) of the rows' keys among those that differ."""
        return key_ranks(self.known.keys)

    @property
    def n_judged(self) -> int:
        """Return how many rows candidates are judged by."""
        return len(self._judged)

    def stand_in(self) -> tuple[FloatArray, AnyArray, FloatArray | None]:
        """Return inputs, targets and weights of the sample, which stand for all rows.

        By class its weights sum to those of all rows. A class that only rows of weight 0 have
        is shown by a row of weight 0.
        """
        X, y, weight = self.sample.X, self.sample.y, self._sample_weight()
        unseen = np.setdiff1d(self.known.classes, y) if self.has_labels else y[:0]
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
        codes, k = self._codes[self._judged], self.n_groups
        all_rows = np.bincount(self._codes, self.known.weight, k)
        sampled = np.bincount(codes, weight, k)
        return weight * (all_rows / np.where(sampled > 0, sampled, 1.0))[codes]

    def splits(self, fitness: Any, fraction: float, rng: np.random.Generator) -> list[Split]:
        """Deal all rows out, and return the splits of the sample."""
        self._dealt = dealt(fitness, self.ranks, self._codes, fraction, rng)
        cells = self._dealt.cells[self._judged]
        return [
            Split(np.flatnonzero(trained[cells]), np.flatnonzero(cells == judged))
            for trained, judged in zip(self._dealt.trained, self._dealt.judged, strict=True)
        ]

    @property
    def dealt(self) -> Dealt:
        """Return how all rows were dealt out."""
        if self._dealt is None:
            raise TypeError("rows must be dealt out before they are summed")
        return self._dealt

    def put_behind(self, layers: list[HiddenLayer]) -> None:
        """Say behind which layers rows are to be summed, all of them in one pass."""
        self._layers, self._sums = layers, []

    def sums(self, layer: HiddenLayer) -> GramBlocks:
        """Return the sums behind a layer by cell and group, in this order."""
        if not self._sums:
            groups = self.dealt.cells.astype(np.intp) * self.n_groups + self._codes
            n = self.dealt.n_cells * self.n_groups
            self._sums = layer_sums(
                self._client,
                self._table,
                self._layers,
                cut(groups.astype(np.min_scalar_type(n)), self.known.used),
                n,
                self.n_groups if self.has_labels else None,
            )
        return self._sums[[one is layer for one in self._layers].index(True)]

    def distinct(self) -> IntArray:
        """Return the first place of every distinct row, in the order of their keys."""
        return np.unique(self.ranks, return_index=True)[1]

    def distinct_sample(self) -> FloatArray:
        """Return the distinct rows of the sample, in the same order."""
        return self.sample.X[np.unique(self.ranks[self._judged], return_index=True)[1]]

    def inputs_at(self, places: IntArray) -> FloatArray:
        """Return the inputs of rows at places in any order."""
        if self.n_judged == len(self):
            return self.sample.X[places]
        order = np.argsort(places)
        X = np.empty((len(places), self._table.form.n_features), self._table.form.dtype)
        X[order] = self._rows_at(places[order]).X
        return X

    def _rows_at(self, places: IntArray) -> Block:
        own = by_partition(places, self.known.used)
        return picked_rows(self._client, self._table, own, self.has_labels)
