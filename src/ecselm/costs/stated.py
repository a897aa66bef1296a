"""Costs as a person hands them to an estimator, stated once."""

from __future__ import annotations

from typing import Any

from ecselm._typing import AnyArray, IntArray
from ecselm.costs.example import outcome_costs
from ecselm.costs.parse import parse_any_cost, parse_sample_cost
from ecselm.costs.terms import Costs


def read_costs(
    cost: Any, y: IntArray, classes: AnyArray, *, aggregate: str, sample_cost: Any, **outcomes: Any
) -> Costs:
    """Return the costs of rows of the classes ``y``, however they were stated.

    Parameters
    ----------
    cost : array, DataFrame, dict or None
        The parameter of the estimator, see :func:`parse_any_cost`.
    y : array of shape (N,)
        Positions in ``classes``.
    classes : array of shape (k,)
    aggregate : {"samples", "classes"}
    sample_cost : array or None
        The argument of ``fit``, see :func:`parse_sample_cost`.
    **outcomes : tp_cost, tn_cost, fp_cost and fn_cost
        The arguments of ``fit``, see :func:`outcome_costs`.
    """
    by_outcome = ", ".join(name for name, value in outcomes.items() if value is not None)
    stated = {"cost": cost is not None, "sample_cost": sample_cost is not None}
    stated[by_outcome] = bool(by_outcome)
    if sum(stated.values()) > 1:
        names = " and ".join(name for name, given in stated.items() if given)
        raise ValueError(f"costs must be stated once, got {names}")
    if by_outcome:
        if len(classes) != 2:
            raise ValueError(
                f"{by_outcome} can be given for two classes only, y has {len(classes)}; give "
                "sample_cost, the cost of predicting each class for each row"
            )
        costs = outcome_costs(y, **outcomes)
        return parse_sample_cost(costs, y, classes, aggregate, name=by_outcome)
    if sample_cost is not None:
        return parse_sample_cost(sample_cost, y, classes, aggregate)
    return parse_any_cost(cost, y, classes, aggregate)


def refuse_row_costs(**stated: Any) -> None:
    """Refuse costs by row where a decision needs the costs of rows not seen yet."""
    names = [name for name, value in stated.items() if value is not None]
    if names:
        raise ValueError(
            f"decision='min_cost' must have its costs by class, in the parameter cost, got "
            f"{', '.join(names)}: what a mistake costs must be known for new rows too. For costs "
            "by row use predict_proba and ecselm.costs.min_cost_decision"
        )
