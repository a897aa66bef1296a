"""Curves of a model on held-out rows, with as many points as an eye can tell apart."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from ecselm._typing import BoolArray, FloatArray
from ecselm.study.card import Curve

MOST_POINTS = 200
MOST_BINS = 10
ROWS_PER_BIN = 25  # fewer, and the share that came true is mostly noise


def roc_of(name: str, positive: BoolArray, score: FloatArray) -> Curve | None:
    """Return true against false positive rates over all thresholds, and the area below.

    None where all rows are positive or none is, or where a score is not finite.

    Examples
    --------
    >>> roc_of("ill", np.array([False, True, True]), np.array([0.1, 0.4, 0.9])).area
    1.0
    """
    if positive.all() or not positive.any() or not np.isfinite(score).all():
        return None
    fpr, tpr, _ = roc_curve(positive, score)
    return _curve(name, fpr, tpr, float(auc(fpr, tpr)))


def precision_recall_of(name: str, positive: BoolArray, score: FloatArray) -> Curve | None:
    """Return precision against recall over all thresholds, and the average precision.

    None where no row is positive, or where a score is not finite.

    Examples
    --------
    >>> precision_recall_of("ill", np.array([False, True]), np.array([0.1, 0.4])).area
    1.0
    """
    if not positive.any() or not np.isfinite(score).all():
        return None
    precision, recall, _ = precision_recall_curve(positive, score)
    area = float(average_precision_score(positive, score))
    return _curve(name, recall[::-1], precision[::-1], area)


def reliability_of(name: str, told: FloatArray, happened: BoolArray) -> Curve | None:
    """Return shares that came true against the probabilities told, in bins of equal counts.

    The area is the expected calibration error, the mean distance between both over the rows.
    Rows that were told the same share a bin.

    Examples
    --------
    >>> told, happened = np.full(50, 0.5), np.arange(50) < 30
    >>> curve = reliability_of("ill", told, happened)
    >>> curve.x, curve.y, round(curve.area, 3)
    ((0.5,), (0.6,), 0.1)
    """
    if not len(told) or not np.isfinite(told).all():
        return None
    n_bins = int(np.clip(len(told) // ROWS_PER_BIN, 1, MOST_BINS))
    edges = np.quantile(told, np.linspace(0.0, 1.0, n_bins + 1)[1:-1])
    places = np.unique(np.searchsorted(edges, told, side="right"), return_inverse=True)[1]
    sizes = np.bincount(places)
    x, y = np.bincount(places, told) / sizes, np.bincount(places, happened) / sizes
    return Curve(name, _kept(x), _kept(y), float(sizes @ np.abs(x - y) / len(told)))


def cumulative_of(errors: FloatArray) -> Curve | None:
    """Return the share of rows whose absolute error is at most x (35).

    Examples
    --------
    >>> cumulative_of(np.array([0.0, 2.0, -1.0, 1.0]))
    Curve(name='share of rows within an error', x=(0.0, 1.0, 2.0), y=(0.25, 0.75, 1.0), area=None)
    """
    if not len(errors) or not np.isfinite(errors).all():
        return None
    sizes, counts = np.unique(np.abs(errors), return_counts=True)
    shares = counts.cumsum() / len(errors)
    if sizes[0] > 0:
        sizes, shares = np.r_[0.0, sizes], np.r_[0.0, shares]
    return _curve("share of rows within an error", sizes, shares, None)


def _curve(name: str, x: FloatArray, y: FloatArray, area: float | None) -> Curve:
    """Keep the points at even distances along the curve; the area is that of all of them."""
    if len(x) > MOST_POINTS:
        steps = np.abs(np.diff(x)) / (np.ptp(x) or 1.0) + np.abs(np.diff(y)) / (np.ptp(y) or 1.0)
        way = np.r_[0.0, steps.cumsum()]
        stops = np.searchsorted(way, np.linspace(0.0, way[-1], MOST_POINTS))
        chosen = np.unique(np.r_[0, stops.clip(max=len(x) - 1), len(x) - 1])
        x, y = x[chosen], y[chosen]
    return Curve(name, _kept(x), _kept(y), area)


def _kept(values: FloatArray) -> tuple[float, ...]:
    """Return points with five digits, which is finer than any picture."""
    return tuple(float(f"{value:.5g}") for value in values.tolist())
