"""Weighted ridge regression on cached Gram blocks (paper, eq. 15, case N >= L).

Sizes: N samples, L hidden units, m outputs, g groups of samples of equal cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm import _native as compiled
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, IntArray
from ecselm.linalg.factors import Factor, factor_indefinite, factor_shifted

COMPILED_UNITS = 512  # up to so many, sums stay in the cache while rows are added


class GramSum:
    """Running sums ``H'diag(w)H``, ``H'diag(w)T`` and ``diag(T'diag(w)T)`` over rows, by group.

    The first two are parts of one symmetric product, ``[H T]'diag(w)[H T]``, half of which is
    computed: by the C library, or by BLAS for a layer that is too large for the cache. Rows
    are laid out in places allocated once, because fresh memory for every block costs as much
    as a product. The sums of any division of the rows into blocks are equal up to rounding:
    sequential learning needs no more. They are kept in float64 whatever the precision of the
    rows.
    """

    def __init__(
        self,
        n_rows: int,
        n_hidden: int,
        n_outputs: int,
        dtype: np.dtype[np.floating],
        n_groups: int = 1,
    ) -> None:
        self._H = np.empty((n_rows, n_hidden), dtype=dtype)
        self._compiled = n_hidden <= COMPILED_UNITS and compiled.is_wide()
        width = 0 if self._compiled else n_hidden + n_outputs
        self._Z = np.empty((n_rows, width), dtype=dtype)
        self._sums = np.zeros((n_groups, n_hidden + n_outputs, n_hidden))  # lower part
        self._squares = np.zeros((n_groups, n_outputs))

    def hidden(self, n_rows: int) -> FloatArray:
        """Return the place for the next rows of H, to be filled before :meth:`add`."""
        return self._H[:n_rows]

    def add(self, T: FloatArray, w: FloatArray | None, group: int = 0) -> None:
        """Add the rows of H in their place, with targets ``T`` and weights ``w`` >= 0."""
        H = self._H[: len(T)]
        if not self._compiled:
            self._add_by_blas(H, T, w, group)
            return
        T = np.ascontiguousarray(T, dtype=H.dtype)
        w = None if w is None else np.ascontiguousarray(w, dtype=H.dtype)
        compiled.add_gram((H, T), w, self._sums[group], self._squares[group])

    def _add_by_blas(self, H: FloatArray, T: FloatArray, w: FloatArray | None, group: int) -> None:
        Z, L = self._Z[: len(T)], H.shape[1]
        root = 1.0 if w is None else np.sqrt(w, dtype=Z.dtype)[:, np.newaxis]
        np.multiply(H, root, out=Z[:, :L])
        np.multiply(T, root, out=Z[:, L:])
        if T.shape[1] <= L // 4:
            sums = Z.T @ Z
            self._sums[group] += sums[:, :L]
            self._squares[group] += sums.diagonal()[L:]
        else:  # the square of many targets would cost more than it saves
            H, T = Z[:, :L], Z[:, L:]
            self._sums[group, :L] += H.T @ H
            self._sums[group, L:] += T.T @ H
            self._squares[group] += np.einsum("ij,ij->j", T, T)

    def merge(self, other: GramSum) -> None:
        """Add the sums of ``other``."""
        self._sums += other._sums
        self._squares += other._squares

    def blocks(self) -> GramBlocks:
        """Return the sums by group; they may share memory with this object."""
        eps, L = float(np.finfo(self._H.dtype).eps), self._H.shape[1]
        if self._compiled:
            for sums in self._sums:
                lower = np.tril(sums[:L], -1)
                sums[:L] = np.tril(sums[:L]) + lower.T
        moments = self._sums[:, L:].swapaxes(1, 2)
        return GramBlocks(self._sums[:, :L], moments, self._squares, eps)


@dataclass(frozen=True, slots=True)
class GramBlocks:
    """Normal equations, split by cost group, ready for any cost vector.

    A new cost vector is assembled in O(g L^2) instead of O(N L^2).

    Examples
    --------
    >>> import numpy as np
    >>> H, T = np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]])
    >>> blocks = GramBlocks.from_groups(H, T, np.array([0, 1]))
    >>> blocks.solve(np.array([1.0, 3.0]), C=1e9).round(6)
    array([[2.5]])
    """

    grams: FloatArray  # (g, L, L), H_g' H_g
    moments: FloatArray  # (g, L, m), H_g' T_g
    squares: FloatArray  # (g, m), squared targets summed
    eps: float  # relative precision of the products

    @classmethod
    def from_groups(cls, H: FloatArray, T: FloatArray, groups: IntArray) -> GramBlocks:
        """Divide the rows of ``H`` and ``T`` by ``groups``, integers in ``0..g-1``."""
        members = [groups == g for g in range(groups.max() + 1)]
        return cls.stack([cls.from_rows(H[rows], T[rows], None) for rows in members])

    @classmethod
    def from_rows(cls, H: FloatArray, T: FloatArray, w: FloatArray | None) -> GramBlocks:
        """Return one block over all rows, with weights ``w`` >= 0."""
        total = GramSum(len(H), H.shape[1], T.shape[1], H.dtype)
        total.hidden(len(H))[:] = H
        with blas_threads(H.shape[1]):
            total.add(T, w)
        return total.blocks()

    @classmethod
    def stack(cls, parts: list[GramBlocks]) -> GramBlocks:
        """Return the groups of all ``parts``, in their order."""
        return cls(
            grams=np.concatenate([part.grams for part in parts]),
            moments=np.concatenate([part.moments for part in parts]),
            squares=np.concatenate([part.squares for part in parts]),
            eps=max(part.eps for part in parts),
        )

    def __add__(self, other: GramBlocks) -> GramBlocks:
        """Return the sums over the rows of both."""
        return GramBlocks(
            self.grams + other.grams,
            self.moments + other.moments,
            self.squares + other.squares,
            max(self.eps, other.eps),
        )

    def weighted(self, b: FloatArray) -> GramBlocks:
        """Return one block, the sum of all with weights ``b`` (g,)."""
        return GramBlocks(
            grams=np.tensordot(b, self.grams, axes=1)[np.newaxis],
            moments=np.tensordot(b, self.moments, axes=1)[np.newaxis],
            squares=(b @ self.squares)[np.newaxis],
            eps=self.eps,
        )

    def solve(self, b: FloatArray, C: float) -> FloatArray:
        """Return beta (L, m) for group costs ``b`` (g,): eq. (15)."""
        total = self.weighted(b)
        factor = total.factor(C, signed=bool((b < 0).any()))
        return factor.solve(total.moments[0])

    def factor(self, C: float, signed: bool) -> Factor:
        """Factorise ``I/C + H'H`` of a single block, ``signed`` if a weight was negative."""
        (G,) = self.grams
        return factor_indefinite(G, 1.0 / C) if signed else factor_shifted(G, 1.0 / C, self.eps)
