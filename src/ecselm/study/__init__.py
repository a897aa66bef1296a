"""From somebody's table to a model and to what is known of it."""

from ecselm.study.card import (
    Asked,
    Card,
    ClassCount,
    ColumnNote,
    Compared,
    Curve,
    DataGlance,
    Estimate,
    HeldOut,
    Learned,
    Progress,
)
from ecselm.study.columns import ColumnPlan, plan_columns
from ecselm.study.days import DayNumbers
from ecselm.study.questions import (
    Answer,
    Question,
    evaluate_table,
    predicted_rows,
    study_table,
)
from ecselm.study.rows import TrainingRows, new_rows, task_of, training_rows
from ecselm.study.statements import Statements, read_statements
from ecselm.study.tables import Table, read_table

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
