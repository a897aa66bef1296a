"""A request to fit a model to a table, and its result."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import all_digits, case_of, confusion_of, did_you_mean
from ecselm.costs import CostConstraints
from ecselm.metrics import default_metric, get_metric, get_scorer, get_scorer_names
from ecselm.study.card import Card, CostColumn, Evaluation, RequestSummary
from ecselm.study.decisions import (
    CostOptions,
    cost_columns,
    counted_by,
    decisions_by,
    last_step,
    row_cost_matrices,
    split_column,
)
from ecselm.study.evaluate import evaluate, known_codes, record_predictions
from ecselm.study.models import ECSELM, ModelSettings, check_model_name, model_of
from ecselm.study.promises import read_promises
from ecselm.study.rows import TargetedRows
from ecselm.study.run import benefit_of, study, with_groups, with_promises
from ecselm.tables.cells import blanked, read_names
from ecselm.tables.read import Table
from ecselm.tables.rows import new_rows, training_rows
from ecselm.tables.schema import (
    NO_COLUMN_OPTIONS,
    ColumnOptions,
    ColumnPlan,
    LabelCase,
    Task,
    merged_labels,
    plan_columns,
    respelled,
    target_rows,
)

MINIMA = {"hidden": 1, "epochs": 0, "population": 1, "seed": 0}  # by command line option
AUTO = "auto"
NO_OPTIONS = CostOptions()
NUMBERS_METRIC = "neg_mean_absolute_error"  # the default of a regression


@dataclass(frozen=True, slots=True)
class FitRequest:
    """Target, metric, costs and settings of a fit.

    Parameters
    ----------
    target : str
        Column to predict.
    metric : str or None, default=None
        Name of the scorer to optimise. None is the balanced accuracy, the mean cost where
        anything is stated about costs, or the mean absolute error for regression.
    costs : CostOptions, default=CostOptions()
        What is known of costs, and of asking a person.
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
    by : str or None, default=None
        Column by whose values results on test rows are stated group by group. It stays an
        input.
    model_name : str, default="ecselm"
        A name in ``ecselm.study.models.MODELS``, or ``"auto"``, the best of several on
        validation rows.
    promise : tuple of str, default=()
        Recalls and rates that are to hold for new rows, see
        :func:`ecselm.study.promises.read_promises`.
    confidence : float, default=0.9
        Of the promises.
    columns : ColumnOptions, default=ColumnOptions()
        Columns that are no inputs, and how cells are read.
    label_case : {"merge", "keep"} or None, default=None
        Whether labels of the target that differ by case only are one class or several; None
        refuses them.
    positive : str or None, default=None
        The class of interest, of which operating points and curves are.
    refit : bool, default=False
        Whether the model is fitted again on all rows after its evaluation.
    """

    target: str
    metric: str | None = None
    costs: CostOptions = NO_OPTIONS
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
    by: str | None = None
    model_name: str = ECSELM
    promise: tuple[str, ...] = ()
    confidence: float = 0.9
    columns: ColumnOptions = NO_COLUMN_OPTIONS
    label_case: LabelCase | None = None
    positive: str | None = None
    refit: bool = False

    def model(self, task: Task, stated: StatedCosts, metric: str) -> Any:
        """Return the estimator, not fitted, or a choice that the training rows settle."""
        search: dict[str, Any] = {
            "n_hidden": self.n_hidden,
            "max_epochs": self.max_epochs,
            "population_size": self.population_size,
            "max_time": self.max_time,
            "checkpoint": None if self.checkpoint is None else os.fspath(self.checkpoint),
            "n_jobs": self.n_jobs,
        }
        known = None if stated.constraints is None else _as_parameter(stated.constraints)
        settings = ModelSettings(
            task,
            metric,
            known,
            self.costs.rule,
            by_row=bool(stated.columns),
            reject_cost=None if stated.ask_cost is None else stated.ask_cost.tolist(),
            reject_capacity=self.costs.reject_capacity,
            seed=self.seed,
            search={name: value for name, value in search.items() if value is not None},
            promise=stated.promise,
            confidence=self.confidence,
        )
        return model_of(self.model_name, settings)


@dataclass(frozen=True, slots=True)
class StatedCosts:
    """What the options state, read with the classes and columns of a table."""

    constraints: CostConstraints | None = None
    columns: tuple[CostColumn, ...] = ()
    ask_cost: FloatArray | None = None  # (k,)
    promise: dict[Any, float] | None = None

    @property
    def cost(self) -> CostConstraints | None:
        """Return the costs by which mistakes are counted, None where they are known by row."""
        return None if self.columns else self.constraints

    @property
    def others(self) -> FloatArray | None:
        """Return the costs of mistakes that no column is about, None where they are 1."""
        return None if self.constraints is None else self.constraints.mean()

    def sentences(self) -> tuple[str, ...]:
        """Return what is known in words, a sentence each."""
        found = [] if self.constraints is None else [*self.constraints.sentences()]
        for one in self.columns:
            if one.truth is None:
                what = "any mistake"
            elif one.predicted is None:
                what = f"any mistake on {case_of(one.truth)}"
            else:
                what = confusion_of(one.truth, one.predicted)
            found.append(f"what {what} costs is in the column {one.name}")
        if self.columns and self.constraints is None and self.columns[0].truth is not None:
            found.append("every other mistake costs 1")
        if self.ask_cost is not None:
            ends = sorted({all_digits(one) for one in self.ask_cost.tolist()}, key=float)
            found.append(f"asking a person costs {' to '.join(ends[:1] + ends[1:][-1:])}")
        return tuple(found)


def _as_parameter(constraints: CostConstraints) -> Any:
    """Return costs as an estimator takes them: a matrix where all are known."""
    return constraints.mean().tolist() if constraints.is_exact else constraints


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
    >>> costs = CostOptions(cost=("yes->no = 3..20",))
    >>> result = study_table(Table(frame), FitRequest("ill", costs=costs, n_hidden=5))
    >>> result.card.request.cost_constraints
    ('a yes case taken for no costs between 3 and 20', 'every other mistake costs 1')
    """
    check_request(request)
    target_rows(table.frame, request.target)
    request.columns.check(table.frame.columns.tolist(), request.target)
    whole, label_notes = _with_read_target(table.frame, request)
    frame, groups = _without_groups(whole, request)
    frame, costs = _without_costs(frame, request)
    plan = plan_columns(frame, request.target, _for_columns(request.columns, frame))
    rows = training_rows(frame, plan, request.task, request.label_case)
    check_values(request.target, rows.task, len(np.unique(rows.y)), len(rows.y))
    check_positive(request.positive, rows.task, rows.y)
    stated = stated_costs_of(request, rows.task, rows.y, whole.columns)
    metric = metric_of(request, rows.task, stated)
    check_metric(metric, rows.task, rows.y)
    sample_cost = row_cost_matrices(costs, stated.columns, np.unique(rows.y), stated.others)
    model, card = study(
        rows.X,
        rows.y,
        request=summary_of(request, rows.task, stated, metric),
        model=request.model(rows.task, stated, metric),
        transformer=plan.transformer(),
        cost=stated.cost,
        sample_cost=sample_cost,
        groups=groups,
        by=_grouped_by(whole, request.target, request.by, rows.task),
        callbacks=callbacks,
        file=file,
        columns=plan.columns,
        notes=(*table.notes, *label_notes, *plan.notes),
        command=command,
        refit=request.refit,
    )
    return FitResult(model, card)


