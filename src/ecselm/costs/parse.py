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
          classes a fold happens to have;
        - what is known of costs only in part: a :class:`CostConstraints`, sentences, or a dict
          or DataFrame with pairs (low, high). The result is then its mean.
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
    if is_partly_known(cost, len(labels)):
        from ecselm.costs.constraints import CostConstraints  # noqa: PLC0415  imports this module

        return CostConstraints.from_costs(cost, labels).mean()
    if cost is None:
        return 1.0 - np.eye(len(labels))
    if hasattr(cost, "columns"):
        return _reduced(_from_frame(cost, labels), labels)
    if hasattr(cost, "to_dict"):  # a Series, by its labels
        cost = cost.to_dict()
    if isinstance(cost, Mapping):
        return _reduced(_from_mapping(cost, labels), labels)
    return _reduced(_from_array(cost, labels), labels)


def is_partly_known(cost: Any, n_classes: int) -> bool:
    """Return whether ``cost`` is in a form that may leave costs open."""
    if isinstance(cost, str) or hasattr(cost, "statements"):
        return True
    if hasattr(cost, "columns") and hasattr(cost, "to_numpy"):
        cells = cost.to_numpy()
        return cells.dtype.kind == "O" and any(_is_open(cell) for cell in cells.ravel())
    if hasattr(cost, "to_dict") and hasattr(cost, "index"):  # a Series
        cost = cost.to_dict()
    if isinstance(cost, Mapping):
        return any(_is_open(value) for value in cost.values())
    if isinstance(cost, list | tuple) and cost and all(isinstance(one, str) for one in cost):
        return True
    if not isinstance(cost, list | tuple | np.ndarray):
        return False
    try:
        return np.shape(cost) == (n_classes, n_classes, 2)
    except ValueError:  # ragged
        return False


def _is_open(value: Any) -> bool:
    if isinstance(value, str):
        return ".." in value
    return isinstance(value, tuple | list | np.ndarray) and np.ndim(value) == 1


def parse_sample_cost(
    cost: Any, y: IntArray, classes: Any, aggregate: str, *, name: str = "sample_cost"
) -> Costs:
    """Return the costs that ``cost`` states by row.

    Parameters
    ----------
    cost : array of shape (N,), (N, k), (N, k, k) or (N, N)
        The cost information vector itself; or the cost of predicting each class for
        each row, by the labels of its columns if it is a DataFrame that has them; or this
        cost for each class that could be true, of which the true one is used, so that
        :func:`row_matrices` takes the same array; or the paper's matrix (11), sample to
        sample, of which only the row sums are used.
    y : array of shape (N,)
        True classes, as positions in ``classes``.
    classes : array of shape (k,)
    aggregate : {"samples", "classes"}
    name : str
        Name of the parameter, for error messages.
    """
    values, (N, k) = numbers(by_label(cost, classes), name), (len(y), len(classes))
    if values.shape == (N, k, k):
        values = values[np.arange(N), y]
    if values.shape == (N, k):
        right = values[np.arange(N), y]
        return ExampleCosts(_no_cheap_mistake(values, right, name), aggregate)
    if values.shape == (N, N):
        reduced = _no_cheap_mistake(values, values.diagonal(), name)
        return PairCosts(reduced.sum(axis=1), k)
    if values.shape in {(N,), (N, 1)}:
        return SampleCosts(check_row_costs(values.ravel(), name))
    raise ValueError(
        f"{name} must have the shape ({N},), one cost per row, ({N}, {k}), the cost of "
        f"predicting each of the {k} classes per row, ({N}, {k}, {k}), the same for each true "
        f"class, or ({N}, {N}), got {values.shape}"
    )


