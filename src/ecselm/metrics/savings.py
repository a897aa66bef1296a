"""What predictions save against answering without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import FloatArray
from ecselm.costs import parse_cost
from ecselm.costs.labels import label_codes
from ecselm.metrics.costs import all_classes, row_class_costs, total_cost
from ecselm.metrics.counted import share_saved


def savings_score(
    y_true: Any,
    y_pred: Any,
    *,
    cost: Any = None,
    sample_cost: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the share of the cost of the best trivial decision that predictions save.

    ``1 - cost(predictions) / min_j cost(always j)`` (Bahnsen, Aouada and Ottersten 2015,
    there for two classes): 1 is perfect, 0 no better than the one answer for all rows that
    costs these rows least, negative worse than that.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, labels, sample_weight :
        As in :func:`total_cost`. Trivial answers are all of ``labels``.

    Examples
    --------
    Always answering "ill" costs 3 and always "well" 10; here one mistake is left.

    >>> truth, told = ["ill", "well", "well", "well"], ["ill", "ill", "well", "well"]
    >>> round(savings_score(truth, told, cost={("ill", "well"): 10}), 3)
    0.667
    """
    stated = {"cost": cost, "sample_cost": sample_cost, "labels": labels}
    spent = total_cost(y_true, y_pred, **stated, sample_weight=sample_weight)
    constant = _constant_costs(y_true, y_pred, **stated, sample_weight=sample_weight)
    return float(share_saved(np.array(spent), constant.min(keepdims=True))[0])


def _constant_costs(
    y_true: Any, y_pred: Any, cost: Any, sample_cost: Any, labels: Any, sample_weight: Any
) -> FloatArray:
    """Return what giving each class as the answer to all rows costs (k,)."""
    truth, _, classes = all_classes(y_true, y_pred, labels)
    w = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    if sample_cost is not None:
        return w @ row_class_costs(sample_cost, len(truth), classes)
    codes = label_codes(truth.tolist(), classes, "y_true")
    return np.bincount(codes, weights=w, minlength=len(classes)) @ parse_cost(cost, classes)
