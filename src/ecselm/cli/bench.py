"""``ecselm bench``: compare methods that are all tuned alike."""

from __future__ import annotations

import argparse
from typing import Any

from ecselm.cli.options import add_run_options
from ecselm.protocols.benchmark import bench as run_bench
from ecselm.protocols.benchmark.cases import HALVES


def add_parser(verbs: Any) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "bench",
        help="compare ECSELM with what people use today, all tuned alike",
        description="Compare ECSELM with what people use today on KEEL's data sets, gas sensors, "
        "German credit and bank marketing in ECSELM_DATA. All methods are tuned for the same "
        "targets in the same folds. Killed and started again, it goes on where it was.",
    )
    parser.add_argument("suite", choices=("keel",), metavar="SUITE", help="keel")
    parser.add_argument(
        "--sets", type=_listed, metavar="GLOB,..", help="data sets, such as 'glass*,pima' (all)"
    )
    parser.add_argument("--methods", type=_listed, metavar="A,B", help="methods (all)")
    parser.add_argument(
        "--half", choices=HALVES, default="all", help="of the data, which share no source (all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a taste: few sets, splits, methods and candidates"
    )
    parser.add_argument("--show", action="store_true", help="run nothing, show what the folder has")
    add_run_options(parser, "folder of the results (benched, or benched-quick)")
    parser.set_defaults(run=run, resumes=True)


def run(args: argparse.Namespace) -> None:
    """Run the bench and print what came of it."""
    done = run_bench(
        args.output or ("benched-quick" if args.quick else "benched"),
        sets=args.sets,
        methods=args.methods,
        half=args.half,
        quick=args.quick,
        seed=args.seed,
        n_jobs=args.jobs,
        run=not args.show,
        progress=True,
    )
    note = "\nquick: few sets, splits, methods and candidates; conclude nothing from it"
    print(f"{done.text()}{note if args.quick else ''}", flush=True)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
