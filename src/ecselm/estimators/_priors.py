"""Costs to start from: equal, by class counts, implied by a metric, or stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import Costs, class_weights
from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import CostLevel, MatrixLevel, SampleLevel
from ecselm.costs.weights import ClassCosts, ExampleCosts, PairCosts, SampleCosts
from ecselm.metrics import get_metric

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
BESIDE_STATED = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75)
PRIORS = ("ones", "w1", "w2", "cost")
LEAST_SHARE = 1e-4  # a cost of nothing has no logarithm


@dataclass(frozen=True, slots=True)
class PowerPath:
    """Costs along powers of W1, and which of them is the prior."""

    powers: tuple[float, ...]
    entries: FloatArray  # (n, E)
    implied: int  # position of the prior

    def scaled(self, level: CostLevel, masses: FloatArray) -> PowerPath:
        """Return the path with costs that give B the mean 1."""
        scaled = np.stack([mean_one(entries, level, masses) for entries in self.entries])
        return replace(self, entries=scaled)

    def within(self, region: FeasibleRegion) -> PowerPath:
        """Return the path with every point moved into a region of costs."""
        return replace(self, entries=np.stack([region.nearest(one) for one in self.entries]))

    @property
    def prior(self) -> FloatArray:
        """Return the costs (E,) implied by the metric."""
        return self.entries[self.implied]


def mean_one(entries: FloatArray, level: CostLevel, masses: FloatArray) -> FloatArray:
    """Scale entries (E,) so that B has the mean 1."""
    costs = level.group_costs(entries[np.newaxis])[0]
    return entries * float(masses.sum() / (costs @ masses))


def counts_costs(scoring: Any) -> bool:
    """Tell whether a metric counts stated costs."""
    return get_metric(scoring).uses_cost


def power_of(scoring: Any) -> float:
    """Return the power of W1 that a metric implies.

    Examples
    --------
    >>> power_of("gmean"), power_of(None), power_of("roc_auc")
    (1.0, 0.0, 0.5)
    """
    return get_metric("accuracy" if scoring is None else scoring).implied_power


def power_path(
    scoring: Any, level: CostLevel, counts: FloatArray, stated: FloatArray | None
) -> PowerPath:
    """Return the path for a metric, class counts (k,) and stated entries (E,), if any.

    Examples
    --------
    >>> from ecselm.costs.levels import ClassLevel
    >>> path = power_path("gmean", ClassLevel(2), np.array([8.0, 2.0]), None)
    >>> path.prior
    array([0.125, 0.5  ])
    """
    seen = np.where(counts > 0, counts, counts[counts > 0].min())
    w1 = level.from_class_costs(1.0 / seen)
    if stated is not None and counts_costs(scoring):
        entries = np.stack([stated * w1**power for power in BESIDE_STATED])
        return PowerPath(BESIDE_STATED, entries, BESIDE_STATED.index(0.0))
    entries = np.stack([w1**power for power in POWERS])
    return PowerPath(POWERS, entries, POWERS.index(power_of(scoring)))


def prior_costs(
    names: Sequence[str], level: CostLevel, counts: FloatArray, classes: AnyArray, normalize: bool
) -> dict[str, FloatArray]:
    """Return the entries (E,) of the priors that class counts give.

    If ``normalize``, they are scaled to a mean of 1 over the rows.
    """
    priors = {}
    for name in names:
        if name not in PRIORS:
            raise ValueError(f"priors must be among {PRIORS}, got {name!r}")
        if name == "cost":
            continue
        weights = class_weights(None if name == "ones" else name, counts, classes)
        weights[weights == 0] = weights.max()  # a class that never occurs is as the rarest
        if normalize:
            weights *= counts.sum() / (weights @ counts)
        priors[name] = level.from_class_costs(weights)
    return priors


def stated_costs(
    costs: Costs, level: CostLevel, y: IntArray, n_classes: int, weight: FloatArray | None = None
) -> FloatArray:
    """Return the entries (E,) of stated costs, by class or by row (N,)."""
    if isinstance(level, SampleLevel) and not isinstance(costs, ClassCosts):
        entries = _mistakes(costs, y, n_classes)
    elif isinstance(level, MatrixLevel):
        entries = level.entries(_mean_matrix(costs, y, n_classes, weight))
    else:
        matrix = _mean_matrix(costs, y, n_classes, weight)
        entries = level.from_class_costs(matrix.sum(axis=1) / (n_classes - 1))
    return np.maximum(entries, LEAST_SHARE * entries.max())


def row_shares(
    costs: Costs, y: IntArray, n_classes: int, weight: FloatArray | None = None
) -> FloatArray | None:
    """Return the cost of every row relative to its class, (N,) with the mean 1 in every class.

    None where all rows of a class have equal costs.

    Examples
    --------
    >>> costs = SampleCosts(np.array([1.0, 3.0, 5.0, 5.0]))
    >>> row_shares(costs, np.array([0, 0, 1, 1]), 2)
    array([0.5, 1.5, 1. , 1. ])
    """
    mistakes = _mistakes(costs, y, n_classes)
    shares = np.ones(len(y))
    for c in np.unique(y):
        own = np.maximum(mistakes[y == c], LEAST_SHARE * mistakes.max())
        mean = np.average(own, weights=None if weight is None else weight[y == c])
        shares[y == c] = own / mean if mean > 0 else 1.0
    return None if np.allclose(shares, 1.0) else shares


def _mistakes(costs: Costs, y: IntArray, n_classes: int) -> FloatArray:
    """Return what a mistake costs on each row, (N,), the mean over its mistakes."""
    return row_costs(costs, y, n_classes).sum(axis=1) / (n_classes - 1)


def row_costs(costs: Costs, y: IntArray, n_classes: int) -> FloatArray:
    """Return what predicting each class costs for every row, (N, k)."""
    if isinstance(costs, ExampleCosts):
        return costs.matrix
    if isinstance(costs, ClassCosts):
        return costs.matrix[y]
    if isinstance(costs, SampleCosts):
        per_row = costs.vector
    elif isinstance(costs, PairCosts):
        per_row = costs.totals
    else:
        raise TypeError(f"costs must be by class or by row, got {type(costs).__name__}")
    wrong = np.arange(n_classes) != y[:, np.newaxis]
    return per_row[:, np.newaxis] * wrong


def _mean_matrix(
    costs: Costs, y: IntArray, n_classes: int, weight: FloatArray | None
) -> FloatArray:
    if isinstance(costs, ClassCosts):
        return costs.matrix
    by_row = row_costs(costs, y, n_classes)
    matrix = np.zeros((n_classes, n_classes))
    for c in np.unique(y):
        w = None if weight is None else weight[y == c]
        matrix[c] = np.average(by_row[y == c], axis=0, weights=w)
    return matrix
