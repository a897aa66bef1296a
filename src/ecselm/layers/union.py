"""Several hidden layers side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray, Matrix
from ecselm.layers.random import HiddenLayer


@dataclass(frozen=True, slots=True)
class WeighedLayer:
    """A layer times a number."""

    layer: HiddenLayer
    factor: float

    @property
    def n_hidden(self) -> int:
        """Return L of the layer."""
        return self.layer.n_hidden

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return self.layer.concurrent

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H (N, L), in ``out`` if that is given."""
        H = self.layer(X, out)
        H *= self.factor
        return H


@dataclass(frozen=True, slots=True)
class LayerUnion:
    """The units of several layers one after the other, and one unit that is always 1.

    Output weights on it add up answers of machines behind different layers; that of the
    last unit moves all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.layers import RandomLayer
    >>> layer = RandomLayer(np.ones((1, 2)), np.zeros(2), "relu")
    >>> LayerUnion((layer, layer))(np.array([[3.0]]))
    array([[3., 3., 3., 3., 1.]])
    """

    parts: tuple[HiddenLayer, ...]

    @property
    def n_hidden(self) -> int:
        """Return the number of all units."""
        return 1 + sum(part.n_hidden for part in self.parts)

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return all(part.concurrent for part in self.parts)

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H (N, L), in ``out`` if that is given."""
        H = np.empty((X.shape[0], self.n_hidden)) if out is None else out
        end = 0
        for part in self.parts:
            start, end = end, end + part.n_hidden
            H[:, start:end] = part(X)
        H[:, end] = 1.0
        return H
