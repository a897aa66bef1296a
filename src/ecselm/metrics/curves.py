"""Cost curves: expected costs of two-class predictions over operating points.

Drummond and Holte, "Cost curves: an improved method for visualizing classifier
performance", Machine Learning 65 (2006). A point (FPR, FNR) becomes a line over the
operating point, and the best of several points the lower envelope of their lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from sklearn.metrics import roc_curve

from ecselm._typing import FloatArray
from ecselm.costs.parse import numbers


@dataclass(frozen=True, slots=True)
class CostCurve:
    """Expected costs over operating points, as shares of the greatest there can be."""

    operating_points: FloatArray  # (g,), rising from 0 to 1 unless stated
    lines: FloatArray  # (n, g), the expected cost of each classifier
    envelope: FloatArray  # (g,), of the best: classifiers and constant predictions
    trivial: FloatArray  # (g,), of the better constant prediction

    @property
    def area(self) -> float:
        """Return the area under the envelope, its mean over uniform operating points."""
        return float(trapezoid(self.envelope, self.operating_points))


def cost_curve(
    false_positive_rate: Any, false_negative_rate: Any, *, operating_points: Any = None
) -> CostCurve:
    """Return the cost lines of classifiers and their lower envelope.

    ``NE(x) = FNR x + FPR (1 - x)``, where x is the operating point, see
    :func:`operating_point`. Always predicting "negative" is the line x, always "positive"
    the line 1 - x.

    Parameters
    ----------
    false_positive_rate, false_negative_rate : float or array of shape (n,)
        One classifier each, or one threshold.
    operating_points : array of shape (g,), default=None
        Where to give costs; None takes 101 points from 0 to 1 and every bend of the
        envelope, between which it is straight.

    Examples
    --------
    >>> curve = cost_curve(0.2, 0.1, operating_points=[0.0, 0.5, 1.0])
    >>> curve.lines.round(2), curve.envelope.round(2)
    (array([[0.2 , 0.15, 0.1 ]]), array([0.  , 0.15, 0.  ]))
    """
    fpr = np.atleast_1d(_shares(false_positive_rate, "false_positive_rate"))
    fnr = np.atleast_1d(_shares(false_negative_rate, "false_negative_rate"))
    if fpr.ndim != 1 or fpr.shape != fnr.shape or not fpr.size:
        raise ValueError(
            "false_positive_rate and false_negative_rate must have one shape (n,), n >= 1, "
            f"got {fpr.shape} and {fnr.shape}"
        )
    if operating_points is None:
        x = np.union1d(np.linspace(0.0, 1.0, 101), _bends(fpr, fnr))
    else:
        x = np.unique(_shares(operating_points, "operating_points"))
    lines = np.outer(fnr, x) + np.outer(fpr, 1.0 - x)
    trivial = np.minimum(x, 1.0 - x)
    return CostCurve(x, lines, np.minimum(lines.min(axis=0), trivial), trivial)


def score_cost_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    operating_points: Any = None,
) -> CostCurve:
    """Return the cost curve of all thresholds on a score.

    Parameters
    ----------
    y_true : array of shape (N,)
        Of two classes.
    y_score : array of shape (N,)
        Greater for what is likelier positive.
    pos_label : label, default=None
        The positive class; None takes the second, sorted.
    sample_weight : array of shape (N,), default=None
    operating_points : array of shape (g,), default=None
        As in :func:`cost_curve`.

    Examples
    --------
    >>> round(score_cost_curve(["no", "yes", "no", "yes"], [0.1, 0.4, 0.5, 0.9]).area, 3)
    0.125
    """
    classes = np.unique(np.asarray(y_true))
    if len(classes) != 2:
        raise ValueError(f"y_true must have two classes, got {classes.tolist()}")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes.tolist():
        raise ValueError(f"pos_label must be one of {classes.tolist()}, got {pos_label!r}")
    fpr, tpr, _ = roc_curve(
        np.asarray(y_true) == positive, numbers(y_score, "y_score"), sample_weight=sample_weight
    )
    return cost_curve(fpr, 1.0 - tpr, operating_points=operating_points)


def operating_point(positive_share: Any, *, fn_cost: Any = 1.0, fp_cost: Any = 1.0) -> Any:
    """Return where on a cost curve a use of the classifier lies.

    ``x = p+ C(-|+) / (p+ C(-|+) + (1 - p+) C(+|-))``: the share of positives, each counted
    as often as missing it costs.

    Parameters
    ----------
    positive_share : float or array
    fn_cost, fp_cost : float or array, default=1.0
        Costs of a false negative and of a false positive.

    Examples
    --------
    >>> float(round(operating_point(0.1, fn_cost=9.0), 3))
    0.5
    """
    missed = _shares(positive_share, "positive_share") * _costs(fn_cost, "fn_cost")
    alarms = (1.0 - np.asarray(positive_share)) * _costs(fp_cost, "fp_cost")
    if (missed + alarms == 0).any():
        raise ValueError("fn_cost and fp_cost must make a mistake cost something, got 0")
    return (missed / (missed + alarms))[()]


def _bends(fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """Return where the envelope passes from one line to the next.

    Its lines are the corners of the lower left hull of the points (FPR, FNR) with (0, 1)
    and (1, 0), met in the order of falling FNR; two of them are equal at the slope of the
    edge between.
    """
    points = np.unique(np.column_stack([np.r_[0.0, fpr, 1.0], np.r_[1.0, fnr, 0.0]]), axis=0)
    hull: list[FloatArray] = []
    for point in points:
        if hull and point[1] >= hull[-1][1]:
            continue
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    right, down = np.abs(np.diff(np.array(hull), axis=0)).T
    return right / (right + down)


def _turns_left(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _shares(values: Any, name: str) -> FloatArray:
    shares = numbers(values, name)
    if ((shares < 0) | (shares > 1)).any():
        wrong = shares[(shares < 0) | (shares > 1)][0]
        raise ValueError(f"{name} must lie between 0 and 1, got {wrong:g}")
    return shares


def _costs(values: Any, name: str) -> FloatArray:
    costs = numbers(values, name)
    if (costs < 0).any():
        raise ValueError(f"{name} must be >= 0, got {costs.min():g}")
    return costs
