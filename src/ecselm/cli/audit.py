"""``ecselm audit``: check the sources of the gains that the paper reports."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm._files import make_folder, write_whole
from ecselm.cli._files import add_run_options
from ecselm.paper.audit import audit as run_audit
from ecselm.paper.audit import render, split_table
from ecselm.paper.datasets import Dataset, load_scut


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "audit",
        help=summary,
        description="Run the search of the paper with the fitness of training rows, of validation "
        "rows and, as an oracle, of test rows; recompute tables X, XI and XIII; and check that "
        "random labels stay at chance level.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small run: 3 splits and short searches"
    )
    parser.add_argument(
        "--data",
        choices=("synthetic", "scut"),
        default="synthetic",
        help="data of the searches: synthetic data like the eastern faces of table I, or the "
        "Asian women of SCUT-FBP in ECSELM_DATA (default: synthetic)",
    )
    add_run_options(parser, "also write audit.txt, and audit.csv with every split")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Run the audit, and print or store its report."""
    for what, value, least in (("seed", args.seed, 0), ("jobs", args.jobs, 1)):
        if value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    data, folder = _rows(args.data), None if args.output is None else Path(args.output)
    if folder is not None:
        make_folder(folder, name="--output")
    args.resumes = folder is not None
    report = run_audit(args.quick, args.seed, args.jobs, data=data, output=folder, progress=True)
    print(render(report))
    if folder is not None:
        write_whole(folder / "audit.txt", f"{render(report)}\n".encode())
        write_whole(folder / "audit.csv", split_table(report).to_csv(index=False).encode())


def _rows(name: str) -> Dataset | None:
    """Return the data of the searches, None for synthetic data."""
    return load_scut("AF", "appearance", "level") if name == "scut" else None
