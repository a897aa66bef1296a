"""Hidden layers and kernels on arrays of any namespace of the array API standard.

Every function takes the namespace ``xp`` of its arrays and uses what the standard has, so that
the formulas are written out once more: values are those of NumPy's path up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ecselm.layers.kernels import KernelMap
from ecselm.layers.random import RandomLayer
from ecselm.layers.scaling import InputScale

Array: TypeAlias = Any  # of a namespace xp, which no type describes

BLOCK_ENTRIES = 1 << 22  # of H at a time: 32 MiB of float64


def row_slices(n_rows: int, width: int) -> list[slice]:
    """Divide rows into blocks whose matrices of so many columns are not too large.

    Examples
    --------
    >>> row_slices(5, BLOCK_ENTRIES // 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    step = max(1, BLOCK_ENTRIES // max(width, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def _positive(A: Array, xp: Any) -> Array:
    return xp.maximum(A, xp.zeros_like(A))


ACTIVATIONS: dict[str, Callable[[Array, Any], Array]] = {
    "radbas": lambda A, xp: xp.exp(-A * A),
    "sigmoid": lambda A, xp: 0.5 + 0.5 * xp.tanh(0.5 * A),  # without overflow
    "tanh": lambda A, xp: xp.tanh(A),
    "sine": lambda A, xp: xp.sin(A),
    "relu": _positive,
    "hardlim": lambda A, xp: xp.astype(A >= 0.0, A.dtype),
    "tribas": lambda A, xp: _positive(1.0 - xp.abs(A), xp),
    "laplacian": lambda A, xp: xp.exp(-xp.abs(A)),
    "polynomial": lambda A, xp: xp.square(1.0 + A),
}


def moved_layer(
    layer: RandomLayer | KernelMap, move: Callable[[Array], Array]
) -> RandomLayer | KernelMap:
    """Return the layer with ``move`` of its arrays in their places."""
    if isinstance(layer, RandomLayer):
        center = None if layer.center is None else move(layer.center)
        return RandomLayer(move(layer.weights), move(layer.biases), layer.activation, center)
    scale = layer.scale
    if isinstance(scale, InputScale):
        scale = InputScale(move(scale.center), move(scale.width))
    shape = (layer.gamma, layer.degree, layer.coef0, layer.dtype)
    return KernelMap(layer.kernel, move(layer.rows), *shape, scale)


def layer_values(layer: RandomLayer | KernelMap, X: Array, xp: Any, wide: Any) -> Array:
    """Return H (N, L) for the rows of ``X``, or their kernel values with the training rows.

    Parameters
    ----------
    layer : RandomLayer or KernelMap
        With the name of an activation or kernel, and arrays of the namespace.
    X : array of shape (N, n)
    xp : namespace
    wide : dtype
        The float type of most digits, in which distances are taken.
    """
    if isinstance(layer, RandomLayer):
        X = xp.astype(X, layer.weights.dtype)
        X = X if layer.center is None else X - layer.center
        return ACTIVATIONS[str(layer.activation)](X @ layer.weights + layer.biases, xp)  # (16)
    return _kernel_values(layer, scaled(layer.scale, X, xp), xp, wide)  # (6)


def scaled(scale: Any, X: Array, xp: Any) -> Array:
    """Return ``(x - center) / width``, or ``X`` itself for no scale."""
    if scale is None:
        return X
    return (X - xp.astype(scale.center, X.dtype)) / xp.astype(scale.width, X.dtype)


def _kernel_values(layer: KernelMap, X: Array, xp: Any, wide: Any) -> Array:
    Y, kernel = layer.rows, layer.kernel
    if kernel == "precomputed":
        if X.shape[1] != layer.n_hidden:
            raise ValueError(
                f"kernel must give a matrix of shape {(X.shape[0], layer.n_hidden)}, "
                f"got {tuple(X.shape)} from 'precomputed'"
            )
        return X
    if kernel in {"rbf", "laplacian"}:
        distances = _squared if kernel == "rbf" else _absolute
        D = distances(xp.astype(X, wide), xp.astype(Y, wide), xp)
        return xp.astype(xp.exp(-layer.gamma * D), X.dtype)
    G = X @ Y.T
    if kernel == "polynomial":
        return (layer.gamma * G + layer.coef0) ** layer.degree
    if kernel == "cosine":
        return G / _lengths(X, xp) / _lengths(Y, xp).T
    if kernel != "linear":
        raise ValueError(f"kernel must be one that other namespaces have, got {kernel!r}")
    return G


def _squared(X: Array, Y: Array, xp: Any) -> Array:
    D = xp.sum(X * X, axis=1, keepdims=True) - 2.0 * (X @ Y.T) + xp.sum(Y * Y, axis=1)
    return _positive(D, xp)


def _absolute(X: Array, Y: Array, xp: Any) -> Array:
    D = xp.zeros((X.shape[0], Y.shape[0]), dtype=X.dtype, device=X.device)
    for j in range(X.shape[1]):  # one matrix instead of one per feature
        D = D + xp.abs(X[:, j : j + 1] - Y[:, j])
    return D


def _lengths(X: Array, xp: Any) -> Array:
    squares = xp.sum(X * X, axis=1, keepdims=True)
    return xp.sqrt(xp.where(squares > 0, squares, xp.ones_like(squares)))


def moments(X: Array, share: Array, xp: Any) -> tuple[Array, Array]:
    """Return mean and variance (n,) of every feature, in the type of ``share``.

    Deviations from a row that counts keep the digits of float32 far from zero, and make the
    variance of a constant column 0.

    Parameters
    ----------
    X : array of shape (N, n)
    share : array of shape (N,)
        Shares of the rows, with the sum 1.
    xp : namespace
    """
    origin = xp.astype(X[int(xp.argmax(share)), :], share.dtype)
    mean = xp.zeros_like(origin)
    variance = xp.zeros_like(origin)
    blocks = row_slices(X.shape[0], X.shape[1])
    for rows in blocks:
        mean = mean + share[rows] @ (xp.astype(X[rows, :], share.dtype) - origin)
    for rows in blocks:
        apart = xp.astype(X[rows, :], share.dtype) - origin - mean
        variance = variance + share[rows] @ (apart * apart)
    return origin + mean, variance
