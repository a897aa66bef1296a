"""The layers of estimators: one random layer or transformer, or layers of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.fitness.folds import N_LISTED, first_places, row_hashes
from ecselm.layers import (
    HiddenLayer,
    InputScale,
    KernelMap,
    LandmarkLayer,
    RandomLayer,
    RankScale,
    ScaledLayer,
    measure_scale,
    resolve_gamma,
)
from ecselm.layers.random import Weights

WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # in units of 1 / (n var(X))
STEEPNESS = 2.5  # of tanh units, so that the middle widths bend them well


def finite(values: FloatArray, name: str, value: str | Callable[..., Any] | None) -> FloatArray:
    """Return ``values``, or refuse the parameter ``name`` that let them overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} must give finite values for these data, got infinite or NaN ones from "
            f"{name}={value!r}; scale the inputs or choose another {name}"
        )
    return values


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


@dataclass(frozen=True, slots=True, eq=False)  # one is not like another
class KindLayer:
    """A layer with the kind and the width it has."""

    kind: str
    width: float
    layer: HiddenLayer


def layers_of_kinds(
    X: Matrix,
    weight: FloatArray | None,
    n_hidden: int,
    scale: str | None,
    rng: np.random.Generator,
) -> list[KindLayer]:
    """Return layers of every kind in all widths.

    ``"rbf"`` and ``"laplacian"`` are kernels seen from ``n_hidden`` rows drawn at random,
    ``"ranks"`` is the first of them on normal scores of ranks, and ``"tanh"`` has random
    directions. They depend on inputs alone. Sparse rows are not ranked.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> layers = layers_of_kinds(X, None, 10, "standard", np.random.default_rng(0))
    >>> len(layers), layers[0].kind, layers[0].layer(X).shape
    (24, 'rbf', (30, 10))
    """
    rows_rng, units_rng = rng.spawn(2)
    measured = measure_scale(X, scale, weight)
    to_landmarks = uncentred(measured) if sparse.issparse(X) else DenseScale(measured)
    gamma = resolve_gamma("scale", to_landmarks(X), weight)
    distinct = first_places(row_hashes(X))
    landmarks = X[distinct[landmark_places(len(distinct), n_hidden, rows_rng)]]
    ranks = None if sparse.issparse(X) else Ranks.measured(X[distinct])
    return layers_around(KindInputs(measured, gamma, landmarks, ranks), n_hidden, units_rng)


def landmark_places(n_distinct: int, n_hidden: int, rng: np.random.Generator) -> IntArray:
    """Return the positions of landmarks among the distinct rows, in the order of their hashes.

    They are drawn from the first :func:`n_listed` of them, which are a random sample.
    """
    return np.sort(rng.permutation(min(n_distinct, n_listed(n_hidden)))[:n_hidden])


def n_listed(n_hidden: int) -> int:
    """Return the number of distinct rows, those of the smallest hashes, to draw landmarks from."""
    return max(N_LISTED, n_hidden)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks of inputs, and the width of a kernel on their normal scores."""

    scale: RankScale
    gamma: float

    @classmethod
    def measured(cls, X: FloatArray) -> Ranks:
        """Measure distinct rows."""
        scale = RankScale.measured(X)
        return cls(scale, resolve_gamma("scale", scale(X)))


@dataclass(frozen=True, slots=True)
class KindInputs:
    """Statistics of the rows that the layers of all kinds need."""

    scale: InputScale
    gamma: float  # width of a kernel on that scale
    landmarks: Matrix  # rows as they came
    ranks: Ranks | None  # None for sparse rows


def layers_around(known: KindInputs, n_hidden: int, rng: np.random.Generator) -> list[KindLayer]:
    """Return layers of every kind in all widths, for statistics of the inputs."""
    rows, gamma = known.landmarks, known.gamma
    scale = uncentred(known.scale) if sparse.issparse(rows) else DenseScale(known.scale)
    scaled = scale(rows)
    layers = [
        KindLayer(kind, width, _landmark_layer(kind, scaled, width * gamma, scale))
        for kind in ("rbf", "laplacian")
        for width in WIDTHS
    ]
    if known.ranks is not None:
        ranks = DenseScale(known.ranks.scale)
        ranked = ranks(rows)
        layers += [
            KindLayer(
                "ranks", width, _landmark_layer("rbf", ranked, width * known.ranks.gamma, ranks)
            )
            for width in WIDTHS
        ]
    drawn = Weights(rng.standard_normal((rows.shape[1], n_hidden)), rng.standard_normal(n_hidden))
    return layers + [
        KindLayer("tanh", width, _tanh_layer(drawn, width, gamma, known.scale)) for width in WIDTHS
    ]


def uncentred(scale: InputScale) -> InputScale:
    """Return the scale that leaves zeros where they are; distances do not know the centre."""
    return replace(scale, center=np.zeros_like(scale.center))


def _landmark_layer(
    kernel: str, rows: Matrix, gamma: float, scale: Callable[[Matrix], Matrix]
) -> LandmarkLayer:
    return LandmarkLayer.around(KernelMap(kernel, rows, gamma, scale=scale))


def _tanh_layer(drawn: Weights, width: float, gamma: float, scale: InputScale) -> ScaledLayer:
    """Return units whose projections have the width as std, for rows of about unit length."""
    steep = np.sqrt(STEEPNESS * width)
    weights = Weights(drawn.weights * (steep * np.sqrt(gamma)), drawn.biases * steep)
    layer = RandomLayer.from_draw(weights, "tanh", scale, np.dtype(np.float64))
    return ScaledLayer(layer, 1.0 / np.sqrt(layer.n_hidden))
