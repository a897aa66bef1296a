"""``ecselm report``: one page about a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli.console import print_lines
from ecselm.cli.files import card_of, check_apart, check_writable
from ecselm.report import write_report
from ecselm.saving import load_model


def add_parser(verbs: Any) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "report",
        help="one page about a model, to show",
        description="Write what is known of a saved model as one HTML file that needs no network.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="HTML",
        help="file of the page (report.html)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what the page is made of, too")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the page."""
    check_writable(args.output, "--output")
    check_apart({"--output": args.output, "MODEL": args.model})
    card = card_of(load_model(args.model).card, args.model)
    write_report(card, args.output)
    if args.json:
        print(card.to_json())
    else:
        print_lines([f"report: {args.output}"])
