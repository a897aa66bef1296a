"""The solution of (15) on arrays of any namespace of the array API standard.

The formulas are those of :mod:`ecselm.linalg.ridge`, :mod:`ecselm.linalg.factors` and
:mod:`ecselm.linalg.loo` for weights B >= 0. The standard has no triangular solve and no estimate
of a condition: the first is the namespace's own where it has one, the second is written out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.linalg import LinAlgError

from ecselm.linalg.loo import MAX_LEVERAGE

Array: TypeAlias = Any  # of a namespace xp, which no type describes

CONDITION_STEPS = 5


@dataclass(frozen=True, slots=True)
class CholeskyFactor:
    """``A + shift I = L L'``."""

    lower: Array
    xp: Any
    path: str = "cholesky"

    def solve(self, Y: Array) -> Array:
        """Return X by two substitutions."""
        return _substituted(self.lower.T, _substituted(self.lower, Y, self.xp), self.xp, upper=True)

    def inverse_diagonal(self) -> Array:
        """Return the squared norms of the columns of ``L^-1``."""
        inverse = _substituted(self.lower, _identity(self.lower, self.xp), self.xp)
        return self.xp.sum(inverse * inverse, axis=0)

    def leverages(self, F: Array) -> Array:
        """Return ``f_i' (A + shift I)^-1 f_i`` for every row of F (N, L)."""
        halves = _substituted(self.lower, F.T, self.xp)
        return self.xp.sum(halves * halves, axis=0)

    def inverse_norm(self) -> float:
        """Return an estimate of the 1-norm of the inverse, by Hager's method."""
        xp, n = self.xp, self.lower.shape[0]
        x = xp.full((n, 1), 1.0 / n, dtype=self.lower.dtype, device=self.lower.device)
        columns = xp.arange(n, device=self.lower.device)
        norm = 0.0
        for _ in range(CONDITION_STEPS):
            y = self.solve(x)
            norm = max(norm, float(xp.sum(xp.abs(y))))
            z = self.solve(xp.where(y < 0, -xp.ones_like(y), xp.ones_like(y)))
            steepest = int(xp.argmax(xp.abs(z)))
            if abs(float(z[steepest, 0])) <= float(xp.sum(z * x)):
                break
            x = xp.astype(columns == steepest, x.dtype)[:, None]
        return norm


@dataclass(frozen=True, slots=True)
class SpectralFactor:
    """``A + shift I = V diag(d) V'`` without the directions of A that are rounding errors."""

    values: Array
    vectors: Array
    xp: Any
    path: str = "spectral"

    def solve(self, Y: Array) -> Array:
        """Return X in the kept directions."""
        return self.vectors @ ((self.vectors.T @ Y) / self.values[:, None])

    def inverse_diagonal(self) -> Array:
        """Return the diagonal over the kept directions."""
        return (self.vectors * self.vectors) @ (1.0 / self.values)

    def leverages(self, F: Array) -> Array:
        """Return them over the kept directions."""
        along = F @ self.vectors
        return (along * along) @ (1.0 / self.values)


Factor: TypeAlias = CholeskyFactor | SpectralFactor


def _substituted(L: Array, Y: Array, xp: Any, *, upper: bool = False) -> Array:
    """Return the X of ``L X = Y`` for a triangular L."""
    triangular = getattr(xp.linalg, "solve_triangular", None)
    return xp.linalg.solve(L, Y) if triangular is None else triangular(L, Y, upper=upper)


def _identity(A: Array, xp: Any) -> Array:
    return xp.eye(A.shape[0], dtype=A.dtype, device=A.device)


def factor_shifted(A: Array, shift: float, eps: float, xp: Any) -> Factor:
    """Factorise ``A + shift I`` for a positive semi-definite ``A``.

    By its spectrum where it is singular to working precision. ``eps`` is the relative precision
    of the entries of A, which may be less than its type can hold.
    """
    work = A + shift * _identity(A, xp)
    norm = float(xp.max(xp.sum(xp.abs(work), axis=0)))
    if not np.isfinite(norm):
        raise LinAlgError("the system of (15) is not finite")
    lower = _cholesky(work, xp)
    if lower is not None:
        factor = CholeskyFactor(lower, xp)
        condition = norm * factor.inverse_norm()
        if condition * float(xp.finfo(A.dtype).eps) < 1.0:
            return factor
    return _spectral(A, shift, eps, xp)


