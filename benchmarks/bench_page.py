"""Keep a run and fill its part of ``docs/bench.md``: ``python -m benchmarks.bench_page``.

FOLDER, if named, is what ``ecselm bench keel --output FOLDER`` has left.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.pages import fill_page
from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm.paper.bench.cases import COUNTED_TARGETS
from ecselm.paper.bench.report import (
    ALL,
    BASELINE,
    LABELS,
    NAMES,
    TWO,
    DataFacts,
    Part,
    comparisons_of,
    draw_ranks,
    parts_of,
    summary_of,
    tables_of,
)
from ecselm.paper.jobs import read_rows
from ecselm.paper.protocols.layout import Table

PAGE = HERE.parent / "docs" / "bench.md"
PICTURES = HERE.parent / "docs" / "pictures"
BEGIN = "<!-- bench -->\n"
FILES = ("results.parquet", "sets.csv")
HALF = "confirmation"
GUARDS = ("KELM", "W1KELM")
ENOUGH = 17  # rows of the smallest class, from which on the guard holds
FOR_TWO = ("LightGBM with tuned threshold",)
FURTHER = 0.03  # below the better of the two


def keep(folder: Path) -> None:
    """Copy the results of a run to where the page is made of them, and draw its ranks."""
    (KEPT / "bench").mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(folder / name, KEPT / "bench" / name)
    PICTURES.mkdir(exist_ok=True)
    summary = summary_of(_parts())
    of_half = (summary["part"] == HALF) & (summary["classes"] == ALL)
    for target, own in summary[of_half].groupby("target", sort=False):
        n = int(own["n"].iloc[0])
        title = f"{NAMES[target]}: mean ranks on {n} data sets"
        draw_ranks(own.set_index("method")["mean_rank"], n, title, PICTURES / f"bench-{target}")
        (PICTURES / f"bench-{target}.png").unlink()


def filled(page: str) -> str:
    """Return the page with the tables as the kept results have them."""
    parts = _parts()
    made = tables_of(summary_of(parts), comparisons_of(parts))
    shown = [_section(one) for one in made if _is_shown(one)]
    shown += [_of_two(one) for one in made if _is_of_two(one)]
    shown += [_pictures(), _guard(parts)]
    before, rest = page.split(BEGIN, 1)
    text = "\n\n".join(shown)
    return f"{before}{BEGIN}{text}\n{rest[rest.index(END) :]}"


def sets() -> list[DataFacts]:
    """Return the facts of the run about its data sets."""
    frame = pd.read_csv(KEPT / "bench" / "sets.csv")
    return [
        DataFacts(**dict(zip(frame.columns, row, strict=True))) for row in frame.values.tolist()
    ]


def _parts() -> list[Part]:
    return parts_of(read_rows(KEPT / "bench" / "results.parquet"), sets())


def _is_shown(made: Table) -> bool:
    """Tell whether a table is of the confirmation half, or of costs."""
    target, part, classes = _about(made)
    return target == "mean_cost" or (part == HALF and classes == ALL)


def _is_of_two(made: Table) -> bool:
    """Tell whether a table of that half has methods for two classes only."""
    _, part, classes = _about(made)
    return part == HALF and classes == TWO


def _about(made: Table) -> tuple[str, str, str]:
    return tuple(made.numbers[name].iloc[0] for name in ("target", "part", "classes"))


def _of_two(made: Table) -> str:
    """Return what a table of two classes adds to that of all data sets."""
    shown = [list(row) for row in made.rows if row[0] in {LABELS[BASELINE], *FOR_TWO}]
    return f"### {made.title}, methods for these alone\n\n{table(list(made.header), shown)}"


def _section(made: Table) -> str:
    return f"### {made.title}\n\n{table(list(made.header), [list(row) for row in made.rows])}"


def _pictures() -> str:
    lines = [
        f"![{NAMES[target]}, ranks](pictures/bench-{target}.svg)" for target in COUNTED_TARGETS
    ]
    return "### Ranks, and which of them differ\n\n" + "\n\n".join(lines)


def _guard(parts: Sequence[Part]) -> str:
    header = ["target", LABELS[BASELINE], *GUARDS, "sets of the guard", "further below"]
    rows = [_guarded(part) for part in parts if part.name == HALF and part.target != "mean_cost"]
    title = f"### Never far below a plain kernel machine: sets with {ENOUGH} rows of every class"
    return f"{title}\n\n{table(header, rows)}"


def _guarded(part: Part) -> list[str]:
    values = part.values
    means = [f"{values[name].mean():.4f}" for name in (BASELINE, *GUARDS)]
    enough = [one.name for one in sets() if one.n_smallest >= ENOUGH and one.name in values.index]
    below = (values[list(GUARDS)].max(axis=1) - values[BASELINE]).loc[enough]
    return [NAMES[part.target], *means, str(len(enough)), ", ".join(_named(below)) or "none"]


def _named(below: pd.Series) -> Iterator[str]:
    for name, by in below[below > FURTHER].sort_values(ascending=False).items():
        yield f"{name} by {by:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm bench keel", arguments)


if __name__ == "__main__":
    main()
