"""The score that parts pairs that are the same from pairs that are not."""

from __future__ import annotations

import numpy as np

from ecselm._typing import BoolArray, FloatArray


def best_threshold(scores: FloatArray, same: BoolArray) -> float:
    """Return the threshold that most pairs stand on the right side of.

    It lies midway between two neighbouring scores, or beyond all of them if one answer
    is best for all. Among equals the middle one is taken.

    Examples
    --------
    >>> import numpy as np
    >>> best_threshold(np.array([0.0, 1.0, 3.0]), np.array([False, False, True]))
    2.0
    """
    values, place = np.unique(scores, return_inverse=True)
    n = len(values)
    alike = np.bincount(place[same], minlength=n)
    others = np.bincount(place[~same], minlength=n)
    below = np.concatenate([[0], np.cumsum(others - alike)])  # right answers gained so far
    best = np.flatnonzero(below == below.max())
    cut = int(best[(len(best) - 1) // 2])
    beyond = (values[-1] - values[0]) or max(abs(values[0]), 1.0)
    edges = np.concatenate([[values[0] - beyond], values, [values[-1] + beyond]])
    return float(edges[cut] + 0.5 * (edges[cut + 1] - edges[cut]))
