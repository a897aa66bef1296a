"""Where to cut between classes: offsets of their scores."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.objectives import Judge

N_CUTS = 51
REACH = 2.5  # spreads of a class to both sides of the middle
REACH_OF_MANY = 1.5  # spreads to both sides of 0, class by class
RELUCTANCE = 0.1  # fitness that a cut one spread away from 0 has to earn


def best_cuts(
    scores: FloatArray, codes: IntArray, weight: FloatArray | None, judge: Judge
) -> FloatArray:
    """Return what to subtract from scores (n, m) before their sign or largest decides, (m,).

    Cuts with the best fitness on rows that were not trained on, less what keeps them near
    0: of two classes the one cut, of more a cut for each, one after the other. Rows of a
    single class say nothing.

    Examples
    --------
    >>> from ecselm.metrics.counted import accuracy
    >>> from ecselm.objectives import CountJudge
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = np.array([[-0.4], [-0.3], [-0.2], [-0.1], [0.0], [0.1]])
    >>> bool(best_cuts(scores, y, None, CountJudge(y, 2, None, accuracy, 0.5))[0] < 0)
    True
    """
    w = np.ones(len(codes)) if weight is None else weight
    if scores.shape[1] == 1:
        means, spread = _of_classes(np.repeat(scores, 2, axis=1), codes, w)
        steps = means.mean() + spread * np.linspace(-REACH, REACH, N_CUTS)
    else:
        _, spread = _of_classes(scores, codes, w)
        steps = spread * np.linspace(-REACH_OF_MANY, REACH_OF_MANY, N_CUTS)
    cuts = np.zeros(scores.shape[1])
    if spread == 0 or len(np.unique(codes)) < 2:
        return cuts
    for c in range(len(cuts)):
        tried = np.repeat(cuts[np.newaxis], 1 + N_CUTS, axis=0)  # as it is comes first
        tried[1:, c] = steps
        fitness = judge(scores - tried[:, np.newaxis])
        cuts = tried[np.argmax(fitness - RELUCTANCE * ((tried / spread) ** 2).sum(axis=1))]
    return cuts


def _of_classes(
    scores: FloatArray, codes: IntArray, weight: FloatArray
) -> tuple[FloatArray, float]:
    """Return the mean (k,) of every class's own score, and their spread within classes."""
    own = scores[np.arange(len(codes)), codes]
    k = scores.shape[1]
    sums = np.maximum(np.bincount(codes, weight, k), np.finfo(float).tiny)
    means = np.bincount(codes, weight * own, k) / sums
    return means, float(np.sqrt(np.average((own - means[codes]) ** 2, weights=weight)))
