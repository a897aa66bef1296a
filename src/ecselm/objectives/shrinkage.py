"""A pull towards prior costs, against following noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """What it costs in fitness to leave the prior costs.

    The strength times the squared logarithm of the factor by which the ratio of two costs
    differs from the prior's, in the mean over all pairs of costs.

    Examples
    --------
    >>> import numpy as np
    >>> pull = Shrinkage(np.array([1.0, 4.0]), strength=0.01)
    >>> pull(np.array([[2.0, 8.0], [1.0, 1.0]])).round(4)
    array([0.    , 0.0192])
    """

    center: FloatArray  # (E,), positive
    strength: float

    def __call__(self, entries: FloatArray) -> FloatArray:
        """Return what is taken off the fitness (P,) of cost entries (P, E)."""
        logs = np.log(entries / self.center)
        logs -= logs.mean(axis=1, keepdims=True)
        return self.strength * 2.0 * np.einsum("pe,pe->p", logs, logs) / (logs.shape[1] - 1)
