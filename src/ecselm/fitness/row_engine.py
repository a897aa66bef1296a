"""Costs by row: every candidate's sums, from those of the candidate it descends from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError

from ecselm import _native as compiled
from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.fitness.encoding import Candidates
from ecselm.fitness.engines import BATCH, JudgedFeatures, Solved, judged_features
from ecselm.fitness.folds import Cells, Split, is_every_row
from ecselm.fitness.systems import CostedRows
from ecselm.linalg import RowChange, RowProducts, row_products
from ecselm.linalg.factors import Factor, factor_indefinite, factor_shifted


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The rows to train on, cell by cell, ready to be summed."""

    rows: CostedRows
    cells: Cells
    products: list[RowProducts]  # by cell
    places: IntArray  # (N,) of every row in the only cell, -1 outside
    is_one: bool  # whether there is one cell, and every row in it once

    @classmethod
    def from_cells(cls, H: FloatArray, rows: CostedRows, cells: Cells) -> RowLayout:
        """Lay out the rows that train together."""
        products = [row_products(H[cell], rows.T[cell]) for cell in cells.rows]
        first = cells.rows[0]
        places = np.full(len(H), -1)
        places[first] = np.arange(len(first))
        is_one = len(products) == 1 and len(np.unique(first)) == len(first)
        return cls(rows, cells, products, places, is_one)

    def change(self, rows: IntArray, d: FloatArray) -> RowChange:
        """Return changes d (P,) of the costs of one row each."""
        if self.rows.weight is not None:
            d = d * self.rows.weight[rows]
        places = self.places[rows]
        return RowChange(np.maximum(places, 0), np.where(places >= 0, d, 0.0))

    def add(self, change: FloatArray, sums: FloatArray) -> None:
        """Add changes (P, N) of costs to sums (n_cells, P, ...)."""
        if self.rows.weight is not None:
            change = change * self.rows.weight
        for cell, products, part in zip(self.cells.rows, self.products, sums, strict=True):
            whole = is_every_row(cell, len(self.rows))
            products.add(change if whole else change[:, cell], part)


@dataclass(slots=True)
class Remembered:
    """The sums of a batch of candidates: of those kept, and of those tried last.

    Which of the two a candidate descends from is the optimiser's affair. It is told from
    the costs: the fewer of them are new, the nearer the relation. Any answer is right.

    Where no candidate changes more than one cost, nothing is summed: the solver adds one
    outer product as it goes, and sums of what is kept are made up for next time.
    """

    layout: RowLayout
    kept: FloatArray  # (P, N) costs
    tried: FloatArray
    kept_sums: FloatArray  # (n_cells, P, ...)
    tried_sums: FloatArray
    lacking: RowChange | None = None  # by which tried differ from kept, if not summed

    @classmethod
    def nothing(cls, layout: RowLayout, P: int) -> Remembered:
        """Begin with candidates whose costs are all 0."""
        sums = np.stack([part.zeros(P) for part in layout.products])
        costs = np.zeros((P, len(layout.rows)))
        return cls(layout, costs, costs.copy(), sums, sums.copy())

    def renewed(self, costs: FloatArray) -> tuple[FloatArray, RowChange | None]:
        """Return the sums of costs (P, N), and what they lack: one row each, or None."""
        nearer, n_new, rows = relation(costs, self.kept, self.tried)
        self._keep(nearer)
        self.tried[:] = costs
        self.lacking = None
        if self.layout.is_one and n_new.max() <= 1:
            every = np.arange(len(costs))
            self.lacking = self.layout.change(rows, costs[every, rows] - self.kept[every, rows])
            return self.kept_sums, self.lacking
        self.tried_sums[:] = self.kept_sums
        self.layout.add(costs - self.kept, self.tried_sums)
        return self.tried_sums, None

    def _keep(self, nearer: BoolArray) -> None:
        """Keep what was tried last of some candidates."""
        if self.lacking is None:
            self.kept_sums[:, nearer] = self.tried_sums[:, nearer]
        else:
            d = np.where(nearer, self.lacking.d, 0.0)
            self.layout.products[0].add_one(RowChange(self.lacking.rows, d), self.kept_sums[0])
        self.kept[nearer] = self.tried[nearer]


@dataclass(frozen=True, slots=True)
class RowEngine:
    """Rows behind a hidden layer, each with a cost of its own."""

    layout: RowLayout
    judged: list[JudgedFeatures]  # by split
    path: str = field(default_factory=compiled.path_name)
    memory: dict[int, Remembered] = field(default_factory=dict)  # by first candidate

    @classmethod
    def from_rows(
        cls, H: FloatArray, rows: CostedRows, splits: list[Split], cells: Cells, halved: bool
    ) -> RowEngine:
        """Lay out the rows, of which the cells are what the splits have in common."""
        judged = judged_features(H, rows.T, rows.weight, splits, halved)
        return cls(RowLayout.from_cells(H, rows, cells), judged)

    def __str__(self) -> str:
        return f"sums renewed row by row ({self.path})"

    def batch(self, n_candidates: int) -> int:
        """Return any number; sums are remembered by batch."""
        return BATCH

    def forget(self) -> None:
        """Begin anew: what comes depends on nothing that was."""
        self.memory.clear()

    def scores(self, candidates: Candidates) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        return self.solved(candidates).scores()

    def solved(self, candidates: Candidates) -> Solved:
        """Return beta of every candidate and split."""
        (sums, change), betas = self._known(candidates).renewed(candidates.costs), []
        for members in self.layout.cells.members:
            mine = sums[members] if len(sums) > 1 else sums
            total = mine[0] if len(mine) == 1 else mine.sum(axis=0)
            betas.append(self._betas(total, change, candidates))
        return Solved(self.judged, betas)

    def _known(self, candidates: Candidates) -> Remembered:
        known, P = self.memory.get(candidates.first), len(candidates)
        if known is None or len(known.kept) != P:
            known = self.memory[candidates.first] = Remembered.nothing(self.layout, P)
        return known

    def _betas(
        self, total: FloatArray, change: RowChange | None, candidates: Candidates
    ) -> FloatArray:
        """Solve (15); what is not positive definite, one by one."""
        products, shift = self.layout.products[0], 1.0 / candidates.C
        beta = products.solve(total, shift, change)
        signed = candidates.costs.min(axis=1) < 0
        for i in np.flatnonzero(signed | np.isnan(beta[:, 0, 0])):
            if change is not None:
                total = total.copy()
                products.add_one(change, total)
                change = None
            A, right_side = products.equations(total[i])
            try:
                factor: Factor = (factor_indefinite if signed[i] else factor_shifted)(A, shift[i])
                beta[i] = factor.solve(right_side).T
            except LinAlgError:
                beta[i] = np.nan
        return beta


def relation(
    costs: FloatArray, kept: FloatArray, tried: FloatArray
) -> tuple[BoolArray, IntArray, IntArray]:
    """Tell of costs (P, N) whether ``tried`` is nearer than ``kept``.

    Returns that (P,), how many costs differ from the nearer one, and a row in which they do.
    """
    if compiled.is_available():
        return compiled.compare(costs, kept, tried)
    by_kept, by_tried = costs != kept, costs != tried
    n_kept, n_tried = by_kept.sum(axis=1), by_tried.sum(axis=1)
    nearer = n_tried < n_kept
    differs = np.where(nearer[:, np.newaxis], by_tried, by_kept)
    return nearer, np.minimum(n_kept, n_tried), differs.argmax(axis=1)
