"""``ecselm export``: write a saved model as an ONNX graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ecselm.cli._files import check_distinct, check_writable, saved_model
from ecselm.cli._output import print_lines
from ecselm.study import Card


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help=summary,
        description="Write a saved model, with the preprocessing of its inputs, as an ONNX graph.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument("onnx", type=Path, metavar="ONNX", help="output file")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Write the graph."""
    from ecselm.onnx import to_onnx  # noqa: PLC0415  an extra that no other command needs

    check_writable(args.onnx, "ONNX")
    check_distinct({"MODEL": args.model, "ONNX": args.onnx})
    saved = saved_model(args.model, pickle=args.pickle)
    graph = to_onnx(saved.model, args.onnx)
    names = [one.name for one in graph.graph.input]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    lines = [f"graph: {args.onnx}", f"inputs: {shown}"]
    if saved.card is not None and Card.from_json(saved.card).request.cost_columns:
        lines.append(
            "note: Labels of the graph are decided by mean costs, not by the columns with costs."
        )
    print_lines(lines)
