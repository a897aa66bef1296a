"""Training rows with their targets and costs, and the sums taken over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks, share_out
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import CostTerms
from ecselm.hidden import HiddenLayer, RandomLayer
from ecselm.solvers import GramBlocks, GramSum


@dataclass(frozen=True, slots=True)
class Rows:
    """N rows: inputs, targets, cost terms, weights, and the class each belongs to."""

    X: Matrix  # (N, n)
    T: FloatArray  # (N, m)
    y: IntArray  # (N,) class codes; zeros in regression
    terms: CostTerms
    weight: FloatArray | None  # (N,)

    def __len__(self) -> int:
        return len(self.T)

    def joined(self, other: Rows) -> Rows:
        """Return the rows of both, these first."""
        stack = sparse.vstack if sparse.issparse(self.X) else np.vstack
        weights = [
            np.ones(len(rows), self.T.dtype) if rows.weight is None else rows.weight
            for rows in (self, other)
        ]
        return Rows(
            X=stack([self.X, other.X]),
            T=np.vstack([self.T, other.T]),
            y=np.concatenate([self.y, other.y]),
            terms=CostTerms(
                np.vstack([self.terms.groups, other.terms.groups]),
                np.vstack([self.terms.factors, other.terms.factors]),
                self.terms.n_groups,
            ),
            weight=np.concatenate(weights),
        )

    def counts(self, n_classes: int) -> FloatArray:
        """Return the weighted class counts n (k,)."""
        return _group_sums(self.y, self.weight, n_classes)

    def masses(self) -> FloatArray:
        """Return the weighted sum of the factors of every cost group (g,)."""
        factors = self.terms.factors
        if self.weight is not None:
            factors = factors * self.weight[:, np.newaxis]
        return _group_sums(self.terms.groups.ravel(), factors.ravel(), self.terms.n_groups)

    def weights(self, coefficients: FloatArray) -> FloatArray | None:
        """Return B times the sample weights, None where all are 1."""
        B = self.terms.vector(coefficients)
        if self.weight is None and (B == 1.0).all():
            return None
        return (B if self.weight is None else B * self.weight).astype(self.T.dtype)

    def total(self, layer: HiddenLayer, coefficients: FloatArray) -> GramBlocks:
        """Return the normal equations of (15) as one block."""
        return _sum_rows(layer, self.X, self.T, self.weights(coefficients))

    def blocks(self, layer: HiddenLayer) -> GramBlocks:
        """Return the normal equations by cost group."""
        groups = range(self.terms.n_groups)
        return GramBlocks.stack([self._group_sum(layer, group) for group in groups])

    def _group_sum(self, layer: HiddenLayer, group: int) -> GramBlocks:
        """Sum over the terms of all rows that belong to ``group``."""
        rows, terms = np.nonzero(self.terms.groups == group)
        w = self.terms.factors[rows, terms]
        if self.weight is not None:
            w = w * self.weight[rows]
        whole = len(rows) == len(self) and self.terms.groups.shape[1] == 1
        X, T = (self.X, self.T) if whole else (self.X[rows], self.T[rows])
        return _sum_rows(layer, X, T, None if (w == 1.0).all() else w.astype(T.dtype))


def _sum_rows(layer: HiddenLayer, X: Matrix, T: FloatArray, w: FloatArray | None) -> GramBlocks:
    """Sum over the rows block by block: H is never held as a whole."""

    def add_up(blocks: list[slice]) -> GramBlocks:
        n_rows = blocks[0].stop - blocks[0].start if blocks else 0
        total = GramSum(n_rows, layer.n_hidden, T.shape[1], T.dtype)
        for rows in blocks:
            layer(X[rows], out=total.hidden(rows.stop - rows.start))
            total.add(T[rows], None if w is None else w[rows])
        return total.blocks()

    # A transformer from outside may not bear two threads at a time.
    own = isinstance(layer, RandomLayer)
    parts = share_out(add_up, row_blocks(len(T), layer.n_hidden), threads=own)
    return sum(parts, start=add_up([]))


def _group_sums(groups: IntArray, values: FloatArray | None, n_groups: int) -> FloatArray:
    sums = np.bincount(groups, weights=values, minlength=n_groups)
    return np.asarray(sums, dtype=np.float64)
