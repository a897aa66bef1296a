"""Quadratic forms of pairs and what metrics are made of.

Sizes: P pairs of vectors of d entries; ``D`` (P, d) are differences ``x - z``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ecselm._typing import FloatArray
from ecselm.pairs.products import outer_sum, quadratic, rows_times


def differences(pairs: FloatArray) -> FloatArray:
    """Return ``x - z`` (P, d) of every pair."""
    return pairs[:, 0] - pairs[:, 1]


def positive_part(M: FloatArray) -> FloatArray:
    """Return the nearest positive semidefinite matrix to a symmetric ``M``.

    Examples
    --------
    >>> import numpy as np
    >>> positive_part(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, V = eigh(M)
    kept = values > 0.0
    if kept.all():
        return M
    V = V[:, kept]
    return outer_sum((V * np.sqrt(values[kept])).T)


def with_ridge(M: FloatArray, relative: float) -> FloatArray:
    """Return ``M + relative tr(M)/d I``."""
    d = len(M)
    return M + (relative * np.trace(M) / d) * np.eye(d)


def unit_rows(X: FloatArray) -> FloatArray:
    """Return rows of length 1; a row of zeros stays."""
    norms = np.sqrt(np.einsum("...i,...i->...", X, X))[..., np.newaxis]
    return X / np.where(norms > 0.0, norms, 1.0)


def cosines(pairs: FloatArray) -> FloatArray:
    """Return ``x'z / (|x| |z|)`` (P,), 0 beside a vector of zeros."""
    U = unit_rows(pairs)
    return np.einsum("ij,ij->i", U[:, 0], U[:, 1])


@dataclass(frozen=True, slots=True, eq=False)  # scikit-learn hashes what it is given
class Mahalanobis:
    """The distance ``sqrt((x - z)' M (x - z))`` of two vectors, as scikit-learn's neighbours ask.

    Examples
    --------
    >>> import numpy as np
    >>> Mahalanobis(np.diag([4.0, 1.0]))([1.0, 0.0], [0.0, 0.0])
    2.0
    """

    matrix: FloatArray  # (d, d), positive semidefinite

    def __call__(self, x: FloatArray, z: FloatArray) -> float:
        """Return the distance between ``x`` and ``z``, both (d,)."""
        D = np.subtract(x, z)
        return float(np.sqrt(max(float(D @ self.matrix @ D), 0.0)))


@dataclass(frozen=True, slots=True)
class NegativeForm:
    """Similarity ``b - (x - z)' M (x - z)`` of pairs."""

    matrix: FloatArray
    offset: float = 0.0

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d)."""
        return self.offset - quadratic(differences(pairs), self.matrix)


@dataclass(frozen=True, slots=True)
class ProjectedCosine:
    """Cosine of ``A x`` and ``A z`` of pairs."""

    projection: FloatArray  # (r, d)

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the cosine (P,) of pairs (P, 2, d)."""
        rows = pairs.reshape(-1, pairs.shape[2])
        return cosines(rows_times(rows, self.projection.T).reshape(len(pairs), 2, -1))
