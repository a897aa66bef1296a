"""``ecselm predict``: predict new rows with a saved model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ecselm.cli._files import (
    card_of,
    check_distinct,
    check_predictions_file,
    predictions_file,
    predictions_of,
    saved_model,
)
from ecselm.cli._output import StreamBar, print_lines, stream_bar
from ecselm.streaming import BLOCK_ROWS, can_open_blocks, new_blocks
from ecselm.study import Card, predicted_rows
from ecselm.tables.read import read_table

LARGE = 1 << 28  # bytes of a file


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "predict",
        help=summary,
        description="Write the prediction and the class probabilities of every row of a table, in "
        "the order of the rows. Columns are found by name.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument("data", type=Path, metavar="FILE", help="table of new rows")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="CSV or Parquet file (default: standard output)",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help=f"read the file in blocks (default for files of more than {LARGE >> 20} MiB)",
    )
    parser.add_argument(
        "--block-rows", type=int, metavar="N", help=f"rows of a block (default: {BLOCK_ROWS})"
    )
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the predictions."""
    if args.output is not None:
        check_predictions_file(args.output, "--output")
        check_distinct({"MODEL": args.model, "FILE": args.data, "--output": args.output})
    if args.block_rows is not None and not args.stream:
        raise ValueError("--block-rows must go with --stream")
    saved = saved_model(args.model, pickle=args.pickle)
    card, n_rows = card_of(saved.card, args.model), 0
    with stream_bar(shown=args.output is not None) as bars:
        blocks = _blocks(args, card, bars)
        with predictions_file(args.output) as write:
            for rows in blocks:
                write(predictions_of(saved.model, rows))
                n_rows += len(rows)
    if args.output is not None:
        print_lines([f"{n_rows} predictions: {args.output}"], error=True)


def _blocks(args: argparse.Namespace, card: Card, bars: StreamBar) -> Iterable[pd.DataFrame]:
    """Return the rows as the model takes them, in one block or in several."""
    if args.stream or _is_large(args.data):
        size = BLOCK_ROWS if args.block_rows is None else args.block_rows
        return new_blocks(args.data, card.data.columns, block_rows=size, progress=bars)
    return [predicted_rows(card, read_table(args.data))]


def _is_large(file: Path) -> bool:
    """Return whether a file is large and can be read in blocks."""
    return file.is_file() and file.stat().st_size > LARGE and can_open_blocks(file)
