"""Weighted ridge regression: primal or dual by size (paper, eqs. 3, 5, 7 and 15)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular

from ecselm._threads import blas_threads
from ecselm._typing import FloatArray
from ecselm.linalg.factors import (
    CholeskyFactor,
    Factor,
    SpectralFactor,
    factor_indefinite,
    factor_shifted,
)
from ecselm.linalg.gram import GramBlocks

EXACT_ORDER = 1024  # up to here a trace is exact
N_SIGNS = 64


@dataclass(frozen=True, slots=True)
class DualSolution:
    """alpha (N, m), where beta = H' alpha, with the factor it came from."""

    alpha: FloatArray
    factor: Factor


def solve_dual(K: FloatArray, T: FloatArray, B: FloatArray | None, C: float) -> DualSolution:
    """Solve eq. (15) for alpha, given the kernel matrix ``K = H H'`` (N, N).

    The printed matrix ``I/C + diag(B) K`` is not symmetric. With ``s = sqrt(|B|)``
    and ``e`` the signs of B, ``alpha = s (diag(e)/C + s K s)^-1 s T`` is equal and
    symmetric, allows B_i = 0, and is positive definite whenever B >= 0.

    Parameters
    ----------
    K : array of shape (N, N)
        Not modified.
    T : array of shape (N, m)
    B : array of shape (N,) or None
        None stands for B = 1, eq. (7).
    C : float

    Examples
    --------
    >>> import numpy as np
    >>> solve_dual(np.eye(2), np.array([[2.0], [4.0]]), None, C=1.0).alpha.ravel()
    array([1., 2.])
    """
    if B is None:
        factor: Factor = factor_shifted(K, 1.0 / C)
        return DualSolution(factor.solve(T), factor)
    s = np.sqrt(np.abs(B)).astype(K.dtype)[:, np.newaxis]
    scaled = K * s
    scaled *= s.T
    if (B < 0).any():
        factor = factor_indefinite(scaled, np.where(B < 0, -1.0, 1.0) / C)
    else:
        factor = factor_shifted(scaled, 1.0 / C)
    return DualSolution(s * factor.solve(s * T), factor)


@dataclass(frozen=True, slots=True)
class Solution:
    """Output weights and what a calibration needs to know of them.

    ``residual`` is ``sum_i B_i ||t_i - h_i beta||^2`` per output.
    """

    beta: FloatArray  # (L, m), or alpha (N, m) for a kernel
    factor: Factor
    is_dual: bool
    residual: FloatArray  # (m,)
    C: float

    @property
    def path(self) -> str:
        """Return ``"<primal|dual>-<cholesky|spectral|indefinite>"``."""
        return f"{'dual' if self.is_dual else 'primal'}-{self.factor.path}"

    def degrees(self) -> float:
        """Return the trace of the matrix that maps T to the fitted values.

        For large systems it is estimated from random signs, to well under one per cent:
        an exact trace costs as much as the solution.
        """
        order = len(self.factor)
        if order <= EXACT_ORDER:
            trace = self.factor.inverse_diagonal().sum()
        else:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], (order, N_SIGNS))
            with blas_threads(order):
                trace = np.einsum("ij,ij->", signs, self.factor.solve(signs)) / N_SIGNS
        return max(0.0, self.factor.rank - float(trace) / self.C)


def primal_solution(total: GramBlocks, C: float, *, signed: bool = False) -> Solution:
    """Solve a single block of normal equations, ``signed`` if a weight was negative."""
    with blas_threads(total.grams.shape[1]):
        factor = total.factor(C, signed)
        beta = factor.solve(total.moments[0])
        return Solution(
            beta=beta,
            factor=factor,
            is_dual=False,
            residual=_primal_residual(total, beta, C),
            C=C,
        )


def dual_solution(K: FloatArray, T: FloatArray, B: FloatArray | None, C: float) -> Solution:
    """Solve for alpha; since ``alpha_i = C B_i xi_i`` (14) the residual comes free."""
    with blas_threads(len(K)):
        dual = solve_dual(K, T, B, C)
    alpha = np.asarray(dual.alpha, dtype=np.float64) / C
    xi = alpha if B is None else alpha / np.sqrt(np.where(B == 0, 1.0, np.abs(B)))[:, np.newaxis]
    return Solution(
        beta=dual.alpha,
        factor=dual.factor,
        is_dual=True,
        residual=np.einsum("ij,ij->j", xi, xi),
        C=C,
    )


