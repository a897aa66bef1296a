"""Keep a full run and fill its part of ``docs/bench.md``: ``python -m benchmarks.minority_page``.

FOLDER, if named, is what ``ecselm bench minority --output FOLDER`` has left.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages import fill_page
from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm.paper.bench.minority import gains_of, tables_of, values_of
from ecselm.paper.jobs import read_rows

PAGE = HERE.parent / "docs" / "bench.md"
BEGIN = "<!-- minority -->\n"
FILE = "results.parquet"


def keep(folder: Path) -> None:
    """Copy the results of a run to where the page is made of them."""
    (KEPT / "minority").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / FILE, KEPT / "minority" / FILE)


def filled(page: str) -> str:
    """Return the page with the tables as the kept results have them."""
    gains = gains_of(values_of(read_rows(KEPT / "minority" / FILE)))
    parts = [
        f"{made.title}\n\n{table(list(made.header), [list(row) for row in made.rows])}"
        for made in tables_of(gains)
    ]
    before, rest = page.split(BEGIN, 1)
    text = "\n\n".join(parts)
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm bench minority", arguments)


if __name__ == "__main__":
    main()
