"""Fewer hidden units where many say the same."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd

from ecselm._typing import FloatArray

NEGLIGIBLE = 1e-10  # share of any score that may come from a direction that is left out
WORTH_IT = 0.8  # share of the units that may remain


def reduced_units(H: FloatArray, strengths: tuple[float, float]) -> FloatArray:
    """Return H (N, L), or rows (N, r) in an orthonormal basis that give the same scores.

    A direction of singular value s brings a share ``q / (1 + q)`` of the targets into the
    scores, with ``q = C B s^2``. It is left out if that is negligible beside what the
    greatest direction brings, for any C B between the two ``strengths``. Products H H'
    stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0])
    >>> reduced_units(H, (32.0, 32.0)).shape
    (3, 1)
    """
    N, L = H.shape
    weakest, strongest = strengths
    some = H[:: max(1, N // (2 * L))]
    values = svd(some, compute_uv=False, check_finite=False)
    # No subset of rows has a greater singular value, or more rank, than all of them.
    shown = min(1.0, weakest * float(values[0]) ** 2)
    least = np.sqrt(NEGLIGIBLE * shown / strongest)
    if (values > least).sum() > WORTH_IT * L:
        return H
    (R,) = qr(H, mode="r", check_finite=False)
    _, values, directions = svd(R[:L], full_matrices=False, check_finite=False)
    kept = values > least
    if kept.sum() > WORTH_IT * L or not kept.any():
        return H
    return np.ascontiguousarray(H @ directions[kept].T)
