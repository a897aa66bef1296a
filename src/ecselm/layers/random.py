"""The random hidden layer: drawn once, then a function of x (paper, Algorithm 1 and eq. 16)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.stats import norm, qmc

from ecselm import _native as compiled
from ecselm._typing import FloatArray, Matrix
from ecselm.layers.activations import ACTIVATIONS, FUSED, saturation
from ecselm.layers.scaling import InputScale

SATURATED = 0.5  # share of dead entries from which a layer is reported
SATURATION_ROWS = 128  # that it is measured on
# Up to so many inputs a strip of weights stays in the cache, and a layer is compiled; for fewer
# rows than these, laying the weights out takes longer than the product.
_MOST_INPUTS = 256
_FEWEST_ROWS = 32


@dataclass(frozen=True, slots=True)
class Weights:
    """Input weights (n, L) and biases (L,), one column per hidden unit."""

    weights: FloatArray
    biases: FloatArray


def _uniform(n: int, L: int, rng: np.random.Generator) -> Weights:
    return Weights(rng.uniform(-1.0, 1.0, (n, L)), rng.uniform(0.0, 1.0, L))


def _scaled(directions: FloatArray, biases: FloatArray) -> Weights:
    """Give standard normal ``directions`` and ``biases`` their scales."""
    n = len(directions)
    return Weights(directions * (np.sqrt(0.5) / n), biases / 2.0)


def _normal(n: int, L: int, rng: np.random.Generator) -> Weights:
    return _scaled(rng.standard_normal((n, L)), rng.standard_normal(L))


def _orthogonal(n: int, L: int, rng: np.random.Generator) -> Weights:
    """Draw blocks of n orthogonal directions, each as long as a normal one."""
    blocks = []
    for start in range(0, L, n):
        size = min(n, L - start)
        Q, R = np.linalg.qr(rng.standard_normal((n, size)))
        lengths = np.sqrt(rng.chisquare(n, size))
        # The signs of R's diagonal make Q uniform over the orthogonal group.
        blocks.append(Q * (np.sign(np.diag(R)) * lengths))
    return _scaled(np.hstack(blocks), rng.standard_normal(L))


def _sequence(engine: type[qmc.QMCEngine]) -> Callable[..., Weights]:
    def draw(n: int, L: int, rng: np.random.Generator) -> Weights:
        points = engine(d=n + 1, scramble=True, rng=rng)
        # A Sobol sequence is balanced only in whole powers of two.
        unit = points.random(1 << (L - 1).bit_length())[:L]
        gauss = norm.ppf(np.clip(unit, 1e-12, 1.0 - 1e-12))
        return _scaled(np.ascontiguousarray(gauss[:, :n].T), gauss[:, n])

    return draw


def _box_sequence(engine: type[qmc.QMCEngine]) -> Callable[..., Weights]:
    def draw(n: int, L: int, rng: np.random.Generator) -> Weights:  # noqa: ARG001  no chance
        """Take the first L points, from the box of the paper's uniform draw."""
        points = engine(d=n + 1, scramble=False)
        unit = points.random(1 << (L - 1).bit_length())[:L]
        return Weights(np.ascontiguousarray(2.0 * unit[:, :n].T - 1.0), unit[:, n].copy())

    return draw


DRAWS: dict[str, Callable[[int, int, np.random.Generator], Weights]] = {
    "orthogonal": _orthogonal,
    "normal": _normal,
    "uniform": _uniform,
    "sobol": _sequence(qmc.Sobol),
    "halton": _sequence(qmc.Halton),
    "sobol_box": _box_sequence(qmc.Sobol),
    "halton_box": _box_sequence(qmc.Halton),
}


def draw_weights(draw: str, n_features: int, n_hidden: int, rng: np.random.Generator) -> Weights:
    """Draw input weights and biases for ``n_hidden`` units.

    Parameters
    ----------
    draw : {"orthogonal", "normal", "uniform", "sobol", "halton", "sobol_box", "halton_box"}
        The paper's draw is ``"uniform"``: weights in [-1, 1], biases in [0, 1]. Its
        reference [75] takes low-discrepancy sequences instead, without randomness:
        ``"sobol_box"`` and ``"halton_box"`` are their first points in the same box, whatever
        ``rng`` is. ``"sobol"`` and ``"halton"`` are scrambled, with normal marginals.
    n_features, n_hidden : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> drawn = draw_weights("sobol", 3, 5, np.random.default_rng(0))
    >>> drawn.weights.shape, drawn.biases.shape
    ((3, 5), (5,))
    """
    if draw.startswith("sobol") and n_features >= qmc.Sobol.MAXDIM:
        raise ValueError(
            f"draw={draw!r} must have fewer than {qmc.Sobol.MAXDIM} features, "
            f"got {n_features}; use draw={draw.replace('sobol', 'halton')!r}"
        )
    return DRAWS[draw](n_features, n_hidden, rng)


class SaturationWarning(UserWarning):
    """Most entries of the hidden layer lie on a flat end of the activation."""


class HiddenLayer(Protocol):
    """A map from rows of X to rows of H (N, L), fixed once made."""

    @property
    def n_hidden(self) -> int:
        """Return L, the number of columns of H."""

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it; code from outside may not bear it."""

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H, in ``out`` if that is given."""


