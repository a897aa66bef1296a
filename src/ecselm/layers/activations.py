"""Activation functions of the hidden layer (paper, eq. 17 and the text below it).

Each function takes the projections ``A = X W + b`` and overwrites them: a layer
owns its block of projections, and a pass in place halves the memory traffic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from ecselm import _native as compiled
from ecselm._typing import BoolArray, FloatArray

FUSED = ("radbas", "sigmoid")  # applied by the C library as it projects
DEAD = 1e-3  # an entry this close to the flat end of an activation carries nothing


def radbas(A: FloatArray) -> FloatArray:
    """Return ``exp(-a^2)`` (17): a Gaussian ridge across the projection."""
    if _is_compiled(A):
        compiled.activate(A, "radbas")
        return A
    np.multiply(A, A, out=A)
    np.negative(A, out=A)
    return np.exp(A, out=A)


def sigmoid(A: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(-a))``."""
    if _is_compiled(A):
        compiled.activate(A, "sigmoid")
        return A
    return expit(A, out=A)


def _is_compiled(A: FloatArray) -> bool:
    """Tell whether the C library can overwrite ``A``."""
    known = A.dtype in (np.float64, np.float32)
    return known and A.flags.c_contiguous and compiled.is_available()


def tanh(A: FloatArray) -> FloatArray:
    """Return ``tanh(a)``."""
    return np.tanh(A, out=A)


def sine(A: FloatArray) -> FloatArray:
    """Return ``sin(a)``."""
    return np.sin(A, out=A)


def relu(A: FloatArray) -> FloatArray:
    """Return ``max(0, a)``."""
    return np.maximum(A, 0.0, out=A)


def hardlim(A: FloatArray) -> FloatArray:
    """Return 1 where ``a >= 0``, else 0."""
    return np.greater_equal(A, 0.0, out=A)


def tribas(A: FloatArray) -> FloatArray:
    """Return ``max(0, 1 - |a|)``."""
    np.abs(A, out=A)
    np.subtract(1.0, A, out=A)
    return np.maximum(A, 0.0, out=A)


def laplacian(A: FloatArray) -> FloatArray:
    """Return ``exp(-|a|)``."""
    np.abs(A, out=A)
    np.negative(A, out=A)
    return np.exp(A, out=A)


def polynomial(A: FloatArray) -> FloatArray:
    """Return ``(1 + a)^2``; the paper names the function but gives no degree."""
    np.add(A, 1.0, out=A)
    return np.multiply(A, A, out=A)


ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "radbas": radbas,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "sine": sine,
    "relu": relu,
    "hardlim": hardlim,
    "tribas": tribas,
    "laplacian": laplacian,
    "polynomial": polynomial,
}


def _near_zero(H: FloatArray) -> BoolArray:
    return H < DEAD


def _near_either_end(H: FloatArray) -> BoolArray:
    return (H < DEAD) | (H > 1.0 - DEAD)


def _near_one(H: FloatArray) -> BoolArray:
    return np.abs(H) > 1.0 - DEAD


def _silent_unit(H: FloatArray) -> BoolArray:
    return np.broadcast_to((H == 0).all(axis=0), H.shape)


# Activations without an entry here have no flat end, or, as hardlim, nothing else.
_SATURATED: dict[str, Callable[[FloatArray], BoolArray]] = {
    "radbas": _near_zero,
    "sigmoid": _near_either_end,
    "tanh": _near_one,
    "relu": _silent_unit,
    "tribas": _near_zero,
    "laplacian": _near_zero,
}


def saturation(activation: object, H: FloatArray) -> float:
    """Return the share of entries of ``H`` on a flat end of ``activation``."""
    if not isinstance(activation, str) or activation not in _SATURATED:
        return 0.0
    return float(_SATURATED[activation](H).mean())
