"""ITML: the metric nearest to a given one that keeps to bounds on distances."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.blas import dgemm, dger, dsymm, dsyrk
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, StrOptions
from ecselm._threads import one_blas_thread
from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.paper.pairs._base import (
    MetricLearner,
    NegativeForm,
    differences,
    in_callers_order,
    quadratic,
)
from ecselm.paper.pairs.kissme import precision

BLOCK = 64  # pairs: products are long enough for BLAS, and G stays in the cache


@dataclass(frozen=True, slots=True)
class Bounds:
    """Constraints ``D'M D <= upper`` of like pairs and ``>= lower`` of unlike ones."""

    D: FloatArray  # (P, d)
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
    """Some pairs with views of their bounds and multipliers, which projections overwrite."""

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
            chosen = sign * beta > 0.0
            if chosen.any():
                V = dgemm(1.0, MD, C[:, chosen])
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
    side, blocks = bounds.sides(), [slice(t, t + BLOCK) for t in range(0, len(xi), BLOCK)]
    return [
        _Block(np.asfortranarray(bounds.D[rows].T), side[rows], xi[rows], lam[rows])
        for rows in blocks
    ]


class ITML(MetricLearner):
    """Information-theoretic metric learning.

    M has the least LogDet divergence from ``M_0`` such that like pairs are at most
    ``u`` apart and unlike ones at least ``l``, in ``(x - z)' M (x - z)``, with slack on
    the bounds (Davis et al., ICML 2007). The projections share slack by
    ``slack / (slack + 1)``, which solves that problem for every ``slack``; the factor 1/2
    that the article prints is this one for ``slack=1``. Pairs of equal vectors have no
    projection and are dropped. O(P d^2) per sweep; the larger ``slack`` and the less
    equal the scales of the features, the more sweeps.

    Parameters
    ----------
    slack : float, default=1.0
        The larger, the more exactly the bounds are kept (gamma of the article).
    bounds : (float, float) or None, default=None
        ``(u, l)`` on squared distances. None takes the 5th and the 95th percentile of
        those of all training pairs under ``M_0``; the authors' code reads them off a
        histogram of 100 random pairs.
    prior : {"identity", "covariance"} or array of shape (d, d), default="identity"
        ``M_0``; ``"covariance"`` is the inverse of the mean of ``(x - z)(x - z)'`` over
        all training pairs.
    tol : float, default=1e-3
        The sweeps end when the multipliers change by less, relatively.
    max_iter : int, default=500
        Most sweeps; it warns when they do not suffice.

    Attributes
    ----------
    similarity_ : NegativeForm
        Its ``matrix`` is M (d, d).
    bounds_ : Bounds
        Differences and bounds, one per pair in the order of ``fit``.
    solution_ : LogDetSolution
        Its ``multipliers`` and ``bounds`` are one per pair in the order of ``fit``, with 0 and
        the bound itself for pairs of equal vectors.
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import ITML
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(ITML().fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "slack": [Interval(Real, 0, None, closed="neither")],
        "bounds": [tuple, list, None],
        "prior": [StrOptions({"identity", "covariance"}), "array-like"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    bounds_: Bounds
    solution_: LogDetSolution

    def __init__(
        self,
        slack: float = 1.0,
        *,
        bounds: tuple[float, float] | None = None,
        prior: Any = "identity",
        tol: float = 1e-3,
        max_iter: int = 500,
    ) -> None:
        self.slack = slack
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, pairs: FloatArray, same: BoolArray) -> NegativeForm:
        D = differences(pairs)
        differ = D.any(axis=1)
        M_0 = self._prior(D[differ])
        upper, lower = self._bounds(quadratic(D[differ], M_0))
        used = Bounds(D[differ], same[differ], upper, lower)
        solution = project_cyclically(M_0, used, self.slack, self.tol, self.max_iter)
        if not solution.converged:
            warnings.warn(
                f"ITML did not converge in max_iter={self.max_iter} sweeps",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.bounds_ = Bounds(D, same, upper, lower)
        xi, multipliers = self.bounds_.values(), np.zeros(len(D))
        xi[differ], multipliers[differ] = solution.bounds, solution.multipliers
        self.solution_ = replace(solution, bounds=xi, multipliers=multipliers)
        return NegativeForm(solution.matrix)

    def _number_pairs(self, order: IntArray) -> None:
        known, found = self.bounds_, self.solution_
        self.bounds_ = replace(
            known, D=in_callers_order(known.D, order), same=in_callers_order(known.same, order)
        )
        self.solution_ = replace(
            found,
            multipliers=in_callers_order(found.multipliers, order),
            bounds=in_callers_order(found.bounds, order),
        )

    def _prior(self, D: FloatArray) -> FloatArray:
        d = D.shape[1]
        if isinstance(self.prior, str):
            return np.eye(d) if self.prior == "identity" else precision(D, 1e-6)
        M_0 = np.asarray(self.prior, dtype=np.float64)
        if M_0.shape != (d, d) or not np.allclose(M_0, M_0.T):
            raise ValueError(f"prior must be symmetric of shape {(d, d)}, got {M_0.shape}")
        if np.linalg.eigvalsh(M_0)[0] <= 0.0:
            raise ValueError("prior must be positive definite, got an eigenvalue <= 0")
        return M_0

    def _bounds(self, distances: FloatArray) -> tuple[float, float]:
        if self.bounds is None:
            if not len(distances):
                raise ValueError("pairs must hold some vectors that differ, got none")
            upper, lower = np.percentile(distances, [5, 95])
            return float(upper), float(lower)
        if len(self.bounds) != 2 or not all(_is_bound(bound) for bound in self.bounds):
            raise ValueError(f"bounds must be two finite numbers > 0, got {self.bounds!r}")
        return float(self.bounds[0]), float(self.bounds[1])


def _is_bound(bound: Any) -> bool:
    return isinstance(bound, Real) and 0 < float(bound) < np.inf
