"""Summarise the results of the bench: tables, a page and rank diagrams.

The value of a data set is the mean over its splits. Values that differ by less than 1e-9 are
equal, in ranks and in ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._files import make_folder, write_whole
from ecselm.paper.bench.cases import (
    COST_TARGETS,
    HALVES,
    SET_TARGETS,
    SMALLER_IS_BETTER,
    TARGETS,
)
from ecselm.paper.bench.plan import BenchJob, PlannedCase
from ecselm.paper.jobs import JobResult, Journal, Row, read_rows, write_rows
from ecselm.paper.protocols.figures import STYLE, SUFFIXES, save_figure
from ecselm.paper.protocols.layout import Table
from ecselm.paper.statistics import (
    CriticalDifferenceDisplay,
    critical_difference,
    holm,
    wilcoxon_test,
)

BASELINE = "ECSELM"
LABELS = {BASELINE: "ECSELM, ensemble"}  # names in tables that differ from those in results
ALL, TWO = "all", "two classes"
DIGITS = 9
SUMMARY = ("target", "part", "classes", "method", "n", "mean", "mean_rank")
COMPARISON = (
    "target",
    "part",
    "classes",
    "method",
    "n",
    "wins",
    "ties",
    "losses",
    "difference",
    "p",
    "p_holm",
    "worst",
    "worst_data",
)


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Facts about a data set that the comparison needs."""

    name: str
    half: str
    n_classes: int
    n_splits: int
    n_smallest: int  # rows of the smallest class


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Values of methods on the same data sets, or on the splits of one.

    Parameters
    ----------
    target : str
    name : str
        A half of the data, ``"all"``, or the one data set whose splits are compared.
    values : DataFrame
        Data sets or splits by methods; NaN where a method is for two classes only.
    two : sequence of bool
        Which rows are of two classes.
    """

    target: str
    name: str
    values: Any
    two: Sequence[bool]

    @property
    def sign(self) -> float:
        """Return 1 where more is better and -1 where less is."""
        return -1.0 if self.target in SMALLER_IS_BETTER else 1.0

    def tables(self) -> Iterator[tuple[str, Any]]:
        """Yield complete tables: of all rows, and of two classes if that adds methods."""
        everywhere = self.values.dropna(axis=1)
        yield ALL, everywhere
        if everywhere.shape[1] < self.values.shape[1] and any(self.two):
            yield TWO, self.values[np.asarray(self.two)].dropna(axis=1)


def parts_of(results: Any, sets: Sequence[DataFacts]) -> list[Part]:
    """Return the parts of the comparison: targets by halves, and costs by data set.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    sets : sequence of DataFacts
    """
    found = []
    for target in SET_TARGETS:
        values = _set_values(results, target, sets)
        known = [one for one in sets if one.name in values.index]
        halves = {one.half for one in known}
        for name in (ALL, "development", "confirmation"):
            own = [one for one in known if name in (ALL, one.half)]
            if own and (name == ALL or len(halves) > 1):
                found.append(_part(target, name, values, own))
    costs = results[results["metric"] == "mean_cost"]
    for one in sets:
        values = _split_values(costs[costs["data"] == one.name], one)
        if values.size:
            found.append(Part("mean_cost", one.name, values, [one.n_classes == 2] * len(values)))
    return found


def summary_of(parts: Sequence[Part]) -> Any:
    """Return mean and mean rank of every method, 1 being the best, as a frame."""
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    rows = [
        (part.target, part.name, classes, method, len(table), table[method].mean(), rank)
        for part in parts
        for classes, table in part.tables()
        for method, rank in (part.sign * table).rank(axis=1, ascending=False).mean().items()
    ]
    return pd.DataFrame(rows, columns=list(SUMMARY))


def comparisons_of(parts: Sequence[Part]) -> Any:
    """Return ECSELM against every other method as a frame.

    Wins, ties, losses and the mean difference are ECSELM's; ``worst`` is what it loses most
    by, and where. Methods for two classes only are compared on data sets of two classes.
    Wilcoxon's test is over data sets, corrected after Holm for the number of methods.
    Splits of one data set are not independent and are not tested.
    """
    import pandas as pd  # noqa: PLC0415

    rows = [
        (part.target, part.name, classes, *row)
        for part in parts
        for classes, table in part.tables()
        if BASELINE in table
        for row in _compare(part.sign * table, tested=part.target != "mean_cost")
    ]
    return pd.DataFrame(rows, columns=list(COMPARISON))


def _compare(table: Any, *, tested: bool) -> list[tuple[Any, ...]]:
    """Return the baseline against every other column; greater values are better."""
    others = [name for name in table if name != BASELINE]
    p = np.full(len(others), np.nan)
    if tested:
        p = np.array([_p(table[[BASELINE, name]]) for name in others])
    corrected = holm(p) if tested else p
    rows = []
    for name, one, holmed in zip(others, p, corrected, strict=True):
        gain = (table[BASELINE] - table[name]).round(DIGITS)
        counts = (int(part.sum()) for part in (gain > 0, gain == 0, gain < 0))
        worst = (-float(gain.min()), str(gain.idxmin())) if gain.min() < 0 else (0.0, "")
        rows.append((name, len(gain), *counts, float(gain.mean()), one, holmed, *worst))
    return rows


def _p(pair: Any) -> float:
    """Return Wilcoxon's p value; of one data set nothing can be said."""
    return wilcoxon_test(*pair.to_numpy().T).p if len(pair) > 1 else 1.0


