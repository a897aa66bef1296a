"""Decide for the class of least expected cost."""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray, IntArray


def expected_costs(probabilities: FloatArray, cost: FloatArray) -> FloatArray:
    """Return the expected cost of each prediction, shape (N, k).

    Parameters
    ----------
    probabilities : array of shape (N, k)
    cost : array of shape (k, k) or (N, k, k)
        Rows are true classes, columns predicted classes; N matrices are one per row.
    """
    P, costs = np.asarray(probabilities), np.asarray(cost)
    N, k = P.shape
    if costs.shape not in {(k, k), (N, k, k)}:
        raise ValueError(
            f"cost must have the shape ({k}, {k}) or ({N}, {k}, {k}), got {costs.shape}"
        )
    if costs.ndim == 2:
        return P @ costs
    return np.einsum("ni,nij->nj", P, costs)


def min_cost_decision(probabilities: FloatArray, cost: FloatArray) -> IntArray:
    """Return the position of the class of least expected cost.

    Parameters
    ----------
    probabilities : array of shape (N, k)
    cost : array of shape (k, k) or (N, k, k)

    Examples
    --------
    An illness of probability 0.2, five times as costly to miss as to suspect:

    >>> import numpy as np
    >>> min_cost_decision(np.array([[0.8, 0.2]]), np.array([[0.0, 1.0], [5.0, 0.0]]))
    array([1])
    """
    return expected_costs(probabilities, cost).argmin(axis=1)
