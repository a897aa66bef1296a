"""Kernels in the place of H H' (paper, eq. 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from ecselm._threads import row_blocks, share_out
from ecselm._typing import FloatArray, Matrix

KERNELS = ("rbf", "linear", "polynomial", "laplacian", "cosine", "precomputed")


def resolve_gamma(gamma: float | str, X: Matrix, sample_weight: FloatArray | None = None) -> float:
    """Return the kernel width as a number.

    ``"scale"`` is ``1 / (n var(X))`` and ``"auto"`` is ``1 / n``, as in
    scikit-learn's support vector machines; the variance counts a row of weight 2
    as two rows.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_gamma("scale", np.array([[0.0, 2.0]]))
    0.5
    """
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    if gamma == "scale":
        variance = _variance(X, sample_weight)
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    return float(gamma)


def _variance(X: Matrix, sample_weight: FloatArray | None) -> float:
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    total = float(weights.sum()) * X.shape[1]
    mean = float((weights @ X).sum()) / total
    if sparse.issparse(X):
        return float((weights @ X.astype(np.float64).power(2)).sum()) / total - mean**2
    return float((weights @ (X - mean) ** 2).sum()) / total


def limit_rows(n_rows: int, max_samples: int | None) -> None:
    """Refuse more rows than a kernel matrix may have; None is no limit.

    Examples
    --------
    >>> limit_rows(30, None)
    >>> limit_rows(30, 20)
    Traceback (most recent call last):
        ...
    ValueError: X must have at most max_samples=20 rows, got 30: memory grows with the square
    of their number and time with the cube; max_samples=None lifts the limit
    """
    if max_samples is not None and n_rows > max_samples:
        raise ValueError(
            f"X must have at most max_samples={max_samples} rows, got {n_rows}: memory grows "
            "with the square of their number and time with the cube; max_samples=None lifts "
            "the limit"
        )


@dataclass(frozen=True, slots=True)
class KernelMap:
    """``x -> [K(x, x_1), ..., K(x, x_N)]`` for the training rows x_i (7).

    ``kernel="precomputed"`` takes rows of a kernel matrix as they are; a callable
    takes two blocks of rows and returns the matrix of their kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0]])
    >>> KernelMap("rbf", rows, gamma=1.0)(rows).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    kernel: str | Callable[[Matrix, Matrix], FloatArray]
    rows: Matrix
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    dtype: np.dtype[np.floating] = field(default=np.dtype(np.float64))
    scale: Callable[[Matrix], Matrix] | None = None  # of what is given, not of ``rows``

    @property
    def n_hidden(self) -> int:
        """Return N, the number of training rows."""
        return int(self.rows.shape[0])

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return isinstance(self.kernel, str)

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return the kernel values (M, N) between the rows of ``X`` and the training rows."""
        K = self._values(X if self.scale is None else self.scale(X))
        if out is None:
            return K
        out[:] = K
        return out

    def _values(self, X: Matrix) -> FloatArray:
        if callable(self.kernel):
            K = np.ascontiguousarray(self.kernel(X, self.rows), dtype=self.dtype)
        elif self.kernel == "precomputed":
            K = np.array(X, dtype=self.dtype, order="C")
        else:
            K = _FORMULAS[self.kernel](self, X)
        if K.shape != (X.shape[0], self.n_hidden):
            raise ValueError(
                f"kernel must give a matrix of shape {(X.shape[0], self.n_hidden)}, "
                f"got {K.shape} from {self.kernel!r}"
            )
        return K


def _inner(X: Matrix, Y: Matrix) -> FloatArray:
    G = X @ Y.T
    return np.ascontiguousarray(G.toarray() if sparse.issparse(G) else G)


def _squared_norms(X: Matrix) -> FloatArray:
    if sparse.issparse(X):
        return np.asarray(X.copy().power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _rbf(self: KernelMap, X: Matrix) -> FloatArray:
    """Return ``exp(-gamma ||x - y||^2)``.

    The difference of large norms needs float64 even for float32 inputs; it is taken
    in blocks, so the result costs no more memory than itself.
    """
    Y = self.rows.astype(np.float64, copy=False)
    norms = _squared_norms(Y)
    K = np.empty((X.shape[0], Y.shape[0]), dtype=self.dtype)

    def fill(blocks: list[slice]) -> None:
        for rows in blocks:
            B = X[rows].astype(np.float64, copy=False)
            D = _inner(B, Y)
            D *= -2.0
            D += _squared_norms(B)[:, np.newaxis]
            D += norms
            np.maximum(D, 0.0, out=D)
            D *= -self.gamma
            K[rows] = np.exp(D, out=D)

    share_out(fill, row_blocks(X.shape[0], Y.shape[0]))
    return K


def _linear(self: KernelMap, X: Matrix) -> FloatArray:
    return _inner(X, self.rows).astype(self.dtype, copy=False)


def _polynomial(self: KernelMap, X: Matrix) -> FloatArray:
    """Return ``(gamma x'y + coef0)^degree``."""
    K = _linear(self, X)
    K *= self.gamma
    K += self.coef0
    return np.power(K, self.degree, out=K)


def _laplacian(self: KernelMap, X: Matrix) -> FloatArray:
    """Return ``exp(-gamma ||x - y||_1)``; sparse rows become dense block by block."""
    Y = self.rows.toarray() if sparse.issparse(self.rows) else self.rows
    K = np.empty((X.shape[0], len(Y)), dtype=self.dtype)

    def fill(blocks: list[slice]) -> None:
        for rows in blocks:
            B = X[rows].toarray() if sparse.issparse(X) else X[rows]
            K[rows] = np.exp(-self.gamma * cdist(B, Y, "cityblock"))

    share_out(fill, row_blocks(X.shape[0], len(Y)))
    return K


def _cosine(self: KernelMap, X: Matrix) -> FloatArray:
    """Return ``x'y / (||x|| ||y||)``, 0 for a row of zeros."""
    K = _linear(self, X)
    for norms, axis in ((_squared_norms(X), 1), (_squared_norms(self.rows), 0)):
        K /= np.expand_dims(np.sqrt(np.where(norms > 0, norms, 1.0)), axis)
    return K


def kernel_distances(kernel: str, X: Matrix, rows: Matrix) -> FloatArray:
    """Return the distances D (M, N) of which ``exp(-gamma D)`` is the kernel.

    Squared for ``"rbf"``, absolute for ``"laplacian"``.

    Examples
    --------
    >>> import numpy as np
    >>> kernel_distances("rbf", np.array([[0.0], [3.0]]), np.array([[1.0]]))
    array([[1.],
           [4.]])
    """
    if kernel == "laplacian":
        A, B = (Y.toarray() if sparse.issparse(Y) else Y for Y in (X, rows))
        return cdist(A, B, "cityblock")
    D = -2.0 * _inner(X.astype(np.float64, copy=False), rows.astype(np.float64, copy=False).copy())
    D += _squared_norms(X.astype(np.float64, copy=False))[:, np.newaxis]
    D += _squared_norms(rows.astype(np.float64, copy=False))
    return np.maximum(D, 0.0, out=D)


_FORMULAS: dict[str, Callable[[KernelMap, Matrix], FloatArray]] = {
    "rbf": _rbf,
    "linear": _linear,
    "polynomial": _polynomial,
    "laplacian": _laplacian,
    "cosine": _cosine,
}
