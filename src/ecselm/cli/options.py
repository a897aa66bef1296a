"""Options that verbs share."""

from __future__ import annotations

import argparse


def add_run_options(parser: argparse.ArgumentParser, output: str) -> None:
    """Add processes, seed and folder of a run; ``output`` says what the folder is for."""
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn (0)")
    parser.add_argument("--output", metavar="DIR", help=output)
