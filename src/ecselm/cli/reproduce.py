"""``ecselm reproduce``: run a table or figure of the paper again."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ecselm.cli._files import add_run_options
from ecselm.paper.protocols import FULL, ITEMS, QUICK, check_run
from ecselm.paper.protocols import reproduce as reproduce_item


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "reproduce",
        help=summary,
        description="Run a table or figure of the paper again, on its own data where "
        "ECSELM_DATA has them, else on the nearest public data, else on synthetic stand-ins. "
        "Killed and started again, it goes on where it was.",
    )
    parser.add_argument("item", metavar="ITEM", help=f"all, or one of {', '.join(ITEMS)}")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a taste: 2 repeats, few rows, nothing tuned, small searches",
    )
    parser.add_argument(
        "--no-synthetic", action="store_true", help="leave out what only stand-ins could fill"
    )
    add_run_options(parser, "folder of the results (reproduced, or reproduced-quick)")
    parser.set_defaults(run=run, resumes=True)


def run(args: argparse.Namespace) -> None:
    """Run one item, or all, and print each table as it is done."""
    output = args.output or ("reproduced-quick" if args.quick else "reproduced")
    settings = {"budget": QUICK if args.quick else FULL, "seed": args.seed, "n_jobs": args.jobs}
    if args.item != "all":
        _run_one(args.item, output, settings, args)
        return
    check_run(output, **settings)  # what is wrong for all items is said once
    failed = []
    for name in ITEMS:
        try:
            _run_one(name, output, settings, args)
        except FileNotFoundError as error:
            print(f"{name}: left out, {error}\n", flush=True)
        except (ValueError, OSError, RuntimeError) as error:
            print(f"{name}: failed, {error}\n", file=sys.stderr, flush=True)
            failed.append(name)
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(ITEMS)} items failed: {', '.join(failed)}")


def _run_one(name: str, output: str, settings: dict[str, Any], args: argparse.Namespace) -> None:
    synthetic = not args.no_synthetic
    done = reproduce_item(name, output, **settings, synthetic=synthetic, progress=True)
    note = "\nquick: few rows, nothing tuned, small searches; conclude nothing from it"
    print(f"{name}: {done.text()}{note if args.quick else ''}\n", flush=True)
