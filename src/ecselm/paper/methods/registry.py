"""Find a method by its name in the paper's tables."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from ecselm.metrics import get_scorer
from ecselm.paper.methods import classification, elms, pairs, regression
from ecselm.paper.methods.method import Method, Shape

TASKS = ("classification", "regression", "pairs")
_ALL: tuple[Method, ...] = (
    *classification.METHODS,
    *elms.METHODS,
    *regression.METHODS,
    *pairs.METHODS,
)


def list_methods(task: str | None = None) -> list[Method]:
    """Return all methods, or those for a task.

    Parameters
    ----------
    task : {"classification", "regression", "pairs"} or None, default=None

    Returns
    -------
    methods : list of Method
        Names, each with its tables, the source of its formula and its status.

    Examples
    --------
    >>> from ecselm.paper.methods import list_methods
    >>> list_methods("regression")[-5:]
    ['NN', 'Ridge', 'Neural Network', 'DFAT', 'LDFAT']
    >>> [method.status for method in list_methods() if method == "CISVM"]
    ['substitute']
    """
    _check_task(task)
    return [method for method in _ALL if task in (None, method.task)]


def methods_table(task: str | None = None) -> Any:
    """Return the records of all methods, or of those for a task, as a frame.

    Parameters
    ----------
    task : {"classification", "regression", "pairs"} or None, default=None

    Returns
    -------
    table : DataFrame
        One row per method: its name, task, tables, status, source and extra.

    Examples
    --------
    >>> from ecselm.paper.methods import methods_table
    >>> methods_table("pairs").status.value_counts().to_dict()
    {'substitute': 14, 'exact': 5}
    """
    import pandas as pd  # noqa: PLC0415

    rows = [
        (m.name, m.task, " ".join(m.tables), m.status, m.source, m.extra or "")
        for m in list_methods(task)
    ]
    return pd.DataFrame(rows, columns=["name", "task", "tables", "status", "source", "extra"])


def find_method(name: str, task: str | None = None) -> Method:
    """Return the record of a method; capitals, hyphens and spaces are ignored.

    Parameters
    ----------
    name : str
    task : {"classification", "regression", "pairs"} or None, default=None
        None takes the first of these tasks that has such a method.

    Returns
    -------
    method : Method

    Examples
    --------
    >>> from ecselm.paper.methods import find_method
    >>> find_method("dml eig").tables
    ('IX',)
    """
    _check_task(task)
    if not isinstance(name, str):
        raise ValueError(f"name must be a string, got {name!r}")  # noqa: TRY004  as for any value
    if isinstance(name, Method) and task in (None, name.task):
        return name
    sought = _key(name)
    for method in _ALL:
        if task in (None, method.task) and sought in map(_key, (method, *method.aliases)):
            return method
    known = ", ".join(dict.fromkeys(list_methods(task)))
    raise ValueError(
        f"name must be a method{f' for {task}' if task else ''}, one of {known}; got {name!r}"
    )


def get_method(name: str, task: str | None = None, **params: Any) -> Any:
    """Return an estimator by its name in the paper's tables.

    Parameters
    ----------
    name : str
        As in :func:`list_methods`.
    task : {"classification", "regression", "pairs"} or None, default=None
        None takes the first of these tasks that has such a method.
    **params
        Parameters of the estimator. Methods of two steps, such as ``"CSLDA-NN"``, take those
        of both.

    Returns
    -------
    estimator : object
        Not fitted, and without a scaler: put one before it.

    Examples
    --------
    >>> from ecselm.paper.methods import get_method
    >>> get_method("CSLDA-NN", cost={(1, 2): 10}, n_components=1)
    Pipeline(steps=[('cslda', CSLDA(cost={(1, 2): 10}, n_components=1)),
                    ('kneighborsclassifier', KNeighborsClassifier(n_neighbors=1))])
    >>> get_method("NN", task="regression")
    KNeighborsRegressor(n_neighbors=1)
    """
    return find_method(name, task).estimator(params)


def tuned_method(
    name: str,
    X: Any,
    y: Any,
    task: str | None = None,
    *,
    before: Any = None,
    scoring: Any = None,
    cv: Any = 5,
    n_jobs: int | None = None,
    **params: Any,
) -> Any:
    """Return a method whose main parameters ``fit`` tunes by cross-validation.

    Parameters
    ----------
    name, task, **params :
        As in :func:`get_method`. Parameters given here are not tuned.
    X, y : arrays
        The training data, of which only the shape is used here: the grid must not have more
        components than the smallest fold allows. ``before`` is fitted to find the number of
        its features.
    before : transformer or None, default=None
        Transformer, such as a scaler, that is fitted in every fold.
    scoring : str, callable or None, default=None
        Metric: a scorer or the name of one, the package's own included. Methods that search
        costs search them for it, too. None is the mean cost where ``cost`` is given by class,
        otherwise the method's own score, accuracy or R^2.
    cv, n_jobs :
        As in :class:`sklearn.model_selection.GridSearchCV`.

    Returns
    -------
    estimator : GridSearchCV or the method itself
        Without a search where there is nothing to tune.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecselm.paper.methods import tuned_method
    >>> X, y = load_wine(return_X_y=True)
    >>> search = tuned_method("KLDA", X, y, before=StandardScaler())
    >>> bool(search.fit(X, y).score(X, y) > 0.95)
    True
    """
    method = find_method(name, task)
    cost = next((value for name, value in params.items() if _last(name) == "cost"), None)
    if scoring is None and _is_numeric(cost) and method.task != "regression":
        scoring = "mean_cost"
    estimator = _with_scoring(method.estimator(params), scoring)
    grid = method.grid_for(_smallest(method, _first_row(before, X, y), X, y, cv))
    free = {key: v for key, v in grid.items() if len(v) and not _is_given(key, params)}
    if before is not None:
        estimator = Pipeline([("before", before), ("method", estimator)])
        free = {f"method__{key}": values for key, values in free.items()}
    scorer = _scorer(scoring, cost)
    return (
        GridSearchCV(estimator, free, scoring=scorer, cv=cv, n_jobs=n_jobs) if free else estimator
    )


def _first_row(before: Any, X: Any, y: Any) -> Any:
    """Return a row as the method will see it."""
    return X[:1] if before is None else clone(before).fit(X, y).transform(X[:1])


def _smallest(method: Method, row: Any, X: Any, y: Any, cv: Any) -> Shape:
    """Return the shape of the smallest training set in the folds."""
    n_classes = 0 if method.task == "regression" else len(np.unique(y))
    return Shape(_fewest(np.shape(X)[0], cv), np.shape(row)[-1], n_classes)


def _fewest(n_rows: int, cv: Any) -> int:
    """Return the number of rows of the smallest training set."""
    if isinstance(cv, list | tuple):  # of training and test rows
        return min(len(train) for train, _ in cv)
    n_folds = int(cv) if isinstance(cv, Integral) else 2
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 or a splitter, got {cv}")
    return n_rows * (n_folds - 1) // n_folds


def _is_numeric(cost: Any) -> bool:
    """Tell whether costs are given, rather than a rule by name."""
    return cost is not None and not isinstance(cost, str)


def _with_scoring(estimator: Any, scoring: Any) -> Any:
    """Return the method with the metric of its search of costs, if it searches costs."""
    names = estimator.get_params()
    if scoring is not None and {"cost_level", "scoring"} <= names.keys():
        estimator.set_params(scoring=scoring)
    return estimator


def _scorer(scoring: Any, cost: Any) -> Any:
    """Return the scorer of the tuning, or None for the method's own score."""
    if scoring is None:
        return None
    by_cost = scoring in ("mean_cost", "total_cost", "savings") and _is_numeric(cost)
    return get_scorer(scoring, cost=cost) if by_cost else get_scorer(scoring)


def _is_given(key: str, params: dict[str, Any]) -> bool:
    return key in params or _last(key) in params


def _last(name: str) -> str:
    """Return a parameter's name without the steps that lead to it."""
    return name.rpartition("__")[2]


def _key(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _check_task(task: str | None) -> None:
    if task not in (None, *TASKS):
        raise ValueError(f"task must be one of {list(TASKS)} or None, got {task!r}")