def _set_values(results: Any, target: str, sets: Sequence[DataFacts]) -> Any:
    """Return the values of data sets by methods, NaN where splits are missing."""
    own = results[results["metric"] == target]
    grouped = own.groupby(["data", "method"], sort=False)["value"].agg(["mean", "count"])
    needed = {one.name: one.n_splits for one in sets}
    n_splits = np.array([needed.get(data, 0) for data, _ in grouped.index], dtype=float)
    whole = grouped["mean"][grouped["count"].to_numpy() == n_splits]
    return whole.round(DIGITS).unstack("method")


def _part(target: str, name: str, values: Any, sets: Sequence[DataFacts]) -> Part:
    """Return the methods that have every data set, or at least every one of two classes."""
    own = values.loc[[one.name for one in sets]]
    two = np.array([one.n_classes == 2 for one in sets])
    needed = own[two] if two.any() else own
    finished = [method for method in own if needed[method].notna().all()]
    return Part(target, name, own[finished], two.tolist())


def _split_values(costs: Any, one: DataFacts) -> Any:
    """Return the costs of splits by methods that have all of them."""
    values = costs.pivot_table(index="split", columns="method", values="value", sort=False)
    return values.round(DIGITS).dropna(axis=1) if len(values) == one.n_splits else values.iloc[:0]


NAMES = {
    "gmean": "Geometric mean of the recalls",
    "f1_macro": "Macro-averaged F1",
    "matthews_corrcoef": "Matthews correlation",
    "accuracy": "Accuracy",
    "log_loss": "Log loss of the probabilities",
    "mean_cost": "Mean cost of a decision",
}
HEADER = ("method", "mean", "mean rank", "wins/ties/losses", "difference", "p", "worst loss")
INTRODUCTION = f"""# Methods that are all tuned alike

Every method is tuned for the target of its table, on the training rows of every split alone and in
the same folds. The value of a data set is the mean over its splits; ranks are means over data
sets, 1 being the best. Wins, ties, losses, the mean difference and the worst loss are those of
{LABELS[BASELINE]}, against the method of the line; values within 1e-9 tie. p is Wilcoxon's
signed rank test over data sets, corrected after Holm for the number of methods in the table.
Methods for two classes only are in tables of the data sets of two classes. Where costs count,
splits of one data set are compared, which are not independent and are not tested.
"""


def tables_of(summary: Any, comparisons: Any) -> list[Table]:
    """Return a table for every target, part of the data and group of classes.

    Parameters
    ----------
    summary, comparisons : DataFrame
        As ``summary_of`` and ``comparisons_of`` of the findings return them.
    """
    against = {
        (row.target, row.part, row.classes, row.method): row
        for row in comparisons.itertuples(index=False)
    }
    tables = []
    for (target, part, classes), own in summary.groupby(["target", "part", "classes"], sort=False):
        ordered = own.sort_values("mean_rank", kind="stable")
        rows = tuple(
            _line(one, against.get((target, part, classes, one.method)))
            for one in ordered.itertuples(index=False)
        )
        title = _title(target, part, classes, int(own["n"].iloc[0]))
        tables.append(Table(title, HEADER, rows, own))
    return tables


