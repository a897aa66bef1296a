"""Costs by row: every candidate's sums, from those of the candidate it descends from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError

from ecselm import compiled
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.objectives.cells import Cells
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.engines import BATCH, judged_features
from ecselm.objectives.folds import Split
from ecselm.objectives.judged import JudgedFeatures, Solved
from ecselm.objectives.systems import CostedRows
from ecselm.solvers import RowProducts, row_products
from ecselm.solvers.factors import Factor, factor_indefinite, factor_shifted


@dataclass(slots=True)
class Remembered:
    """The sums of a batch of candidates: of those kept, and of those tried last.

    Which of the two a candidate descends from is the optimiser's affair. It is told from
    the costs: the fewer of them are new, the nearer the relation. Any answer is right.

    Where no candidate changes more than one cost, nothing is summed: the solver adds one
    outer product as it goes, and sums of what is kept are made up for next time.
    """

    cells: list[IntArray]
    products: list[RowProducts]  # by cell
    weight: FloatArray | None
    kept: FloatArray  # (P, N) costs
    tried: FloatArray
    kept_sums: FloatArray  # (n_cells, P, ...)
    tried_sums: FloatArray
    summed: bool = True  # whether tried_sums are those of tried

    @classmethod
    def nothing(
        cls, cells: list[IntArray], products: list[RowProducts], rows: CostedRows, P: int
    ) -> Remembered:
        """Begin with candidates whose costs are all 0."""
        sums = np.stack([part.zeros(P) for part in products])
        costs = np.zeros((P, rows.n_groups))
        return cls(cells, products, rows.weight, costs, costs.copy(), sums, sums.copy())

    def renewed(self, costs: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the sums of costs (P, N), and what they lack: one row each, or None."""
        nearer = (costs != self.tried).sum(axis=1) < (costs != self.kept).sum(axis=1)
        if self.summed:
            self.kept_sums[:, nearer] = self.tried_sums[:, nearer]
        else:
            self._add(np.where(nearer[:, np.newaxis], self.tried - self.kept, 0.0), self.kept_sums)
        self.kept[nearer] = self.tried[nearer]
        self.tried[:] = costs
        change = costs - self.kept
        self.summed = len(self.cells) > 1 or (change != 0).sum(axis=1).max() > 1
        if not self.summed:
            return self.kept_sums, self._weighted(change)[:, self.cells[0]]
        self.tried_sums[:] = self.kept_sums
        self._add(change, self.tried_sums)
        return self.tried_sums, None

    def _add(self, change: FloatArray, sums: FloatArray) -> None:
        change = self._weighted(change)
        for cell, products, part in zip(self.cells, self.products, sums, strict=True):
            products.add(change[:, cell], part)

    def _weighted(self, change: FloatArray) -> FloatArray:
        return change if self.weight is None else change * self.weight


@dataclass(frozen=True, slots=True)
class RowEngine:
    """Rows behind a hidden layer, each with a cost of its own."""

    rows: CostedRows
    cells: Cells
    products: list[RowProducts]  # by cell
    judged: list[JudgedFeatures]  # by split
    memory: dict[int, Remembered] = field(default_factory=dict)  # by first candidate

    @classmethod
    def from_rows(
        cls, H: FloatArray, rows: CostedRows, splits: list[Split], halved: bool
    ) -> RowEngine:
        """Lay out the rows that train together."""
        cells = Cells.of_splits(splits, len(H))
        products = [row_products(H[cell], rows.T[cell]) for cell in cells.rows]
        judged = judged_features(H, rows.T, rows.weight, splits, halved)
        return cls(rows, cells, products, judged)

    def __str__(self) -> str:
        return f"sums renewed row by row ({compiled.path_name()})"

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
        for members in self.cells.members:
            mine = sums[members] if len(sums) > 1 else sums
            total = mine[0] if len(mine) == 1 else mine.sum(axis=0)
            betas.append(self._betas(total, change, candidates))
        return Solved(self.judged, betas)

    def _known(self, candidates: Candidates) -> Remembered:
        known, P = self.memory.get(candidates.first), len(candidates)
        if known is None or len(known.kept) != P:
            known = Remembered.nothing(self.cells.rows, self.products, self.rows, P)
            self.memory[candidates.first] = known
        return known

    def _betas(
        self, total: FloatArray, change: FloatArray | None, candidates: Candidates
    ) -> FloatArray:
        """Solve (15); what is not positive definite, one by one."""
        products, shift = self.products[0], 1.0 / candidates.C
        beta = products.solve(total, shift, change)
        signed: AnyArray = np.any(candidates.costs < 0, axis=1)
        for i in np.flatnonzero(signed | np.isnan(beta[:, 0, 0])):
            if change is not None:
                total = total.copy()
                products.add(change, total)
                change = None
            A, right_side = products.equations(total[i])
            try:
                factor: Factor = (factor_indefinite if signed[i] else factor_shifted)(A, shift[i])
                beta[i] = factor.solve(right_side).T
            except LinAlgError:
                beta[i] = np.nan
        return beta
