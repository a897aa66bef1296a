"""``ecselm predict``: answers of a saved model to new rows."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm.cli._files import (
    answer_file,
    answers_of,
    card_of,
    check_answers,
    check_apart,
    saved_model,
)
from ecselm.cli._output import StreamBar, print_lines, stream_bar
from ecselm.streaming import BLOCK_ROWS, can_open_blocks, new_blocks
from ecselm.study import Card, predicted_rows
from ecselm.tables.read import read_table

LARGE = 1 << 28  # bytes of a file


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "predict",
        help=summary,
        description="Write the prediction for every row of a table, and how probable each class "
        "is, in the order of the rows. Columns are found by name.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument("data", type=Path, metavar="FILE", help="the new rows")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="a CSV or Parquet file (standard output)"
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help=f"read the file in blocks, as those beyond {LARGE >> 20} MiB are in any case",
    )
    parser.add_argument("--block-rows", type=int, metavar="N", help=f"of a block ({BLOCK_ROWS})")
    parser.add_argument("--pickle", action="store_true", help="the model may be a pickle")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Predict, and write the answers."""
    if args.output is not None:
        check_answers(args.output, "--output")
        check_apart({"MODEL": args.model, "FILE": args.data, "--output": args.output})
    if args.block_rows is not None and not args.stream:
        raise ValueError("--block-rows must go with --stream")
    saved = saved_model(args.model, pickle=args.pickle)
    card, n_rows = card_of(saved.card, args.model), 0
    with stream_bar(shown=args.output is not None) as bars:
        blocks = _blocks(args, card, bars)
        with answer_file(args.output) as write:
            for rows in blocks:
                write(answers_of(saved.model, rows))
                n_rows += len(rows)
    if args.output is not None:
        print_lines([f"{n_rows} predictions: {args.output}"], error=True)


def _blocks(args: argparse.Namespace, card: Card, bars: StreamBar) -> Iterable[pd.DataFrame]:
    """Return the rows as the model takes them: all at once, or in blocks of a large file."""
    if args.stream or _is_large(args.data):
        size = BLOCK_ROWS if args.block_rows is None else args.block_rows
        return new_blocks(args.data, card.data.columns, block_rows=size, progress=bars)
    return [predicted_rows(card, read_table(args.data))]


def _is_large(file: Path) -> bool:
    """Tell whether a file is better read in blocks, and can be."""
    return file.is_file() and file.stat().st_size > LARGE and can_open_blocks(file)