def page_of(tables: Sequence[Table], unfinished: Sequence[str], pictures: Iterable[str]) -> str:
    """Return a page of Markdown.

    Parameters
    ----------
    tables : sequence of Table
    unfinished : sequence of str
        Methods that are missing from some tables.
    pictures : iterable of str
        Names of files.
    """
    parts = [INTRODUCTION, *(markdown(table) for table in tables)]
    parts += [f"![{name}]({name})\n" for name in pictures]
    if unfinished:
        parts.append(f"Not finished everywhere, and missing there: {', '.join(unfinished)}.\n")
    return "\n".join(parts)


def markdown(table: Table) -> str:
    """Return a table under its title, as Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (table.header, *table.rows)]
    lines.insert(1, "|" + "---|" * len(table.header))
    return "\n".join([f"## {table.title}\n", *lines, ""])


def _title(target: str, part: str, classes: str, n: int) -> str:
    if target == "mean_cost":
        return f"{NAMES[target]}: {part}, {n} splits"
    of = "" if part == ALL else f"{part} half, "
    kind = "" if classes == ALL else f" of {classes}"
    return f"{NAMES[target]}: {of}{n} data set{'s' * (n > 1)}{kind}"


def _line(one: Any, against: Any) -> tuple[str, ...]:
    own = (LABELS.get(one.method, one.method), f"{one.mean:.4f}", f"{one.mean_rank:.2f}")
    if against is None:
        return (*own, "", "", "", "")
    return (
        *own,
        f"{against.wins}/{against.ties}/{against.losses}",
        f"{against.difference:+.4f}",
        "" if math.isnan(against.p_holm) else f"{against.p_holm:.2g}",
        f"{against.worst:.4f} on {against.worst_data}" if against.worst_data else "none",
    )


ALPHA = 0.05


def draw_ranks(ranks: Any, n_sets: int, title: str, path: Path) -> tuple[Path, ...]:
    """Draw a critical-difference diagram (Demsar 2006), and return the files written.

    Methods joined by a bar do not differ by Nemenyi's test at 5 %. The same ranks give the
    same bytes, with the same version of matplotlib.

    Parameters
    ----------
    ranks : Series
        Mean ranks by method, 1 being the best.
    n_sets : int
        Data sets that they are means over.
    title : str
    path : path
        Without an ending: a PNG and an SVG are written.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     files = draw_ranks(pd.Series({"a": 1.2, "b": 1.8}), 5, "Two", Path(folder, "cd"))
    ...     [file.name for file in files]
    ['cd.png', 'cd.svg']
    """
    import matplotlib.figure  # noqa: PLC0415
    import matplotlib.style  # noqa: PLC0415

    difference = critical_difference(len(ranks), n_sets, alpha=ALPHA)
    display = CriticalDifferenceDisplay(ranks.rename(LABELS).to_dict(), difference)
    files = tuple(path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with matplotlib.style.context(["default", STYLE]):
        figure = matplotlib.figure.Figure(figsize=display.size, layout="constrained")
        ax = figure.subplots()
        ax.set_title(title, fontsize="small")
        display.plot(ax)
        save_figure(figure, files)
    return files


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The results of a bench, and the folder of its files.

    Parameters
    ----------
    results : DataFrame
        A row per number: data, method, split, metric, at, value. The metric ``"candidate"``
        is the position of what was chosen for the target in ``at``, or -1 where nothing
        could be fitted and the prediction was the most frequent class.
    summary : DataFrame
        target, part (a half, all, or the data set whose costs count), classes, method, n,
        mean and mean rank.
    comparisons : DataFrame
        ECSELM against every other method: wins, ties, losses, mean difference, p values,
        its worst loss and where.
    tables : tuple of Table
    unfinished : tuple of str
        Methods that have not finished all data sets and are missing from some tables.
    folder : path
    left_out : tuple of str
        Methods whose packages are not installed.
    """

    results: Any
    summary: Any
    comparisons: Any
    tables: tuple[Table, ...]
    unfinished: tuple[str, ...]
    folder: Path
    left_out: tuple[str, ...] = ()

    def text(self) -> str:
        """Return a table per target and the folder of the files, for a terminal."""
        halves = {half for half in HALVES if half != ALL}
        parts = [
            f"{table.text()}\n"
            for table in self.tables
            if table.numbers["part"].iloc[0] not in halves
        ]
        if not parts:
            parts.append("no method has finished yet")
        if self.unfinished:
            parts.append(
                f"not finished everywhere, and missing there: {', '.join(self.unfinished)}"
            )
        if self.left_out:
            parts.append(f"not run: {_without_package(self.left_out)}")
        if not find_spec("matplotlib"):
            parts.append('not drawn: install the extra "plot"')
        return "\n".join([*parts, f"files: {self.folder}"])


