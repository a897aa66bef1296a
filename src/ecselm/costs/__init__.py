"""Costs: from what a person states to the cost information vector B (paper, eqs. 9-12)."""

from ecselm.costs.decision import expected_costs, min_cost_decision
from ecselm.costs.parse import (
    check_row_costs,
    outcome_costs,
    parse_any_cost,
    parse_cost,
    parse_sample_cost,
    read_costs,
    refuse_row_costs,
)
from ecselm.costs.weights import (
    WEIGHTINGS,
    ClassCosts,
    ClassWeights,
    Costs,
    CostTerms,
    ExampleCosts,
    PairCosts,
    SampleCosts,
    class_weights,
)

__all__ = [
    "WEIGHTINGS",
    "ClassCosts",
    "ClassWeights",
    "CostTerms",
    "Costs",
    "ExampleCosts",
    "PairCosts",
    "SampleCosts",
    "check_row_costs",
    "class_weights",
    "expected_costs",
    "min_cost_decision",
    "outcome_costs",
    "parse_any_cost",
    "parse_cost",
    "parse_sample_cost",
    "read_costs",
    "refuse_row_costs",
]
