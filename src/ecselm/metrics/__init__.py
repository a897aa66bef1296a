"""Metrics, the record of each, and the scorers found by their names."""

from sklearn.metrics import mean_absolute_error

from ecselm.metrics.costs import (
    cumulative_score,
    geometric_mean_score,
    mean_cost,
    savings_score,
    total_cost,
)
from ecselm.metrics.curves import CostCurve, cost_curve, operating_point, score_cost_curve
from ecselm.metrics.intervals import PairedDifference, paired_difference
from ecselm.metrics.net_benefit import (
    CostRay,
    DecisionBand,
    DecisionCurve,
    cost_ray,
    decision_curve,
    net_benefit,
)
from ecselm.metrics.recognition import (
    average_recognition_rate,
    cmc_curve,
    match_rate,
    total_recognition_rate,
)
from ecselm.metrics.registry import (
    Metric,
    default_metric,
    get_metric,
    get_scorer,
    get_scorer_names,
)

__all__ = [
    "CostCurve",
    "CostRay",
    "DecisionBand",
    "DecisionCurve",
    "Metric",
    "PairedDifference",
    "average_recognition_rate",
    "cmc_curve",
    "cost_curve",
    "cost_ray",
    "cumulative_score",
    "decision_curve",
    "default_metric",
    "geometric_mean_score",
    "get_metric",
    "get_scorer",
    "get_scorer_names",
    "match_rate",
    "mean_absolute_error",
    "mean_cost",
    "net_benefit",
    "operating_point",
    "paired_difference",
    "savings_score",
    "score_cost_curve",
    "total_cost",
    "total_recognition_rate",
]
