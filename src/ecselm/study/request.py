"""What a person asks of a table, and the answer."""

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
from ecselm.study.card import Asked, Card, HeldOut
from ecselm.study.run import evaluate_on, study
from ecselm.study.statements import Statements, read_statements
from ecselm.tables.read import Table
from ecselm.tables.rows import new_rows, training_rows
from ecselm.tables.schema import ColumnPlan, Task, plan_columns, target_rows

AMOUNTS = {  # by the names of the command line: the least value
    "hidden": 1,
    "epochs": 0,
    "population": 1,
    "seed": 0,
}
METRICS: dict[Task, str] = {"classes": "balanced_accuracy", "numbers": "neg_mean_absolute_error"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be predicted, by which metric, with which costs, and at what expense.

    Parameters
    ----------
    target : str
        The column.
    metric : str or None, default=None
        What is to be good: the name of a scorer. None is the balanced accuracy, the mean
        cost where the costs of all mistakes are stated, or the mean absolute error of numbers.
    cost, worse, between : tuple of str, default=()
        What is known of costs, see :func:`ecselm.study.read_statements`.
    task : {"classes", "numbers"} or None, default=None
        None finds out.
    groups : str or None, default=None
        The column that says which rows belong together. It is no input.
    held_out : float, default=0.25
        Share of the rows that nothing is learned from.
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
    held_out: float = 0.25
    n_hidden: int | None = None
    max_epochs: int | None = None
    population_size: int | None = None
    max_time: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    seed: int = 0

    def model(self, task: Task, statements: Statements | None, metric: str) -> Any:
        """Return the estimator, not fitted."""
        chosen: dict[str, Any] = {
            "n_hidden": self.n_hidden,
            "max_epochs": self.max_epochs,
            "population_size": self.population_size,
            "max_time": self.max_time,
            "checkpoint": None if self.checkpoint is None else os.fspath(self.checkpoint),
            "n_jobs": self.n_jobs,
        }
        given = {name: value for name, value in chosen.items() if value is not None}
        known = {} if statements is None else statements.parameters
        make = ECSELMClassifier if task == "classes" else ECSELMRegressor
        return make(**given, **known, scoring=metric, random_state=self.seed)


@dataclass(frozen=True, slots=True)
class Answer:
    """A fitted model, and what is known of it."""

    model: Pipeline
    card: Card


def study_table(
    table: Table,
    question: Question,
    *,
    file: str = "",
    callbacks: Any = None,
    command: str = "",
) -> Answer:
    """Learn from a table what is asked, and judge it on rows held out.

    Parameters
    ----------
    table : Table
    question : Question
    file : str, default=""
        What the card calls the data.
    callbacks : callable or list of callables, default=None
        Told of every generation of the search.
    command : str, default=""
        What the card says makes the model again.

    Examples
    --------
    >>> import pandas as pd
    >>> ill = ["no"] * 30 + ["yes"] * 10
    >>> frame = pd.DataFrame({"size": [i * i for i in range(40)], "ill": ill})
    >>> question = Question("ill", worse=("yes->no > no->yes",), n_hidden=5, max_epochs=1)
    >>> answer = study_table(Table(frame), question)
    >>> answer.card.asked.knowledge
    ('a yes case taken for no is worse than a no case taken for yes',)
    """
    check_question(question)
    frame, groups = _apart(table.frame, question)
    plan = plan_columns(frame, question.target)
    rows = training_rows(frame, plan, question.task)
    check_values(question.target, rows.task, len(np.unique(rows.y)), len(rows.y))
    statements = statements_of(question, rows.task, rows.y)
    metric = metric_of(question, rows.task, statements)
    check_metric(metric, rows.task, rows.y)
    asked = Asked(
        rows.task,
        question.target,
        metric,
        () if statements is None else statements.sentences,
        question.held_out,
        question.seed,
    )
    model, card = study(
        rows.X,
        rows.y,
        asked=asked,
        model=question.model(rows.task, statements, metric),
        transformer=plan.transformer(),
        stated=None if statements is None else statements.cost,
        groups=groups,
        callbacks=callbacks,
        file=file,
        columns=plan.columns,
        notes=(*table.notes, *plan.notes),
        command=command,
    )
    return Answer(model, card)


def evaluate_table(model: Any, card: Card, table: Table) -> HeldOut:
    """Return results of a model on the rows of a table that have a target.

    Parameters
    ----------
    model : Pipeline
    card : Card
        That came with the model.
    table : Table
    """
    columns = ColumnPlan(card.asked.target, card.data.columns, ())
    rows = training_rows(table.frame, columns, card.asked.task)
    return evaluate_on(
        model, rows.X, rows.y, metric=card.asked.metric, stated=card.held_out.stated_costs
    )


def predicted_rows(card: Card, table: Table) -> Any:
    """Return the rows of a table as the model of a card takes them."""
    return new_rows(table.frame, card.data.columns, absent=table.absent)


def check_question(question: Question) -> None:
    """Refuse what is wrong whatever the table is."""
    if not 0 < question.held_out < 1:
        raise ValueError(f"held-out must be a share between 0 and 1, got {question.held_out}")
    amounts = question.n_hidden, question.max_epochs, question.population_size, question.seed
    for (name, least), value in zip(AMOUNTS.items(), amounts, strict=True):
        if value is not None and value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if question.max_time is not None and not question.max_time > 0:
        raise ValueError(f"max-time must be more than 0 seconds, got {question.max_time:g}")
    if question.n_jobs == 0:
        raise ValueError("jobs must be a number of threads, or -1 for all cores, got 0")
    names = get_scorer_names()
    if question.metric is not None and question.metric not in names:
        raise ValueError(
            f"metric must be the name of a scorer, got {question.metric!r}"
            f"{did_you_mean(question.metric, names)}"
        )


def check_values(target: str, task: Task, n_values: int, n_rows: int) -> None:
    """Refuse a constant, and names of rows as classes: there is nothing to learn about either."""
    if n_values < 2:
        raise ValueError(f"the target must have at least two values, got {n_values}")
    if task == "classes" and n_values > max(2, n_rows / 2):
        raise ValueError(
            f"target must have classes of two rows or more on average, got {target!r} with "
            f"{n_values} values in {n_rows} rows"
        )


def check_metric(metric: str, task: Task, y: AnyArray) -> None:
    """Refuse a metric that cannot judge such targets, by having it judge a constant answer."""
    nothing = np.zeros((len(y), 1))
    constant = DummyClassifier() if task == "classes" else DummyRegressor()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores that are not defined for one answer
            get_scorer(metric)(constant.fit(nothing, y), nothing, y)
    except (TypeError, ValueError) as error:
        suited = [name for name in get_scorer_names() if name == f"{metric}_macro"]
        raise ValueError(
            f"metric must be able to judge the target, got {metric!r}"
            f"{did_you_mean(metric, suited)}: {error}"
        ) from error


def _apart(frame: Any, question: Question) -> tuple[Any, Any]:
    """Return the table without the column of groups, and the groups of rows with a target."""
    if question.groups is None:
        return frame, None
    if question.groups not in frame.columns:
        raise ValueError(
            f"groups must be a column of the table, got {question.groups!r}"
            f"{did_you_mean(question.groups, frame.columns)}"
        )
    if question.groups == question.target:
        raise ValueError(f"groups must not be the target, got {question.groups!r}")
    kept = frame.loc[target_rows(frame, question.target), question.groups]
    return frame.drop(columns=question.groups), kept.astype(str).to_numpy()


def statements_of(question: Question, task: Task, y: Any) -> Statements | None:
    """Return what is said of the costs of the classes in ``y``, None where there are none."""
    said = question.cost, question.worse, question.between
    if task == "classes":
        return read_statements(*said, np.unique(y))
    if any(said):
        raise ValueError("costs must be left out where numbers are predicted")
    return None


def metric_of(question: Question, task: Task, statements: Statements | None) -> str:
    """Return the metric asked for, or the one that is meant."""
    if question.metric is not None:
        return question.metric
    stated = None if statements is None else statements.metric
    return METRICS[task] if stated is None else stated
