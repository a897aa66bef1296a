"""Decision curves on test rows: what decisions gain over constant answers and baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.metrics.intervals import RecordedClassifier
from ecselm.metrics.net_benefit import DecisionCurve, decision_curve
from ecselm.study.card import BenefitLine, DecisionCurves

THRESHOLDS = np.arange(1, 40) / 40.0
FACTORS = np.geomspace(0.1, 10.0, 33)
MODEL = "this model"
MOST_DRAWN = 20_000_000  # rows of all resamples, at most
LEAST_RESAMPLES = 200


def decision_curves(
    model: RecordedClassifier,
    baselines: Mapping[str, Any],
    y: Any,
    class_name: str,
    *,
    cost: FloatArray | None = None,
    groups: Any = None,
    seed: int = 0,
) -> DecisionCurves | None:
    """Return the benefit of a model on test rows beside baselines and constant answers.

    Parameters
    ----------
    model : RecordedClassifier
        Predictions of the test rows.
    baselines : mapping of str to RecordedClassifier
        Of the same rows; those without probabilities are left out.
    y : array of shape (n,)
        True labels.
    class_name : str
        The class that is treated, or whose mistakes vary in cost.
    cost : array of shape (k, k), default=None
        Stated costs.
    groups : array of shape (n,), default=None
        Labels of rows that belong together.
    seed : int, default=0

    Returns
    -------
    curves : DecisionCurves or None
        None where the model gives no probabilities.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    >>> classes = np.array(["ill", "well"])
    >>> y = classes[[0, 1, 0, 1]]
    >>> model = RecordedClassifier(classes, classes[P.argmax(axis=1)], P)
    >>> curves = decision_curves(model, {}, y, "ill", cost=np.array([[0.0, 3.0], [1.0, 0.0]]))
    >>> curves.points[curves.stated], curves.model.values[curves.stated]
    (0.25, 0.416667)
    """
    if model.probabilities is None:
        return None
    classes = np.asarray(model.classes)
    c = [str(one) for one in classes.tolist()].index(class_name)
    probabilities = {MODEL: model.probabilities} | {
        name: one.probabilities
        for name, one in baselines.items()
        if one.probabilities is not None and not _is_constant(one.probabilities)
    }
    label = classes.tolist()[c]
    along: dict[str, Any]
    if len(classes) == 2:
        along = {"thresholds": THRESHOLDS, "pos_label": label}
    else:
        along = {"factors": FACTORS, "factor_of": label, "cost": cost}
        if cost is not None and not cost[c].any():
            return None
    found = decision_curve(
        y,
        probabilities,
        labels=classes,
        groups=groups,
        n_resamples=int(np.clip(MOST_DRAWN // len(y), LEAST_RESAMPLES, 1000)),
        rng=seed,
        **along,
    )
    curves = DecisionCurves(
        class_name,
        "net benefit" if len(classes) == 2 else "cost saved",
        _numbers(found.points),
        BenefitLine(MODEL, _numbers(found.benefits[MODEL])),
        tuple(_line(found, name) for name in found.benefits if name != MODEL),
        tuple(_line(found, name) for name in found.references),
        _stated_point(found.points, cost, c),
    )
    return replace(curves, sentence=_sentence(curves))


def _is_constant(P: FloatArray) -> bool:
    return bool((P[0] == P).all())


def _stated_point(points: FloatArray, cost: FloatArray | None, c: int) -> int | None:
    """Return the position of the threshold, or of the factor 1, that stated costs mean."""
    if cost is None:
        return None
    if len(cost) > 2:
        return int(np.abs(np.log(points)).argmin())
    alarm, miss = float(cost[1 - c, c]), float(cost[c, 1 - c])
    if alarm + miss <= 0.0:
        return None
    return int(np.abs(points - alarm / (alarm + miss)).argmin())


def _line(found: DecisionCurve, name: str) -> BenefitLine:
    values = found.benefits[name] if name in found.benefits else found.references[name]
    band = found.differences[name]
    return BenefitLine(name, _numbers(values), _bounds(band.low), _bounds(band.high))


def _numbers(values: FloatArray) -> tuple[float, ...]:
    """Return six digits of each; what is 0 but for rounding errors is 0."""
    tiny = 1e-12 * float(np.abs(values).max(initial=0.0))
    return tuple(float(f"{one:.6g}") if abs(one) > tiny else 0.0 for one in values.tolist())


def _bounds(values: FloatArray) -> tuple[float | None, ...]:
    return tuple(float(f"{one:.6g}") if np.isfinite(one) else None for one in values.tolist())


def leads(line: BenefitLine) -> list[bool]:
    """Return at which points the model leads beyond chance."""
    return [one is not None and one > 0.0 for one in line.low]


def trails(line: BenefitLine) -> list[bool]:
    """Return at which points the model trails beyond chance."""
    return [one is not None and one < 0.0 for one in line.high]


def best_baseline(curves: DecisionCurves) -> BenefitLine | None:
    """Return the baseline of the greatest benefit by stated costs, or else over all points."""
    if not curves.baselines:
        return None
    at = curves.stated
    return max(
        curves.baselines,
        key=lambda one: float(np.mean(one.values)) if at is None else one.values[at],
    )


def _sentence(curves: DecisionCurves) -> str:
    points = "thresholds" if curves.unit == "net benefit" else "multiples of costs"
    n = len(curves.points)
    n_lead = sum(all(one) for one in zip(*map(leads, curves.references), strict=True))
    n_trail = sum(any(one) for one in zip(*map(trails, curves.references), strict=True))
    constant = "constant answers" if len(curves.references) > 1 else "the best constant answer"
    said = (
        f"Decisions by this model gain more than {constant} beyond chance at {n_lead} of {n} "
        f"{points}, and less at {n_trail}."
    )
    best = best_baseline(curves)
    if best is None:
        return said
    return (
        f"{said} Against {best.name}, the best baseline here, they lead beyond chance at "
        f"{sum(leads(best))} and trail at {sum(trails(best))}."
    )
