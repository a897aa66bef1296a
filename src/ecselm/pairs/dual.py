"""The dual problem of Sub-SML, by accelerated projected gradients.

With ``v = alpha y`` the scores are affine in v, ``f(v) = f_0 + K v``, where K is a kernel
between pairs that is never formed. So one pass over the pairs per step gives the
gradient, both objectives and, by the same combination, the gradient at the extrapolated
point.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ecselm._typing import FloatArray
from ecselm.pairs.products import outer_sum, quadratic


@dataclass(frozen=True, slots=True)
class PairForms:
    """Scores ``f = x'G z - D'M D`` of pairs as a function of ``v``.

    ``M(v) = I - 1/gamma sum v D D'`` and ``G(v) = I + 1/beta sum v (x z' + z x')/2``. With
    ``S = x + z``, ``x z' + z x' = (S S' - D D')/2``: squares only.
    """

    S: FloatArray  # (P, d)
    D: FloatArray  # (P, d)
    gamma: float
    beta: float

    @classmethod
    def from_pairs(cls, X: FloatArray, gamma: float, beta: float) -> PairForms:
        """Take pairs (P, 2, d) in the intra-personal space."""
        return cls(X[:, 0] + X[:, 1], X[:, 0] - X[:, 1], gamma, beta)

    def offsets(self) -> FloatArray:
        """Return f_0 (P,), the scores with M = G = I."""
        s, d = (np.einsum("ij,ij->i", part, part) for part in (self.S, self.D))
        return 0.25 * (s - d) - d

    def changes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``M - I`` and ``G - I``."""
        outer = outer_sum(self.D, v)
        return outer / -self.gamma, 0.25 * (outer_sum(self.S, v) - outer) / self.beta

    def kernel(self, v: FloatArray) -> FloatArray:
        """Return ``K v`` (P,)."""
        dM, dG = self.changes(v)
        return 0.25 * quadratic(self.S, dG) - quadratic(self.D, dM + 0.25 * dG)

    def matrices(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return M and G (d, d)."""
        identity = np.eye(self.D.shape[1])
        dM, dG = self.changes(v)
        return identity + dM, identity + dG


@dataclass(frozen=True, slots=True)
class DualSolution:
    """Dual variables in [0, 1] with the values of both problems."""

    multipliers: FloatArray  # alpha (P,)
    primal: float
    dual: float
    n_iter: int

    @property
    def gap(self) -> float:
        """Return how far at most either value is from the optimum."""
        return self.primal - self.dual


@dataclass(frozen=True, slots=True)
class _Point:
    """Dual variables with what one pass over the pairs tells about them."""

    alpha: FloatArray
    Kv: FloatArray
    y: FloatArray
    f_0: FloatArray

    def slacks(self) -> FloatArray:
        """Return ``1 - y f`` (P,), the gradient of the dual."""
        return 1.0 - self.y * (self.f_0 + self.Kv)

    def dual(self) -> float:
        v = self.alpha * self.y
        return float(self.alpha.sum() - v @ self.f_0 - 0.5 * (v @ self.Kv))

    def primal(self) -> float:
        v = self.alpha * self.y
        return float(np.maximum(self.slacks(), 0.0).sum() + 0.5 * (v @ self.Kv))

    def beyond(self, before: _Point, momentum: float) -> _Point:
        """Return the point as far beyond this one; all is affine in alpha."""
        return _Point(
            self.alpha + momentum * (self.alpha - before.alpha),
            self.Kv + momentum * (self.Kv - before.Kv),
            self.y,
            self.f_0,
        )


def solve_dual(forms: PairForms, y: FloatArray, tol: float, max_iter: int) -> DualSolution:
    """Return the multipliers of the pairs with labels ``y`` of -1 and +1.

    FISTA with backtracking, begun anew where momentum leads downhill; it ends where
    the duality gap falls below ``tol`` times the primal value.
    """
    f_0, P = forms.offsets(), len(y)
    start = np.full(P, 1.0 / P)
    now = _Point(start, forms.kernel(start * y), y, f_0)
    ahead, inertia, L = now, 1.0, 1.0
    for iteration in range(max_iter):  # noqa: B007
        if now.primal() - now.dual() <= tol * max(now.primal(), 1e-12):
            break
        new, L = _step(forms, ahead, L)
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
        if (ahead.alpha - new.alpha) @ (new.alpha - now.alpha) > 0.0:
            inertia, grown = 1.0, 1.0  # by slopes: values near the optimum differ by rounding
        ahead, now, inertia = new.beyond(now, (inertia - 1.0) / grown), new, grown
    else:
        warnings.warn(
            f"SubSML did not converge in max_iter={max_iter} steps: the duality gap is "
            f"{now.primal() - now.dual():.2g} of {now.primal():.3g}",
            ConvergenceWarning,
            stacklevel=2,
        )
        iteration = max_iter
    return DualSolution(now.alpha, now.primal(), now.dual(), iteration)


def _step(forms: PairForms, at: _Point, L: float) -> tuple[_Point, float]:
    """Return a projected gradient step from ``at`` and the curvature that allowed it."""
    gradient = at.slacks()
    while True:
        alpha = np.clip(at.alpha + gradient / L, 0.0, 1.0)
        new = _Point(alpha, forms.kernel(alpha * at.y), at.y, at.f_0)
        moved = alpha - at.alpha
        curvature = (moved * at.y) @ (new.Kv - at.Kv)
        if curvature <= L * (moved @ moved) * (1.0 + 1e-12):
            return new, L
        L *= 2.0
