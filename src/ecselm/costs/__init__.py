"""Parse stated costs, and decide for the least expected cost (paper, equations 9 to 12)."""

from ecselm.costs.constraints import CostConstraints
from ecselm.costs.decision import expected_costs, min_cost_decision
from ecselm.costs.parse import outcome_costs, parse_cost, parse_sample_cost, row_matrices
from ecselm.costs.promise import PromiseCheck, PromiseError, check_promise
from ecselm.costs.weights import Costs, CostTerms, class_weights

__all__ = [
    "CostConstraints",
    "CostTerms",
    "Costs",
    "PromiseCheck",
    "PromiseError",
    "check_promise",
    "class_weights",
    "expected_costs",
    "min_cost_decision",
    "outcome_costs",
    "parse_cost",
    "parse_sample_cost",
    "row_matrices",
]
