"""Sums of (15) for costs by row, brought up to date where costs have changed.

A search changes some costs of a candidate and keeps the others. Its sums ``H'diag(B)H``
and ``H'diag(B)T`` are those of its parent plus the outer products of the rows whose costs
are new: half of the work on average, and next to none if one cost is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ecselm import compiled
from ecselm._typing import FloatArray, IntArray
from ecselm.compiled.calls import LANES, padded
from ecselm.solvers.population import solve_in_place, trusted


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of each of P candidates, and by how much its weight changes."""

    rows: IntArray  # (P,)
    d: FloatArray  # (P,), 0 where nothing changes


class RowProducts(Protocol):
    """Rows [h t] whose outer products are summed, with any weights."""

    def zeros(self, n_candidates: int) -> FloatArray:
        """Return sums (P, ...) over no rows."""

    def add(self, d: FloatArray, sums: FloatArray) -> None:
        """Add ``sum_i d_i [h_i t_i]'h_i`` to the sums of every candidate, for d (P, N)."""

    def add_one(self, change: RowChange, sums: FloatArray) -> None:
        """Add the outer product of one row of each candidate."""

    def solve(
        self, sums: FloatArray, shift: FloatArray, change: RowChange | None = None
    ) -> FloatArray:
        """Return beta (P, m, L) of sums, NaN where they are not positive definite.

        ``change`` is what the sums lack yet; they are not written to.
        """

    def equations(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the symmetric matrix (L, L) and the right side (L, m) of one candidate."""


@dataclass(frozen=True, slots=True)
class LaneProducts:
    """The compiled path; sums are lower triangles, padded."""

    X: FloatArray  # (N, height)
    shape: tuple[int, int]  # (L, m)

    @classmethod
    def from_rows(cls, H: FloatArray, T: FloatArray) -> LaneProducts:
        """Lay the rows out."""
        (N, L), m = H.shape, T.shape[1]
        X = np.zeros((N, padded(L) + padded(m)))
        X[:, :L], X[:, padded(L) : padded(L) + m] = H, T
        return cls(X, (L, m))

    def zeros(self, n_candidates: int) -> FloatArray:
        """Return sums (P, height, width) over no rows."""
        return np.zeros((n_candidates, self.X.shape[1], padded(self.shape[0])))

    def add(self, d: FloatArray, sums: FloatArray) -> None:
        """Add the outer products of rows with ``d != 0``."""
        compiled.add_products(self.X, d, sums)

    def add_one(self, change: RowChange, sums: FloatArray) -> None:
        """Add the outer product of one row of each candidate."""
        compiled.add_rows(self.X, change.rows, change.d, sums)

    def solve(
        self, sums: FloatArray, shift: FloatArray, change: RowChange | None = None
    ) -> FloatArray:
        """Return beta (P, m, L)."""
        P, lacking = len(sums), -len(sums) % LANES
        if lacking:  # the last lanes repeat the last candidate
            every = np.minimum(np.arange(P + lacking), P - 1)
            sums, shift = sums[every], shift[every]
            change = None if change is None else RowChange(change.rows[every], change.d[every])
        one = () if change is None else (self.X[change.rows], change.d)
        beta, pivots = compiled.solve_matrices(sums, self.shape, shift, *one)
        return trusted(beta[:P], pivots[:P])

    def equations(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the symmetric matrix (L, L) and the right side (L, m)."""
        L, m = self.shape
        lower, start = np.tril(sums[:L, :L]), padded(L)
        return lower + np.tril(lower, -1).T, sums[start : start + m, :L].T


@dataclass(frozen=True, slots=True)
class BlasProducts:
    """The same without a compiler; sums are (P, L + m, L)."""

    X: FloatArray  # (N, L + m)
    L: int

    @classmethod
    def from_rows(cls, H: FloatArray, T: FloatArray) -> BlasProducts:
        """Lay the rows out."""
        return cls(np.hstack([H, T]), H.shape[1])

    def zeros(self, n_candidates: int) -> FloatArray:
        """Return sums (P, L + m, L) over no rows."""
        return np.zeros((n_candidates, self.X.shape[1], self.L))

    def add(self, d: FloatArray, sums: FloatArray) -> None:
        """Add the outer products of rows with ``d != 0``, by sign.

        A product of a matrix with its own transpose takes BLAS half the time of another.
        """
        for weights, total in zip(d, sums, strict=True):
            for sign, add in ((1.0, np.add), (-1.0, np.subtract)):
                rows = np.flatnonzero(sign * weights > 0)
                if len(rows):
                    scaled = self.X[rows]
                    scaled *= np.sqrt(sign * weights[rows])[:, np.newaxis]
                    add(total, (scaled.T @ scaled)[:, : self.L], out=total)

    def add_one(self, change: RowChange, sums: FloatArray) -> None:
        """Add the outer product of one row of each candidate."""
        for i in np.flatnonzero(change.d):
            row = self.X[change.rows[i]]
            sums[i] += np.outer(change.d[i] * row, row[: self.L])

    def solve(
        self, sums: FloatArray, shift: FloatArray, change: RowChange | None = None
    ) -> FloatArray:
        """Return beta (P, m, L)."""
        if change is not None:
            sums = sums.copy()
            self.add_one(change, sums)
        A, beta = sums[:, : self.L].copy(), sums[:, self.L :].copy()
        A.reshape(len(A), -1)[:, :: self.L + 1] += shift[:, np.newaxis]
        pivots = np.empty((len(A), 2))
        solve_in_place(A, beta, pivots)
        return trusted(beta, pivots)

    def equations(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the symmetric matrix (L, L) and the right side (L, m)."""
        return sums[: self.L], sums[self.L :].T


def row_products(H: FloatArray, T: FloatArray) -> RowProducts:
    """Return the faster of the two that is there.

    Examples
    --------
    >>> import numpy as np
    >>> rows = row_products(np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]]))
    >>> sums = rows.zeros(1)
    >>> rows.add(np.array([[1.0, 3.0]]), sums)
    >>> rows.solve(sums, np.zeros(1))
    array([[[2.5]]])
    """
    kind = LaneProducts if compiled.is_available() else BlasProducts
    return kind.from_rows(H, T)
