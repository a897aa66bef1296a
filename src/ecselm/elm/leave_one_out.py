"""Scores of training rows as if each had been left out, in closed form.

With the leverage ``h_i``, the i-th diagonal entry of the matrix that maps T to the
fitted values, the score of row i in a model trained without it is
``z_i - h_i / (1 - h_i) (t_i - z_i)``: no second fit is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.elm.rows import Rows
from ecselm.solvers import Solution

MAX_LEVERAGE = 1.0 - 1e-9


@dataclass(frozen=True, slots=True)
class LeftOutScores:
    """Scores of rows left out of their own training, with their classes and weights."""

    scores: FloatArray  # (n, m)
    y: IntArray  # (n,)
    weight: FloatArray  # (n,)


def left_out_scores(
    learner: KernelLearner | LayerLearner, solution: Solution, C: float
) -> LeftOutScores:
    """Return left-out scores of the training rows, or of a sample of them.

    A row of weight 2 stands for two rows, of which one is left out.
    """
    rows = _rows_to_judge(learner, solution)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
    H = learner.layer(rows.X).astype(np.float64)
    Z = H @ solution.beta
    if solution.is_dual:
        leverage = 1.0 - solution.factor.inverse_diagonal() / C
    else:
        leverage = weight * np.einsum("il,li->i", H, solution.factor.solve(H.T))
    h = np.clip(leverage / np.maximum(weight, 1.0), 0.0, MAX_LEVERAGE)[:, np.newaxis]
    return LeftOutScores(Z - h / (1.0 - h) * (rows.T - Z), rows.y, weight)


def _rows_to_judge(learner: KernelLearner | LayerLearner, solution: Solution) -> Rows:
    """Return all rows where the system is in the samples, else the sample kept of them."""
    if isinstance(learner, LayerLearner) and not solution.is_dual and learner.sample is not None:
        return learner.sample.rows
    if not isinstance(learner.known, Rows):
        raise TypeError("the learner has kept no rows to be left out")
    return learner.known