def write_report(
    jobs: Sequence[BenchJob],
    cases: Sequence[PlannedCase],
    journal: Journal,
    left_out: Sequence[str] = (),
) -> BenchResult:
    """Write the files of the finished jobs and return their results.

    Parameters
    ----------
    jobs : sequence of BenchJob
        All jobs of these cases, finished or not.
    cases : sequence of PlannedCase
    journal : Journal
    left_out : sequence of str
        Methods whose packages are not installed.
    """
    done = journal.results()
    finished = [(job, done[job.key]) for job in jobs if job.key in done]
    make_folder(journal.folder, name="output")
    for kind in ("seconds", "results"):
        rows = [row for job, one in finished for row in _rows(job, one, kind)]
        write_rows(journal.folder / f"{kind}.parquet", rows)
    results = read_rows(journal.folder / "results.parquet")
    sets = _sets(jobs, cases)
    write_whole(journal.folder / "sets.csv", _listed(sets).encode())
    parts = parts_of(results, sets)
    summary, comparisons = summary_of(parts), comparisons_of(parts)
    tables = tuple(tables_of(summary, comparisons))
    unfinished = _unfinished(results, summary)
    page = page_of(tables, unfinished, _drawn(summary, journal.folder))
    missing = tuple(name for name in left_out if name not in set(results["method"]))
    if missing:
        page += f"\nNot run: {_without_package(missing)}.\n"
    write_whole(journal.folder / "bench.md", page.encode())
    return BenchResult(results, summary, comparisons, tables, unfinished, journal.folder, missing)


def _without_package(names: Sequence[str]) -> str:
    return f"{', '.join(names)}, whose packages are missing"


def _unfinished(results: Any, summary: Any) -> tuple[str, ...]:
    """Return methods with some results that are missing from a table of all data sets."""
    shown = set(zip(summary["target"], summary["part"], summary["method"], strict=True))
    started = results[results["metric"].isin(TARGETS)].drop_duplicates(["data", "method", "metric"])
    missing = (
        method
        for data, method, target in zip(
            started["data"], started["method"], started["metric"], strict=True
        )
        if (target, data if target in COST_TARGETS else ALL, method) not in shown
    )
    return tuple(dict.fromkeys(missing))


def _sets(jobs: Sequence[BenchJob], cases: Sequence[PlannedCase]) -> list[DataFacts]:
    """Return facts about the data, with the number of planned splits."""
    n_splits = {job.info.label: job.split + 1 for job in jobs}  # the last split comes last
    return [
        DataFacts(
            one.info.label,
            one.case.half,
            one.n_classes,
            n_splits[one.info.label],
            one.n_smallest,
        )
        for one in cases
    ]


def _listed(sets: Sequence[DataFacts]) -> str:
    """Return the data sets as lines of CSV."""
    names = [field.name for field in fields(DataFacts)]
    lines = [",".join(str(getattr(one, name)) for name in names) for one in sets]
    return "\n".join([",".join(names), *lines, ""])


def _rows(job: BenchJob, result: JobResult, kind: str) -> list[Row]:
    label, method = job.info.label, job.method.name
    measurements = result.rows if kind == "results" else result.seconds
    return [(label, method, job.split, one.metric, one.at, one.value) for one in measurements]


def _drawn(summary: Any, folder: Path) -> list[str]:
    """Draw the ranks over all data sets where there are some, and return the files."""
    if not find_spec("matplotlib"):
        return []
    names = []
    own = summary[(summary["part"] == ALL) & summary["target"].isin(SET_TARGETS)]
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
