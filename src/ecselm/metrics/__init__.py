"""Measures of what predictions are worth."""

from ecselm.metrics.costs import cumulative_score, geometric_mean_score, mean_cost, total_cost
from ecselm.metrics.scorers import get_scorer, get_scorer_names

__all__ = [
    "cumulative_score",
    "geometric_mean_score",
    "get_scorer",
    "get_scorer_names",
    "mean_cost",
    "total_cost",
]