def _with_read_target(frame: Any, request: FitRequest) -> tuple[Any, tuple[str, ...]]:
    """Return the table with its target as it was stated to be read, and notes."""
    column = blanked(frame[request.target], request.columns.missing)
    notes: tuple[str, ...] = ()
    if request.label_case == "merge":
        merged = merged_labels(column)
        n = int((read_names(column) != read_names(merged)).sum())
        if n:
            notes = (f"Labels of {request.target} in another case were changed in {n} rows.",)
        column = merged
    return frame.assign(**{request.target: column}), notes


def _for_columns(options: ColumnOptions, frame: Any) -> ColumnOptions:
    """Return options without columns that were taken for groups or costs before."""
    there = set(frame.columns)
    drop, keep = ([one for one in named if one in there] for named in (options.drop, options.keep))
    return replace(options, drop=tuple(drop), keep=tuple(keep))


def check_positive(positive: str | None, task: Task, y: AnyArray) -> None:
    """Raise ValueError for a class of interest that is none."""
    if positive is None:
        return
    if task == "numbers":
        raise ValueError("--positive must be left out where numbers are predicted")
    names = [str(name) for name in np.unique(y).tolist()]
    if positive not in names:
        raise ValueError(
            f"--positive must be a class of the target, got {positive!r}"
            f"{did_you_mean(positive, names)}"
        )


