"""The files of a bench: results as tidy rows, a page, and pictures of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ecselm._files import write_whole
from ecselm.paper.bench.cases import COST_TARGETS, COUNTED_TARGETS, HALVES, TARGETS
from ecselm.paper.bench.findings import ALL, SetOf, comparisons_of, parts_of, summary_of
from ecselm.paper.bench.job import BenchJob
from ecselm.paper.bench.page import NAMES, page_of, tables_of
from ecselm.paper.bench.plan import KnownCase
from ecselm.paper.bench.rank_picture import draw_ranks
from ecselm.paper.protocols.layout import Table
from ecselm.paper.protocols.store import Finished, Row, Store, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class Benched:
    """A bench as it came out, and where its files are.

    Parameters
    ----------
    results : DataFrame
        A row per number: data, method, split, metric, at, value. The metric ``"candidate"``
        is the position of what was chosen for the target in ``at``, or -1 where nothing
        could be fitted and the answer was the commonest class.
    summary : DataFrame
        target, part (a half, all, or the data set whose costs count), classes, method, n,
        mean and mean rank.
    comparisons : DataFrame
        ECSELM against every other method: wins, ties, losses, mean difference, p values,
        its worst loss and where.
    tables : tuple of Table
    left_out : tuple of str
        Methods that have not finished all data sets and are missing from some tables.
    folder : path
    """

    results: Any
    summary: Any
    comparisons: Any
    tables: tuple[Table, ...]
    left_out: tuple[str, ...]
    folder: Path

    def text(self) -> str:
        """Return what a terminal shows: a table per target, and where the files are."""
        halves = {half for half in HALVES if half != ALL}
        parts = [
            f"{table.text()}\n"
            for table in self.tables
            if table.numbers["part"].iloc[0] not in halves
        ]
        if not parts:
            parts.append("no method has finished yet")
        if self.left_out:
            parts.append(f"not finished everywhere, and left out there: {', '.join(self.left_out)}")
        if not find_spec("matplotlib"):
            parts.append('not drawn, which needs the extra "plot": pip install "ecselm[plot]"')
        return "\n".join([*parts, f"files: {self.folder}"])


def written(jobs: Sequence[BenchJob], cases: Sequence[KnownCase], store: Store) -> Benched:
    """Write the files of what is done of these jobs, and return it.

    Parameters
    ----------
    jobs : sequence of BenchJob
        All that there could be for these cases.
    cases : sequence of KnownCase
    store : Store
    """
    done = store.finished()
    finished = [(job, done[job.key]) for job in jobs if job.key in done]
    store.folder.mkdir(parents=True, exist_ok=True)
    for kind in ("seconds", "results"):
        rows = [row for job, one in finished for row in _rows(job, one, kind)]
        write_rows(store.folder / f"{kind}.parquet", rows)
    results = read_rows(store.folder / "results.parquet")
    sets = _sets(jobs, cases)
    write_whole(store.folder / "sets.csv", _listed(sets).encode())
    parts = parts_of(results, sets)
    summary, comparisons = summary_of(parts), comparisons_of(parts)
    tables = tuple(tables_of(summary, comparisons))
    left_out = _left_out(results, summary)
    page = page_of(tables, left_out, _drawn(summary, store.folder))
    write_whole(store.folder / "bench.md", page.encode())
    return Benched(results, summary, comparisons, tables, left_out, store.folder)


def _left_out(results: Any, summary: Any) -> tuple[str, ...]:
    """Return methods that have begun and are missing from a table of all data sets."""
    shown = set(zip(summary["target"], summary["part"], summary["method"], strict=True))
    begun = results[results["metric"].isin(TARGETS)].drop_duplicates(["data", "method", "metric"])
    missing = (
        method
        for data, method, target in zip(
            begun["data"], begun["method"], begun["metric"], strict=True
        )
        if (target, data if target in COST_TARGETS else ALL, method) not in shown
    )
    return tuple(dict.fromkeys(missing))


def _sets(jobs: Sequence[BenchJob], cases: Sequence[KnownCase]) -> list[SetOf]:
    """Return what is known of the data; of splits those that are planned."""
    n_splits = {job.known.label: job.split + 1 for job in jobs}  # the last split comes last
    return [
        SetOf(
            one.known.label,
            one.case.half,
            one.n_classes,
            n_splits[one.known.label],
            one.n_smallest,
        )
        for one in cases
    ]


def _listed(sets: Sequence[SetOf]) -> str:
    """Return the data sets as lines of CSV."""
    names = [field.name for field in fields(SetOf)]
    lines = [",".join(str(getattr(one, name)) for name in names) for one in sets]
    return "\n".join([",".join(names), *lines, ""])


def _rows(job: BenchJob, finished: Finished, kind: str) -> list[Row]:
    label, method = job.known.label, job.contestant.method
    measured = finished.rows if kind == "results" else finished.seconds
    return [(label, method, job.split, one.metric, one.at, one.value) for one in measured]


def _drawn(summary: Any, folder: Path) -> list[str]:
    """Draw the ranks over all data sets where there are some, and return the files."""
    if not find_spec("matplotlib"):
        return []
    names = []
    own = summary[(summary["part"] == ALL) & summary["target"].isin(COUNTED_TARGETS)]
    for (target, classes), part in own.groupby(["target", "classes"], sort=False):
        n = int(part["n"].iloc[0])
        if n < 2 or len(part) < 2:
            continue
        ending = "" if classes == ALL else f"-{classes.replace(' ', '-')}"
        of = "" if classes == ALL else f" of {classes}"
        path = folder / f"cd-{target}{ending}"
        ranks = part.set_index("method")["mean_rank"]
        draw_ranks(ranks, n, f"{NAMES[target]}: mean ranks on {n} data sets{of}", path)
        names.append(f"{path.name}.svg")
    return names
