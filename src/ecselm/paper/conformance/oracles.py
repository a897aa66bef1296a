"""The paper's formulas solved as they are printed, on few rows: explicit inverses, no shortcuts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray

ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "radbas": lambda A: np.exp(-(A**2)),  # (17)
    "sigmoid": lambda A: 1.0 / (1.0 + np.exp(-A)),
    "tanh": np.tanh,
    "identity": lambda A: A,
}


def hidden_layer(X: FloatArray, W: FloatArray, b: FloatArray, activation: str) -> FloatArray:
    """Return H (N, L) of (16)."""
    return ACTIVATIONS[activation](X @ W + b)


def pseudo_inverse_beta(H: FloatArray, T: FloatArray) -> FloatArray:
    """Return ``H^+ T`` (3)."""
    return np.linalg.pinv(H) @ T


def ridge_beta(H: FloatArray, T: FloatArray, C: float) -> FloatArray:
    """Return beta of (5), each form for the shape it is printed for."""
    N, L = H.shape
    if N < L:
        return H.T @ np.linalg.inv(np.eye(N) / C + H @ H.T) @ T
    return np.linalg.inv(np.eye(L) / C + H.T @ H) @ H.T @ T


def weighted_beta(H: FloatArray, T: FloatArray, B: FloatArray, C: float) -> FloatArray:
    """Return beta of (15)."""
    N, L = H.shape
    if N < L:
        return H.T @ np.linalg.inv(np.eye(N) / C + np.diag(B) @ H @ H.T) @ np.diag(B) @ T
    return np.linalg.inv(np.eye(L) / C + H.T @ np.diag(B) @ H) @ H.T @ np.diag(B) @ T


def gaussian_kernel(U: FloatArray, V: FloatArray, gamma: float) -> FloatArray:
    """Return ``exp(-gamma |u - v|^2)`` for all pairs of rows."""
    return np.exp(-gamma * ((U[:, np.newaxis] - V) ** 2).sum(axis=2))


def kernel_alpha(K: FloatArray, T: FloatArray, B: FloatArray, C: float) -> FloatArray:
    """Return the dual coefficients of (15), with ones in B those of (7)."""
    return np.linalg.inv(np.eye(len(K)) / C + np.diag(B) @ K) @ np.diag(B) @ T


def signed_targets(y: AnyArray) -> FloatArray:
    """Return T (N, k): 1 in the column of the class and -1 elsewhere, as below (12)."""
    return np.where(y[:, np.newaxis] == np.unique(y), 1.0, -1.0)


def row_weights(y: AnyArray, scheme: str) -> FloatArray:
    """Return the diagonal of W, (9) or (10)."""
    classes, counts = np.unique(y, return_counts=True)
    weight = {}
    for c, n in zip(classes, counts, strict=True):
        weight[c] = 0.618 / n if scheme == "w2" and n > counts.mean() else 1.0 / n
    return np.array([weight[c] for c in y])


def cost_vector(y: AnyArray, M: FloatArray) -> FloatArray:
    """Return ``B_i = sum_j (W M)_ij`` (12) of the matrix (11) between samples."""
    return (np.diag(row_weights(y, "w1")) @ M).sum(axis=1)


def share_within(y_true: AnyArray, y_pred: AnyArray, tolerance: float) -> float:
    """Return CumScore (35), as a share."""
    within = sum(abs(t - p) <= tolerance for t, p in zip(y_true, y_pred, strict=True))
    return within / len(y_true)


def selected(
    P: FloatArray, F: FloatArray, V: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the population and its fitness after Selection-II (32)."""
    wins: BoolArray = G < F
    return np.where(wins[:, np.newaxis], V, P), np.where(wins, G, F)
