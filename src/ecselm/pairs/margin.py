"""Metrics with a large margin, by accelerated projected gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.pairs.forms import positive_part
from ecselm.pairs.products import outer_sum, quadratic


def smooth_hinge(t: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """Return ``[t]_+`` and its slope, with a parabola on ``[0, width]``.

    Examples
    --------
    >>> import numpy as np
    >>> smooth_hinge(np.array([0.0, 0.5, 2.0]), 1.0)
    (array([0.   , 0.125, 1.5  ]), array([0. , 0.5, 1. ]))
    """
    slope = np.clip(t / width, 0.0, 1.0)
    return slope * (t - 0.5 * width * slope), slope


@dataclass(frozen=True, slots=True)
class MarginProblem:
    """``sum hinge(1 - y (b - sum_k w_k D'M_k D)) + sum_k decay_k |M_k|^2``."""

    D: FloatArray  # (P, d)
    y: FloatArray  # (P,), -1 or 1
    w: FloatArray  # (P, K + 1)
    decay: FloatArray  # (K + 1,)
    width: float  # of the smoothed kink

    def value(self, M: FloatArray, b: float) -> float:
        """Return the objective."""
        return float(self._hinge(M, b)[0].sum() + self._penalty(M))

    def slopes(self, M: FloatArray, b: float) -> tuple[float, FloatArray, float]:
        """Return the objective and its slopes in M and b."""
        loss, slope = self._hinge(M, b)
        pull = slope * self.y
        dM = np.stack([outer_sum(self.D, pull * w) for w in self.w.T])
        dM += 2.0 * self.decay[:, np.newaxis, np.newaxis] * M
        return float(loss.sum() + self._penalty(M)), dM, -float(pull.sum())

    def _hinge(self, M: FloatArray, b: float) -> tuple[FloatArray, FloatArray]:
        forms = np.stack([quadratic(self.D, part) for part in M], axis=1)
        distance = np.einsum("pk,pk->p", self.w, forms)
        return smooth_hinge(1.0 - self.y * (b - distance), self.width)

    def _penalty(self, M: FloatArray) -> float:
        return float(self.decay @ np.sum(M**2, axis=(1, 2)))


@dataclass(frozen=True, slots=True)
class MarginSolution:
    """Metrics and offset with what the search says of itself."""

    matrices: FloatArray  # (K + 1, d, d)
    offset: float
    value: float
    n_iter: int
    converged: bool


def solve_margin(problem: MarginProblem, tol: float, max_iter: int) -> MarginSolution:
    """Minimise over M_k >= 0 and b >= 1 from ``M_0 = I``, the others 0.

    FISTA with backtracking, begun anew where momentum leads uphill.
    """
    n_metrics, d = problem.w.shape[1], problem.D.shape[1]
    b = 1.0
    M: FloatArray = np.zeros((n_metrics, d, d))
    M[0] = np.eye(d)
    value, ahead = problem.value(M, b), (M, b)
    inertia, L, calm, iteration = 1.0, 1.0, 0, 0
    while calm < 10 and iteration < max_iter:
        iteration += 1
        L, M_new, b_new, new = _step(problem, *ahead, 0.5 * L)
        if new > value:
            restarted, ahead, inertia = inertia == 1.0, (M, b), 1.0
            calm = calm + 1 if restarted else calm
            continue
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
        push = (inertia - 1.0) / grown
        ahead = (M_new + push * (M_new - M), b_new + push * (b_new - b))
        calm = calm + 1 if value - new <= tol * max(abs(new), 1e-12) else 0
        M, b, value, inertia = M_new, b_new, new, grown
    return MarginSolution(M, b, value, iteration, calm >= 10)


def _step(
    problem: MarginProblem, M: FloatArray, b: float, L: float
) -> tuple[float, FloatArray, float, float]:
    """Return a curvature that holds, and the projected gradient step it allows."""
    value, dM, db = problem.slopes(M, b)
    while True:
        M_new = np.stack([positive_part(part) for part in M - dM / L])
        b_new = max(b - db / L, 1.0)
        sM, sb = M_new - M, b_new - b
        new = problem.value(M_new, b_new)
        linear = value + np.vdot(dM, sM) + db * sb
        if new <= linear + 0.5 * L * (np.vdot(sM, sM) + sb**2) + 1e-10 * abs(value):
            return L, M_new, b_new, new
        L *= 2.0
