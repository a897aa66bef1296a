"""``ecselm evaluate``: score a saved model on a table that has the target."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._costs import add_cost_options, cost_options
from ecselm.cli._files import card_of, saved_model
from ecselm.cli._output import print_evaluation
from ecselm.study import evaluate_table
from ecselm.tables.read import read_table


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help=summary,
        description="Score a saved model on a table that has the target, by the metric of the "
        "model and others. Other costs than those of the model may be stated; nothing is fitted "
        "again.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument("data", type=Path, metavar="FILE", help="rows with the target")
    parser.add_argument(
        "--by", metavar="COLUMN", help="column by whose values results are also stated"
    )
    add_cost_options(parser.add_argument_group("costs in the place of those of the model"))
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Score the model and print the results."""
    saved = saved_model(args.model, pickle=args.pickle)
    card = card_of(saved.card, args.model)
    table = read_table(args.data)
    found = evaluate_table(saved.model, card, table, cost_options(args), by=args.by)
    print_evaluation(card, found, as_json=args.json)
