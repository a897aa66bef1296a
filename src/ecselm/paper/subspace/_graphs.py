"""Graphs between rows, and scatter matrices (d, d) of rows, classes and graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from ecselm._typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Edges:
    """Directed edges between N rows, and how long they are."""

    heads: IntArray
    tails: IntArray
    lengths: FloatArray
    n_rows: int

    @classmethod
    def join(cls, parts: list[Edges]) -> Edges:
        """Return the edges of all ``parts``."""
        return cls(
            np.concatenate([part.heads for part in parts]),
            np.concatenate([part.tails for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            parts[0].n_rows,
        )

    def shortest(self, n: int) -> Edges:
        """Return the ``n`` shortest, or all if there are fewer."""
        kept = np.argsort(self.lengths, kind="stable")[:n]
        return Edges(self.heads[kept], self.tails[kept], self.lengths[kept], self.n_rows)

    def graph(self, weights: FloatArray) -> Any:
        """Return the matrix W (N, N) with ``W_ij = W_ji``, the larger of both directions."""
        shape = self.n_rows, self.n_rows
        W = csr_array((weights, (self.heads, self.tails)), shape=shape)
        return csr_array(W.maximum(W.T))

    def binary_graph(self) -> Any:
        """Return W with 1 for every edge."""
        return self.graph(np.ones(len(self.lengths)))

    def heat_graph(self, width: float | str | None) -> Any:
        """Return W with ``exp(-length^2 / width)``; ``"mean"`` is the mean squared length.

        With None every edge weighs 1.
        """
        if width is None:
            return self.binary_graph()
        squares = self.lengths**2
        if isinstance(width, str):
            width = float(squares.mean()) if len(squares) else 0.0
        if width == 0.0:  # all neighbours are copies
            return self.binary_graph()
        return self.graph(np.exp(-squares / width))


def nearest_edges(X: FloatArray, n_neighbors: int) -> Edges:
    """Return an edge from every row to each of its nearest others."""
    return class_edges(X, np.zeros(len(X), dtype=np.intp), n_neighbors)


def class_edges(X: FloatArray, codes: IntArray, n_neighbors: int) -> Edges:
    """Return an edge from every row to each of its nearest of the same class.

    A class of fewer rows than ``n_neighbors`` + 1 is joined throughout.
    """
    parts = []
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        n = min(n_neighbors, len(rows) - 1)
        parts.append(_edges(X, rows, rows, n, None) if n else _no_edges(len(X)))
    return Edges.join(parts)


def border_edges(X: FloatArray, codes: IntArray, n_neighbors: int, per: str) -> Edges:
    """Return edges to rows of other classes.

    Parameters
    ----------
    X : array of shape (N, d)
    codes : array of shape (N,)
    n_neighbors : int
    per : {"sample", "class"}
        From every row to its nearest of other classes, or for every class the shortest
        pairs of one row in it and one outside. Those are among the nearest of their row.
    """
    parts = []
    for code in range(codes.max() + 1):
        inside = codes == code
        rows, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        found = _edges(X, rows, others, min(n_neighbors, len(others)), X[rows])
        parts.append(found if per == "sample" else found.shortest(n_neighbors))
    return Edges.join(parts)


def weighted_edges(W: Any, codes: IntArray, pairs: FloatArray) -> Any:
    """Return W with each edge times the entry of ``pairs`` (k, k) for its two classes."""
    edges = W.tocoo()
    edges.data = edges.data * pairs[codes[edges.row], codes[edges.col]]
    return edges.tocsr()


def _edges(
    X: FloatArray, rows: IntArray, others: IntArray, n: int, queries: FloatArray | None
) -> Edges:
    """Find the nearest ``others`` of ``rows``; without ``queries`` these are the same rows."""
    lengths, nearest = NearestNeighbors(n_neighbors=n).fit(X[others]).kneighbors(queries)
    return Edges(np.repeat(rows, n), others[nearest.ravel()], lengths.ravel(), len(X))


def _no_edges(n_rows: int) -> Edges:
    none = np.zeros(0, dtype=np.intp)
    return Edges(none, none, np.zeros(0), n_rows)


def class_means(X: FloatArray, codes: IntArray) -> FloatArray:
    """Return the mean of every class, shape (k, d)."""
    k = codes.max() + 1
    sums = np.zeros((k, X.shape[1]))
    np.add.at(sums, codes, X)
    return sums / np.bincount(codes, minlength=k)[:, np.newaxis]


def row_scatter(X: FloatArray, w: FloatArray) -> FloatArray:
    """Return ``X' diag(w) X`` for weights ``w`` >= 0."""
    Z = X * np.sqrt(w)[:, np.newaxis]
    return Z.T @ Z


def within_scatter(X: FloatArray, codes: IntArray, f: FloatArray) -> FloatArray:
    """Return ``sum_k f_k sum_(i in k) (x_i - m_k)(x_i - m_k)'``."""
    return row_scatter(X - class_means(X, codes)[codes], f[codes])


def between_scatter(M: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return ``sum_ij pairs_ij (m_i - m_j)(m_i - m_j)'`` for points M (k, d).

    This is ``2 M'(D - P)M``, where P is the symmetric part of ``pairs`` and D has its row
    sums on the diagonal.
    """
    P = (pairs + pairs.T) / 2.0
    L = np.diag(P.sum(axis=1)) - P
    return 2.0 * (M.T @ L @ M)


def edge_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'WX`` for a symmetric graph W (N, N)."""
    return symmetric(X.T @ (W @ X))


def degree_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'DX``, where D has the row sums of W on its diagonal."""
    return row_scatter(X, W.sum(axis=1))


def graph_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'LX`` with ``L = D - W``, half of ``sum_ij W_ij (x_i - x_j)(x_i - x_j)'``."""
    return symmetric(X.T @ (W.sum(axis=1)[:, np.newaxis] * X - W @ X))


def symmetric(S: FloatArray) -> FloatArray:
    """Return S without the asymmetry of rounding."""
    return (S + S.T) / 2.0
