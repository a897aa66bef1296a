"""A request to fit a model to a table, and its result."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from ecselm._typing import AnyArray
from ecselm._wording import did_you_mean
from ecselm.estimators import ECSELMClassifier, ECSELMRegressor
from ecselm.metrics import get_scorer, get_scorer_names
from ecselm.study.card import Card, Evaluation, RequestSummary
from ecselm.study.evaluate import evaluate
from ecselm.study.run import study
from ecselm.study.statements import StatedCosts, read_stated_costs
from ecselm.tables.read import Table
from ecselm.tables.rows import new_rows, training_rows
from ecselm.tables.schema import ColumnPlan, Task, plan_columns, target_rows

MINIMA = {"hidden": 1, "epochs": 0, "population": 1, "seed": 0}  # by command line option
AUTO = "auto"
NUMBERS_METRIC = "neg_mean_absolute_error"  # the default of a regression


@dataclass(frozen=True, slots=True)
class FitRequest:
    """Target, metric, costs and settings of a fit.

    Parameters
    ----------
    target : str
        Column to predict.
    metric : str or None, default=None
        Name of the scorer to optimise. None is the balanced accuracy, the mean cost where the
        costs of all mistakes are stated, or the mean absolute error for regression.
    cost, worse, between : tuple of str, default=()
        Cost constraints, see :func:`ecselm.study.read_stated_costs`.
    task : {"classes", "numbers"} or None, default=None
        None infers it from the target.
    groups : str or None, default=None
        Column that identifies rows that belong together. It is not an input.
    test_share : float, default=0.25
        Share of the rows kept as test rows.
    n_hidden, max_epochs, population_size, max_time, checkpoint, n_jobs :
        Of :class:`~ecselm.ECSELMClassifier` or :class:`~ecselm.ECSELMRegressor`; None is
        their default.
    seed : int, default=0
    """

    target: str
    metric: str | None = None
    cost: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    task: Task | None = None
    groups: str | None = None
    test_share: float = 0.25
    n_hidden: int | str | None = None
    max_epochs: int | None = None
    population_size: int | None = None
    max_time: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    seed: int = 0

    def model(self, task: Task, stated: StatedCosts | None, metric: str) -> Any:
        """Return the estimator, not fitted."""
        settings: dict[str, Any] = {
            "n_hidden": self.n_hidden,
            "max_epochs": self.max_epochs,
            "population_size": self.population_size,
            "max_time": self.max_time,
            "checkpoint": None if self.checkpoint is None else os.fspath(self.checkpoint),
            "n_jobs": self.n_jobs,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        costs = {} if stated is None else stated.parameters
        make = ECSELMClassifier if task == "classes" else ECSELMRegressor
        return make(**given, **costs, scoring=metric, random_state=self.seed)


@dataclass(frozen=True, slots=True)
class FitResult:
    """A fitted model and its card."""

    model: Pipeline
    card: Card


def study_table(
    table: Table,
    request: FitRequest,
    *,
    file: str = "",
    callbacks: Any = None,
    command: str = "",
) -> FitResult:
    """Fit a model to a table and evaluate it on test rows.

    Parameters
    ----------
    table : Table
    request : FitRequest
    file : str, default=""
        Name of the data on the card.
    callbacks : callable or list of callables, default=None
        Called after every generation of the search.
    command : str, default=""
        Command on the card that reproduces the model.

    Returns
    -------
    result : FitResult

    Examples
    --------
    >>> import pandas as pd
    >>> ill = ["no"] * 30 + ["yes"] * 10
    >>> frame = pd.DataFrame({"size": [i * i for i in range(40)], "ill": ill})
    >>> request = FitRequest("ill", worse=("yes->no > no->yes",), n_hidden=5, max_epochs=1)
    >>> result = study_table(Table(frame), request)
    >>> result.card.request.cost_constraints
    ('a yes case taken for no is worse than a no case taken for yes',)
    """
    check_request(request)
    frame, groups = _without_groups(table.frame, request)
    plan = plan_columns(frame, request.target)
    rows = training_rows(frame, plan, request.task)
    check_values(request.target, rows.task, len(np.unique(rows.y)), len(rows.y))
    stated = stated_costs_of(request, rows.task, rows.y)
    metric = metric_of(request, stated)
    check_metric(metric, rows.task, rows.y)
    model, card = study(
        rows.X,
        rows.y,
        request=summary_of(request, rows.task, stated, metric),
        model=request.model(rows.task, stated, metric),
        transformer=plan.transformer(),
        cost=None if stated is None else stated.cost,
        groups=groups,
        callbacks=callbacks,
        file=file,
        columns=plan.columns,
        notes=(*table.notes, *plan.notes),
        command=command,
    )
    return FitResult(model, card)


def evaluate_table(model: Any, card: Card, table: Table) -> Evaluation:
    """Return results of a model on the rows of a table that have a target.

    Whether the model was fitted on some of these rows is not checked: if it was, results are
    too good.

    Parameters
    ----------
    model : Pipeline
    card : Card
        Of the model.
    table : Table
    """
    columns = ColumnPlan(card.request.target, card.data.columns, ())
    rows = training_rows(table.frame, columns, card.request.task)
    return evaluate(model, rows.X, rows.y, metric=card.request.metric, cost=card.test.cost_matrix)


def predicted_rows(card: Card, table: Table) -> Any:
    """Return the rows of a table as the model of the card takes them."""
    return new_rows(table.frame, card.data.columns, absent=table.absent)


def check_request(request: FitRequest) -> None:
    """Raise ValueError for settings that no table allows."""
    if not 0 < request.test_share < 1:
        raise ValueError(f"held-out must be a share between 0 and 1, got {request.test_share}")
    amounts = request.n_hidden, request.max_epochs, request.population_size, request.seed
    for (name, least), value in zip(MINIMA.items(), amounts, strict=True):
        if isinstance(value, str) and value != AUTO:
            raise ValueError(f"{name} must be a number or {AUTO!r}, got {value!r}")
        if isinstance(value, int) and value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if request.max_time is not None and not request.max_time > 0:
        raise ValueError(f"max-time must be more than 0 seconds, got {request.max_time:g}")
    if request.n_jobs == 0:
        raise ValueError("jobs must be a number of threads, or -1 for all cores, got 0")
    names = get_scorer_names()
    if request.metric is not None and request.metric not in names:
        raise ValueError(
            f"metric must be the name of a scorer, got {request.metric!r}"
            f"{did_you_mean(request.metric, names)}"
        )


def check_values(target: str, task: Task, n_values: int, n_rows: int) -> None:
    """Raise ValueError for a constant target, and for classes that identify rows."""
    if n_values < 2:
        raise ValueError(f"the target must have at least two values, got {n_values}")
    if task == "classes" and n_values > max(2, n_rows / 2):
        raise ValueError(
            f"target must have classes of two rows or more on average, got {target!r} with "
            f"{n_values} values in {n_rows} rows"
        )


def check_metric(metric: str, task: Task, y: AnyArray) -> None:
    """Raise ValueError if the metric cannot score a constant prediction of the target."""
    nothing = np.zeros((len(y), 1))
    constant = DummyClassifier() if task == "classes" else DummyRegressor()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores that are not defined for one class
            get_scorer(metric)(constant.fit(nothing, y), nothing, y)
    except (TypeError, ValueError) as error:
        suited = [name for name in get_scorer_names() if name == f"{metric}_macro"]
        raise ValueError(
            f"metric must be able to score the target, got {metric!r}"
            f"{did_you_mean(metric, suited)}: {error}"
        ) from error


def _without_groups(frame: Any, request: FitRequest) -> tuple[Any, Any]:
    """Return the table without its group column, and the groups of rows with a target."""
    if request.groups is None:
        return frame, None
    if request.groups not in frame.columns:
        raise ValueError(
            f"groups must be a column of the table, got {request.groups!r}"
            f"{did_you_mean(request.groups, frame.columns)}"
        )
    if request.groups == request.target:
        raise ValueError(f"groups must not be the target, got {request.groups!r}")
    kept = frame.loc[target_rows(frame, request.target), request.groups]
    return frame.drop(columns=request.groups), kept.astype(str).to_numpy()


def stated_costs_of(request: FitRequest, task: Task, y: Any) -> StatedCosts | None:
    """Return the cost constraints for the classes in ``y``, None for regression."""
    options = request.cost, request.worse, request.between
    if task == "classes":
        return read_stated_costs(*options, np.unique(y))
    if any(options):
        raise ValueError("costs must be left out where numbers are predicted")
    return None


def metric_of(request: FitRequest, stated: StatedCosts | None) -> str:
    """Return the requested metric, or the default; ``stated`` is None for regression."""
    if request.metric is not None:
        return request.metric
    return NUMBERS_METRIC if stated is None else stated.metric


def summary_of(
    request: FitRequest, task: Task, stated: StatedCosts | None, metric: str
) -> RequestSummary:
    """Return the request as a card stores it, with what was inferred from the table."""
    sentences = () if stated is None else stated.sentences
    return RequestSummary(task, request.target, metric, sentences, request.test_share, request.seed)
