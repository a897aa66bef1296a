"""The files of a run: results as tidy rows, a page, and a picture of the gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ecselm._files import write_whole
from ecselm.paper.bench.minority.findings import gains_of, values_of
from ecselm.paper.bench.minority.job import FORMS, MinorityJob
from ecselm.paper.bench.minority.picture import draw_gains
from ecselm.paper.bench.page import NAMES, markdown
from ecselm.paper.protocols.layout import Table
from ecselm.paper.protocols.store import Finished, Row, Store, read_rows, write_rows

HEADER = ("minority rows", *FORMS, "learned - prior", "95 % interval", "default keeps prior")
INTRODUCTION = """# When learning costs starts to pay

ECSELM with few rows of the minority in training and whole tests. "prior" keeps the costs that the
target asks for, "learned" takes what was learned, "default" takes it if it beats the prior by more
than the noise. Values are means over data sets of the means over their splits; the interval is
BCa's bootstrap over data sets. The last column is the share of fits.
"""


@dataclass(frozen=True, slots=True)
class BenchedMinority:
    """What came of a run, and where its files are.

    Parameters
    ----------
    results : DataFrame
        A row per number: data, method (``"prior"``, ``"learned"`` or ``"default"``), split,
        metric, at (the rows of the minority), value. The metric ``"gmean, keeps prior"`` is 1
        where the default kept the prior for that target.
    values : DataFrame
        Means over the splits of every data set that is finished.
    gains : DataFrame
        target, size, n, the mean of each form, gain, low, high and kept, over data sets.
    tables : tuple of Table
        One for every target.
    left_out : tuple of str
        Data sets that have begun and are not finished.
    folder : path
    """

    results: Any
    values: Any
    gains: Any
    tables: tuple[Table, ...]
    left_out: tuple[str, ...]
    folder: Path

    def text(self) -> str:
        """Return what a terminal shows: a table per target, and where the files are."""
        parts = [f"{table.text()}\n" for table in self.tables] or ["no data set has finished yet"]
        if self.left_out:
            parts.append(f"not finished, and left out: {', '.join(self.left_out)}")
        if not find_spec("matplotlib"):
            parts.append('not drawn, which needs the extra "plot": pip install "ecselm[plot]"')
        elif self.tables:
            parts.append(f"picture: {self.folder / 'gain.svg'}")
        return "\n".join([*parts, f"files: {self.folder}"])


def written(jobs: Sequence[MinorityJob], store: Store) -> BenchedMinority:
    """Write the files of what is done of these jobs, and return it.

    Parameters
    ----------
    jobs : sequence of MinorityJob
        All that there could be for the data that were asked for.
    store : Store
    """
    done = store.finished()
    finished = [(job, done[job.key]) for job in jobs if job.key in done]
    store.folder.mkdir(parents=True, exist_ok=True)
    write_rows(store.folder / "results.parquet", _rows(finished))
    write_rows(store.folder / "seconds.parquet", _seconds(finished))
    results = read_rows(store.folder / "results.parquet")
    unfinished = {job.label for job in jobs if job.key not in done}
    left_out = tuple(label for label in results["data"].unique() if label in unfinished)
    values = values_of(results[~results["data"].isin(left_out)])
    gains = gains_of(values)
    tables = tables_of(gains)
    picture = _drawn(values, gains, store.folder)
    page = "\n".join([INTRODUCTION, *(markdown(table) for table in tables), *picture])
    write_whole(store.folder / "minority.md", page.encode())
    return BenchedMinority(results, values, gains, tables, left_out, store.folder)


def tables_of(gains: Any) -> tuple[Table, ...]:
    """Return a table for every target, a line for every number of rows."""
    return tuple(
        Table(
            f"{NAMES[target]}: {n} data set{'s' * (n > 1)}",
            HEADER,
            tuple(_line(one) for one in part.itertuples(index=False)),
            part,
        )
        for (target, n), part in gains.groupby(["target", "n"], sort=False)
    )


def _line(one: Any) -> tuple[str, ...]:
    known = not math.isnan(one.low)
    return (
        str(one.size),
        *(f"{getattr(one, form):.4f}" for form in FORMS),
        f"{one.gain:+.4f}",
        f"{one.low:+.4f} to {one.high:+.4f}" if known else "",
        f"{one.kept:.0%}",
    )


def _drawn(values: Any, gains: Any, folder: Path) -> list[str]:
    """Draw the gain if there is any, and return the lines of the page that show it."""
    if gains.empty or not find_spec("matplotlib"):
        return []
    draw_gains(values, gains, folder / "gain")
    return ["![gain of learned over prior costs](gain.svg)\n"]


def _rows(finished: Sequence[tuple[MinorityJob, Finished]]) -> list[Row]:
    """Return tidy rows: forms as methods, at so many rows of the minority."""
    return [
        (job.label, one.at, job.split, one.metric, str(job.size), one.value)
        for job, found in finished
        for one in found.rows
    ]


def _seconds(finished: Sequence[tuple[MinorityJob, Finished]]) -> list[Row]:
    """Return how long all fits of a job took together."""
    return [
        (job.label, "ECSELM", job.split, one.metric, str(job.size), one.value)
        for job, found in finished
        for one in found.seconds
    ]
