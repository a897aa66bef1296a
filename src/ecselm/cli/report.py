"""``ecselm report``: one page about a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import card_of, check_apart, check_writable, saved_model
from ecselm.cli._output import print_lines
from ecselm.report import write_report


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "report",
        help=summary,
        description="Write what is known of a saved model as one HTML file that needs no network.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="HTML",
        help="file of the page (report.html)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what the page is made of, too")
    parser.add_argument("--pickle", action="store_true", help="the model may be a pickle")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the page."""
    check_writable(args.output, "--output")
    check_apart({"MODEL": args.model, "--output": args.output})
    card = card_of(saved_model(args.model, pickle=args.pickle).card, args.model)
    write_report(card, args.output)
    if args.json:
        print(card.to_json())
    else:
        print_lines([f"report: {args.output}"])
