"""A kernel seen from a few rows: hidden units whose products come close to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ecselm._typing import FloatArray, Matrix
from ecselm.layers.kernels import KernelMap

ROUNDING = 1e-10  # share of the largest eigenvalue below which directions are rounding


@dataclass(frozen=True, slots=True)
class LandmarkLayer:
    """``H = K(x, landmarks) R`` with ``R R' = K(landmarks, landmarks)^-1`` (Nystroem).

    ``H H'`` comes close to the kernel of (6) between any two rows, and equals it between
    landmarks. The units are radial basis functions around rows of the data.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = KernelMap("rbf", rows, gamma=1.0)
    >>> H = LandmarkLayer.around(kernel)(rows)
    >>> bool(np.allclose(H @ H.T, kernel(rows)))
    True
    """

    kernel: KernelMap  # to the landmarks, its rows
    root: FloatArray  # (number of landmarks, L)

    @classmethod
    def around(cls, kernel: KernelMap) -> LandmarkLayer:
        """Return the layer of a kernel whose rows are the landmarks, scaled already."""
        own = KernelMap(kernel.kernel, kernel.rows, kernel.gamma, kernel.degree, kernel.coef0)
        values, vectors = eigh(own(kernel.rows).astype(np.float64))
        kept = values > ROUNDING * values[-1]
        return cls(kernel, vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def n_hidden(self) -> int:
        """Return L, at most the number of landmarks."""
        return int(self.root.shape[1])

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return self.kernel.concurrent

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H (N, L) for the rows of ``X``, in ``out`` if that is given."""
        return np.matmul(self.kernel(X).astype(np.float64, copy=False), self.root, out=out)
