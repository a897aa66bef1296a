"""Factors of the symmetric matrix ``A + D`` of eq. (15), by what it is.

Positive definite: Cholesky. Positive definite on paper but numerically singular,
as happens for a huge C: the spectrum, without rounding errors. Indefinite, as for the
paper's negative costs: Bunch-Kaufman. Every factor solves and says its ``path``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, eigh, get_blas_funcs, get_lapack_funcs

from ecselm import _native as compiled
from ecselm._typing import FloatArray

COMPILED_ORDER = 512  # up to here the inverse of a factor stays in the cache
SOLVED_COLUMNS = 64  # of a block of a substitution
SOLVED_ROWS = 512  # that stay in the cache


class Factor(Protocol):
    """A factorised symmetric matrix."""

    @property
    def path(self) -> str:
        """Return "cholesky", "spectral" or "indefinite"."""

    @property
    def rank(self) -> int:
        """Return the number of directions that take part in a solution."""

    def __len__(self) -> int:
        """Return the order of the matrix."""

    def solve(self, Y: FloatArray) -> FloatArray:
        """Return the solution X of ``(A + shift) X = Y``."""

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of the inverse."""

    def leverages(self, F: FloatArray) -> FloatArray:
        """Return ``f_i' (A + shift)^-1 f_i`` for every row of F (N, L)."""


@dataclass(frozen=True, slots=True)
class CholeskyFactor:
    """``A + shift = L L'``."""

    lower: FloatArray
    path: str = "cholesky"

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def rank(self) -> int:
        """Return the number of directions."""
        return len(self.lower)

    def solve(self, Y: FloatArray) -> FloatArray:
        """Return X by two triangular solves."""
        (potrs,) = get_lapack_funcs(("potrs",), (self.lower, Y))
        X, _ = potrs(self.lower, Y, lower=1)
        return np.asarray(X)

    def inverse_diagonal(self) -> FloatArray:
        """Return the squared norms of the columns of ``L^-1``."""
        (trtri,) = get_lapack_funcs(("trtri",), (self.lower,))
        inverse, _ = trtri(self.lower, lower=1)
        return np.einsum("ij,ij->j", inverse, inverse, dtype=np.float64)

    def leverages(self, F: FloatArray) -> FloatArray:
        """Return the squared norms of the rows of ``F L^-T``: half of a solution.

        The C library multiplies by the inverse of L, which keeps as many digits as a
        substitution, and writes no half solution. Otherwise substitution goes by blocks of
        columns, of which all but the diagonal blocks are products: these take half the time of
        LAPACK's.
        """
        (trtri,) = get_lapack_funcs(("trtri",), (self.lower,))
        if self.lower.dtype == np.float64 and len(self) <= COMPILED_ORDER and compiled.is_wide():
            return compiled.squared_norms(F, trtri(self.lower, lower=1)[0].T)
        norms = np.zeros(len(F))
        blocks = [slice(i, i + SOLVED_COLUMNS) for i in range(0, len(self), SOLVED_COLUMNS)]
        inverses = [trtri(self.lower[own, own], lower=1)[0].T for own in blocks]
        for start in range(0, len(F), SOLVED_ROWS):
            rows = slice(start, start + SOLVED_ROWS)
            halves = np.array(F[rows], dtype=np.result_type(F, self.lower))
            for own, inverse in zip(blocks, inverses, strict=True):
                before = slice(0, own.start)
                halves[:, own] -= halves[:, before] @ self.lower[own, before].T
                halves[:, own] = halves[:, own] @ inverse
            np.einsum("ij,ij->i", halves, halves, out=norms[rows], dtype=np.float64)
        return norms


