"""Which training rows are left out to calibrate on, with their classes and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.elm.rows import Rows
from ecselm.solvers import Solution, left_out_scores


@dataclass(frozen=True, slots=True)
class LeftOutScores:
    """Scores of rows left out of their own training, with their classes and weights."""

    scores: FloatArray  # (n, m)
    y: IntArray  # (n,)
    weight: FloatArray  # (n,)


def left_out_rows(learner: KernelLearner | LayerLearner, solution: Solution) -> LeftOutScores:
    """Return left-out scores of the training rows, or of a sample of them."""
    rows = _rows_to_judge(learner, solution)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
    H = learner.layer(rows.X).astype(np.float64)
    return LeftOutScores(left_out_scores(H, rows.T, solution, weight, weight), rows.y, weight)


def _rows_to_judge(learner: KernelLearner | LayerLearner, solution: Solution) -> Rows:
    """Return all rows where the system is in the samples, else the sample kept of them."""
    if isinstance(learner, LayerLearner) and not solution.is_dual and learner.sample is not None:
        return learner.sample.rows
    if not isinstance(learner.known, Rows):
        raise TypeError("the learner has kept no rows to be left out")
    return learner.known
