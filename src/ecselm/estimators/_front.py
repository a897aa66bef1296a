"""The front of recalls that a classifier can reach, and copies that decide at its points."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostConstraints, Costs
from ecselm.costs.front import MOST_CLASSES, RecallFront
from ecselm.costs.parse import has_reject_column
from ecselm.costs.policy import DecisionPolicy
from ecselm.costs.weights import ClassCosts, label_codes
from ecselm.estimators._policy import forget_promise
from ecselm.estimators._priors import row_costs

Model = TypeVar("Model")


def front_frame(model: Any) -> Any:
    """Return a frame of the recalls that other costs of decisions reach, a row per point.

    Points are chosen on one half of the validation rows, as those that no other dominates:
    all thresholds on the probabilities of two classes; of more classes some thousand costs
    by class, stated or implied ones and others around these and the learned ones. The figures
    are those of the other half, which has chosen none of them. There a point is dropped if
    another has at least its recall of every class, and of some class more than it by over a
    standard error. At most 5000 validation rows are used; at most 200 points are kept for two
    classes, 300 for more, and none for more than 50.

    All points decide by the probabilities of the fitted model. Other models that a search has
    trained are no points: all validation rows have selected them, and none is left to report
    on them.

    Returns
    -------
    front : DataFrame
        For two classes ``threshold``, the probability of ``classes_[1]`` from which it is
        the answer. For every class ``recall of <label>``, ``std error of <label>`` and
        ``cost of <label>``, the mean cost of a mistake on it by which the point decides,
        of which ratios matter. Where costs are stated ``mean cost``, by these and at the
        shares of the classes in training, and ``mean cost std error``.
    """
    import pandas as pd  # noqa: PLC0415  half a second that only this property needs

    front, classes = known_front(model), model.classes_.tolist()
    columns: dict[str, FloatArray] = {}
    if len(classes) == 2:
        columns["threshold"] = front.thresholds()
    parts = {
        "recall of": front.recalls,
        "std error of": front.std_errors,
        "cost of": front.costs,
    }
    for name, values in parts.items():
        columns |= {f"{name} {c}": values[:, i] for i, c in enumerate(classes)}
    if front.mean_cost is not None:
        columns["mean cost"] = front.mean_cost
        columns["mean cost std error"] = front.mean_cost_std_error
    return pd.DataFrame(columns)


def keep_front(
    model: Any,
    P: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    shares: FloatArray,
    **known: Any,
) -> None:
    """Store the front of probabilities (n, k) of validation rows of the classes ``y``.

    ``shares`` (k,) are those of the classes in training; ``known`` goes to
    :meth:`RecallFront.of_rows`. Rows without weight or probabilities do not count.
    """
    model._class_shares_ = shares
    used = np.isfinite(P).all(axis=1)
    if weight is not None:
        used &= weight > 0
    if not used.all():
        P, y, weight = P[used], y[used], None if weight is None else weight[used]
        groups = known.get("groups")
        known["groups"] = None if groups is None else groups[used]
    model._front_ = None
    if len(y) and len(shares) <= MOST_CLASSES:
        model._front_ = RecallFront.of_rows(P, y, weight, shares, **known)


def known_front(model: Any) -> RecallFront:
    """Return the front of a fitted model, or raise AttributeError."""
    check_is_fitted(model)
    front: RecallFront | None = getattr(model, "_front_", None)
    if front is None:
        if len(model.classes_) > MOST_CLASSES:
            raise AttributeError(
                f"front_ is there for at most {MOST_CLASSES} classes, got {len(model.classes_)}"
            )
        raise AttributeError(getattr(model, "_no_front", lambda: "front_ is not there")())
    return front


def at(
    self: Model,
    costs: Any = None,
    recall: Mapping[Any, float] | None = None,
    alarms: float | None = None,
) -> Model:
    """Return a copy of the fitted model that decides at another point; nothing is refitted.

    The copy shares all fitted parts with this model, which is left as it is. Its
    ``cost_matrix_`` and ``constraints_`` are those of the point; parameters are the same,
    so that fitting the copy, or a clone, leads back. It answers every row: it never leaves
    one to a person.

    Parameters
    ----------
    costs : CostConstraints, array, DataFrame, dict, sentences or callable, default=None
        Costs to decide by, in any form that ``cost`` takes by class. Where they are known
        in part, the rule ``"expected"`` decides.
    recall : dict of label to float, default=None
        Least recalls. Of the points of ``front_`` whose reported recalls are at least
        these, the one of the least mean cost is taken, without stated costs the one of the
        highest mean recall.
    alarms : float, default=None
        For two classes: the largest share of ``classes_[0]`` that may be answered with
        ``classes_[1]``; points are taken as for ``recall``.

    Returns
    -------
    model : estimator
        What a point reports was not chosen by its own rows, but the best of many reports
        is a little flattered: check on test rows what must hold.
    """
    check_is_fitted(self)
    given = {"costs": costs, "recall": recall, "alarms": alarms}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(
            "exactly one of costs, recall and alarms must be given, got "
            f"{' and '.join(names) or 'none'}"
        )
    model: Any = self
    moved: Any = copy.copy(self)
    if costs is not None:
        matrix, known = _costs_at(model, costs)
        return _moved_to(moved, matrix, known, of_front=False)
    classes = model.classes_
    least = _of_alarms(alarms, classes) if recall is None else _least_recalls(recall, classes)
    front = known_front(model)
    point = front.best(least)
    if point is None:
        raise ValueError(_out_of_reach(front, least, classes, alarms))
    matrix = front.matrix(point)
    known = CostConstraints.from_costs(matrix, classes)
    return _moved_to(moved, matrix, known, of_front=True)


def _moved_to(
    model: Any, matrix: FloatArray, constraints: CostConstraints, *, of_front: bool
) -> Any:
    """Take over costs (k, k), which decide on the probabilities of the front or on plain ones.

    Overwrites fitted attributes.
    """
    fitted = vars(model)
    fitted["_decision_costs_"] = fitted["cost_matrix_"] = matrix
    fitted["constraints_"] = None if constraints.is_exact else constraints
    forget_promise(model)  # which was tested at one point
    if "class_costs_" in fitted:
        fitted["class_costs_"] = matrix.sum(axis=1) / (len(matrix) - 1)
    if not of_front and "_weighted_probabilities_" in fitted:
        fitted["_weighted_probabilities_"] = None  # of costs by row
    if hasattr(model, "_take_over"):
        model._take_over(constraints)
    return model


def _costs_at(model: Any, costs: Any) -> tuple[FloatArray, CostConstraints]:
    """Return the matrix (k, k) by which stated costs decide, and what is known of them."""
    if callable(costs) and not isinstance(costs, CostConstraints):
        costs = costs(model.classes_)
    if has_reject_column(costs):
        raise ValueError(
            "costs must have no column for asking a person: a copy answers every row; fit "
            "CostDecisionClassifier with these costs to ask"
        )
    known = CostConstraints.from_costs(costs, model.classes_)
    if known.sample_cost is not None:
        raise ValueError("costs must be by class here: give those of rows to predict")
    if not known.is_exact and model.rule != "expected":
        raise ValueError(
            f"costs must be known by number with rule={model.rule!r}, which needs validation "
            "rows to decide by others: fit with cost instead"
        )
    return DecisionPolicy.of_costs(known.region, model._class_shares_).matrix, known


def _least_recalls(recall: Any, classes: AnyArray) -> FloatArray:
    """Return the least recalls (k,), 0 for classes that are not named."""
    if not isinstance(recall, Mapping) or not recall:
        raise ValueError(
            f"recall must be a dict of class to least recall, as in {{"
            f"{classes.tolist()[-1]!r}: 0.95}}, got {recall!r}"
        )
    least = np.zeros(len(classes))
    codes = label_codes(list(recall), classes, "recall")
    least[codes] = [_share(value, "recall") for value in recall.values()]
    return least


def _of_alarms(alarms: Any, classes: AnyArray) -> FloatArray:
    if len(classes) != 2:
        raise ValueError(
            f"alarms can be given for two classes only, there are {len(classes)}: give recall"
        )
    return np.array([1.0 - _share(alarms, "alarms"), 0.0])


def _out_of_reach(front: RecallFront, least: FloatArray, classes: AnyArray, alarms: Any) -> str:
    """Return the sentence that refuses recalls, with the nearest point there is."""
    nearest = front.recalls[int(front.shortfalls(least).argmin())]
    if alarms is not None:
        return (
            f"alarms must be reached by a point of front_, got {alarms:g}: the lowest there "
            f"is {1.0 - nearest[0]:.4g}"
        )
    labels = classes.tolist()
    wanted = np.flatnonzero(least > 0).tolist()
    asked = ", ".join(f"{least[i]:g} of {labels[i]!r}" for i in wanted)
    there = ", ".join(f"{nearest[i]:.4g} of {labels[i]!r}" for i in wanted)
    return f"recall must be reached by a point of front_, got {asked}: the best there is {there}"


def stated_matrix(
    costs: Costs | None, y: IntArray, n_classes: int, weight: FloatArray | None
) -> FloatArray | None:
    """Return stated costs (k, k), of costs by row the means over the rows of a class."""
    if costs is None or isinstance(costs, ClassCosts):
        return None if costs is None else costs.matrix
    by_row, w = row_costs(costs, y, n_classes), np.ones(len(y)) if weight is None else weight
    W = np.zeros((n_classes, len(y)))
    W[y, np.arange(len(y))] = w
    totals = W.sum(axis=1, keepdims=True)
    return (W @ by_row) / np.where(totals > 0, totals, 1.0)


def class_centres(matrices: FloatArray) -> list[FloatArray]:
    """Return the mean cost of a mistake on every class (k,) of matrices (n, k, k)."""
    return list(matrices.sum(axis=2) / (matrices.shape[1] - 1))


def _share(value: Any, name: str) -> float:
    """Return a number from 0 to 1, or refuse it."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
    return float(value)
