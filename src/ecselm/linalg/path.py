"""Solutions of (15) for every C from one eigendecomposition, with leave-one-out scores.

For kernel values K between centres, ``beta = (H'diag(B)H + K/C)^-1 H'diag(B)T`` with
``H = K(x, centres)`` is (15) behind hidden units whose products are the kernel. Centres that
are all training rows give the kernel machine of (7) itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from ecselm._typing import FloatArray, IntArray

ROUNDING = 1e-12  # share of the trace that is added to the diagonal of kernel values
MAX_LEVERAGE = 1.0 - 1e-9


@dataclass(frozen=True, slots=True)
class LooRows:
    """The rows that are left out one by one, or group by group.

    Parameters
    ----------
    T : array of shape (n, m)
        Targets.
    B : array of shape (n,)
        Weights of the rows in (15), sample weights included.
    counts : array of shape (n,) or None, default=None
        How many rows each stands for, of which one is left out; None leaves all of them out.
    groups : list of arrays or None, default=None
        Positions of rows that are left out together, those of groups with several rows.
    """

    T: FloatArray
    B: FloatArray
    counts: FloatArray | None = None
    groups: Sequence[IntArray] | None = None


@dataclass(frozen=True, slots=True)
class RidgePath:
    """The path of (15) along C in the coordinates of eigenvectors.

    Examples
    --------
    >>> K, T, B = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0], [-1.0]]), np.ones(2)
    >>> path = RidgePath.of_kernel(K, LooRows(T, B))
    >>> path.beta(1.0).round(3).ravel()
    array([ 0.667, -0.667])
    >>> path.loo_scores(1.0).round(3).ravel()  # row 2 alone: -K_12 / (1 + K_22)
    array([-0.25,  0.25])
    """

    values: FloatArray  # (r,) eigenvalues
    moments: FloatArray  # (r, m), the targets in the same coordinates
    back: FloatArray  # (L, r), from these coordinates to output weights
    features: FloatArray  # (n, r), the rows left out, times sqrt(B)
    rows: LooRows
    is_dual: bool

    @classmethod
    def of_kernel(cls, K: FloatArray, rows: LooRows) -> Self:
        """Return the path of a kernel machine on the rows of K (N, N), all centres."""
        root = np.sqrt(rows.B)
        values, U = np.linalg.eigh(K * root[:, np.newaxis] * root)
        moments = U.T @ (rows.T * root[:, np.newaxis])
        back = U * root[:, np.newaxis]
        return cls(np.maximum(values, 0.0), moments, back, U, rows, is_dual=True)

    @classmethod
    def of_sums(
        cls,
        K: FloatArray,
        gram: FloatArray,
        moments: FloatArray,
        H: FloatArray,
        rows: LooRows,
    ) -> Self:
        """Return the path of sums over any training rows, with some of them to be left out.

        Parameters
        ----------
        K : array of shape (L, L)
            Kernel values between the centres.
        gram, moments : arrays of shapes (L, L) and (L, m)
            ``H'diag(B)H`` and ``H'diag(B)T`` over all training rows.
        H : array of shape (n, L)
            Kernel values between the rows to be left out and the centres.
        rows : LooRows
        """
        # G x = s K x with x'Kx = 1: in the coordinates of the x the penalty is I/C. Directions of
        # K that are rounding would give it infinite weights, and get a little of their own.
        held = K + ROUNDING * np.trace(K) * np.eye(len(K))
        values, back = eigh(gram, held, overwrite_b=True, check_finite=False)
        features = (H @ back) * np.sqrt(rows.B)[:, np.newaxis]
        return cls(np.maximum(values, 0.0), back.T @ moments, back, features, rows, is_dual=False)

    def beta(self, C: float) -> FloatArray:
        """Return the output weights (L, m)."""
        return self.back @ (self.moments / (self.values + 1.0 / C)[:, np.newaxis])

    def loo_scores(self, C: float) -> FloatArray:
        """Return the score (n, m) of every row in a model that was trained without it."""
        rows, d = self.rows, 1.0 / (self.values + 1.0 / C)
        root = np.sqrt(rows.B)[:, np.newaxis]
        fitted = self.features @ (d[:, np.newaxis] * self.moments)
        squares = np.square(self.features) @ d
        # Residuals times sqrt(B), and 1 - h with the leverage h: for kernels without cancellation.
        if self.is_dual:
            residuals, complement = fitted / C, squares / C
        else:
            residuals = rows.T * root - fitted
            complement = 1.0 - np.minimum(squares, MAX_LEVERAGE)
        if rows.counts is not None:
            complement = 1.0 - (1.0 - complement) / np.maximum(rows.counts, 1.0)
        left_out = residuals / complement[:, np.newaxis]
        for group in rows.groups or ():
            F = self.features[group]
            hat = (F * d) @ F.T
            block = hat / C if self.is_dual else np.eye(len(group)) - MAX_LEVERAGE * hat
            left_out[group] = np.linalg.solve(block, residuals[group])
        return rows.T - left_out / root
