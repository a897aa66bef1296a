"""Hidden layers of several kinds and widths, from which a committee is drawn.

What suits the data is not known beforehand: whether distances count by their squares or
their sizes, values by themselves or by their ranks, neighbourhoods or directions. Answers
of machines behind different kinds of layers err differently, and their mean errs less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.hidden import (
    HiddenLayer,
    InputScale,
    KernelMap,
    LandmarkLayer,
    RandomLayer,
    RankScale,
    WeighedLayer,
    measure_scale,
    resolve_gamma,
)
from ecselm.hidden.draws import Weights
from ecselm.objectives.keys import N_LISTED, first_places, row_keys

WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # in units of 1 / (n var(X))
STEEPNESS = 2.5  # of tanh units, so that the middle widths bend them well


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
    to_landmarks = _uncentred(measured) if sparse.issparse(X) else DenseScale(measured)
    gamma = resolve_gamma("scale", to_landmarks(X), weight)
    distinct = first_places(row_keys(X))
    landmarks = X[distinct[landmark_places(len(distinct), n_hidden, rows_rng)]]
    ranks = None if sparse.issparse(X) else Ranks.measured(X[distinct])
    return layers_around(KindInputs(measured, gamma, landmarks, ranks), n_hidden, units_rng)


def landmark_places(n_distinct: int, n_hidden: int, rng: np.random.Generator) -> IntArray:
    """Return which of the distinct rows, in the order of their keys, units are set around.

    Beyond the first :func:`n_listed` of them, which are a random sample, nobody looks.
    """
    return np.sort(rng.permutation(min(n_distinct, n_listed(n_hidden)))[:n_hidden])


def n_listed(n_hidden: int) -> int:
    """Return how many distinct rows, those of the least keys, have to be known."""
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
    """What layers of all kinds have to know of the rows."""

    scale: InputScale
    gamma: float  # width of a kernel on that scale
    landmarks: Matrix  # rows as they came
    ranks: Ranks | None  # None for sparse rows


def layers_around(known: KindInputs, n_hidden: int, rng: np.random.Generator) -> list[KindLayer]:
    """Return layers of every kind in all widths for inputs of which so much is known."""
    rows, gamma = known.landmarks, known.gamma
    scale = _uncentred(known.scale) if sparse.issparse(rows) else DenseScale(known.scale)
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


def _uncentred(scale: InputScale) -> InputScale:
    """Return the scale that leaves zeros where they are; distances do not know the centre."""
    return replace(scale, center=np.zeros_like(scale.center))


def _landmark_layer(
    kernel: str, rows: Matrix, gamma: float, scale: Callable[[Matrix], Matrix]
) -> LandmarkLayer:
    return LandmarkLayer.around(KernelMap(kernel, rows, gamma, scale=scale))


def _tanh_layer(drawn: Weights, width: float, gamma: float, scale: InputScale) -> WeighedLayer:
    """Return units whose projections spread by the width, of rows about as long as 1."""
    steep = np.sqrt(STEEPNESS * width)
    weights = Weights(drawn.weights * (steep * np.sqrt(gamma)), drawn.biases * steep)
    layer = RandomLayer.from_draw(weights, "tanh", scale, np.dtype(np.float64))
    return WeighedLayer(layer, 1.0 / np.sqrt(layer.n_hidden))
