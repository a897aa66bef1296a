"""One item of the paper from its data to its files."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ecselm
from ecselm._files import write_whole
from ecselm.paper.datasets.dataset import data_root
from ecselm.paper.protocols.budget import FULL, Budget
from ecselm.paper.protocols.figures import draw
from ecselm.paper.protocols.items import Item, find_item
from ecselm.paper.protocols.layout import Table, laid_out
from ecselm.paper.protocols.protocol import Known
from ecselm.paper.protocols.published import PUBLISHED, PublishedTable, registered_name
from ecselm.paper.protocols.runner import Collected, collect, plan, run_jobs
from ecselm.paper.protocols.significance import significance_table
from ecselm.paper.protocols.store import Store, check_parquet, read_rows, write_rows

WORDS = {
    "paper": "the paper's data",
    "public": "public data, not the paper's",
    "synthetic": "SYNTHETIC stand-in, says nothing about the paper's data",
}

MOST_NAMED = 8  # data sets, of which the table has the names anyway


@dataclass(frozen=True, slots=True)
class Reproduced:
    """An item as it came out, and where its files are.

    Parameters
    ----------
    item : Item
    table : Table
    published : Table or None
        The paper's own numbers, where some of the data are the paper's.
    cases : tuple of Known
        What the data were.
    folder : path
    """

    item: Item
    table: Table
    published: Table | None
    cases: tuple[Known, ...]
    folder: Path

    def text(self) -> str:
        """Return what a terminal shows: the table, and where its data come from."""
        parts = [self.table.text()]
        if self.published is not None:
            parts.append(self.published.text())
        for origin in dict.fromkeys(case.origin for case in self.cases):
            labels = [case.label for case in self.cases if case.origin == origin]
            named = "; ".join(labels) if len(labels) <= MOST_NAMED else f"{len(labels)} data sets"
            parts.append(f"{named}: {WORDS[origin]}")
        if _is_figure(self.item) and not find_spec("matplotlib"):
            parts.append('not drawn, which needs the extra "plot": pip install "ecselm[plot]"')
        return "\n".join([*parts, f"files: {self.folder}"])


def reproduce(
    name: str,
    output: str | Path,
    *,
    budget: Budget = FULL,
    seed: int = 0,
    n_jobs: int = 1,
    synthetic: bool = True,
    progress: bool = False,
) -> Reproduced:
    """Run a table or figure of the paper, or what is left of it, and write its files.

    Parameters
    ----------
    name : str
        ``"table-1"`` to ``"table-14"``, ``"figure-3"`` to ``"figure-6"`` or ``"figure-8"`` to
        ``"figure-12"``; or ``"keel"``, ``"credit"`` or ``"access"``, which are not in
        the paper.
    output : path
        The folder of the run. Items of one run share what they have in common; a folder
        that another seed or budget has filled is refused.
    budget : Budget, default=FULL
    seed : int, default=0
    n_jobs : int, default=1
        Processes; results do not depend on it.
    synthetic : bool, default=True
        Whether to run on synthetic stand-ins where there are no data; else those lines are
        left out.
    progress : bool, default=False
        Show a bar with the time left.

    Returns
    -------
    Reproduced
        Its folder has ``results.parquet``, ``seconds.parquet``, ``run.json``, ``table.csv``
        and ``table.tex``.

    Examples
    --------
    >>> from ecselm.paper.protocols import QUICK, reproduce
    >>> print(reproduce("table-11", "results", budget=QUICK).text())  # doctest: +SKIP
    """
    item = find_item(name)
    check_run(output, budget=budget, seed=seed, n_jobs=n_jobs)
    run = _fingerprint(budget, seed)
    store = Store(Path(output), run)
    jobs = plan(item, budget, seed, store.folder / "cache", synthetic=synthetic)
    if not jobs:
        raise FileNotFoundError(
            f"there are no data for {name}, and stand-ins are left out or there are none: "
            f"ECSELM_DATA must name a folder with the files that docs/datasets.md lists"
        )
    with store.alone():
        run_jobs(jobs, store, n_jobs=n_jobs, progress=name if progress else None)
        return _written(item, collect(jobs, store), store.folder / name, run)


def check_run(output: str | Path, *, budget: Budget, seed: int, n_jobs: int) -> None:
    """Refuse what no item could be run with, before any data are read.

    Examples
    --------
    >>> check_run("results", budget=FULL, seed=-1, n_jobs=1)
    Traceback (most recent call last):
        ...
    ValueError: seed must be at least 0, got -1
    """
    check_parquet()
    for what, value, least in (("seed", seed, 0), ("n_jobs", n_jobs, 1)):
        if value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    data_root(None)  # a variable that names no folder
    Store(Path(output), _fingerprint(budget, seed)).finished()  # a folder of another run


def _fingerprint(budget: Budget, seed: int) -> dict[str, Any]:
    return {"budget": asdict(budget), "seed": seed, "version": ecselm.__version__}


def _written(item: Item, found: Collected, folder: Path, run: dict[str, Any]) -> Reproduced:
    """Write all files of an item and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "seconds.parquet", found.seconds)
    write_rows(folder / "results.parquet", found.results)
    record = {"item": item.name, **run, "data": [asdict(case) for case in found.cases]}
    write_whole(folder / "run.json", json.dumps(record, indent=1, sort_keys=True).encode())
    kind = "seconds" if item.kind == "seconds" else "results"
    frame = read_rows(folder / f"{kind}.parquet")
    table = significance_table(item, frame) if item.kind == "tests" else laid_out(item, frame)
    write_whole(folder / "table.csv", table.csv().encode())
    write_whole(folder / "table.tex", table.latex().encode())
    published = _published(item, found)
    if published is not None:
        write_whole(folder / "published.csv", published.csv().encode())
    if _is_figure(item) and find_spec("matplotlib"):
        draw(item.name, frame, folder / item.name)
    return Reproduced(item, table, published, found.cases, folder)


