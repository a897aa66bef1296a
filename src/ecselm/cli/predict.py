"""``ecselm predict``: predict new rows with a saved model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ecselm._wording import did_you_mean
from ecselm.cli._costs import add_cost_options, cost_options
from ecselm.cli._files import (
    FormulaGuard,
    card_of,
    check_distinct,
    check_predictions_file,
    decided,
    predictions_file,
    predictions_of,
    saved_model,
)
from ecselm.cli._output import StreamBar, print_lines, stream_bar
from ecselm.costs.policy import RULES
from ecselm.streaming import BLOCK_ROWS, can_open_blocks
from ecselm.streaming.study import table_blocks
from ecselm.study import (
    Card,
    CostOptions,
    decisions_by,
    explanations,
    predicted_rows,
    row_costs_of,
)
from ecselm.tables.read import read_table

EXPLANATION = "explanation"
LARGE = 1 << 28  # bytes of a file


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "predict",
        help=summary,
        description="Write the prediction and the class probabilities of every row of a table, in "
        "the order of the rows, and, where costs were stated, whether the answer is settled, its "
        "expected cost and its regret. Columns are found by name. Other costs than those of the "
        "model may be stated; nothing is fitted again.",
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
        "--explain",
        nargs="?",
        const=True,
        default=False,
        metavar="FILE",
        help="also write why answers depend on costs that are not known, or are left to a person: "
        "the rows concerned to this CSV or Parquet file, or without one a column",
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=None,
        metavar="COLUMN",
        help="columns of the table to write beside the predictions (default: those of the model)",
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="write texts to CSV as they are; otherwise those that a spreadsheet would calculate, "
        "beginning with =, +, -, @, a tab or a carriage return, get ' in front",
    )
    add_cost_options(parser.add_argument_group("costs in the place of those of the model"))
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
    options = cost_options(args)
    explained = Path(args.explain) if isinstance(args.explain, str) else None
    for option, path in (("--output", args.output), ("--explain", explained)):
        if path is not None:
            check_predictions_file(path, option)
    written = {"--output": args.output, "--explain": explained}
    check_distinct({"MODEL": args.model, "FILE": args.data, **written})
    if args.block_rows is not None and not args.stream:
        raise ValueError("--block-rows must go with --stream")
    is_streamed = args.stream or _is_large(args.data)
    if is_streamed and (options.reject_capacity is not None or options.rule != RULES[0]):
        raise ValueError(
            "--reject-capacity and --rule must be left out with --stream, as they need all rows at "
            "once"
        )
    saved = saved_model(args.model, pickle=args.pickle)
    card = card_of(saved.card, args.model)
    kept = [*dict.fromkeys(card.request.keep if args.keep is None else args.keep)]
    guards = {path: FormulaGuard(is_raw=args.raw) for path in (args.output, explained)}
    n_rows = n_explained = 0
    with ExitStack() as held:
        bars = held.enter_context(stream_bar(shown=args.output is not None))
        write = held.enter_context(predictions_file(args.output))
        write_rows = None
        if explained is not None:
            write_rows = held.enter_context(predictions_file(explained, "--explain"))
        for frame, rows in _blocks(args, card, bars, is_streamed=is_streamed):
            answers = _answers(saved.model, card, options, frame, rows, args.explain)
            if write_rows is not None:
                words = answers.pop(EXPLANATION).to_numpy()
                concerned = np.flatnonzero(words != "")
                found = _explained(frame, answers, words, concerned, n_rows)
                write_rows(_for_file(found, explained, guards[explained]))
                n_explained += len(concerned)
            write(_for_file(_beside(frame, answers, kept), args.output, guards[args.output]))
            n_rows += len(rows)
    lines = [] if args.output is None else [f"{n_rows} predictions: {args.output}"]
    lines += [] if explained is None else [f"{n_explained} explanations: {explained}"]
    for path, guard in guards.items():
        lines += guard.lines("the output" if path is None else path)
    print_lines(lines, error=True)


def _for_file(rows: pd.DataFrame, path: Path | None, guard: FormulaGuard) -> pd.DataFrame:
    """Return rows as a file holds them: in text, no cell is a formula."""
    return rows if path is not None and path.suffix == ".parquet" else guard.guarded(rows)


def _beside(frame: pd.DataFrame, answers: pd.DataFrame, kept: list[str]) -> pd.DataFrame:
    """Return predictions behind the columns that are kept, such as identifiers."""
    for name in kept:
        if name not in frame.columns:
            raise ValueError(
                f"--keep must name columns of the table, got {name!r}"
                f"{did_you_mean(name, map(str, frame.columns))}"
            )
        if name in answers.columns:
            raise ValueError(f"--keep must not name a column of the predictions, got {name!r}")
    if not kept:
        return answers
    return pd.concat([frame[kept].reset_index(drop=True), answers], axis=1)


def _answers(
    model: Any, card: Card, options: CostOptions, frame: Any, rows: Any, explain: Any
) -> pd.DataFrame:
    """Return a row for every row: the answer, probabilities, and what half-known costs leave open.

    Whether an answer is settled, its expected cost and its regret are there if costs are stated.
    """
    is_stated = bool(card.request.cost_constraints) or options.states_costs or options.asks
    decisions = None
    if card.request.task == "classes":
        by_row = row_costs_of(card, options, frame, np.asarray(model.classes_))
        decisions = decisions_by(options, model, card, rows, by_row)
    elif is_stated:
        raise ValueError("costs must be left out where numbers are predicted")
    if decisions is None:
        if explain:
            raise ValueError("--explain must be left out where the model has no costs")
        return predictions_of(model, rows)
    answers = decided(model, decisions)
    if is_stated:
        answers["settled"] = decisions.settled()
        answers["expected_cost"] = decisions.expected_cost()
        answers["regret"] = decisions.regret()
    if explain:
        if not is_stated:
            raise ValueError("--explain must go with costs: those of the model, or --cost")
        answers[EXPLANATION] = explanations(decisions, model.classes_)
    return answers


def _explained(
    frame: pd.DataFrame, answers: pd.DataFrame, words: Any, concerned: Any, start: int
) -> pd.DataFrame:
    """Return the rows concerned as they are in the table, with their answers and why."""
    found = answers.iloc[concerned].reset_index(drop=True)
    found.insert(0, "row", concerned + start + 1)
    found[EXPLANATION] = words[concerned]
    rows = frame.iloc[concerned].reset_index(drop=True)
    return pd.concat([found, rows.drop(columns=rows.columns.intersection(found.columns))], axis=1)


def _blocks(
    args: argparse.Namespace, card: Card, bars: StreamBar, *, is_streamed: bool
) -> Iterable[tuple[pd.DataFrame, pd.DataFrame]]:
    """Return rows of the table, and as the model takes them, in one block or in several."""
    if is_streamed:
        size = BLOCK_ROWS if args.block_rows is None else args.block_rows
        return table_blocks(args.data, card.data.columns, block_rows=size, progress=bars)
    table = read_table(args.data)
    return [(table.frame, predicted_rows(card, table))]


def _is_large(file: Path) -> bool:
    """Return whether a file is large and can be read in blocks."""
    return file.is_file() and file.stat().st_size > LARGE and can_open_blocks(file)