@dataclass(frozen=True, slots=True)
class SpectralFactor:
    """``A + shift = V diag(d) V'`` without the directions of A that are rounding errors.

    Without them the solution for C -> infinity is the minimum norm solution, eq. (3).
    """

    values: FloatArray
    vectors: FloatArray
    path: str = "spectral"

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def rank(self) -> int:
        """Return the number of directions."""
        return len(self.values)

    def solve(self, Y: FloatArray) -> FloatArray:
        """Return X in the kept directions."""
        return self.vectors @ ((self.vectors.T @ Y) / self.values[:, np.newaxis])

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal over the kept directions."""
        return np.einsum("ij,ij,j->i", self.vectors, self.vectors, 1.0 / self.values)

    def leverages(self, F: FloatArray) -> FloatArray:
        """Return them over the kept directions."""
        return (F @ self.vectors) ** 2 @ (1.0 / self.values)


@dataclass(frozen=True, slots=True)
class IndefiniteFactor:
    """``A + shift = L D L'`` with 1 x 1 and 2 x 2 blocks in D (Bunch-Kaufman)."""

    factor: FloatArray
    pivots: FloatArray
    path: str = "indefinite"

    def __len__(self) -> int:
        return len(self.factor)

    @property
    def rank(self) -> int:
        """Return the number of directions."""
        return len(self.factor)

    def solve(self, Y: FloatArray) -> FloatArray:
        """Return X, a saddle point of (12) rather than a minimum."""
        (sytrs,) = get_lapack_funcs(("sytrs",), (self.factor, Y))
        X, _ = sytrs(self.factor, self.pivots, Y, lower=1)
        return np.asarray(X)

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of the inverse, solved for the identity."""
        return self.solve(np.eye(len(self.factor), dtype=self.factor.dtype)).diagonal()

    def leverages(self, F: FloatArray) -> FloatArray:
        """Return them, of any sign, from a whole solution."""
        return np.einsum("il,li->i", F, self.solve(F.T))


def factor_shifted(
    A: FloatArray, shift: float, eps: float | None = None
) -> CholeskyFactor | SpectralFactor:
    """Factorise ``A + shift I`` for a positive semi-definite ``A``.

    Only the lower triangle of ``A`` is read, and nothing is written to it. ``eps`` is the
    relative precision of its entries, if that is less than its type can hold.

    Examples
    --------
    >>> import numpy as np
    >>> factor = factor_shifted(np.eye(2), 1.0)
    >>> factor.path, factor.solve(np.array([[2.0], [4.0]])).ravel()
    ('cholesky', array([1., 2.]))
    """
    potrf, pocon = get_lapack_funcs(("potrf", "pocon"), (A,))
    work = np.array(A, order="F")
    work.flat[:: len(A) + 1] += shift
    norm = _one_norm(work)
    if not np.isfinite(norm):
        raise LinAlgError("the system of (15) is not finite")
    lower, info = potrf(work, lower=1, overwrite_a=1, clean=1)
    if info == 0:
        rcond, _ = pocon(lower, norm, uplo="L")
        if rcond > np.finfo(A.dtype).eps:
            return CholeskyFactor(lower)
    return _spectral(A, shift, float(np.finfo(A.dtype).eps) if eps is None else eps)


def _spectral(A: FloatArray, shift: float, eps: float) -> SpectralFactor:
    values, vectors = eigh(A.astype(np.float64, copy=False), lower=True)
    rounding = len(A) * eps * max(float(values[-1]), 0.0)
    if values[0] < -rounding:
        warnings.warn(
            f"the kernel matrix is not positive semi-definite (its least eigenvalue is "
            f"{values[0]:.2g}): negative directions are omitted",
            stacklevel=2,
        )
    # Above the rounding error the shift decides; below it the data say nothing about A.
    kept = values > -rounding if shift > rounding else values > rounding
    return SpectralFactor(np.maximum(values[kept], 0.0) + shift, vectors[:, kept])


def factor_indefinite(A: FloatArray, shift: FloatArray | float) -> IndefiniteFactor:
    """Factorise ``A + diag(shift)`` for a symmetric ``A`` of any signs.

    Raises
    ------
    LinAlgError
        If the matrix is singular to working precision (condition above 1e12 in
        float64), which for negative costs happens on whole surfaces of B.
    """
    sytrf, sytrf_lwork, sycon = get_lapack_funcs(("sytrf", "sytrf_lwork", "sycon"), (A,))
    work = np.array(A, order="F")
    work.flat[:: len(A) + 1] += shift
    norm = _one_norm(work)
    # Without room for blocks LAPACK factorises column by column, which takes four times as long.
    size, _ = sytrf_lwork(len(A), lower=1)
    factor, pivots, info = sytrf(work, lwork=int(size), lower=1, overwrite_a=1)
    rcond = sycon(factor, pivots, norm, lower=1)[0] if info == 0 and norm > 0 else 0.0
    if rcond < 4096 * np.finfo(A.dtype).eps:
        raise LinAlgError(f"the system of (15) is singular: reciprocal condition {rcond:.1e}")
    return IndefiniteFactor(factor, pivots)


def _one_norm(A: FloatArray) -> float:
    """Return the 1-norm of a symmetric matrix of which the lower triangle is filled."""
    if not len(A):
        return 0.0
    (symv,) = get_blas_funcs(("symv",), (A,))
    ones = np.ones(len(A), dtype=A.dtype)
    return float(symv(1.0, np.abs(A), ones, lower=1).max())
