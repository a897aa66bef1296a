"""Costs between equal ones and W1 (9), and which of them a metric asks for.

Weights ``W1^t`` go from equal costs, t = 0, to classes that count the same whatever their
size, t = 1. Metrics that take all classes for equal, such as the G-mean, ask for t = 1;
the accuracy asks for little, F1 and the correlation for something between. Where costs are
stated and counted, they are what is asked for, and W1 should add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.costs.levels import CostLevel

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
BESIDE_STATED = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75)
OTHERWISE = 0.5
ASKED_FOR = {
    0.25: ("accuracy", "trr", "rank_1", "f1_micro", "precision_micro", "recall_micro"),
    0.75: (
        *("f1", "f1_macro", "f1_weighted", "matthews_corrcoef"),
        *("jaccard", "jaccard_macro", "jaccard_weighted"),
    ),
    1.0: ("gmean", "arr", "balanced_accuracy", "recall_macro"),
}
_POWER_OF = {name: power for power, names in ASKED_FOR.items() for name in names}
COUNTED_COSTS = ("mean_cost", "savings", "total_cost")


@dataclass(frozen=True, slots=True)
class PowerPath:
    """Costs along powers of W1, and which of them is the prior."""

    powers: tuple[float, ...]
    entries: FloatArray  # (n, E)
    asked_for: int  # position of the prior

    def scaled(self, level: CostLevel, masses: FloatArray) -> PowerPath:
        """Return the path with costs that give B the mean 1."""
        scaled = np.stack([mean_one(entries, level, masses) for entries in self.entries])
        return replace(self, entries=scaled)

    @property
    def prior(self) -> FloatArray:
        """Return the costs (E,) that the metric asks for."""
        return self.entries[self.asked_for]


def mean_one(entries: FloatArray, level: CostLevel, masses: FloatArray) -> FloatArray:
    """Scale entries (E,) so that B has the mean 1."""
    costs = level.group_costs(entries[np.newaxis])[0]
    return entries * float(masses.sum() / (costs @ masses))


def counts_costs(scoring: Any) -> bool:
    """Tell whether a metric counts the costs that a person states."""
    return isinstance(scoring, str) and scoring in COUNTED_COSTS


def power_of(scoring: Any) -> float:
    """Return the power of W1 that a metric asks for.

    Examples
    --------
    >>> power_of("gmean"), power_of(None), power_of("roc_auc")
    (1.0, 0.25, 0.5)
    """
    name = "accuracy" if scoring is None or counts_costs(scoring) else scoring
    return _POWER_OF.get(name, OTHERWISE) if isinstance(name, str) else OTHERWISE


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
    w1 = level.spread(1.0 / seen)
    if stated is not None and counts_costs(scoring):
        entries = np.stack([stated * w1**power for power in BESIDE_STATED])
        return PowerPath(BESIDE_STATED, entries, BESIDE_STATED.index(0.0))
    entries = np.stack([w1**power for power in POWERS])
    return PowerPath(POWERS, entries, POWERS.index(power_of(scoring)))
