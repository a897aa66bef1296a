"""From somebody's table to a model and to what is known of it."""

from ecselm.study.card import (
    Asked,
    Card,
    ClassCount,
    Compared,
    Curve,
    DataGlance,
    Estimate,
    HeldOut,
    Learned,
    Progress,
)
from ecselm.study.request import Answer, Question, evaluate_table, predicted_rows, study_table
from ecselm.study.statements import Statements, read_statements
from ecselm.tables.cells import DayNumbers
from ecselm.tables.read import Table, read_table
from ecselm.tables.rows import TrainingRows, new_rows, task_of, training_rows
from ecselm.tables.schema import ColumnNote, ColumnPlan, plan_columns

__all__ = [
    "Answer",
    "Asked",
    "Card",
    "ClassCount",
    "ColumnNote",
    "ColumnPlan",
    "Compared",
    "Curve",
    "DataGlance",
    "DayNumbers",
    "Estimate",
    "HeldOut",
    "Learned",
    "Progress",
    "Question",
    "Statements",
    "Table",
    "TrainingRows",
    "evaluate_table",
    "new_rows",
    "plan_columns",
    "predicted_rows",
    "read_statements",
    "read_table",
    "study_table",
    "task_of",
    "training_rows",
]
