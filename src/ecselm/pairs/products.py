"""Products over many pairs, whose rows are shared out among threads.

Sizes: P pairs of vectors of d entries; ``D`` (P, d) are differences ``x - z``. The searches
alternate between these products and small factorisations. With threads of its own BLAS
would wake and spin for every one of them, and NumPy's pool would get in the way of
SciPy's; blocks of rows on Python's threads avoid both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ecselm._threads import BLOCK_ENTRIES, row_blocks, share_out
from ecselm._typing import FloatArray


def rows_times(X: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``X A`` (P, r).

    Examples
    --------
    >>> import numpy as np
    >>> rows_times(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return _by_rows(lambda rows: X[rows] @ A, X, (len(X), A.shape[1]))


def quadratic(D: FloatArray, M: FloatArray) -> FloatArray:
    """Return ``D_t' M D_t`` (P,) of every row.

    Examples
    --------
    >>> import numpy as np
    >>> quadratic(np.array([[1.0, 2.0]]), np.diag([3.0, 1.0]))
    array([7.])
    """
    return _by_rows(lambda rows: np.einsum("ij,ij->i", D[rows] @ M, D[rows]), D, (len(D),))


def cross_sum(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return ``A'B`` (r, d), the sum over rows of their outer products.

    Examples
    --------
    >>> import numpy as np
    >>> cross_sum(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return _summed(lambda rows: A[rows].T @ B[rows], B)


def outer_sum(D: FloatArray, w: FloatArray | None = None) -> FloatArray:
    """Return ``sum_t w_t D_t D_t'`` (d, d), exactly symmetric.

    Weights of either sign go under a root, for a symmetric product takes half the flops;
    rows of weight 0 take none.

    Examples
    --------
    >>> import numpy as np
    >>> outer_sum(np.eye(2), np.array([2.0, -1.0]))
    array([[ 2.,  0.],
           [ 0., -1.]])
    """
    if w is None:
        return _squares(D)
    total = np.zeros((D.shape[1], D.shape[1]))
    for sign, held in ((1.0, w > 0.0), (-1.0, w < 0.0)):
        if held.any():
            total += sign * _squares(D[held] * np.sqrt(np.abs(w[held]))[:, np.newaxis])
    return total


def _squares(D: FloatArray) -> FloatArray:
    return _summed(lambda rows: D[rows].T @ D[rows], D)


def _by_rows(
    part: Callable[[slice], FloatArray], X: FloatArray, shape: tuple[int, ...]
) -> FloatArray:
    """Return what ``part`` gives for blocks of rows of ``X``, put together."""
    if X.size <= BLOCK_ENTRIES:
        return part(slice(None))
    whole = np.empty(shape)

    def fill(lane: list[slice]) -> None:
        for rows in lane:
            whole[rows] = part(rows)

    share_out(fill, row_blocks(len(X), X.shape[1]))
    return whole


def _summed(part: Callable[[slice], FloatArray], X: FloatArray) -> FloatArray:
    """Return the sum of what ``part`` gives for blocks of rows of ``X``."""
    if X.size <= BLOCK_ENTRIES:
        return part(slice(None))

    def total(lane: list[slice]) -> FloatArray:
        found = part(lane[0])
        for rows in lane[1:]:
            found += part(rows)
        return found

    lanes = share_out(total, row_blocks(len(X), X.shape[1]))
    for other in lanes[1:]:
        lanes[0] += other
    return lanes[0]
