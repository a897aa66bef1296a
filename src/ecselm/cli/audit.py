"""``ecselm audit``: show what the paper's gains rest on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm._files import write_whole
from ecselm.cli._files import add_run_options
from ecselm.paper.audit import audit as run_audit
from ecselm.paper.audit import render, split_table
from ecselm.paper.datasets import Dataset, load_scut


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "audit",
        help=summary,
        description="Run the paper's search judged by training rows, by rows left out and, as a "
        "labelled oracle, by test rows; recompute its tables X, XI and XIII; and check that "
        "random labels stay at chance.",
    )
    parser.add_argument("--quick", action="store_true", help="a taste: 3 splits and short searches")
    parser.add_argument(
        "--data",
        choices=("synthetic", "scut"),
        default="synthetic",
        help="rows of the searches: a stand-in for the eastern faces of table I, or the Asian "
        "women of SCUT-FBP in ECSELM_DATA (synthetic)",
    )
    add_run_options(parser, "also write audit.txt, and audit.csv with every split")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Run the audit, print its report and keep it if asked to."""
    for what, value, least in (("seed", args.seed, 0), ("jobs", args.jobs, 1)):
        if value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    data, folder = _rows(args.data), None if args.output is None else Path(args.output)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    args.resumes = folder is not None
    report = run_audit(args.quick, args.seed, args.jobs, data=data, output=folder, progress=True)
    print(render(report))
    if folder is not None:
        write_whole(folder / "audit.txt", f"{render(report)}\n".encode())
        write_whole(folder / "audit.csv", split_table(report).to_csv(index=False).encode())


def _rows(name: str) -> Dataset | None:
    """Return the rows to search on, or None for the stand-in."""
    return load_scut("AF", "appearance", "level") if name == "scut" else None
