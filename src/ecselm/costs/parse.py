"""Parse costs, in every form in which a user may state them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs.weights import (
    ClassCosts,
    Costs,
    ExampleCosts,
    PairCosts,
    SampleCosts,
    label_codes,
)

HOW_TO = (
    "Write one row per true class and one column per predicted class, 0 on the diagonal "
    "and, elsewhere, what that mistake costs compared with the others"
)


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
        Cost of a true positive, true negative, false positive and false negative;
        None is 0 for correct predictions and 1 for mistakes.

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


def parse_cost(cost: Any, classes: Any) -> FloatArray:
    """Return the cost matrix (k, k) that ``cost`` states for ``classes``.

    Parameters
    ----------
    cost : None, array, DataFrame, dict or callable
        - None: every mistake costs 1;
        - array of shape (k, k): rows are true classes, columns predicted classes, both
          in the order of ``classes``;
        - DataFrame of shape (k, k): index and columns are class labels, in any order
          (polars has no index: its rows stand in the order of its columns);
        - dict ``{(true, predicted): cost}``: mistakes that are not listed cost 1,
          correct predictions 0;
        - array of shape (k,) or dict ``{true: cost}``: the cost of any mistake on that
          class, 1 for classes that are not listed;
        - callable: called with ``classes``, returns one of these. It works for whichever
          classes a fold happens to have.
    classes : array of shape (k,)

    Returns
    -------
    matrix : array of shape (k, k)
        With a zero diagonal: the cost of a correct prediction is subtracted from its
        row, which changes no decision. The remaining costs must be >= 0.

    Examples
    --------
    >>> parse_cost({("ill", "well"): 5}, ["ill", "well"])
    array([[0., 5.],
           [1., 0.]])
    >>> parse_cost([[1, 6], [3, 2]], ["ill", "well"])
    array([[0., 5.],
           [1., 0.]])
    >>> parse_cost(lambda levels: abs(levels[:, None] - levels), [1, 2, 5])
    array([[0., 1., 4.],
           [1., 0., 3.],
           [4., 3., 0.]])
    """
    labels = np.asarray(classes)
    if callable(cost):
        cost = cost(labels)
    if cost is None:
        return 1.0 - np.eye(len(labels))
    if hasattr(cost, "columns"):
        return _reduced(_from_frame(cost, labels), labels)
    if hasattr(cost, "to_dict"):  # a Series, by its labels
        cost = cost.to_dict()
    if isinstance(cost, Mapping):
        return _reduced(_from_mapping(cost, labels), labels)
    return _reduced(_from_array(cost, labels), labels)


def parse_sample_cost(
    cost: Any, y: IntArray, classes: Any, aggregate: str, *, name: str = "sample_cost"
) -> Costs:
    """Return the costs that ``cost`` states by row.

    Parameters
    ----------
    cost : array of shape (N,), (N, k) or (N, N)
        The cost information vector itself; or the cost of predicting each class for
        each row, by the labels of its columns if it is a DataFrame that has them; or the
        paper's matrix (11), sample to sample, of which only the row sums are used.
    y : array of shape (N,)
        True classes, as positions in ``classes``.
    classes : array of shape (k,)
    aggregate : {"samples", "classes"}
    name : str
        Name of the parameter, for error messages.
    """
    values, (N, k) = numbers(by_label(cost, classes), name), (len(y), len(classes))
    if values.shape == (N,):
        return SampleCosts(check_row_costs(values, name))
    if values.shape == (N, k):
        right = values[np.arange(N), y]
        return ExampleCosts(_no_cheap_mistake(values, right, name), aggregate)
    if values.shape == (N, N):
        reduced = _no_cheap_mistake(values, values.diagonal(), name)
        return PairCosts(reduced.sum(axis=1), k)
    raise ValueError(
        f"{name} must have the shape ({N},), one cost per row, ({N}, {k}), the cost of "
        f"predicting each of the {k} classes per row, or ({N}, {N}), got {values.shape}"
    )


def parse_any_cost(cost: Any, y: IntArray, classes: Any, aggregate: str) -> Costs:
    """Return the costs that ``cost`` states, by class or by row according to its shape.

    Where both shapes fit, as with three rows of three classes, costs are by class.
    """
    if isinstance(cost, np.ndarray | list):
        shape, k = numbers(cost, "cost").shape, len(classes)
        if shape not in {(k,), (k, k)} and shape[:1] == (len(y),):
            return parse_sample_cost(cost, y, classes, aggregate, name="cost")
    return ClassCosts(parse_cost(cost, classes), aggregate)


def _from_mapping(cost: Mapping[Any, Any], classes: AnyArray) -> FloatArray:
    values = numbers(list(cost.values()), "cost")
    if values.ndim != 1:
        raise ValueError(f"cost must hold one number per key, got {dict(cost)}")
    matrix = 1.0 - np.eye(len(classes))
    pairs = [key for key in cost if isinstance(key, tuple) and len(key) == 2]
    if not pairs:
        rows = label_codes(list(cost), classes, "cost")
        matrix[rows] *= values[:, np.newaxis]
        return matrix
    if len(pairs) < len(cost):
        raise ValueError(
            "cost must have keys of one kind, all (true, predicted) or all single classes, "
            f"got {list(cost)}"
        )
    truth = label_codes([key[0] for key in pairs], classes, "cost")
    predicted = label_codes([key[1] for key in pairs], classes, "cost")
    matrix[truth, predicted] = values
    return matrix


def _from_frame(cost: Any, classes: AnyArray) -> FloatArray:
    predicted = list(cost.columns)
    truth = list(getattr(cost, "index", predicted))
    rows = label_codes(truth, classes, "cost's index (the true classes)")
    columns = label_codes(predicted, classes, "cost's columns (the predicted classes)")
    k = len(classes)
    if sorted(rows) != list(range(k)) or sorted(columns) != list(range(k)):
        raise ValueError(
            f"cost must have every class once as a row and once as a column, "
            f"{classes.tolist()}, got rows {truth} and columns {predicted}"
        )
    matrix = np.empty((k, k))
    matrix[np.ix_(rows, columns)] = numbers(cost.to_numpy(), "cost")
    return matrix


def by_label(cost: Any, classes: Any) -> Any:
    """Reorder columns that are named after the classes into the order of the classes."""
    labels = np.asarray(classes).tolist()
    columns = list(getattr(cost, "columns", []))
    return cost[labels] if columns and set(columns) == set(labels) else cost


def _from_array(cost: Any, classes: AnyArray) -> FloatArray:
    values, k = numbers(cost, "cost"), len(classes)
    if values.shape == (k,):
        return (1.0 - np.eye(k)) * values[:, np.newaxis]
    if values.shape == (k, k):
        return values
    raise ValueError(
        f"cost must have the shape ({k}, {k}) for the {k} classes {classes.tolist()}, "
        f"got {values.shape}. {HOW_TO}."
    )


def numbers(cost: Any, name: str) -> FloatArray:
    """Return ``cost`` as finite floats; ``name`` is the parameter, for error messages."""
    try:
        values = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only, got {cost!r}") from error
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)][0]}")
    return values


def _reduced(matrix: FloatArray, classes: AnyArray) -> FloatArray:
    reduced = matrix - matrix.diagonal()[:, np.newaxis]
    if (reduced < 0).any():
        i, j = np.argwhere(reduced < 0)[0]
        labels = classes.tolist()
        raise ValueError(
            f"cost must not make a mistake cheaper than the right answer: where {labels[i]!r} "
            f"is true, predicting {labels[j]!r} costs {matrix[i, j]:g} and predicting "
            f"{labels[i]!r} costs {matrix[i, i]:g}. {HOW_TO}."
        )
    if not reduced.any():
        raise ValueError(f"cost must make at least one mistake cost something. {HOW_TO}.")
    return reduced


def _no_cheap_mistake(values: FloatArray, right: FloatArray, name: str) -> FloatArray:
    """Subtract the cost of the correct prediction from each row."""
    reduced = values - right[:, np.newaxis]
    if (reduced < 0).any():
        i, j = np.argwhere(reduced < 0)[0]
        raise ValueError(
            f"{name} must not make a mistake cheaper than the right answer: in row {i} a "
            f"mistake costs {values[i, j]:g} and the right answer {right[i]:g}"
        )
    return reduced


def check_row_costs(cost: Any, name: str) -> FloatArray:
    """Return finite costs >= 0."""
    values = numbers(cost, name)
    if (values < 0).any():
        raise ValueError(f"{name} must be >= 0, got {values.min():g}")
    return values


def read_costs(
    cost: Any, y: IntArray, classes: AnyArray, *, aggregate: str, sample_cost: Any, **outcomes: Any
) -> Costs:
    """Return the costs of rows of the classes ``y``, from whichever argument states them.

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
