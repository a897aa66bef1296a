"""Costs of single examples of two classes, told by outcome."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.costs.parse import numbers


def outcome_costs(
    y: IntArray,
    *,
    tp_cost: Any = None,
    tn_cost: Any = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
) -> FloatArray:
    """Return the cost (N, 2) of predicting each class for each row.

    Parameters
    ----------
    y : array of shape (N,)
        0 for the negative and 1 for the positive class.
    tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
        What a true positive, true negative, false positive and false negative costs;
        None is 0 for right answers and 1 for mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> outcome_costs(np.array([0, 1]), fn_cost=[50.0, 80.0])
    array([[ 0.,  1.],
           [80.,  0.]])
    """
    given = {"tp_cost": tp_cost, "tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost}
    usual = {"tp_cost": 0.0, "tn_cost": 0.0, "fp_cost": 1.0, "fn_cost": 1.0}
    tp, tn, fp, fn = (
        _per_row(usual[name] if cost is None else cost, len(y), name)
        for name, cost in given.items()
    )
    positive = y == 1
    return np.column_stack([np.where(positive, fn, tn), np.where(positive, tp, fp)])


def _per_row(cost: Any, n_rows: int, name: str) -> FloatArray:
    values = numbers(cost, name)
    if values.shape == (n_rows, 1):
        values = values.ravel()
    if values.shape not in {(), (n_rows,)}:
        raise ValueError(
            f"{name} must be one number or one per row, shape ({n_rows},), got {values.shape}"
        )
    return np.broadcast_to(values, n_rows)
