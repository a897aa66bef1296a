"""What columns are worth to a model on test rows, for its card."""

from __future__ import annotations

from typing import Any

from ecselm.estimators._importance import (
    Effect,
    UndefinedMetricError,
    permutation_importance,
)
from ecselm.study.card import ColumnImportance, Importances, Loss
from ecselm.study.models import one_thread

MAX_ROWS = 500  # of the test rows: the card must not take longer than the fit
N_REPEATS = 3
MOST_COLUMNS = 20  # on a card


def importances(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str,
    cost: Any = None,
    sample_cost: Any = None,
    seed: int = 0,
) -> Importances | None:
    """Return what permuting columns of test rows costs, in money where costs are stated.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    X : DataFrame or array of shape (n, m)
        Test rows, as the model takes them.
    y : array of shape (n,)
    metric : str
        Whose loss is measured where no costs are stated.
    cost, sample_cost :
        Stated costs, as in :func:`~ecselm.study.evaluate.evaluate`.
    seed : int, default=0

    Returns
    -------
    importances : Importances or None
        None where the metric is not defined on the rows.
    """
    if len(y) < 2:
        return None
    has_costs = cost is not None or sample_cost is not None
    measured = "mean_cost" if has_costs else metric
    try:
        with one_thread():
            found = permutation_importance(
                model,
                X,
                y,
                metric=measured,
                cost=cost,
                sample_cost=sample_cost,
                rows=min(MAX_ROWS, len(y)),
                n_repeats=N_REPEATS,
                rng=seed,
            )
    except UndefinedMetricError:
        return None
    if not found:
        return None
    open_rows = [one.not_settled.n for one in found if one.not_settled is not None]
    return Importances(
        measured,
        found[0].whole.n,
        max(open_rows, default=0),
        len(X.columns) if hasattr(X, "columns") else X.shape[1],
        tuple(
            ColumnImportance(
                one.column,
                _loss(one.whole),
                None if one.not_settled is None else _loss(one.not_settled),
            )
            for one in found[:MOST_COLUMNS]
        ),
    )


def _loss(effect: Effect) -> Loss:
    return Loss(effect.value, effect.low, effect.high)
