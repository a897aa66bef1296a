"""``ecselm export``: write a saved model as an ONNX graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import check_distinct, check_writable, saved_model
from ecselm.cli._output import print_lines


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help=summary,
        description="Write a saved model, with the preprocessing of its inputs, as an ONNX graph.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument("output", type=Path, metavar="ONNX", help="output file")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the graph."""
    from ecselm.onnx import to_onnx  # noqa: PLC0415  an extra that no other command needs

    check_writable(args.output, "ONNX")
    check_distinct({"MODEL": args.model, "ONNX": args.output})
    graph = to_onnx(saved_model(args.model, pickle=args.pickle).model, args.output)
    names = [one.name for one in graph.graph.input]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    print_lines([f"graph: {args.output}", f"inputs: {shown}"])
