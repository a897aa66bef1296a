"""Eq. (15) for a whole population of costs at once, from the same sums.

Where the compiled path is there, four candidates are factorised side by side; elsewhere
their matrices are assembled in one product and LAPACK factorises them in place, one after
the other. Either way a candidate whose pivots tell that its matrix is numerically singular
is left out: its solution is NaN, and the caller asks a factor that can cope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import get_lapack_funcs

from ecselm import compiled
from ecselm._typing import FloatArray, IntArray
from ecselm.compiled.calls import LANES, TILE
from ecselm.solvers.gram import GramBlocks

# The ratio of the least pivot to the greatest, below which Cholesky is not trusted.
LEAST_PIVOT = 1e-13
ASSEMBLED = 1 << 18  # entries of the matrices that LAPACK gets at a time: 2 MiB


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
        step = max(1, ASSEMBLED // (n * n))
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
