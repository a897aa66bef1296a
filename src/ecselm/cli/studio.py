"""``ecselm studio``: from a table to a model and its costs, in a browser."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from ecselm.cli._output import print_lines
from ecselm.tables.read import check_there

FOLDER = "studio"


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "studio",
        help=summary,
        description="Open a web application on this computer: upload a table, state what is known "
        "of costs, train, look at the trade-off, answer questions about costs, and download model "
        "and report. It answers only to the address that it prints, and sends nothing elsewhere. "
        "Ctrl-C ends it; projects stay in their folder.",
    )
    parser.add_argument(
        "data", type=Path, nargs="?", metavar="FILE", help="table to begin with; it is not copied"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help=f"folder of the projects (default: {FOLDER}, beside the table)",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the server (default: a free one)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address and do not open a browser"
    )
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    from ecselm.studio import Workspace, serve  # noqa: PLC0415  an extra of this command alone

    beside = Path()
    if args.data is not None:
        check_there(args.data)
        beside = args.data.parent
    args.folder = beside / FOLDER if args.folder is None else args.folder  # as errors name it
    workspace = Workspace(args.folder)

    def opened(address: str) -> None:
        print_lines([f"studio: {address}", f"projects: {workspace.folder}", "Ctrl-C ends it."])
        if not args.no_browser:
            webbrowser.open(address)

    project = None
    with workspace.held():  # before a project is added
        if args.data is not None:
            project = workspace.of_file(args.data) or workspace.add(args.data)
        try:
            serve(workspace, port=args.port, project=project, opened=opened)
        except KeyboardInterrupt:
            print_lines([f"Projects stay in {workspace.folder}."])
