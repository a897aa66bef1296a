"""``ecselm demo``: fit the breast cancer data of scikit-learn."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer

from ecselm._files import make_folder, write_whole
from ecselm.cli._files import store_model
from ecselm.cli._output import print_card, print_lines, search_bar
from ecselm.report import write_report
from ecselm.study import CostOptions, FitRequest, study_table
from ecselm.tables.read import Table

TABLE = "tumours.csv"
KNOWN = "malignant->benign = 3..20 * benign->malignant"


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "demo",
        help=summary,
        description="Fit the breast cancer data of scikit-learn, with a missed malignant tumour "
        "that costs 3 to 20 times as much as a false alarm, and write table, model and report.",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo"),
        metavar="DIR",
        help="output folder (default: demo)",
    )
    parser.add_argument("--json", action="store_true", help="print the card as JSON")
    parser.set_defaults(run=run, resumes=False)


def run(args: argparse.Namespace) -> None:
    """Fit, and write the three files."""
    folder = args.output
    make_folder(folder, name="--output")  # before the fit
    table = tumours()
    request = FitRequest(target="diagnosis", costs=CostOptions(cost=(KNOWN,)))
    with search_bar(shown=not args.json) as bar:
        done = study_table(table, request, file=TABLE, callbacks=[bar], command="ecselm demo")
    write_whole(folder / TABLE, table.frame.to_csv(index=False).encode())
    store_model(done.model, folder / "model.skops", done.card, pickle=False)
    write_report(done.card, folder / "report.html")
    print_card(done.card, as_json=args.json)
    if not args.json:
        files = (TABLE, "model.skops", "report.html")
        print_lines([f"files: {', '.join(str(folder / name) for name in files)}"])


def tumours() -> Table:
    """Return the data as a table with the diagnosis in words."""
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    return Table(frame)