def _cholesky(A: Array, xp: Any) -> Array | None:
    """Return the lower factor, None if there is none."""
    try:
        lower = xp.linalg.cholesky(A)
    except Exception as error:  # each namespace has an error of its own, or none
        if not type(error).__name__.endswith("LinAlgError"):
            raise
        return None
    return lower if bool(xp.all(xp.isfinite(lower))) else None


def _spectral(A: Array, shift: float, eps: float, xp: Any) -> SpectralFactor:
    values, vectors = xp.linalg.eigh(A)
    least, largest = float(values[0]), float(values[-1])
    rounding = A.shape[0] * eps * max(largest, 0.0)
    if least < -rounding:
        warnings.warn(
            f"the kernel matrix is not positive semi-definite (its least eigenvalue is "
            f"{least:.2g}): negative directions are omitted",
            stacklevel=2,
        )
    # Eigenvalues ascend. Below the rounding error the data say nothing about A, and the shift
    # decides only if it is larger.
    bound = -rounding if shift > rounding else rounding
    omitted = A.shape[0] - int(xp.sum(xp.astype(values > bound, xp.int64)))
    kept = xp.maximum(values[omitted:], xp.zeros_like(values[omitted:]))
    return SpectralFactor(kept + shift, vectors[:, omitted:], xp)


@dataclass(frozen=True, slots=True)
class Solution:
    """Output weights (L, m), or alpha (N, m) for a kernel, and the factor they came from."""

    beta: Array
    factor: Factor
    is_dual: bool
    C: float

    @property
    def path(self) -> str:
        """Return ``"<primal|dual>-<cholesky|spectral>"``."""
        return f"{'dual' if self.is_dual else 'primal'}-{self.factor.path}"


def weighted_sums(
    parts: Iterable[tuple[Array, Array, Array | None]], wide: Any, xp: Any
) -> tuple[Array, Array]:
    """Return ``H'diag(B)H`` (L, L) and ``H'diag(B)T`` (L, m) over blocks (H, T, B) of rows."""
    G, M = 0.0, 0.0
    for values, T, B in parts:
        H = xp.astype(values, wide)
        weighted = H if B is None else H * xp.astype(B, wide)[:, None]
        G, M = G + weighted.T @ H, M + weighted.T @ xp.astype(T, wide)
    return G, M


def solve_primal(G: Array, M: Array, C: float, eps: float, xp: Any) -> Solution:
    """Return beta of (5) or (15) from sums over rows, ``(I/C + G)^-1 M``."""
    factor = factor_shifted(G, 1.0 / C, eps, xp)
    return Solution(factor.solve(M), factor, is_dual=False, C=C)


def solve_dual(K: Array, T: Array, B: Array | None, C: float, xp: Any) -> Solution:
    """Return alpha of (7) or (15) from the kernel matrix ``K = H H'`` (N, N).

    ``alpha = s (I/C + s K s)^-1 s T`` with ``s = sqrt(B)``, which is symmetric.
    """
    eps = float(xp.finfo(K.dtype).eps)
    T = xp.astype(T, K.dtype)
    if B is None:
        factor = factor_shifted(K, 1.0 / C, eps, xp)
        return Solution(factor.solve(T), factor, is_dual=True, C=C)
    s = xp.sqrt(xp.astype(B, K.dtype))[:, None]
    factor = factor_shifted(K * s * s.T, 1.0 / C, eps, xp)
    return Solution(s * factor.solve(s * T), factor, is_dual=True, C=C)


def leverages(solution: Solution, F: Array | None, B: Array, weight: Array, xp: Any) -> Array:
    """Return the share h (N,) that every row has in its own score, as it leaves one row out.

    Parameters
    ----------
    solution : Solution
    F : array of shape (N, L) or None
        H of the rows; None where the solution is dual, and the rows are those it is of.
    B, weight : array of shape (N,)
        Weights of the rows in (15), and the sample weights that are part of them: a row of
        weight 2 stands for two, of which one is omitted.
    xp : namespace
    """
    if solution.is_dual:
        h = 1.0 - xp.astype(solution.factor.inverse_diagonal(), B.dtype) / solution.C
    else:
        h = B * solution.factor.leverages(F)
    h = h / xp.maximum(weight, xp.ones_like(weight))
    return xp.clip(h, 0.0, min(MAX_LEVERAGE, 1.0 - float(xp.finfo(B.dtype).eps)))
