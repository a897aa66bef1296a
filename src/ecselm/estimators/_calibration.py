"""Probabilities from scores, calibrated on leave-one-out scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from ecselm._typing import FloatArray, IntArray
from ecselm.estimators._training import KernelLearner, LayerLearner, Rows
from ecselm.linalg import Solution, loo_scores

MAX_LEVERAGE = 0.95
MAX_SLOPE = 12.0  # residuals have heavier tails than the normal law that gives the slope
NEWTON_STEPS = 100


def score_slope(solution: Solution, n_rows: float, total_weight: float, n_classes: int) -> float:
    """Return the a of ``softmax(a z)``, the one slope that leaves every argmax alone.

    If the score vector of class c is normal around its target t_c with the variance
    s2 in each entry, its log-likelihoods differ by ``a z_c`` with
    ``a = 2 (1 - 1/k) / s2``: for k = 2 the slope of linear discriminant analysis, for
    many classes that of a spherical normal. Where s2 is small the law fails in its
    tails, so the slope approaches ``MAX_SLOPE`` instead of growing without end.
    """
    h = min(solution.degrees() / n_rows, MAX_LEVERAGE)
    # The first rows of a stream may be of one class, which costs nothing to confuse.
    total_weight = max(total_weight, np.finfo(float).tiny)
    variance = float(solution.residual.mean()) / total_weight / (1.0 - h) ** 2
    return _slope(variance, n_classes)


def residual_slope(
    Z: FloatArray, T: FloatArray, n_classes: int, weight: FloatArray | None = None
) -> float:
    """Return the slope for scores and targets (n, m) of rows not trained on."""
    squares = np.mean((T - Z) ** 2, axis=1)
    return _slope(float(np.average(squares, weights=weight)), n_classes)


def _slope(variance: float, n_classes: int) -> float:
    return _ideal(n_classes) / (variance + _ideal(n_classes) / MAX_SLOPE)


def _ideal(n_classes: int) -> float:
    return 2.0 * (1.0 - 1.0 / n_classes)


def softmax_probabilities(Z: FloatArray, slope: float) -> FloatArray:
    """Return ``softmax(slope z)``, with the largest where the largest score is.

    Scores that differ by less than rounding give equal probabilities; the winner's is
    then moved up by the least possible step.
    """
    P = softmax(slope * Z.astype(np.float64), axis=1)
    winners = Z.argmax(axis=1)
    tied = np.flatnonzero(P.argmax(axis=1) != winners)
    P[tied, winners[tied]] = np.nextafter(P[tied].max(axis=1), 2.0)
    return P


@dataclass(frozen=True, slots=True)
class LogisticCalibration:
    """``softmax(a z + b)`` with one slope for all classes and an offset for each.

    The offsets know how frequent the classes are, which the largest score does not.
    """

    slope: float
    offsets: FloatArray  # (k,)

    @classmethod
    def from_loo(cls, loo: LooScores, n_classes: int) -> LogisticCalibration:
        """Fit slope and offsets to leave-one-out scores by Newton's method."""
        Z = _columns(loo.scores)
        targets = _smoothed_targets(loo, n_classes)
        theta = np.zeros(1 + n_classes)
        loss = _loss(theta, Z, targets)
        for _ in range(NEWTON_STEPS):
            step = _newton_step(theta, Z, targets)
            size = 1.0
            while size > 1e-10 and _loss(theta - size * step, Z, targets) > loss:
                size /= 2.0
            theta = theta - size * step
            before, loss = loss, _loss(theta, Z, targets)
            if before - loss <= 1e-13 * abs(before):
                break
        else:
            warnings.warn(
                f"the calibration has not converged in {NEWTON_STEPS} steps",
                ConvergenceWarning,
                stacklevel=2,
            )
        if theta[0] < 0:  # scores opposed to their class carry no information
            return cls(0.0, np.log(targets.sum(axis=0)))
        return cls(float(theta[0]), theta[1:])

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities (N, k) of scores (N, m)."""
        return softmax(self.slope * _columns(scores) + self.offsets, axis=1)


def _columns(scores: FloatArray) -> FloatArray:
    """Return one column of scores per class, two where two classes share one."""
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def _smoothed_targets(loo: LooScores, n_classes: int) -> FloatArray:
    """Return weighted target probabilities, kept from 0 and 1 as Platt does.

    A class of n rows has the target ``(n + 1) / (n + k)``, so that the slope stays
    finite where the classes are separated.
    """
    y, weight = loo.y, loo.weight
    n = np.bincount(y, weights=weight, minlength=n_classes)
    targets = np.repeat(1.0 / (n[y] + n_classes)[:, np.newaxis], n_classes, axis=1)
    targets[np.arange(len(y)), y] *= n[y] + 1.0
    return targets * weight[:, np.newaxis]


def _loss(theta: FloatArray, Z: FloatArray, targets: FloatArray) -> float:
    return -float((targets * log_softmax(theta[0] * Z + theta[1:], axis=1)).sum())


def _newton_step(theta: FloatArray, Z: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the inverse Hessian of the loss times its gradient."""
    P = softmax(theta[0] * Z + theta[1:], axis=1)
    w = targets.sum(axis=1, keepdims=True)
    residual = w * P - targets
    gradient = np.append((residual * Z).sum(), residual.sum(axis=0))
    mean = (P * Z).sum(axis=1, keepdims=True)
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = (w * P * (Z - mean) ** 2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (w * P * (Z - mean)).sum(axis=0)
    hessian[1:, 1:] = np.diag((w * P).sum(axis=0)) - (w * P).T @ P
    # Adding one number to all offsets changes nothing: the ridge holds that direction.
    hessian.flat[:: len(theta) + 1] += 1e-8 * w.sum()
    return np.linalg.solve(hessian, gradient)


@dataclass(frozen=True, slots=True)
class LooScores:
    """Leave-one-out scores of rows, with their classes and weights."""

    scores: FloatArray  # (n, m)
    y: IntArray  # (n,)
    weight: FloatArray  # (n,)


def loo_rows(learner: KernelLearner | LayerLearner, solution: Solution) -> LooScores:
    """Return leave-one-out scores of the training rows, or of a sample of them."""
    rows = _scored_rows(learner, solution)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
    H = learner.layer(rows.X).astype(np.float64)
    return LooScores(loo_scores(H, rows.T, solution, weight, weight), rows.y, weight)


def _scored_rows(learner: KernelLearner | LayerLearner, solution: Solution) -> Rows:
    """Return all rows where the system is in the samples, else the sample kept of them."""
    if isinstance(learner, LayerLearner) and not solution.is_dual and learner.sample is not None:
        return learner.sample.rows
    if not isinstance(learner.known, Rows):
        raise TypeError("the learner has kept no rows for leave-one-out")
    return learner.known
