"""``ecselm predict``: answers of a saved model to new rows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm.cli.console import print_lines
from ecselm.cli.files import check_apart, check_writable
from ecselm.saving import load_model
from ecselm.study import new_rows, read_table, write_table

PREDICTION = "prediction"


def add_parser(verbs: Any) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "predict",
        help="answers of a model to new rows",
        description="Write the prediction for every row of a table, and how probable each class "
        "is, in the order of the rows. Columns are found by name.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument("data", type=Path, metavar="FILE", help="the new rows")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="a CSV or Parquet file (standard output)"
    )
    parser.add_argument("--pickle", action="store_true", help="the model may be a pickle")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Predict, and write the answers."""
    if args.output is not None:
        check_writable(args.output, "--output")
        check_apart({"--output": args.output, "MODEL": args.model, "FILE": args.data})
    model = load_model(args.model, pickle=args.pickle).model
    rows = new_rows(read_table(args.data).frame, model)
    answers = answers_of(model, rows)
    if args.output is None:
        answers.to_csv(sys.stdout, index=False)
        return
    write_table(answers, args.output)
    print_lines([f"{len(answers)} predictions: {args.output}"], error=True)


def answers_of(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the prediction of every row and, of classes, their probabilities."""
    answers = pd.DataFrame({PREDICTION: model.predict(rows)})
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(rows)
        for name, column in zip(model.classes_, P.T, strict=True):
            answers[f"probability of {name}"] = column
    return answers
