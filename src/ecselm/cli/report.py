"""``ecselm report``: write the report of a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import card_of, check_distinct, check_writable, saved_model
from ecselm.cli._output import print_lines
from ecselm.report import write_report


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "report",
        help=summary,
        description="Write the report of a saved model as one self-contained HTML file.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="HTML",
        help="output file (default: report.html)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="also print the card as JSON")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the report."""
    check_writable(args.output, "--output")
    check_distinct({"MODEL": args.model, "--output": args.output})
    card = card_of(saved_model(args.model, pickle=args.pickle).card, args.model)
    write_report(card, args.output)
    if args.json:
        print(card.to_json())
    else:
        print_lines([f"report: {args.output}"])