def _grouped_by(frame: Any, target: str, by: str | None, task: Task) -> Any:
    """Return the column by which results are grouped, of the rows that have a target."""
    if by is None:
        return None
    if task == "numbers":
        raise ValueError("--by must be left out where numbers are predicted")
    if by not in frame.columns:
        raise ValueError(
            f"--by must be a column of the table, got {by!r}"
            f"{did_you_mean(by, map(str, frame.columns))}"
        )
    if by == target:
        raise ValueError(f"--by must not be the target, got {by!r}")
    return frame.loc[target_rows(frame, target), by]


def evaluate_table(
    model: Any,
    card: Card,
    table: Table,
    costs: CostOptions = NO_OPTIONS,
    *,
    by: str | None = None,
) -> Evaluation:
    """Return results of a model on the rows of a table that have a target.

    Whether the model was fitted on some of these rows is not checked: if it was, results are
    too good.

    Parameters
    ----------
    model : Pipeline
    card : Card
        Of the model.
    table : Table
    costs : CostOptions, default=CostOptions()
        Costs to decide and to count by, in the place of those of the model.
    by : str or None, default=None
        Column by whose values results are stated group by group.
    """
    columns = ColumnPlan(card.request.target, card.data.columns, ())
    whole = _with_target_of(card, table.frame, getattr(model, "classes_", ()))
    rows = training_rows(whole, columns, card.request.task, "keep")
    metric, positive = card.request.metric, card.request.positive
    groups = _grouped_by(whole, card.request.target, by, rows.task)
    if card.request.task == "numbers":
        if costs.states_costs or costs.asks:
            raise ValueError("costs must be left out where numbers are predicted")
        return evaluate(model, rows.X, rows.y, metric=metric)
    classes = np.asarray(model.classes_)
    frame = whole.loc[target_rows(whole, card.request.target)]
    sample_cost = row_costs_of(card, costs, frame, classes)
    cost: Any = costs.constraints(classes)
    if cost is None and sample_cost is None:
        # A model may decide by costs that the metric implies, though none are stated.
        cost = card.test.cost_matrix
        known = getattr(last_step(model), "constraints_", None)
        cost = cost if cost is None or known is None else known
    decisions = decisions_by(costs, model, card, rows.X, sample_cost)
    cost = None if sample_cost is not None else cost
    decisions = None if decisions is None else counted_by(decisions, cost, classes)
    found = evaluate(
        model,
        rows.X,
        rows.y,
        metric="mean_cost" if costs.states_costs else metric,
        cost=cost,
        sample_cost=sample_cost,
        decisions=decisions,
        positive=positive,
    )
    codes = known_codes(rows.y, classes)
    test = TargetedRows(rows.X, rows.y, codes, classes, sample_cost=sample_cost, by=groups)
    own = record_predictions(model, rows.X, decisions)
    found = replace(found, benefit=benefit_of(found, own, {}, test, seed=card.request.seed))
    if not (costs.states_costs or costs.asks):  # by other costs, nothing is promised
        promises = tuple(one for one in card.test.promises if one.kept)
        found = with_promises(
            *(found, promises, decisions, test, model), cost=cost, rows="rows", positive=positive
        )
    return with_groups(found, decisions, test, cost=cost)


def _with_target_of(card: Card, frame: Any, classes: Any) -> Any:
    """Return other rows with their target as that of the training rows was read."""
    target = card.request.target
    target_rows(frame, target)
    column = blanked(frame[target], card.request.missing)
    if card.request.label_case == "merge":
        words = respelled(read_names(column), [str(name) for name in classes])
        column = words if np.asarray(classes).dtype.kind == "U" else column
    return frame.assign(**{target: column})


