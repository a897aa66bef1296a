"""``ecselm report``: write the report of a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import card_of, check_distinct, check_writable, saved_model
from ecselm.cli._output import print_lines
from ecselm.report import write_report, write_sheet


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "report",
        help=summary,
        description="Write the report of a saved model as one self-contained HTML file, and, if "
        "asked for, a documentation sheet after TRIPOD+AI and Annex IV of the EU AI Act.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="HTML",
        help="output file (default: report.html)",
    )  # fmt: skip
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE", help="also write the sheet to this Markdown file"
    )
    parser.add_argument(
        "--intended-use", default="", metavar="TEXT", help="what the model is for, on the sheet"
    )
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
    if args.sheet is not None:
        check_writable(args.sheet, "--sheet")
    elif args.intended_use:
        raise ValueError("--intended-use must go with --sheet, where it is stated")
    check_distinct({"MODEL": args.model, "--output": args.output, "--sheet": args.sheet})
    card = card_of(saved_model(args.model, pickle=args.pickle).card, args.model)
    write_report(card, args.output)
    if args.sheet is not None:
        write_sheet(card, args.sheet, args.intended_use)
    if args.json:
        print(card.to_json(rows=False))
    else:
        files = [f"report: {args.output}"]
        print_lines(files if args.sheet is None else [*files, f"sheet: {args.sheet}"])
