"""Fit a model to a table, evaluate it on test rows, and describe it on a card."""

from ecselm.study.card import (
    Asking,
    Baseline,
    Card,
    ClassCount,
    CostColumn,
    Curve,
    DataSummary,
    Difference,
    Estimate,
    Evaluation,
    GroupResult,
    LearnedCosts,
    Member,
    OperatingPoint,
    OperatingPoints,
    RequestSummary,
    SearchSummary,
    UnknownCosts,
)
from ecselm.study.decisions import CostOptions, decisions_by, explanations
from ecselm.study.request import (
    FitRequest,
    FitResult,
    evaluate_table,
    predicted_rows,
    row_costs_of,
    study_table,
)
from ecselm.study.statements import read_stated_costs
from ecselm.tables.cells import DayNumbers
from ecselm.tables.read import Table, read_table
from ecselm.tables.rows import TrainingRows, new_rows, task_of, training_rows
from ecselm.tables.schema import ColumnNote, ColumnPlan, plan_columns

__all__ = [
    "Asking",
    "Baseline",
    "Card",
    "ClassCount",
    "ColumnNote",
    "ColumnPlan",
    "CostColumn",
    "CostOptions",
    "Curve",
    "DataSummary",
    "DayNumbers",
    "Difference",
    "Estimate",
    "Evaluation",
    "FitRequest",
    "FitResult",
    "GroupResult",
    "LearnedCosts",
    "Member",
    "OperatingPoint",
    "OperatingPoints",
    "RequestSummary",
    "SearchSummary",
    "Table",
    "TrainingRows",
    "UnknownCosts",
    "decisions_by",
    "evaluate_table",
    "explanations",
    "new_rows",
    "plan_columns",
    "predicted_rows",
    "read_stated_costs",
    "read_table",
    "row_costs_of",
    "study_table",
    "task_of",
    "training_rows",
]
