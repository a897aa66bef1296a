"""``ecselm predict``: answers of a saved model to new rows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm._files import write_whole
from ecselm.cli.console import print_lines
from ecselm.cli.files import card_of, check_apart, check_writable
from ecselm.protocols.store import check_parquet
from ecselm.saving import load_model
from ecselm.study import predicted_rows, read_table

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
    saved = load_model(args.model, pickle=args.pickle)
    rows = predicted_rows(card_of(saved.card, args.model), read_table(args.data))
    answers = answers_of(saved.model, rows)
    if args.output is None:
        answers.to_csv(sys.stdout, index=False)
        return
    write_whole(args.output, _file(answers, args.output))
    print_lines([f"{len(answers)} predictions: {args.output}"], error=True)


def _file(answers: pd.DataFrame, path: Path) -> bytes:
    """Return the content of a file by its ending."""
    if path.suffix == ".parquet":
        check_parquet()
        return bytes(answers.to_parquet(index=False))
    return answers.to_csv(index=False).encode()


def answers_of(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the prediction of every row and, of classes, their probabilities."""
    answers = pd.DataFrame({PREDICTION: model.predict(rows)})
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(rows)
        for name, column in zip(model.classes_, P.T, strict=True):
            answers[f"probability of {name}"] = column
    return answers
