"""``ecselm bench``: compare methods that are tuned in the same way."""

from __future__ import annotations

import argparse
from typing import Any, Protocol

from ecselm.cli._files import add_run_options
from ecselm.paper.bench import HALVES
from ecselm.paper.bench import bench as run_bench
from ecselm.paper.bench import bench_minority as run_minority
from ecselm.paper.bench import bench_uci as run_uci

OUTPUTS = {
    "keel": "benched",
    "uci": "benched-uci",
    "minority": "benched-minority",
}  # of every suite


class Result(Protocol):
    """Result of a suite."""

    def text(self) -> str:
        """Return the result for a terminal."""


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help=summary,
        description="keel: compare ECSELM with baselines on the KEEL data sets, gas sensors, "
        "German credit and bank marketing in ECSELM_DATA. All methods are tuned for the same "
        "targets in the same folds. uci: the same on sets of UCI, by accuracy, log loss of the "
        "probabilities and G-mean. minority: measure from how many minority cases on learned "
        "costs beat the prior costs. An interrupted run can be resumed by the same command.",
    )
    parser.add_argument("suite", choices=tuple(OUTPUTS), metavar="SUITE", help=" or ".join(OUTPUTS))
    parser.add_argument(
        "--sets",
        type=_listed,
        metavar="GLOB,..",
        help="data sets, such as 'glass*,pima' (default: all)",
    )
    parser.add_argument(
        "--methods", type=_listed, metavar="A,B", help="methods, keel and uci only (default: all)"
    )
    parser.add_argument(
        "--half",
        choices=HALVES,
        default="all",
        help="half of the data sets, which share no source; keel and uci only (default: all)",
    )
    parser.add_argument(
        "--variants",
        action="store_true",
        help="compare variants of ECSELM, with and without each of its parts; keel and uci only",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small run: few sets, splits, methods and candidates"
    )
    parser.add_argument("--show", action="store_true", help="run nothing, show the stored results")
    add_run_options(
        parser,
        "output folder (default: benched, benched-uci or benched-minority, with -variants, -quick)",
    )
    parser.set_defaults(run=run, resumes=True)


def run(args: argparse.Namespace) -> None:
    """Run the suite and print the results."""
    done = _benched(args)
    note = "\nquick: few sets and splits; results are not conclusive"
    print(f"{done.text()}{note if args.quick else ''}", flush=True)


def _benched(args: argparse.Namespace) -> Result:
    ending = "-variants" * args.variants + "-quick" * args.quick
    args.output = output = args.output or OUTPUTS[args.suite] + ending
    options = {
        "sets": args.sets,
        "quick": args.quick,
        "seed": args.seed,
        "n_jobs": args.jobs,
        "run": not args.show,
        "progress": True,
    }
    if args.suite != "minority":
        run_suite = run_bench if args.suite == "keel" else run_uci
        return run_suite(
            output, methods=args.methods, half=args.half, variants=args.variants, **options
        )
    if args.variants:
        raise ValueError("variants must be left out for minority, got --variants")
    if args.methods is not None:
        raise ValueError(f"methods must be left out for minority, got {','.join(args.methods)}")
    if args.half != "all":
        raise ValueError(f"half must be all for minority, got {args.half}")
    return run_minority(output, **options)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