def row_costs_of(card: Card, costs: CostOptions, frame: Any, classes: AnyArray) -> Any:
    """Return the costs of the rows of a table (N, k, k), None where costs are not by row.

    Parameters
    ----------
    card : Card
        Of the model, whose columns count unless ``costs`` states others.
    costs : CostOptions
    frame : DataFrame
    classes : array of shape (k,)
    """
    if not costs.states_costs:
        others = card.request.other_costs
        known = None if others is None else np.array(others)
        return row_cost_matrices(frame, card.request.cost_columns, classes, known)
    columns = cost_columns(costs.columns, [*map(str, frame.columns)], classes)
    stated = costs.constraints(classes)
    return row_cost_matrices(frame, columns, classes, None if stated is None else stated.mean())


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
    check_model_name(request.model_name)
    _check_promise(request)
    names = get_scorer_names()
    if request.metric is not None and request.metric not in names:
        raise ValueError(
            f"metric must be the name of a scorer, got {request.metric!r}"
            f"{did_you_mean(request.metric, names)}"
        )


def _check_promise(request: FitRequest) -> None:
    """Raise ValueError for promises that no test could show to hold."""
    if not 0 < request.confidence < 1:
        raise ValueError(f"--confidence must be between 0 and 1, got {request.confidence:g}")
    if not request.promise:
        return
    if request.groups is not None:
        raise ValueError(
            "--promise must be left out with --groups: its test takes rows to be independent"
        )
    if request.costs.columns:
        raise ValueError(
            "--promise must be left out with --cost-column: costs of new rows are not known when "
            "it is tested"
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


def _without_costs(frame: Any, request: FitRequest) -> tuple[Any, Any]:
    """Return the table without columns of costs, and those of rows with a target."""
    names = [*map(str, frame.columns)]
    named = [*dict.fromkeys(split_column(text, names)[1] for text in request.costs.columns)]
    if request.target in named:
        raise ValueError(f"--cost-column must not be the target, got {request.target!r}")
    kept = frame.loc[target_rows(frame, request.target), named]
    return frame.drop(columns=named), kept


def stated_costs_of(request: FitRequest, task: Task, y: Any, columns: Any = ()) -> StatedCosts:
    """Return what is stated about the costs of the classes in ``y``."""
    options = request.costs
    if task == "numbers":
        if options.states_costs or options.asks:
            raise ValueError("costs must be left out where numbers are predicted")
        if request.promise:
            raise ValueError("--promise must be left out where numbers are predicted")
        return StatedCosts()
    classes = np.unique(y)
    found = cost_columns(options.columns, [*map(str, columns)], classes)
    constraints = options.constraints(classes)
    if constraints is None and options.asks and not found:
        constraints = CostConstraints(classes)  # asking is compared with mistakes that cost 1
    promise = read_promises(request.promise, classes)
    return StatedCosts(constraints, tuple(found), options.ask_cost(classes), promise)


def metric_of(request: FitRequest, task: Task, stated: StatedCosts) -> str:
    """Return the requested metric, or the default."""
    counts_costs = bool(stated.columns) or request.costs.asks
    if request.metric is not None:
        if counts_costs and not get_metric(request.metric).uses_cost:
            raise ValueError(
                "metric must count costs with --cost-column, --reject-cost or --reject-capacity, "
                f"such as mean_cost, got {request.metric!r}"
            )
        return request.metric
    if task == "numbers":
        return NUMBERS_METRIC
    return default_metric(True if counts_costs else stated.constraints)


def summary_of(request: FitRequest, task: Task, stated: StatedCosts, metric: str) -> RequestSummary:
    """Return the request as a card stores it, with what was inferred from the table."""
    others = stated.others if stated.columns else None
    return RequestSummary(
        task,
        request.target,
        metric,
        stated.sentences(),
        request.test_share,
        request.seed,
        stated.columns,
        None if others is None else tuple(tuple(row) for row in others.tolist()),
        keep=request.columns.keep,
        missing=request.columns.missing,
        label_case=request.label_case,
        positive=request.positive,
    )
