"""``ecselm reproduce``: reproduce a table or figure of the paper."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ecselm.cli._files import add_run_options
from ecselm.paper.protocols import FULL, ITEMS, QUICK, check_run
from ecselm.paper.protocols import reproduce as reproduce_item


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help=summary,
        description="Reproduce a table or figure of the paper, on the original data in ECSELM_DATA "
        "if available, else on the nearest public data, else on synthetic data. An interrupted "
        "run can be resumed by the same command.",
    )
    parser.add_argument("item", metavar="ITEM", help=f"all, or one of {', '.join(ITEMS)}")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small run: 2 repeats, few rows, no tuning, short searches",
    )
    parser.add_argument(
        "--no-synthetic", action="store_true", help="skip experiments that have only synthetic data"
    )
    parser.add_argument(
        "--beside",
        action="store_true",
        help="print the paper's numbers next to ours, whatever the data",
    )
    add_run_options(parser, "output folder (default: reproduced, or reproduced-quick)")
    parser.set_defaults(run=run, resumes=True)


def run(args: argparse.Namespace) -> None:
    """Run one item, or all, and print each table when it is done."""
    args.output = output = args.output or ("reproduced-quick" if args.quick else "reproduced")
    settings = {"budget": QUICK if args.quick else FULL, "seed": args.seed, "n_jobs": args.jobs}
    if args.item != "all":
        _run_one(args.item, output, settings, args)
        return
    check_run(output, **settings)  # an error of all items is reported once
    failed = []
    for name in ITEMS:
        try:
            _run_one(name, output, settings, args)
        except FileNotFoundError as error:
            print(f"{name}: skipped, {error}\n", flush=True)
        except (ValueError, OSError, RuntimeError) as error:
            print(f"{name}: failed, {error}\n", file=sys.stderr, flush=True)
            failed.append(name)
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(ITEMS)} items failed: {', '.join(failed)}")


def _run_one(name: str, output: str, settings: dict[str, Any], args: argparse.Namespace) -> None:
    synthetic = not args.no_synthetic
    done = reproduce_item(name, output, **settings, synthetic=synthetic, progress=True)
    note = "\nquick: few rows, no tuning, short searches; results are not conclusive"
    text = done.text(beside=True) if args.beside else done.text()
    print(f"{name}: {text}{note if args.quick else ''}\n", flush=True)
