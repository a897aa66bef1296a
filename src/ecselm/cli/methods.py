"""``ecselm methods``: list the available methods."""

from __future__ import annotations

import argparse
from typing import Any

from ecselm.cli._output import print_json, print_table
from ecselm.paper.methods import list_methods

HEADER = ("method", "task", "tables", "status", "source")


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "methods",
        help=summary,
        description="List the methods of the paper and later baselines.",
    )
    parser.add_argument(
        "task", nargs="?", help="classification, regression or pairs (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Print the list."""
    rows = [
        (one.name, one.task, " ".join(one.tables), one.status, one.source)
        for one in list_methods(args.task)
    ]
    if args.json:
        print_json([dict(zip(HEADER, row, strict=True)) for row in rows])
    else:
        print_table(f"{len(rows)} methods", HEADER, rows)
