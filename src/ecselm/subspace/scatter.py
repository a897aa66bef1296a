"""Scatter matrices (d, d) of rows, classes and graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import FloatArray, IntArray


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
