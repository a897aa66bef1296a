"""Leave-one-out scores of training rows, in closed form.

With the leverage ``h_i``, the i-th diagonal entry of the matrix that maps T to the
fitted values, the score of row i in a model trained without it is
``z_i - h_i / (1 - h_i) (t_i - z_i)``: no second fit is needed.
"""

from __future__ import annotations

import numpy as np

from ecselm._typing import FloatArray
from ecselm.linalg.ridge import Solution

MAX_LEVERAGE = 1.0 - 1e-9


def loo_scores(
    F: FloatArray,
    T: FloatArray,
    solution: Solution,
    B: FloatArray,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Return the leave-one-out scores (N, m) of training rows.

    Parameters
    ----------
    F : array of shape (N, L) or (N, N)
        H, or kernel values where the solution has them.
    T : array of shape (N, m)
    solution : Solution
    B : array of shape (N,)
        Weights of the rows in (15), sample weights included.
    weight : array of shape (N,), default=None
        The sample weights: a row of weight 2 stands for two, of which one is omitted.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.linalg import solve_weighted
    >>> H, T, B = np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]]), np.ones(2)
    >>> loo_scores(H, T, solve_weighted(H, T, B, C=1e9), B).round(6).ravel()
    array([3., 1.])
    """
    Z = F @ solution.beta
    if solution.is_dual:  # s_i (K s A^-1)_ii = 1 - e_i (A^-1)_ii / C, see solve_dual
        signs = np.where(B < 0, -1.0, 1.0)
        h = 1.0 - signs * solution.factor.inverse_diagonal() / solution.C
    else:
        h = B * solution.factor.leverages(F)
    if weight is not None:
        h = h / np.maximum(weight, 1.0)
    if not (B < 0).any():  # one negative cost, and leverages may be anything
        h = np.clip(h, 0.0, MAX_LEVERAGE)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Z - (h / (1.0 - h))[:, np.newaxis] * (T - Z)
