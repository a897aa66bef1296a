"""``ecselm evaluate``: how a saved model does on other rows whose truth is known."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import card_of, saved_model
from ecselm.cli._output import print_held_out
from ecselm.study import evaluate_table
from ecselm.tables.read import read_table


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "evaluate",
        help=summary,
        description="Score a saved model on a table that has the target, by the metric it was "
        "made for and others.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument("data", type=Path, metavar="FILE", help="rows with the target")
    parser.add_argument("--json", action="store_true", help="print all that is known as JSON")
    parser.add_argument("--pickle", action="store_true", help="the model may be a pickle")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Score the model and print how it does."""
    saved = saved_model(args.model, pickle=args.pickle)
    card = card_of(saved.card, args.model)
    found = evaluate_table(saved.model, card, read_table(args.data))
    print_held_out(card, found, as_json=args.json)
