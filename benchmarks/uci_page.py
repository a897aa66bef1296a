"""Keep a run and fill its part of ``docs/bench_uci.md``: ``python -m benchmarks.uci_page``.

FOLDER, if named, is what ``ecselm bench uci --output FOLDER`` has left. The published accuracies
are copied from the folder that ``ECSELM_DATA`` names.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.pages import fill_page
from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm.paper.bench.report import DataFacts, comparisons_of, parts_of, summary_of, tables_of
from ecselm.paper.datasets.dataset import find_file
from ecselm.paper.datasets.uci121 import SOURCE
from ecselm.paper.jobs import read_rows

PAGE = HERE.parent / "docs" / "bench_uci.md"
FOLDER = KEPT / "uci"
BEGIN = "<!-- uci -->\n"
FILES = ("results.parquet", "sets.csv")
PUBLISHED = "published.csv"
COLUMNS = {"elm_kernel_matlab": "KELM", "svm_C": "SVM", "rf_caret": "random forest"}
HALVES = ("confirmation", "development")


def keep(folder: Path) -> None:
    """Copy the results of a run, and the published figures, to where the page is made of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(folder / name, FOLDER / name)
    published = pd.read_csv(find_file(SOURCE, "PUBLISHED.csv")).rename(columns=COLUMNS)
    own = published[published["set"].isin([one.name for one in sets()])]
    own[["set", *COLUMNS.values()]].to_csv(FOLDER / PUBLISHED, index=False)


def filled(page: str) -> str:
    """Return the page with the tables as the kept results have them."""
    before, rest = page.split(BEGIN, 1)
    there = (FOLDER / FILES[0]).is_file()
    text = "\n\n".join([*_compared(), _published()]) if there else "Not run yet."
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def sets() -> list[DataFacts]:
    """Return the facts of the run about its data sets."""
    frame = pd.read_csv(FOLDER / "sets.csv")
    return [
        DataFacts(**dict(zip(frame.columns, row, strict=True))) for row in frame.values.tolist()
    ]


def _compared() -> list[str]:
    """Return a table for every half and target."""
    results = read_rows(FOLDER / "results.parquet")
    shown = []
    for half in HALVES:
        own = [one for one in sets() if one.half == half]
        parts = parts_of(results[results["data"].isin([one.name for one in own])], own)
        for made in tables_of(summary_of(parts), comparisons_of(parts)):
            rows = [list(row) for row in made.rows]
            shown.append(
                f"### {half.capitalize()} half: {made.title}\n\n{table(list(made.header), rows)}"
            )
    return shown


def _published() -> str:
    frame = pd.read_csv(FOLDER / PUBLISHED).set_index("set")
    halves = {one.name: one.half for one in sets()}
    rows = [
        [name, halves[name], *(_percent(value) for value in values)]
        for name, *values in frame.itertuples()
    ]
    for half in HALVES:
        own = frame.loc[[name for name in frame.index if halves[name] == half]].dropna()
        if len(own):
            rows.append([f"mean of {len(own)} sets", half, *(_percent(m) for m in own.mean())])
    title = "### Published accuracies in per cent, NOT rerun"
    return f"{title}\n\n{table(['set', 'half', *COLUMNS.values()], rows)}"


def _percent(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm bench uci", arguments)


if __name__ == "__main__":
    main()
