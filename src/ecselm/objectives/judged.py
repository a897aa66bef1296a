"""Rows to judge by: their scores, counts and squared errors for a whole generation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ecselm import compiled
from ecselm._typing import FloatArray, IntArray
from ecselm.objectives.confusion import confusion_counts
from ecselm.solvers import GramBlocks

BLOCK_ENTRIES = 1 << 19  # scores made at a time: they stay in the cache
UNIT = 2.0**-24  # relative rounding of float32
MOST_CHECKED = 0.1  # share of near ties above which float32 is not worth it
SMALLEST, LARGEST = 1e-30, 1e15  # norms whose products float32 holds without loss
CANCELLED = 1e-5  # share of its terms below which a squared error is summed by row instead


@dataclass(frozen=True)
class JudgedFeatures:
    """Rows of H (n, L) with their targets (n, m) and weights (n,)."""

    H: FloatArray
    T: FloatArray
    weight: FloatArray | None
    halved: bool = True  # whether there is memory for a copy in float32

    def scores(self, beta: FloatArray) -> FloatArray:
        """Return Z (P, m, n) for beta (P, m, L): all candidates in one product."""
        P, m, L = beta.shape
        return (beta.reshape(P * m, L) @ self.H.T).reshape(P, m, len(self.H))

    def confusions(
        self, beta: FloatArray, y: IntArray, k: int, weight: FloatArray | None
    ) -> FloatArray:
        """Return confusion matrices (P, k, k), in float32 as far as that is harmless."""
        counts = np.zeros((len(beta), k, k))
        codes, share, scale = y.astype(np.int32), 0.0, self._reach(beta)
        n_blocks = -(-len(self.H) * beta.shape[0] * beta.shape[1] // BLOCK_ENTRIES)
        step = max(256, -(-len(self.H) // n_blocks))
        for start in range(0, len(self.H), step):
            rows = slice(start, start + step)
            part = None if weight is None else weight[rows]
            if scale is not None and share <= MOST_CHECKED:
                share = self._count_halved(beta, scale, rows, codes[rows], k, part, counts)
            else:
                Z = beta.reshape(-1, beta.shape[2]) @ self.H[rows].T
                Z = Z.reshape(*beta.shape[:2], -1).swapaxes(1, 2)
                counts += confusion_counts(Z, codes[rows], k, part)
        return counts

    def _reach(self, beta: FloatArray) -> FloatArray | None:
        """Return how far scores in float32 may be off (P,), relative to the norms of rows.

        A score is off by at most ``(L + 3) u |h| |beta|``, a difference of two by twice
        that, for any order of summation. None stands for numbers that float32 cannot hold.
        """
        if not (self.halved and compiled.is_available()):
            return None
        longest = np.sqrt(np.einsum("pml,pml->pm", beta, beta).max(axis=1))
        if not (longest.min() > SMALLEST and longest.max() < LARGEST > self._half[1].max()):
            return None
        return (2.1 * (beta.shape[2] + 3) * UNIT * longest).astype(np.float32)

    def _count_halved(
        self,
        beta: FloatArray,
        scale: FloatArray,
        rows: slice,
        y: IntArray,
        k: int,
        weight: FloatArray | None,
        counts: FloatArray,
    ) -> float:
        """Count from scores in float32, and return the share of rows scored again."""
        P, m, L = beta.shape
        H, norms = self._half
        Z = (beta.reshape(P * m, L).astype(np.float32) @ H[:, rows]).reshape(P, m, -1)
        checked = compiled.count_checked(
            Z, y, weight, k, (self.H[rows], beta), (norms[rows], scale), counts
        )
        return checked / (P * Z.shape[2])

    @cached_property
    def _half(self) -> tuple[FloatArray, FloatArray]:
        norms = np.sqrt(np.einsum("nl,nl->n", self.H, self.H)) + SMALLEST
        with np.errstate(over="ignore"):  # then float32 is not used
            return self.H.T.astype(np.float32, order="C"), norms.astype(np.float32)

    def squares(self, beta: FloatArray) -> FloatArray:
        """Return ``sum_i w_i ||t_i - h_i beta||^2`` (P,), from sums alone: nothing grows with n."""
        P, m, L = beta.shape
        sums = self._sums
        fitted = (beta.reshape(P * m, L) @ sums.grams[0]).reshape(beta.shape)
        quadratic = np.einsum("pml,pml->p", fitted, beta)
        linear = np.einsum("pml,lm->p", beta, sums.moments[0])
        total = float(sums.squares.sum())
        squares = total - 2.0 * linear + quadratic
        lost = squares < CANCELLED * (total + quadratic)
        if lost.any():
            squares[lost] = self._squares_by_row(beta[lost])
        return squares

    def _squares_by_row(self, beta: FloatArray) -> FloatArray:
        residuals = self.T.T - self.scores(beta)
        per_row = np.einsum("pmn,pmn->pn", residuals, residuals)
        return per_row.sum(axis=1) if self.weight is None else per_row @ self.weight

    @cached_property
    def _sums(self) -> GramBlocks:
        return GramBlocks.from_rows(self.H, self.T, self.weight)


@dataclass(frozen=True, slots=True)
class Solved:
    """Betas (P, m, L) of a generation, split by split, and the rows to judge them by."""

    judged: list[JudgedFeatures]
    betas: list[FloatArray]

    def scores(self) -> FloatArray:
        """Return Z (P, n, m), the splits one after the other."""
        pairs = zip(self.judged, self.betas, strict=True)
        parts = [rows.scores(beta) for rows, beta in pairs]
        Z = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Z.swapaxes(1, 2)

    def confusions(self, y: IntArray, k: int, weight: FloatArray | None) -> FloatArray:
        """Return confusion matrices (P, k, k), NaN for candidates without a solution."""
        counts, start = np.zeros((len(self.betas[0]), k, k)), 0
        for judged, beta in zip(self.judged, self.betas, strict=True):
            rows = slice(start, start := start + len(judged.H))
            part = None if weight is None else weight[rows]
            counts += judged.confusions(beta, y[rows], k, part)
            counts[np.isnan(beta[:, 0, 0])] = np.nan
        return counts

    def squares(self) -> FloatArray:
        """Return the weighted squared errors (P,), summed over rows and outputs."""
        pairs = zip(self.judged, self.betas, strict=True)
        return np.sum([rows.squares(beta) for rows, beta in pairs], axis=0)
