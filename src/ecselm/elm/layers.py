"""How an estimator comes to its map from x to H: drawn, fitted from outside, or a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ecselm._typing import FloatArray, Matrix
from ecselm.hidden import HiddenLayer, InputScale, RandomLayer, measure_scale
from ecselm.hidden.draws import Weights


@dataclass(frozen=True, slots=True)
class TransformerLayer:
    """A fitted transformer in the place of the random layer."""

    transformer: Any
    n_hidden: int
    dtype: np.dtype[np.floating]

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return False

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H, dense, in ``out`` if that is given."""
        H = self.transformer.transform(X)
        dense = np.asarray(H.toarray() if sparse.issparse(H) else H, dtype=self.dtype)
        if out is None:
            return dense
        out[:] = dense
        return out


@dataclass(frozen=True, slots=True)
class LayerRecipe:
    """What is decided about a layer before it has seen the scale of its inputs."""

    drawn: Weights | None
    activation: str | Callable[[FloatArray], FloatArray]
    scale: str | None
    transformer: Any
    dtype: np.dtype[np.floating]
    made: HiddenLayer | None = None  # beforehand, for rows that come in blocks

    @property
    def data_free(self) -> bool:
        """Tell whether the layer depends on no data that are still to come."""
        return self.made is not None or (self.transformer is None and self.scale is None)

    @property
    def source(self) -> tuple[str, Any]:
        """Return the parameter that answers for H, and its value."""
        if self.drawn is None:
            return "hidden_layer", self.transformer
        return "activation", self.activation

    def make(self, X: Matrix, sample_weight: FloatArray | None) -> HiddenLayer:
        """Return the layer for inputs like the rows of ``X``."""
        if self.made is not None:
            return self.made
        if self.drawn is None:
            return self._fit_transformer(X)
        layer = self.scaled(measure_scale(X, self.scale, sample_weight))
        layer.warn_if_saturated(X)
        return layer

    def scaled(self, scale: InputScale) -> RandomLayer:
        """Return the drawn layer for inputs of this scale."""
        if self.drawn is None:
            raise ValueError("hidden_layer must be None for a layer of a scale of its own")
        return RandomLayer.from_draw(self.drawn, self.activation, scale, self.dtype)

    def _fit_transformer(self, X: Matrix) -> TransformerLayer:
        transformer = clone(self.transformer).fit(X)
        return TransformerLayer(transformer, transformer.transform(X[:1]).shape[1], self.dtype)


def seeded_clone(transformer: Any, rng: np.random.Generator) -> Any:
    """Clone ``transformer`` with a seed for every random state that is not set."""
    fresh = clone(transformer)
    parameters = fresh.get_params(deep=True) if hasattr(fresh, "get_params") else {}
    unset = [
        name
        for name, value in sorted(parameters.items())
        if name.split("__")[-1] == "random_state" and value is None
    ]
    if unset:
        fresh.set_params(**{name: int(rng.integers(2**31)) for name in unset})
    return fresh
