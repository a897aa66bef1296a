"""Fit a model to a table, evaluate it on test rows, and describe it on a card."""

from ecselm.study.card import (
    Baseline,
    Card,
    ClassCount,
    Curve,
    DataSummary,
    Difference,
    Estimate,
    Evaluation,
    LearnedCosts,
    Member,
    RequestSummary,
    SearchSummary,
)
from ecselm.study.request import (
    FitRequest,
    FitResult,
    evaluate_table,
    predicted_rows,
    study_table,
)
from ecselm.study.statements import StatedCosts, read_stated_costs
from ecselm.tables.cells import DayNumbers
from ecselm.tables.read import Table, read_table
from ecselm.tables.rows import TrainingRows, new_rows, task_of, training_rows
from ecselm.tables.schema import ColumnNote, ColumnPlan, plan_columns

__all__ = [
    "Baseline",
    "Card",
    "ClassCount",
    "ColumnNote",
    "ColumnPlan",
    "Curve",
    "DataSummary",
    "DayNumbers",
    "Difference",
    "Estimate",
    "Evaluation",
    "FitRequest",
    "FitResult",
    "LearnedCosts",
    "Member",
    "RequestSummary",
    "SearchSummary",
    "StatedCosts",
    "Table",
    "TrainingRows",
    "evaluate_table",
    "new_rows",
    "plan_columns",
    "predicted_rows",
    "read_stated_costs",
    "read_table",
    "study_table",
    "task_of",
    "training_rows",
]