def _is_figure(item: Item) -> bool:
    return item.name.startswith("figure")


def _published(item: Item, found: Collected) -> Table | None:
    """Return what the paper prints about those data that are the paper's."""
    if item.name not in PUBLISHED:
        return None
    table = PUBLISHED[item.name]
    rows = [row for row in table.rows if _is_about(item.name, row, found.cases)]
    if not rows:
        return None
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    columns = ["data", "method", "mean", "std"]
    frame = pd.DataFrame([cell for cell in table.cells() if cell[0] in rows], columns=columns)
    scale = 100.0 if table.metric == "accuracy" else 1.0  # ours are shares
    names = [registered_name(item.name, name) for name in frame["method"]]
    numbers = frame.assign(
        method=names, printed=frame["method"], mean=frame["mean"] / scale, std=frame["std"] / scale
    )
    cells = {(row, name): _shown(table, mean, std) for row, name, mean, std in frame.to_numpy()}
    body = tuple((row, *(cells[row, name] for name in table.columns)) for row in rows)
    return Table(f"{item.title}, as published", ("data", *table.columns), body, numbers)


def _is_about(item: str, row: str, cases: tuple[Known, ...]) -> bool:
    """Tell whether a printed row is about data that are the paper's own in this run."""
    own = {case.label for case in cases if case.origin == "paper"}
    if item == "table-13":  # p values over all data
        return len(own) == len(cases)
    if item == "table-14":  # of LFW, by which descriptor is not said
        return any(label.startswith("LFW") for label in own)
    return ("E-NOSE" if item in {"table-10", "table-11"} else row) in own


def _shown(table: PublishedTable, mean: float, std: float) -> str:
    if math.isnan(mean):
        return "-"
    digits = 4 if table.metric == "p" else 2
    return f"{mean:.{digits}f}" + ("" if math.isnan(std) else f" ± {std:.2f}")
