"""``ecselm export``: a saved model for machines without Python."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import check_apart, check_writable, saved_model
from ecselm.cli._output import print_lines


def add_parser(verbs: Any, summary: str) -> None:
    """Add the verb to those of the command."""
    parser = verbs.add_parser(
        "export",
        help=summary,
        description="Write a saved model, with all that is done to its inputs, as ONNX.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what 'ecselm fit' has saved")
    parser.add_argument("output", type=Path, metavar="ONNX", help="the file to write")
    parser.add_argument("--pickle", action="store_true", help="the model may be a pickle")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the graph."""
    from ecselm.onnx import to_onnx  # noqa: PLC0415  an extra that no other verb needs

    check_writable(args.output, "ONNX")
    check_apart({"MODEL": args.model, "ONNX": args.output})
    graph = to_onnx(saved_model(args.model, pickle=args.pickle).model, args.output)
    names = [one.name for one in graph.graph.input]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    print_lines([f"graph: {args.output}", f"inputs: {shown}"])
