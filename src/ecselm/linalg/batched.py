"""Eq. (15) for a whole population of costs at once, from the same sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import get_lapack_funcs, qr, svd

from ecselm import _native as compiled
from ecselm._native.calls import LANES, TILE, padded
from ecselm._typing import FloatArray, IntArray
from ecselm.linalg.gram import GramBlocks

# The ratio of the least pivot to the greatest, below which Cholesky is not trusted.
LEAST_PIVOT = 1e-13
BATCH_ENTRIES = 1 << 18  # entries of the matrices that LAPACK gets at a time: 2 MiB


class PopulationSolver(Protocol):
    """Sums over rows by group, solved for any number of candidates."""

    def solve(self, costs: FloatArray, shift: FloatArray) -> FloatArray:
        """Return beta (P, m, n) for costs (P, g) >= 0 and what is added to the diagonal.

        ``shift`` is (P,), 1/C in (15), or (P, n). NaN stands where there is no solution.
        """


@dataclass(frozen=True, slots=True)
class LaneSolver:
    """The compiled path: candidates in the lanes of the processor's vectors."""

    tiles: FloatArray
    shape: tuple[int, int]  # (n, m)
    classes: tuple[IntArray, IntArray] | None = None  # order of rows, starts of right sides

    @classmethod
    def from_sums(cls, matrices: FloatArray, right_sides: FloatArray) -> LaneSolver:
        """Take symmetric matrices (g, n, n) and right sides (g, m, n)."""
        return cls(compiled.tiled(matrices, right_sides), right_sides.shape[:0:-1])

    @classmethod
    def from_classes(cls, K: FloatArray, T: FloatArray) -> LaneSolver:
        """Take K (n, n) and targets (n, m) that are 1 for the class of a row, else -1.

        With rows class by class, one-hot right sides are zero at first, and stay so.
        """
        y = T.argmax(axis=1)
        order = np.argsort(y, kind="stable")
        one_hot = (T[order].T + 1.0) / 2.0
        firsts = np.searchsorted(y[order], np.arange(T.shape[1]))[::TILE]  # they ascend
        tiles = compiled.tiled(K[np.ix_(order, order)][np.newaxis], one_hot[np.newaxis])
        return cls(tiles, T.shape, (order, firsts // TILE * TILE))

    def solve(self, costs: FloatArray, shift: FloatArray) -> FloatArray:
        """Return beta (P, m, n)."""
        beta, pivots = compiled.solve_groups(self.tiles, self.shape, costs, shift, self.classes)
        return trusted(beta, pivots)


@dataclass(frozen=True, slots=True)
class LapackSolver:
    """The same without a compiler."""

    matrices: FloatArray  # (g, n, n)
    right_sides: FloatArray  # (g, m, n)

    def solve(self, costs: FloatArray, shift: FloatArray) -> FloatArray:
        """Return beta (P, m, n)."""
        g, m, n = self.right_sides.shape
        beta = (costs @ self.right_sides.reshape(g, -1)).reshape(len(costs), m, n)
        pivots = np.empty((len(costs), 2))
        step = max(1, BATCH_ENTRIES // (n * n))
        place = np.empty((min(step, len(costs)), n * n))
        for start in range(0, len(costs), step):
            some = slice(start, start + step)
            A = place[: len(beta[some])]
            np.matmul(costs[some], self.matrices.reshape(g, -1), out=A)
            A[:, :: n + 1] += shift[some].reshape(len(A), -1)
            solve_in_place(A.reshape(-1, n, n), beta[some], pivots[some])
        return trusted(beta, pivots)


def population_solver(
    matrices: FloatArray, right_sides: FloatArray, n_candidates: int | None = None
) -> PopulationSolver:
    """Return the faster of the two that is there, for so many candidates or any number.

    Examples
    --------
    >>> import numpy as np
    >>> solver = population_solver(np.array([[[1.0]], [[1.0]]]), np.array([[[1.0]], [[3.0]]]))
    >>> solver.solve(np.array([[1.0, 3.0], [1.0, 1.0]]), np.zeros(2)).ravel()
    array([2.5, 2. ])
    """
    if compiled.is_available() and fills_lanes(n_candidates):
        return LaneSolver.from_sums(matrices, right_sides)
    return LapackSolver(matrices, right_sides)


def kernel_solver(
    K: FloatArray, T: FloatArray, n_candidates: int | None = None
) -> PopulationSolver:
    """Return what solves ``(K + diag(shift)) alpha = T``, for costs of 1."""
    is_coded = T.shape[1] > 2 and bool((np.abs(T) == 1).all() and ((T > 0).sum(axis=1) == 1).all())
    if is_coded and compiled.is_available() and fills_lanes(n_candidates):
        return LaneSolver.from_classes(K, T)
    right_sides = np.ascontiguousarray(T.T)[np.newaxis]
    return population_solver(K[np.newaxis], right_sides, n_candidates)


def fills_lanes(n_candidates: int | None) -> bool:
    """Tell whether so many candidates, or any number, are worth the lanes."""
    return n_candidates is None or n_candidates > LANES // 2


def blocks_solver(blocks: GramBlocks) -> PopulationSolver:
    """Return what solves (15) for costs by the group of the blocks."""
    return population_solver(blocks.grams, np.ascontiguousarray(blocks.moments.swapaxes(1, 2)))


def solve_in_place(A: FloatArray, beta: FloatArray, pivots: FloatArray) -> None:
    """Overwrite right sides (P, m, n) by solutions, and (P, 2) by the extreme pivots."""
    (posv,) = get_lapack_funcs(("posv",), (A,))
    for i in range(len(A)):
        # Transposed, the arrays are in LAPACK's order: nothing is copied.
        if posv(A[i].T, beta[i].T, lower=1, overwrite_a=1, overwrite_b=1)[2]:
            A[i] = np.nan
    diagonals = A.reshape(len(A), -1)[:, :: A.shape[1] + 1]
    np.square(diagonals.min(axis=1), out=pivots[:, 0])
    np.square(diagonals.max(axis=1), out=pivots[:, 1])


def trusted(beta: FloatArray, pivots: FloatArray) -> FloatArray:
    """Return beta (P, m, n) with NaN where the pivots (P, 2) are not to be trusted."""
    beta[~(pivots[:, 0] > LEAST_PIVOT * pivots[:, 1])] = np.nan
    return beta


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of each of P candidates, and by how much its weight changes."""

    rows: IntArray  # (P,)
    d: FloatArray  # (P,), 0 where nothing changes


class RowProducts(Protocol):
    """Rows [h t] whose outer products are summed, with any weights."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (L, m)."""

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
        """Return the matrix (L, L), its lower triangle, and the right side (L, m)."""


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
        """Return the matrix (L, L), its lower triangle, and the right side (L, m)."""
        (L, m), start = self.shape, padded(self.shape[0])
        return sums[:L, :L], sums[start : start + m, :L].T


@dataclass(frozen=True, slots=True)
class BlasProducts:
    """The same without a compiler; sums are (P, L + m, L)."""

    X: FloatArray  # (N, L + m)
    shape: tuple[int, int]  # (L, m)

    @classmethod
    def from_rows(cls, H: FloatArray, T: FloatArray) -> BlasProducts:
        """Lay the rows out."""
        return cls(np.hstack([H, T]), (H.shape[1], T.shape[1]))

    def zeros(self, n_candidates: int) -> FloatArray:
        """Return sums (P, L + m, L) over no rows."""
        return np.zeros((n_candidates, self.X.shape[1], self.shape[0]))

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
                    add(total, (scaled.T @ scaled)[:, : self.shape[0]], out=total)

    def add_one(self, change: RowChange, sums: FloatArray) -> None:
        """Add the outer product of one row of each candidate."""
        for i in np.flatnonzero(change.d):
            row = self.X[change.rows[i]]
            sums[i] += np.outer(change.d[i] * row, row[: self.shape[0]])

    def solve(
        self, sums: FloatArray, shift: FloatArray, change: RowChange | None = None
    ) -> FloatArray:
        """Return beta (P, m, L)."""
        if change is not None:
            sums = sums.copy()
            self.add_one(change, sums)
        L = self.shape[0]
        A, beta = sums[:, :L].copy(), sums[:, L:].copy()
        A.reshape(len(A), -1)[:, :: L + 1] += shift[:, np.newaxis]
        pivots = np.empty((len(A), 2))
        solve_in_place(A, beta, pivots)
        return trusted(beta, pivots)

    def equations(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the matrix (L, L), its lower triangle, and the right side (L, m)."""
        L = self.shape[0]
        return sums[:L], sums[L:].T


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


NEGLIGIBLE = 1e-10  # share of any score that may come from a direction that is omitted
WORTH_IT = 0.8  # share of the units that may remain


def reduced_units(H: FloatArray, strengths: tuple[float, float]) -> FloatArray:
    """Return H (N, L), or rows (N, r) in an orthonormal basis that give the same scores.

    A direction of singular value s brings a share ``q / (1 + q)`` of the targets into the
    scores, with ``q = C B s^2``. It is omitted if that is negligible beside what the
    greatest direction brings, for any C B between the two ``strengths``. Products H H'
    stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0])
    >>> reduced_units(H, (32.0, 32.0)).shape
    (3, 1)
    """
    N, L = H.shape
    weakest, strongest = strengths
    some = H[:: max(1, N // (2 * L))]
    values = svd(some, compute_uv=False, check_finite=False)
    # No subset of rows has a greater singular value, or more rank, than all of them.
    shown = min(1.0, weakest * float(values[0]) ** 2)
    least = np.sqrt(NEGLIGIBLE * shown / strongest)
    if (values > least).sum() > WORTH_IT * L:
        return H
    (R,) = qr(H, mode="r", check_finite=False)
    _, values, directions = svd(R[:L], full_matrices=False, check_finite=False)
    kept = values > least
    if kept.sum() > WORTH_IT * L or not kept.any():
        return H
    return np.ascontiguousarray(H @ directions[kept].T)