@dataclass(frozen=True, slots=True)
class RandomLayer:
    """``H = g(X W + b)`` (16), with the scale of the inputs folded into W and b.

    Examples
    --------
    >>> import numpy as np
    >>> layer = RandomLayer(np.ones((2, 1)), np.zeros(1), "radbas")
    >>> layer(np.array([[0.0, 0.0], [1.0, -1.0]]))
    array([[1.],
           [1.]])
    """

    weights: FloatArray  # (n, L)
    biases: FloatArray  # (L,)
    activation: str | Callable[[FloatArray], FloatArray]
    center: FloatArray | None = None  # (n,), subtracted first where folding loses digits

    @classmethod
    def from_draw(
        cls,
        drawn: Weights,
        activation: str | Callable[[FloatArray], FloatArray],
        scale: InputScale,
        dtype: np.dtype[np.floating],
    ) -> RandomLayer:
        """Fold ``scale`` into drawn weights: ``w'((x - c)/s) + b = (w/s)'x + (b - c'(w/s))``."""
        weights = np.ascontiguousarray(drawn.weights / scale.width[:, np.newaxis])
        if dtype == np.float32 and scale.center.any():
            parts = (weights, drawn.biases, scale.center)
            weights, biases, center = (part.astype(dtype) for part in parts)
            return cls(weights, biases, activation, center)
        biases = drawn.biases - scale.center @ weights
        return cls(weights.astype(dtype), biases.astype(dtype), activation)

    @property
    def n_hidden(self) -> int:
        """Return L, the number of hidden units."""
        return int(self.biases.shape[0])

    @property
    def concurrent(self) -> bool:
        """Tell whether several threads may call it."""
        return isinstance(self.activation, str)

    def __call__(self, X: Matrix, out: FloatArray | None = None) -> FloatArray:
        """Return H (N, L) for the rows of ``X``, in ``out`` if that is given."""
        A = np.empty((X.shape[0], self.n_hidden), self.weights.dtype) if out is None else out
        biases = self.biases
        if sparse.issparse(X):
            A[:] = X @ self.weights
            biases = biases if self.center is None else biases - self.center @ self.weights
        else:
            X = X.astype(A.dtype, copy=False)
            if self._is_compiled(X, A):
                return self._projected(X, A)
            np.matmul(X if self.center is None else X - self.center, self.weights, out=A)
        A += biases
        return self._activated(A)

    def _activated(self, A: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused later
            if isinstance(self.activation, str):
                return ACTIVATIONS[self.activation](A)
            A[:] = self._outside_activation(A)
        return A

    def _is_compiled(self, X: FloatArray, A: FloatArray) -> bool:
        """Tell whether the C library projects the rows of ``X`` into ``A``."""
        small = len(X) >= _FEWEST_ROWS and X.shape[1] <= _MOST_INPUTS
        known = A.dtype in (np.float64, np.float32) and A.flags.c_contiguous
        return small and known and compiled.is_wide()

    def _projected(self, X: FloatArray, A: FloatArray) -> FloatArray:
        """Project and activate in one pass: a block of H is written once."""
        fused = self.activation in FUSED if isinstance(self.activation, str) else False
        weights = (np.ascontiguousarray(self.weights), np.ascontiguousarray(self.biases))
        name = str(self.activation) if fused else "linear"
        compiled.project(np.ascontiguousarray(X), weights, self.center, name, A)
        return A if fused else self._activated(A)

    def warn_if_saturated(self, X: Matrix) -> None:
        """Warn when most of H carries nothing, measured on an even sample of rows."""
        step = max(1, X.shape[0] // SATURATION_ROWS)
        dead = saturation(self.activation, self(X[::step]))
        if dead > SATURATED:
            warnings.warn(
                f"{dead:.0%} of the hidden layer's entries are saturated: activation="
                f"{self.activation!r} cannot tell these inputs apart. Scale the inputs "
                "(scale='standard') or draw smaller weights (draw='orthogonal').",
                SaturationWarning,
                stacklevel=2,
            )

    def _outside_activation(self, A: FloatArray) -> FloatArray:
        H = np.asarray(self.activation(A.copy()))  # type: ignore[operator]
        if H.shape != A.shape:
            raise ValueError(
                f"activation must return an array of the shape it is given, {A.shape}, "
                f"got {H.shape} from {self.activation!r}"
            )
        return H


@dataclass(frozen=True, slots=True)
class LayerUnion:
    """The units of several layers one after the other, and, if wanted, one that is always 1.

    Output weights on it add up the scores of models behind different layers.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.layers import RandomLayer
    >>> layer = RandomLayer(np.ones((1, 2)), np.zeros(2), "relu")
    >>> LayerUnion((layer, layer), with_one=True)(np.array([[3.0]]))
    array([[3., 3., 3., 3., 1.]])
    """

    parts: tuple[HiddenLayer, ...]
    with_one: bool = False

    @property
    def n_hidden(self) -> int:
        """Return the number of all units."""
        return sum(part.n_hidden for part in self.parts) + self.with_one

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
        H[:, end:] = 1.0
        return H
