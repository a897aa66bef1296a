"""Where to cut the scores of two classes."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.objectives import Judge

N_CUTS = 51
REACH = 2.5  # spreads of a class to both sides of the middle
RELUCTANCE = 0.1  # fitness that a cut one spread away from 0 has to earn


def best_cut(scores: FloatArray, codes: IntArray, weight: FloatArray | None, judge: Judge) -> float:
    """Return what to subtract from the scores (n, 1) of two classes before their sign decides.

    The cut with the best fitness on rows that were not trained on, less what keeps it
    near 0. More classes, in more columns, are left alone.

    Examples
    --------
    >>> from ecselm.metrics.counted import accuracy
    >>> from ecselm.objectives import CountJudge
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = np.array([[-0.4], [-0.3], [-0.2], [-0.1], [0.0], [0.1]])
    >>> bool(best_cut(scores, y, None, CountJudge(y, 2, None, accuracy, 0.5)) < 0)
    True
    """
    if scores.shape[1] > 1:
        return 0.0
    z = scores[:, 0]
    w = np.ones(len(z)) if weight is None else weight
    means = np.array([np.average(z[codes == c], weights=w[codes == c]) for c in (0, 1)])
    spread = float(np.sqrt(np.average((z - means[codes]) ** 2, weights=w)))
    if spread == 0:
        return 0.0
    cuts = np.append(0.0, means.mean() + spread * np.linspace(-REACH, REACH, N_CUTS))
    fitness = judge((z - cuts[:, np.newaxis])[..., np.newaxis])
    return float(cuts[np.argmax(fitness - RELUCTANCE * (cuts / spread) ** 2)])
