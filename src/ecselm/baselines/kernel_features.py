"""Features whose inner products are the kernel, for machines trained by gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ecselm._typing import FloatArray


@dataclass(frozen=True, slots=True)
class KernelFeatures:
    """``K = Z Z'``: weights W of the features are coefficients ``back W`` of the rows.

    ``tr(A'KA)`` becomes ``||W||^2``, which gradients descend far sooner. Directions that
    are rounding noise, and negative ones, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> features = KernelFeatures.from_kernel(np.array([[4.0, 0.0], [0.0, 0.0]]))
    >>> np.abs(features.Z), np.abs(features.back)
    (array([[2.], [0.]]), array([[0.5], [0. ]]))
    """

    Z: FloatArray  # (N, r)
    back: FloatArray  # (N, r)

    @classmethod
    def from_kernel(cls, K: FloatArray, size: float = 0.0) -> KernelFeatures:
        """Split a symmetric kernel matrix (N, N) by its spectrum.

        ``size`` is the largest number that K was computed from, where it is centred: its
        rounding noise is as large as theirs.
        """
        eps = float(np.finfo(np.float64).eps)
        values, vectors = eigh(K)
        kept = values > len(K) * eps * max(float(values[-1]), size)
        root = np.sqrt(values[kept])
        return cls(vectors[:, kept] * root, vectors[:, kept] / root)