def row_matrices(
    n_rows: int,
    classes: Any,
    *,
    sample_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
) -> FloatArray | None:
    """Return the costs of rows whose true class is not known, by row.

    Parameters
    ----------
    n_rows : int
        N.
    classes : array of shape (k,)
    sample_cost : array of shape (N, k, k) or (N,), default=None
        ``sample_cost[n, i, j]`` is the cost of predicting class j for row n if class i is
        true; or the cost of any mistake on each row.
    tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
        Costs by outcome instead, for two classes, see :func:`outcome_costs`; ``classes[1]``
        is the positive class.

    Returns
    -------
    matrices : array of shape (N, k, k) or None
        With zero diagonals: the cost of a correct prediction is subtracted from its row,
        which changes no decision. The remaining costs must be >= 0. None if no costs are
        given.

    Examples
    --------
    >>> row_matrices(2, ["ill", "well"], sample_cost=[3, 8])
    array([[[0., 3.],
            [3., 0.]],
    <BLANKLINE>
           [[0., 8.],
            [8., 0.]]])
    >>> row_matrices(1, ["well", "ill"], fn_cost=[50], tp_cost=5)
    array([[[ 0.,  1.],
            [45.,  0.]]])
    """
    outcomes = {"tp_cost": tp_cost, "tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost}
    by_outcome = stated_once({"sample_cost": sample_cost}, outcomes)
    N, k = n_rows, len(classes)
    if by_outcome:
        check_two_classes(by_outcome, k, f"an array of shape ({N}, {k}, {k})")
        by_truth = [outcome_costs(np.full(N, truth), **outcomes) for truth in (0, 1)]
        values, name = np.stack(by_truth, axis=1), by_outcome
    elif sample_cost is None:
        return None
    else:
        values, name = numbers(sample_cost, "sample_cost"), "sample_cost"
    if values.shape == (N, k, k):
        return _no_cheap_mistake(values, values.diagonal(axis1=1, axis2=2), name)
    if values.shape in {(N,), (N, 1)}:
        of_mistakes = check_row_costs(values.reshape(N, 1, 1), name)
        return of_mistakes * (1.0 - np.eye(k))
    instead = f"an array of shape ({N}, {k}, {k})"
    if values.shape == (N, k):
        raise ValueError(
            f"sample_cost must not have the shape ({N}, {k}), which is the cost of predicting "
            "each class given the true one, for rows whose true class is not known; give "
            f"{instead}, or tp_cost, tn_cost, fp_cost and fn_cost for two classes"
        )
    raise ValueError(
        f"sample_cost must be {instead}, the cost of predicting each class for each true class, "
        f"or ({N},), the cost of any mistake on a row, got {values.shape}"
    )


def parse_any_cost(cost: Any, y: IntArray, classes: Any, aggregate: str) -> Costs:
    """Return the costs that ``cost`` states, by class or by row according to its shape.

    Where both shapes fit, as with three rows of three classes, costs are by class.
    """
    rows = getattr(cost, "sample_cost", None)
    if rows is not None:  # constraints that are known by row
        return parse_sample_cost(rows, y, classes, aggregate, name="cost")
    if isinstance(cost, np.ndarray | list) and not is_partly_known(cost, len(classes)):
        shape, k = numbers(cost, "cost").shape, len(classes)
        if shape not in {(k,), (k, k)} and shape[:1] == (len(y),):
            return parse_sample_cost(cost, y, classes, aggregate, name="cost")
    return ClassCosts(parse_cost(cost, classes), aggregate)


def parse_reject_cost(cost: Any, classes: Any) -> FloatArray:
    """Return the costs (k,) of leaving a row of each true class to someone else.

    Parameters
    ----------
    cost : float, array of shape (k,), Series or dict
        One cost for all classes, or by true class; a Series or dict has all classes.
    classes : array of shape (k,)

    Examples
    --------
    >>> parse_reject_cost(2, ["ill", "well"])
    array([2., 2.])
    >>> parse_reject_cost({"well": 1, "ill": 3}, ["ill", "well"])
    array([3., 1.])
    """
    labels = np.asarray(classes)
    cost = cost.to_dict() if hasattr(cost, "to_dict") else cost
    if isinstance(cost, Mapping):
        codes = label_codes(list(cost), labels, "reject_cost")
        if len(codes) < len(labels):
            raise ValueError(
                f"reject_cost must name every class, {labels.tolist()}, got {list(cost)}"
            )
        cost = numbers(list(cost.values()), "reject_cost")[np.argsort(codes)]
    values = check_row_costs(cost, "reject_cost")
    if values.shape not in {(), (len(labels),)}:
        raise ValueError(
            f"reject_cost must be one number or one per class, shape ({len(labels)},), got "
            f"{values.shape}"
        )
    return np.broadcast_to(values, len(labels)).copy()


def has_reject_column(cost: Any) -> bool:
    """Return whether ``cost`` has the shape (k, k + 1), see :func:`parse_with_reject_column`."""
    if not isinstance(cost, np.ndarray | list | tuple) and not hasattr(cost, "columns"):
        return False
    try:
        shape = np.shape(cost)
    except ValueError:  # ragged
        return False
    return len(shape) == 2 and shape[1] == shape[0] + 1


def parse_with_reject_column(cost: Any, classes: Any) -> tuple[FloatArray, FloatArray]:
    """Return the costs (k, k) of mistakes and (k,) of rejected predictions, by true class.

    Parameters
    ----------
    cost : array or DataFrame of shape (k, k + 1)
        Rows are true classes, columns predicted classes and, last, none of them; of a
        DataFrame, the column that is not named after a class.
    classes : array of shape (k,)

    Returns
    -------
    matrix, column : arrays of shape (k, k) and (k,)
        The cost of a correct prediction is subtracted from both.

    Examples
    --------
    >>> parse_with_reject_column([[1, 6, 3], [3, 2, 3]], ["ill", "well"])
    (array([[0., 5.], [1., 0.]]), array([2., 1.]))
    """
    labels, k = np.asarray(classes), len(classes)
    if hasattr(cost, "columns"):
        frame, column = without_reject_column(cost, labels)
        matrix = _from_frame(frame, labels)
    else:
        values = numbers(cost, "cost")
        if values.shape != (k, k + 1):
            raise ValueError(
                f"cost must have the shape ({k}, {k}) for the {k} classes {labels.tolist()}, or "
                f"({k}, {k + 1}) with the costs of rejected predictions, got {values.shape}"
            )
        matrix, column = values[:, :-1], values[:, -1]
    of_rejected = column - matrix.diagonal()
    if (of_rejected < 0).any():
        raise ValueError(
            "cost must not make a rejected prediction cheaper than the right answer, got "
            f"{column[of_rejected < 0][0]:g} where {labels[of_rejected < 0][0]} is true"
        )
    return _reduced(matrix, labels), of_rejected


def without_reject_column(cost: Any, classes: AnyArray) -> tuple[Any, FloatArray]:
    """Return a frame with the columns of classes alone, and the other one (k,) in their order."""
    labels = classes.tolist()
    names = [name for name in cost.columns if name in set(labels)]
    others = [name for name in cost.columns if name not in names]
    if len(others) != 1:
        raise ValueError(
            f"cost must have one column besides those of the classes, {labels}, got "
            f"{list(cost.columns)}"
        )
    truth = list(getattr(cost, "index", names))
    order = np.argsort(label_codes(truth, classes, "cost"))
    return cost[names], numbers(cost[others[0]], "cost")[order]


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
    rows, columns = frame_codes(cost, classes)
    matrix = np.empty((len(classes), len(classes)))
    matrix[np.ix_(rows, columns)] = numbers(cost.to_numpy(), "cost")
    return matrix


def frame_codes(cost: Any, classes: AnyArray) -> tuple[IntArray, IntArray]:
    """Return the positions of the rows and columns of a frame, of which each class must be one."""
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
    return rows, columns


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
    """Subtract the cost of the correct prediction, without the last axis, from all others."""
    reduced = values - right[..., np.newaxis]
    if (reduced < 0).any():
        where = tuple(np.argwhere(reduced < 0)[0])
        raise ValueError(
            f"{name} must not make a mistake cheaper than the right answer: in row {where[0]} a "
            f"mistake costs {values[where]:g} and the right answer {right[where[:-1]]:g}"
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
    by_outcome = stated_once({"cost": cost, "sample_cost": sample_cost}, outcomes)
    if by_outcome:
        check_two_classes(
            by_outcome, len(classes), "the cost of predicting each class for each row"
        )
        costs = outcome_costs(y, **outcomes)
        return parse_sample_cost(costs, y, classes, aggregate, name=by_outcome)
    if sample_cost is not None:
        return parse_sample_cost(sample_cost, y, classes, aggregate)
    return parse_any_cost(cost, y, classes, aggregate)


def stated_once(costs: Mapping[str, Any], outcomes: Mapping[str, Any]) -> str:
    """Return the names of the outcomes whose costs are given, and refuse costs given twice."""
    by_outcome = ", ".join(name for name, value in outcomes.items() if value is not None)
    names = [name for name, value in costs.items() if value is not None]
    names += [by_outcome] if by_outcome else []
    if len(names) > 1:
        raise ValueError(f"costs must be stated once, got {' and '.join(names)}")
    return by_outcome


def check_two_classes(by_outcome: str, n_classes: int, instead: str) -> None:
    """Refuse costs by outcome of other than two classes; ``instead`` describes sample_cost."""
    if n_classes != 2:
        raise ValueError(
            f"{by_outcome} can be given for two classes only, y has {n_classes}; give "
            f"sample_cost, {instead}"
        )
