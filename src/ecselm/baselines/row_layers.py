"""Two layers that have to see every row: squashed attributes, or labels that are missing.

Sizes: N rows, d features, K attributes given, k attributes with the latent ones, m scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve
from scipy.optimize import OptimizeResult, minimize

from ecselm._typing import BoolArray, FloatArray
from ecselm.baselines.two_layers import FittedLayers

LINKS = ("identity", "tanh")


@dataclass(frozen=True, slots=True)
class RowLayers:
    """``|Y - b - PV|^2 + alpha |A - P_m|^2 + reg_w |W|^2 + reg_v |V|^2``, ``P = link(XW + c)``.

    The second term runs over the labels that are there. The best V and b for given W and c
    are a ridge regression on P, so that the objective is one of ``theta``, W over c, alone.
    """

    X: FloatArray  # (N, d), centred
    Y: FloatArray  # (N, m), centred
    A: FloatArray  # (N, K), anything where unknown
    known: BoolArray  # (N, K)
    alpha: float
    reg_w: float
    reg_v: float
    link: str = "identity"

    def attributes(self, theta: FloatArray) -> FloatArray:
        """Return P (N, k)."""
        P: FloatArray = self.X @ theta[:-1] + theta[-1]
        return np.tanh(P, out=P) if self.link == "tanh" else P

    def task_weights(self, P: FloatArray) -> FloatArray:
        """Return V = (P'P + reg_v I)^-1 P'Y with P centred, which is what b comes to."""
        P = P - P.mean(axis=0)
        G = P.T @ P
        G[np.diag_indices_from(G)] += self.reg_v
        V: FloatArray = solve(G, P.T @ self.Y, assume_a="pos")
        return V

    def objective(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective at ``theta`` (d + 1, k), and its gradient.

        At the best V its own slope is 0, so that V counts as a constant.
        """
        P, K = self.attributes(theta), self.A.shape[1]
        V = self.task_weights(P)
        errors = (P - P.mean(axis=0)) @ V - self.Y
        missed = np.where(self.known, P[:, :K] - self.A, 0.0)
        slope = errors @ V.T
        slope[:, :K] += self.alpha * missed
        if self.link == "tanh":
            slope *= 1.0 - P**2
        penalty = self.reg_w * (theta[:-1] ** 2).sum() + self.reg_v * (V**2).sum()
        value = float((errors**2).sum() + self.alpha * (missed**2).sum() + penalty)
        gradient = np.vstack([self.X.T @ slope + self.reg_w * theta[:-1], slope.sum(axis=0)])
        return value, 2.0 * gradient


def descend(layers: RowLayers, start: FloatArray, max_iter: int, tol: float) -> FittedLayers:
    """Follow L-BFGS from ``start`` (d + 1, k) until a step gains less than ``tol``.

    That is a share of the objective at the start, by which all values are divided: the
    minimiser's own rule is absolute below 1.
    """
    first, _ = layers.objective(start)
    unit, path = first or 1.0, [first]

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = layers.objective(flat.reshape(start.shape))
        return value / unit, gradient.ravel() / unit

    def record(intermediate_result: OptimizeResult) -> None:
        path.append(unit * float(intermediate_result.fun))

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "ftol": tol, "gtol": 0.0, "maxcor": 20}
    found = minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", callback=record, options=options
    )
    theta = found.x.reshape(start.shape)
    P = layers.attributes(theta)
    V = layers.task_weights(P)
    b = -P.mean(axis=0) @ V
    return FittedLayers(theta[:-1], theta[-1], V, b, np.array(path), bool(found.success))
