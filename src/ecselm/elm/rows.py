"""Training rows with their targets and costs, and the sums taken over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks, share_out
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import CostTerms
from ecselm.hidden import HiddenLayer
from ecselm.solvers import GramBlocks, GramSum


class Share(NamedTuple):
    """Some rows of one cost group, with their weights."""

    group: int
    rows: slice | IntArray
    size: int
    weights: FloatArray | None


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
        weights = [
            np.ones(len(rows), self.T.dtype) if rows.weight is None else rows.weight
            for rows in (self, other)
        ]
        return Rows(
            X=_stacked(self.X, other.X),
            T=np.vstack([self.T, other.T]),
            y=np.concatenate([self.y, other.y]),
            terms=CostTerms(
                np.vstack([self.terms.groups, other.terms.groups]),
                np.vstack([self.terms.factors, other.terms.factors]),
                self.terms.n_groups,
                self.terms.kind,
            ),
            weight=np.concatenate(weights),
        )

    def owned(self) -> Rows:
        """Return a copy that no later change of the caller's arrays can reach."""
        return self.taken(np.arange(len(self)))

    def taken(self, index: IntArray) -> Rows:
        """Return copies of some of the rows."""
        return Rows(
            X=self.X[index],
            T=self.T[index],
            y=self.y[index],
            terms=CostTerms(
                self.terms.groups[index],
                self.terms.factors[index],
                self.terms.n_groups,
                self.terms.kind,
            ),
            weight=None if self.weight is None else self.weight[index],
        )

    def split(self, n_first: int) -> tuple[Rows, Rows]:
        """Return the first rows, and the others."""
        every = np.arange(len(self))
        return self.taken(every[:n_first]), self.taken(every[n_first:])

    def counts(self, n_classes: int) -> FloatArray:
        """Return the weighted class counts n (k,)."""
        return _group_sums(self.y, self.weight, n_classes)

    def masses(self) -> FloatArray:
        """Return the weighted sum of the factors of every cost group (g,)."""
        factors = self.terms.factors
        if self.weight is not None:
            factors = factors * self.weight[:, np.newaxis]
        return _group_sums(self.terms.groups.ravel(), factors.ravel(), self.terms.n_groups)

    def check_some_cost(self) -> None:
        """Refuse rows of which none costs anything; a single chunk of a stream may."""
        if not self.masses().any():
            raise ValueError("costs must not be 0 for every row of positive weight")

    def weights(self, coefficients: FloatArray) -> FloatArray | None:
        """Return B times the sample weights, None where all are 1."""
        B = self.terms.vector(coefficients)
        if self.weight is None and (B == 1.0).all():
            return None
        return (B if self.weight is None else B * self.weight).astype(self.T.dtype)

    def total(self, layer: HiddenLayer, coefficients: FloatArray) -> GramBlocks:
        """Return the normal equations of (15) as one block."""
        w = self.weights(coefficients)
        shares = [
            Share(0, rows, rows.stop - rows.start, None if w is None else w[rows])
            for rows in row_blocks(len(self), layer.n_hidden)
        ]
        return self._sum(layer, shares, 1)

    def blocks(self, layer: HiddenLayer) -> GramBlocks:
        """Return the normal equations by cost group."""
        if self.terms.n_groups == 1:
            return self.total(layer, np.ones(1))
        shares = []
        for group in range(self.terms.n_groups):
            rows, terms = np.nonzero(self.terms.groups == group)
            w = self.terms.factors[rows, terms]
            if self.weight is not None:
                w = w * self.weight[rows]
            shares += [
                Share(group, rows[part], part.stop - part.start, w[part])
                for part in row_blocks(len(rows), layer.n_hidden)
            ]
        return self._sum(layer, shares, self.terms.n_groups)

    def _sum(self, layer: HiddenLayer, shares: list[Share], n_groups: int) -> GramBlocks:
        """Sum over the rows block by block: H is never held as a whole."""
        X, T = self.X, self.T
        largest = max((share.size for share in shares), default=0)

        def add_up(lane: list[Share]) -> GramSum:
            total = GramSum(largest, layer.n_hidden, T.shape[1], T.dtype, n_groups)
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused later
                for share in lane:
                    layer(X[share.rows], out=total.hidden(share.size))
                    total.add(T[share.rows], share.weights, share.group)
            return total

        total, *others = share_out(add_up, shares, threads=layer.concurrent)
        for other in others:
            total.merge(other)
        return total.blocks()


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([sparse.csr_array(first), sparse.csr_array(second)], format="csr")
    return np.vstack([first, second])


def _group_sums(groups: IntArray, values: FloatArray | None, n_groups: int) -> FloatArray:
    sums = np.bincount(groups, weights=values, minlength=n_groups)
    return np.asarray(sums, dtype=np.float64)
