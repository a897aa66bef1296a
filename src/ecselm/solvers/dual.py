"""Weighted ridge regression in the samples (paper, eq. 15, case N < L, and eq. 7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.solvers.factors import Factor, factor_indefinite, factor_shifted


@dataclass(frozen=True, slots=True)
class DualSolution:
    """alpha (N, m), where beta = H' alpha, with the factor it came from."""

    alpha: FloatArray
    factor: Factor


def solve_dual(K: FloatArray, T: FloatArray, B: FloatArray | None, C: float) -> DualSolution:
    """Solve eq. (15) for alpha, given the kernel matrix ``K = H H'`` (N, N).

    The printed matrix ``I/C + diag(B) K`` is not symmetric. With ``s = sqrt(|B|)``
    and ``e`` the signs of B, ``alpha = s (diag(e)/C + s K s)^-1 s T`` is equal and
    symmetric, allows B_i = 0, and is positive definite whenever B >= 0.

    Parameters
    ----------
    K : array of shape (N, N)
        Not modified.
    T : array of shape (N, m)
    B : array of shape (N,) or None
        None stands for B = 1, eq. (7).
    C : float

    Examples
    --------
    >>> import numpy as np
    >>> solve_dual(np.eye(2), np.array([[2.0], [4.0]]), None, C=1.0).alpha.ravel()
    array([1., 2.])
    """
    if B is None:
        factor: Factor = factor_shifted(K, 1.0 / C)
        return DualSolution(factor.solve(T), factor)
    s = np.sqrt(np.abs(B)).astype(K.dtype)[:, np.newaxis]
    scaled = K * s
    scaled *= s.T
    if (B < 0).any():
        factor = factor_indefinite(scaled, np.where(B < 0, -1.0, 1.0) / C)
    else:
        factor = factor_shifted(scaled, 1.0 / C)
    return DualSolution(s * factor.solve(s * T), factor)