def solve_weighted(H: FloatArray, T: FloatArray, B: FloatArray | None, C: float) -> Solution:
    """Return beta of eq. (15), or of eq. (5) for ``B=None``.

    ``beta = (I/C + H'diag(B)H)^-1 H'diag(B)T`` for N >= L, and the equal
    ``H'(I/C + diag(B)HH')^-1 diag(B)T`` for N < L.

    Parameters
    ----------
    H : array of shape (N, L)
        C-ordered, float32 or float64; not modified.
    T : array of shape (N, m)
    B : array of shape (N,) or None
        May be negative, as in the paper: then the system is indefinite and the
        result a saddle point, said in ``path``.
    C : float

    Examples
    --------
    >>> import numpy as np
    >>> solution = solve_weighted(np.eye(2), np.array([[2.0], [4.0]]), None, C=1.0)
    >>> solution.beta.ravel(), solution.path
    (array([1., 2.]), 'primal-cholesky')
    """
    if len(H) < H.shape[1]:
        # In float32 the rounding of H H' would outweigh I/C; these systems are small.
        H, T = H.astype(np.float64, copy=False), T.astype(np.float64, copy=False)
        with blas_threads(len(H)):
            solution = dual_solution(H @ H.T, T, B, C)
            beta = H.T @ solution.beta
        return replace(solution, beta=beta)
    if B is not None and (B < 0).any():
        return _indefinite_solution(H, T, B, C)
    return primal_solution(GramBlocks.from_rows(H, T, B), C)


def _indefinite_solution(H: FloatArray, T: FloatArray, B: FloatArray, C: float) -> Solution:
    """Add the rows of B > 0 and subtract those of B < 0."""
    parts = [GramBlocks.from_rows(H, T, np.maximum(sign * B, 0.0)) for sign in (1.0, -1.0)]
    difference = GramBlocks.stack(parts).weighted(np.array([1.0, -1.0]))
    return primal_solution(difference, C, signed=True)


def _primal_residual(total: GramBlocks, beta: FloatArray, C: float) -> FloatArray:
    """Return ``t't - beta'H't - ||beta||^2/C``, what (15) leaves of the squares."""
    fitted = np.einsum("ij,ij->j", beta, total.moments[0]) + (beta**2).sum(axis=0) / C
    return np.maximum(total.squares[0] - fitted, 0.0)


def minimum_norm_solution(H: FloatArray, T: FloatArray, w: FloatArray | None) -> Solution:
    """Return ``beta = pinv(sqrt(w) H) sqrt(w) T``.

    The normal equations would square the condition of H, and with nothing added to them
    lose half of its digits: a layer of few inputs has hardly more than that. So the rows
    are first turned into a triangle, ``[sqrt(w) H, sqrt(w) T] = Q R``, and then H's part
    of it is decomposed into its singular directions, all in float64. Directions below
    ``eps^(3/4)`` of the largest are omitted, with the eps of H's own type: the weights
    they ask for are so large that of a score's digits less than a quarter would be right.
    A triangle that is far from having any is solved by substitution, to the same digits.

    Parameters
    ----------
    H : array of shape (N, L)
        Float32 or float64; not modified.
    T : array of shape (N, m)
    w : array of shape (N,) or None
        Weights >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 1.0], [2.0, 2.0]])
    >>> minimum_norm_solution(H, np.array([[2.0], [4.0]]), None).beta.ravel().round(12)
    array([1., 1.])
    """
    L, least = H.shape[1], float(np.finfo(H.dtype).eps) ** 0.75
    rows = np.hstack([H, T]).astype(np.float64, copy=False)
    if w is not None:
        rows *= np.sqrt(w, dtype=np.float64)[:, np.newaxis]
    with blas_threads(L):
        R = np.asarray(np.linalg.qr(rows, mode="r"))
        if _is_regular(R[:L, :L], least):
            beta = solve_triangular(R[:L, :L], R[:L, L:], check_finite=False)
            factor: Factor = CholeskyFactor(np.asfortranarray(R[:L, :L].T))
        else:
            U, s, Vt = np.linalg.svd(R[:L, :L], full_matrices=False)
            kept = s > least * s[0]
            U, s, V = U[:, kept], s[kept], Vt[kept].T
            beta = V @ ((U.T @ R[:L, L:]) / s[:, np.newaxis])  # (3)
            factor = SpectralFactor(s**2, V)
        left = R[:, L:] - R[:, :L] @ beta
    return Solution(
        beta=beta,
        factor=factor,
        is_dual=False,
        residual=np.einsum("ij,ij->j", left, left),
        C=np.inf,
    )


def _is_regular(R: FloatArray, least: float) -> bool:
    """Tell whether all singular values of a triangle are far above ``least`` of the largest.

    Its condition in the 2-norm is at most L times that in the 1-norm, which LAPACK estimates
    to a small factor.
    """
    L = R.shape[1]
    if len(R) < L or not R.diagonal().all():
        return False
    (trcon,) = get_lapack_funcs(("trcon",), (R,))
    return bool(trcon(R)[0] > 100.0 * L * least)
