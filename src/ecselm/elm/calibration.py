"""Probabilities from scores, in closed form from the sums that gave the scores.

Scores of the rows a model was trained on are too good. How much too good is known
without a second fit: by generalised cross-validation a row's residual would grow by
``1 / (1 - h)`` with the mean leverage ``h = degrees / N``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ecselm._typing import FloatArray, IntArray
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.solvers import GramBlocks, Solution

MAX_LEVERAGE = 0.95
MAX_SLOPE = 12.0  # residuals have heavier tails than the normal law that gives the slope


def mean_leverage(solution: Solution, n_rows: float) -> float:
    """Return ``degrees / N``, kept away from 1."""
    return min(solution.degrees / n_rows, MAX_LEVERAGE)


def score_slope(solution: Solution, n_rows: float, total_weight: float, n_classes: int) -> float:
    """Return the a of ``softmax(a z)``, the one slope that leaves every argmax alone.

    If the score vector of class c is normal around its target t_c with the variance
    s2 in each entry, its log-likelihoods differ by ``a z_c`` with
    ``a = 2 (1 - 1/k) / s2``: for k = 2 the slope of linear discriminant analysis, for
    many classes that of a spherical normal. Where s2 is small the law fails in its
    tails, so the slope approaches ``MAX_SLOPE`` instead of growing without end.
    """
    h = mean_leverage(solution, n_rows)
    variance = float(solution.residual.mean()) / total_weight / (1.0 - h) ** 2
    return _ideal(n_classes) / (variance + _ideal(n_classes) / MAX_SLOPE)


def _ideal(n_classes: int) -> float:
    return 2.0 * (1.0 - 1.0 / n_classes)


def softmax_probabilities(Z: FloatArray, slope: float) -> FloatArray:
    """Return ``softmax(slope z)`` in float64, so that near ties stay apart."""
    return softmax(slope * Z.astype(np.float64), axis=1)


@dataclass(frozen=True, slots=True)
class ScoreMoments:
    """Means of the scores of every class, and the covariance within classes."""

    counts: FloatArray  # (k,)
    means: FloatArray  # (k, m)
    within: FloatArray  # (m, m)

    @classmethod
    def from_scores(
        cls, Z: FloatArray, y: IntArray, weight: FloatArray | None, n_classes: int
    ) -> ScoreMoments:
        """Measure the moments on the scores of the training rows."""
        w = np.ones(len(Z)) if weight is None else weight.astype(np.float64)
        belongs = (y[:, np.newaxis] == np.arange(n_classes)) * w[:, np.newaxis]
        counts = belongs.sum(axis=0)
        means = (belongs.T @ Z) / np.maximum(counts, np.finfo(float).tiny)[:, np.newaxis]
        deviations = Z - means[y]
        return cls(counts, means, (deviations * w[:, np.newaxis]).T @ deviations / w.sum())

    @classmethod
    def from_blocks(
        cls, blocks: GramBlocks, T: FloatArray, beta: FloatArray, n: FloatArray
    ) -> ScoreMoments:
        """Read the moments off Gram blocks by class, ``T`` (k, m) the targets of the classes.

        All rows of class c have the target t_c = +-1, so its moment holds the sum of
        its hidden rows: ``H_c'T_c t_c / m = sum_i h_i``.
        """
        sums = np.einsum("clm,cm->cl", blocks.moments, T) / T.shape[1]
        means = (sums @ beta) / np.maximum(n, np.finfo(float).tiny)[:, np.newaxis]
        second = beta.T @ blocks.grams.sum(axis=0) @ beta
        return cls(n, means, (second - (means.T * n) @ means) / n.sum())


def score_moments(
    learner: KernelLearner | LayerLearner, beta: FloatArray, T: FloatArray
) -> ScoreMoments:
    """Return the moments of the scores of all training rows of a learner by class."""
    rows = learner.known
    if isinstance(rows, GramBlocks):
        return ScoreMoments.from_blocks(rows, T, beta, learner.counts)
    Z = learner.layer(rows.X).astype(np.float64) @ beta
    return ScoreMoments.from_scores(Z, rows.y, rows.weight, len(T))


@dataclass(frozen=True, slots=True)
class GaussianCalibration:
    """Class probabilities of scores that are normal within each class.

    ``log p_c = z'S^-1 m_c - m_c'S^-1 m_c / 2 + log n_c`` up to a constant: linear
    discriminant analysis of the scores, with means and covariance as they would be
    on rows that took no part in training.
    """

    directions: FloatArray  # (m, k)
    offsets: FloatArray  # (k,)

    @classmethod
    def from_moments(
        cls, moments: ScoreMoments, T: FloatArray, leverage: float
    ) -> GaussianCalibration:
        """Correct the moments of the training rows by the mean leverage, then invert."""
        excess = leverage / (1.0 - leverage)
        means = moments.means - excess * (T - moments.means)
        within = moments.within * (1.0 + excess) ** 2
        # The same bound on the slope as above; it also fills the direction that scores
        # of k > 2 classes never take, since they add up to 2 - k.
        within = within + np.eye(len(within)) * (_ideal(len(T)) / MAX_SLOPE)
        directions = np.linalg.solve(within, means.T)
        with np.errstate(divide="ignore"):
            prior = np.log(moments.counts)
        return cls(directions, prior - 0.5 * np.einsum("cm,mc->c", means, directions))

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the probabilities (N, k) of scores (N, m)."""
        return softmax(Z @ self.directions + self.offsets, axis=1)
