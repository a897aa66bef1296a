"""Fewer hidden units where many say the same."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd

from ecselm._typing import FloatArray

NEGLIGIBLE = 1e-10  # what C B s^2 may be of a direction that is left out
WORTH_IT = 0.8  # share of the units that may remain


def reduced_units(H: FloatArray, strength: float) -> FloatArray:
    """Return H (N, L), or rows (N, r) in an orthonormal basis that give the same scores.

    A direction of singular value s changes scores by a share of ``C B s^2`` at most, where
    ``strength`` is the greatest C B of any candidate. Products H H' stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0])
    >>> reduced_units(H, 32.0).shape
    (3, 1)
    """
    N, L = H.shape
    least = np.sqrt(NEGLIGIBLE / strength)
    if _rank(H[:: max(1, N // (2 * L))], least) > WORTH_IT * L:
        return H  # no subset of rows has more rank than all of them
    (R,) = qr(H, mode="r", check_finite=False)
    _, values, directions = svd(R[:L], full_matrices=False, check_finite=False)
    kept = values > least
    if kept.sum() > WORTH_IT * L or not kept.any():
        return H
    return np.ascontiguousarray(H @ directions[kept].T)


def _rank(rows: FloatArray, least: float) -> int:
    values = svd(rows, compute_uv=False, check_finite=False)
    return int((values > least).sum())
