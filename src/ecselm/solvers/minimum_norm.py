"""Least squares without a ridge: of all best fits, the one of the least norm (eq. 3)."""

from __future__ import annotations

import numpy as np

from ecselm._threads import blas_threads
from ecselm._typing import FloatArray
from ecselm.solvers.factors import SpectralFactor
from ecselm.solvers.weighted import Solution


def minimum_norm_solution(H: FloatArray, T: FloatArray, w: FloatArray | None) -> Solution:
    """Return ``beta = pinv(sqrt(w) H) sqrt(w) T``.

    The normal equations would square the condition of H, and with nothing added to them
    lose half of its digits: a layer of few inputs has hardly more than that. So the rows
    are first turned into a triangle, ``[sqrt(w) H, sqrt(w) T] = Q R``, and then H's part
    of it is cut into its singular directions, all in float64. Directions below
    ``eps^(3/4)`` of the largest are left out, with the eps of H's own type: the weights
    they ask for are so large that of a score's digits less than a quarter would be right.

    Parameters
    ----------
    H : array of shape (N, L)
        Float32 or float64; not modified.
    T : array of shape (N, m)
    w : array of shape (N,) or None
        Weights >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 1.0], [2.0, 2.0]])
    >>> minimum_norm_solution(H, np.array([[2.0], [4.0]]), None).beta.ravel().round(12)
    array([1., 1.])
    """
    L, least = H.shape[1], float(np.finfo(H.dtype).eps) ** 0.75
    rows = np.hstack([H, T]).astype(np.float64, copy=False)
    if w is not None:
        rows *= np.sqrt(w, dtype=np.float64)[:, np.newaxis]
    with blas_threads(L):
        R = np.asarray(np.linalg.qr(rows, mode="r"))
        U, s, Vt = np.linalg.svd(R[:L, :L], full_matrices=False)
        kept = s > least * s[0]
        U, s, V = U[:, kept], s[kept], Vt[kept].T
        beta = V @ ((U.T @ R[:L, L:]) / s[:, np.newaxis])  # (3)
        left = R[:, L:] - R[:, :L] @ beta
    return Solution(
        beta=beta,
        factor=SpectralFactor(s**2, V),
        is_dual=False,
        residual=np.einsum("ij,ij->j", left, left),
        C=np.inf,
    )
