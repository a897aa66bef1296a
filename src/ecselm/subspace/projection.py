"""Directions in which one scatter is large against another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr, svd

from ecselm._typing import FloatArray

NORMALIZATIONS = ("unit", "metric", "orth")


@dataclass(frozen=True, slots=True)
class Directions:
    """Columns to project on, the best first, and the ratio each attains."""

    vectors: FloatArray  # (d, r)
    ratios: FloatArray  # (r,)

    def within(self, basis: FloatArray | None) -> Directions:
        """Return them in the space of all features, of which ``basis`` (n, d) is a part.

        The largest entry of each is positive, so that a result can be repeated.
        """
        vectors = self.vectors if basis is None else basis @ self.vectors
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
        return Directions(vectors * signs, self.ratios)


def largest_variance(S: FloatArray, n: int) -> Directions:
    """Return the ``n`` eigenvectors of S (d, d) with the largest eigenvalues."""
    d = len(S)
    ratios, vectors = eigh(S, subset_by_index=[d - n, d - 1])
    return Directions(vectors[:, ::-1], ratios[::-1])


def largest_ratio(A: FloatArray, B: FloatArray, n: int, reg: float, normalize: str) -> Directions:
    """Return the ``n`` directions of largest ``a'Aa / a'(B + r I)a``, ``r = reg tr(B)/d``.

    Parameters
    ----------
    A, B : array of shape (d, d)
        Symmetric; B positive semidefinite.
    n : int
    reg : float
    normalize : {"unit", "metric", "orth"}
        Length 1; ``a'(B + r I)a = 1``, as the eigenproblem leaves them; or an orthonormal
        basis of the same nested spaces.

    Examples
    --------
    >>> import numpy as np
    >>> largest_ratio(np.diag([1.0, 6.0]), np.diag([1.0, 2.0]), 1, 0.0, "unit").ratios
    array([3.])
    """
    d = len(B)
    if not np.trace(B) > 0:
        raise ValueError(
            "X must have rows that differ from others of their class or from their neighbours, "
            "got none"
        )
    ridged = B + reg * np.trace(B) / d * np.eye(d)
    try:
        ratios, vectors = eigh(A, ridged, subset_by_index=[d - n, d - 1])
    except LinAlgError:
        raise ValueError(
            "reg must make the scatter in the denominator positive definite, which it is not "
            f"for these rows (their features may depend on each other), got reg={reg:g}"
        ) from None
    return Directions(_normalized(vectors[:, ::-1], normalize), ratios[::-1])


def span_basis(X: FloatArray, n_components: int | None) -> FloatArray | None:
    """Return an orthonormal basis (d, r) of what centred rows span, or of its main part.

    None stands for all features, where there are fewer of them than rows. In a larger
    space no ratio of scatters is attained outside the span, so that nothing is lost.
    """
    N, d = X.shape
    if n_components is None and d < N:
        return None
    if n_components is not None and n_components > min(N, d):
        raise ValueError(
            f"pca_dim must be at most {min(N, d)}, the smaller of {N} rows and {d} "
            f"features, got {n_components}"
        )
    _, s, Vt = svd(X, full_matrices=False)
    rank = int((s > s[0] * max(N, d) * np.finfo(np.float64).eps).sum())
    return Vt[:rank][:n_components].T


def _normalized(vectors: FloatArray, normalize: str) -> FloatArray:
    if normalize == "metric":
        return vectors
    if normalize == "orth":
        return qr(vectors, mode="economic")[0]
    return vectors / np.linalg.norm(vectors, axis=0)
