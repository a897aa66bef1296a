"""Cyclic projections of ITML, a block of pairs at a time.

A projection on the bound of one pair adds a multiple of ``(M D_t)(M D_t)'`` to M. Those of a
block of pairs need M through ``M D`` (d, b) and ``G = D'M D`` (b, b) alone, so they go
on in b dimensions, and M follows at the end of the block by products of matrices:
the same iterates, up to rounding, without reading all of M for every pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dgemm, dger, dsymm, dsyrk

from ecselm._threads import one_blas_thread
from ecselm._typing import BoolArray, FloatArray

BLOCK = 64  # pairs: products are long enough for BLAS, and G stays in the cache


@dataclass(frozen=True, slots=True)
class Bounds:
    """Constraints ``D'M D <= upper`` of like pairs and ``>= lower`` of unlike ones."""

    D: FloatArray  # (P, d), none of them 0
    same: BoolArray
    upper: float
    lower: float

    def sides(self) -> FloatArray:
        """Return +1 for an upper bound, -1 for a lower one (P,)."""
        return np.where(self.same, 1.0, -1.0)

    def values(self) -> FloatArray:
        """Return the bound of every pair (P,)."""
        return np.where(self.same, self.upper, self.lower)


@dataclass(frozen=True, slots=True)
class LogDetSolution:
    """The metric, its multipliers and the bounds with their slack."""

    matrix: FloatArray
    multipliers: FloatArray  # lambda (P,)
    bounds: FloatArray  # xi (P,)
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """Some pairs with views of what is known of them, which projections overwrite."""

    DT: FloatArray  # (d, b), in Fortran's order
    side: FloatArray
    xi: FloatArray
    lam: FloatArray

    def project(self, M: FloatArray, slack: float) -> FloatArray:
        """Return M after a projection for every pair; overwrites its upper triangle."""
        b = self.DT.shape[1]
        MD = dsymm(1.0, M, self.DT)
        # Column t is to be [G e_t; c_t] with M_now D_t = MD c_t, for M as it is then.
        W = np.asfortranarray(np.vstack([dgemm(1.0, self.DT, MD, trans_a=1), np.eye(b)]))
        beta = self._reduced(W, slack)
        C = W[b:] * np.sqrt(np.abs(beta))
        for sign in (1.0, -1.0):
            held = sign * beta > 0.0
            if held.any():
                V = dgemm(1.0, MD, C[:, held])
                M = dsyrk(sign, V, beta=1.0, c=M, overwrite_c=1)
        return M

    def _reduced(self, W: FloatArray, slack: float) -> FloatArray:
        """Return the factors beta (b,) of all projections; overwrites ``W``, xi and lambda."""
        b, share = len(self.lam), slack / (slack + 1.0)
        beta = np.zeros(b)
        side, xi, lam = self.side.tolist(), self.xi.tolist(), self.lam.tolist()
        for t in range(b):
            p, delta = W.item(t, t), side[t]
            alpha = min(lam[t], delta * share * (1.0 / p - 1.0 / xi[t]))
            if alpha == 0.0:
                continue
            beta[t] = delta * alpha / (1.0 - delta * alpha * p)
            xi[t] /= 1.0 + delta * alpha * xi[t] / slack
            lam[t] -= alpha
            if t + 1 < b:
                w = W[:, t]
                dger(beta[t], w, w[t + 1 : b], a=W[:, t + 1 :], overwrite_a=1)
        self.xi[:], self.lam[:] = xi, lam
        return beta


def project_cyclically(
    M_0: FloatArray, bounds: Bounds, slack: float, tol: float, max_iter: int
) -> LogDetSolution:
    """Minimise ``LogDet(M, M_0) + slack LogDet(diag xi, diag xi_0)`` under the bounds.

    Bregman projections, one pair after the other, until the multipliers change by less
    than ``tol`` in a sweep. Only the upper triangle of M is kept while it goes. The
    products are too short for threads of BLAS to pay.
    """
    M: FloatArray = np.array(M_0, dtype=np.float64, order="F")
    xi = bounds.values()
    lam = np.zeros(len(xi))
    blocks = _blocks(bounds, xi, lam)
    change, sweep = np.inf, 0
    with one_blas_thread():
        while change > tol and sweep < max_iter:
            before, sweep = lam.copy(), sweep + 1
            for block in blocks:
                M = block.project(M, slack)
            change = np.abs(lam - before).sum() / max(lam.sum() + before.sum(), 1e-300)
    M = np.triu(M) + np.triu(M, 1).T
    return LogDetSolution(M, lam, xi, sweep, bool(change <= tol))


def _blocks(bounds: Bounds, xi: FloatArray, lam: FloatArray) -> list[_Block]:
    side, cuts = bounds.sides(), [slice(t, t + BLOCK) for t in range(0, len(xi), BLOCK)]
    return [
        _Block(np.asfortranarray(bounds.D[cut].T), side[cut], xi[cut], lam[cut]) for cut in cuts
    ]
