"""Costs by row: every candidate's sums, from those of the candidate it descends from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError

from ecselm import compiled
from ecselm._typing import AnyArray, FloatArray
from ecselm.objectives.cells import Cells
from ecselm.objectives.encoding import Candidates
from ecselm.objectives.engines import BATCH, judged_features
from ecselm.objectives.folds import Split
from ecselm.objectives.judged import JudgedFeatures
from ecselm.objectives.systems import CostedRows
from ecselm.solvers import RowProducts, row_products
from ecselm.solvers.factors import Factor, factor_indefinite, factor_shifted


@dataclass(slots=True)
class Remembered:
    """The sums of a batch of candidates: of those kept, and of those tried last.

    Which of the two a candidate descends from is the optimiser's affair. It is told from
    the costs: the fewer of them are new, the nearer the relation. Any answer is right.
    """

    kept: FloatArray  # (P, N) costs
    tried: FloatArray
    kept_sums: FloatArray  # (n_cells, P, ...)
    tried_sums: FloatArray

    def renew(self, costs: FloatArray) -> FloatArray:
        """Keep what costs (P, N) descend from, and return what of it has changed."""
        by_kept = (costs != self.kept).sum(axis=1)
        by_tried = (costs != self.tried).sum(axis=1)
        taken = by_tried < by_kept
        self.kept[taken] = self.tried[taken]
        self.kept_sums[:, taken] = self.tried_sums[:, taken]
        self.tried[:], self.tried_sums[:] = costs, self.kept_sums
        return costs - self.kept


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
        sums = self._sums(candidates)
        parts = []
        for members, judged in zip(self.cells.members, self.judged, strict=True):
            mine = sums[members]
            total = mine[0] if len(mine) == 1 else mine.sum(axis=0)
            parts.append(judged.scores(self._betas(total, candidates)))
        Z = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Z.swapaxes(1, 2)

    def _sums(self, candidates: Candidates) -> FloatArray:
        """Return the sums (n_cells, P, ...) of the candidates."""
        known = self.memory.get(candidates.first)
        if known is None or len(known.kept) != len(candidates):
            nothing = np.stack([products.zeros(len(candidates)) for products in self.products])
            costs = np.zeros_like(candidates.costs)
            known = Remembered(costs, costs.copy(), nothing, nothing.copy())
            self.memory[candidates.first] = known
        change = known.renew(candidates.costs)
        if self.rows.weight is not None:
            change *= self.rows.weight
        for cell, products, sums in zip(
            self.cells.rows, self.products, known.tried_sums, strict=True
        ):
            products.add(change[:, cell], sums)
        return known.tried_sums

    def _betas(self, total: FloatArray, candidates: Candidates) -> FloatArray:
        """Solve (15); what is not positive definite, one by one."""
        shift = 1.0 / candidates.C
        beta = self.products[0].solve(total, shift)
        signed: AnyArray = np.any(candidates.costs < 0, axis=1)
        for i in np.flatnonzero(signed | np.isnan(beta[:, 0, 0])):
            A, right_side = self.products[0].equations(total[i])
            try:
                factor: Factor = (factor_indefinite if signed[i] else factor_shifted)(A, shift[i])
                beta[i] = factor.solve(right_side).T
            except LinAlgError:
                beta[i] = np.nan
        return beta
