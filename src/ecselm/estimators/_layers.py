"""The layer of an estimator: random units, or a transformer in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ecselm._typing import FloatArray, Matrix
from ecselm.layers import HiddenLayer, InputScale, RandomLayer, measure_scale
from ecselm.layers.random import Weights

LEAST_UNITS, UNITS_PER_ROOT = 100, 2.0
SMALLEST, LARGEST = 1e-100, 1e100  # magnitudes whose squares, and inverses of them, are finite


def layer_width(n_hidden: int | str, n_rows: int) -> int:
    """Return the number of units of one random layer.

    ``"auto"`` is 100, and twice the root of the number of rows from 2500 rows on: summing
    ``N L^2`` products then grows with the square of N.

    Examples
    --------
    >>> layer_width("auto", 500), layer_width("auto", 40_000), layer_width(7, 500)
    (100, 400, 7)
    """
    if not isinstance(n_hidden, str):
        return int(n_hidden)
    return max(LEAST_UNITS, round(UNITS_PER_ROOT * float(np.sqrt(n_rows))))


def finite(values: FloatArray, name: str, value: str | Callable[..., Any] | None) -> FloatArray:
    """Return ``values``, or refuse the parameter ``name`` that let them overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} must give finite values for these data, got infinite or NaN ones from "
            f"{name}={value!r}; scale the inputs or choose another {name}"
        )
    return values


def check_magnitude(X: Matrix, name: str = "X") -> None:
    """Raise ValueError if squares of values, or their inverses, are not finite.

    Examples
    --------
    >>> check_magnitude(np.array([[0.0, 1e160]]))
    Traceback (most recent call last):
        ...
    ValueError: X must have a largest magnitude between 1e-100 and 1e+100, got 1e+160: scale it
    """
    values = X.data if hasattr(X, "tocsr") else X
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest and not SMALLEST <= largest <= LARGEST:
        raise ValueError(
            f"{name} must have a largest magnitude between {SMALLEST:g} and {LARGEST:g}, "
            f"got {largest:g}: scale it"
        )


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
    """A layer before the scale of its inputs is known."""

    drawn: Weights | None
    activation: str | Callable[[FloatArray], FloatArray]
    scale: str | None
    transformer: Any
    dtype: np.dtype[np.floating]
    made: HiddenLayer | None = None  # already, for rows that come in blocks

    @property
    def data_free(self) -> bool:
        """Tell whether the layer depends on no data that are still to come."""
        return self.made is not None or (self.transformer is None and self.scale is None)

    @property
    def source(self) -> tuple[str, Any]:
        """Return the parameter to be blamed if H overflows, and its value."""
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


@dataclass(frozen=True, slots=True)
class DenseScale:
    """A scale that moves zeros: sparse rows become dense before it."""

    scale: Callable[[FloatArray], FloatArray]

    def __call__(self, X: Matrix) -> FloatArray:
        """Return the scaled rows."""
        return self.scale(X.toarray() if sparse.issparse(X) else X)


def uncentred(scale: InputScale) -> InputScale:
    """Return the scale that leaves zeros where they are; distances do not know the centre."""
    return replace(scale, center=np.zeros_like(scale.center))
