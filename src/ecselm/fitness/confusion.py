"""Confusion matrices of a whole generation, counted and smoothed.

Counts are flat almost everywhere in the costs: a search that only sees them drifts, and
is caught by chance gaps between rows. The smoothed matrix lets every row be predicted a
little as the classes near it, over the width by which a kernel density estimate of the
scores would smooth them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from ecselm import _native as compiled
from ecselm._typing import BoolArray, FloatArray, IntArray

# A logistic law with these slopes is close to a normal one of unit variance.
LOGISTIC_SLOPE = 1.702
SOFTMAX_WIDTH = 1.175
SILVERMAN = 1.06


def decided_classes(Z: FloatArray) -> IntArray:
    """Return the class of the largest score (19), (P, n) for scores (P, n, m)."""
    if Z.shape[-1] == 1:
        return (Z[..., 0] > 0).astype(np.intp)
    best, decided = Z[..., 0].copy(), np.zeros(Z.shape[:-1], dtype=np.intp)
    for c in range(1, Z.shape[-1]):  # scores lie class by class: argmax would copy them
        np.copyto(decided, c, where=Z[..., c] > best)
        np.maximum(best, Z[..., c], out=best)
    return decided


def confusion_counts(
    Z: FloatArray, y: IntArray, n_classes: int, weight: FloatArray | None
) -> FloatArray:
    """Return the weight of rows of class i that are predicted as j, (P, k, k).

    Parameters
    ----------
    Z : array of shape (P, n, m)
        Scores; one column stands for two classes.
    y : array of shape (n,)
    n_classes : int
    weight : array of shape (n,) or None

    Examples
    --------
    >>> import numpy as np
    >>> confusion_counts(np.array([[[-1.0], [2.0], [3.0]]]), np.array([0, 0, 1]), 2, None)
    array([[[1., 1.],
            [0., 1.]]])
    """
    P, k = len(Z), n_classes
    if compiled.is_available():
        counts = np.zeros((P, k, k))
        compiled.count(*_laid_out(Z, y, weight), k, counts)
        return counts
    if Z.shape[2] == 1:
        return _two_by_two(Z[..., 0] > 0, y, weight)
    places = (np.arange(P)[:, np.newaxis] * k + y) * k + decided_classes(Z)
    weights = None if weight is None else np.broadcast_to(weight, places.shape).ravel()
    counted = np.bincount(places.ravel(), weights=weights, minlength=P * k * k)
    return counted.reshape(P, k, k).astype(np.float64)


def _two_by_two(second: BoolArray, y: IntArray, weight: FloatArray | None) -> FloatArray:
    """Return confusion matrices (P, 2, 2) of decisions (P, n) for the second of two classes."""
    w = np.ones(len(y)) if weight is None else weight
    truth = np.stack([w * (y == 0), w * (y == 1)], axis=1)  # (n, 2)
    # Not by subtraction: a class that is never predicted must count exactly 0.
    return np.stack([(~second).astype(float) @ truth, second.astype(float) @ truth], axis=2)


def smoothed_confusion(
    Z: FloatArray, y: IntArray, n_classes: int, weight: FloatArray | None
) -> FloatArray:
    """Return the confusion matrices with every row shared among the classes, (P, k, k).

    The width for class c is Silverman's ``1.06 s_c n_c^(-1/5)``, where s_c is the std
    of its scores: of z for two classes, of half the margin for more.
    """
    if compiled.is_available():
        return compiled.smooth(*_laid_out(Z, y, weight), n_classes)
    smoothed = np.zeros((len(Z), n_classes, n_classes))
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        w = np.ones(len(rows)) if weight is None else weight[rows]
        smoothed[:, c] = np.einsum("n,pnk->pk", w, _smoothed_shares(Z[:, rows], c, w))
    return smoothed


def _laid_out(
    Z: FloatArray, y: IntArray, weight: FloatArray | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Return the arrays as the compiled library takes them, Z as (P, m, n)."""
    by_class = np.ascontiguousarray(Z.swapaxes(1, 2), dtype=np.float64)
    w = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    return by_class, np.ascontiguousarray(y, dtype=np.int32), w


def smoothed_decisions(Z: FloatArray, y: IntArray, weight: FloatArray | None) -> FloatArray:
    """Return how much each row counts as every class, (P, n, k); see above for the widths."""
    k = max(Z.shape[2], 2)
    shares = np.zeros((*Z.shape[:2], k))
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        w = np.ones(len(rows)) if weight is None else weight[rows]
        shares[:, rows] = _smoothed_shares(Z[:, rows], c, w)
    return shares


def _smoothed_shares(Z: FloatArray, c: int, w: FloatArray) -> FloatArray:
    """Return how much each row of class ``c`` counts as every class, (P, n, k)."""
    if Z.shape[2] == 1:
        width = _widths(Z[..., 0], w)
        second = expit(LOGISTIC_SLOPE * Z[..., 0] / width[:, np.newaxis])
        return np.stack([1.0 - second, second], axis=-1)
    others = np.delete(Z, c, axis=2).max(axis=2)
    width = SOFTMAX_WIDTH * _widths((Z[..., c] - others) / 2.0, w)
    below = Z - Z.max(axis=2, keepdims=True)  # widths near 0 must not make it overflow
    return softmax(below / width[:, np.newaxis, np.newaxis], axis=2)


def _widths(margins: FloatArray, w: FloatArray) -> FloatArray:
    n = w.sum()
    mean = (margins @ w / n)[:, np.newaxis]
    std = np.sqrt((margins - mean) ** 2 @ w / n)
    scale = np.abs(margins).max(axis=1, initial=0.0)
    return np.maximum(SILVERMAN * std * n**-0.2, np.maximum(1e-9 * scale, 1e-300))
