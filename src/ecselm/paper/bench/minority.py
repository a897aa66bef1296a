"""Gain of learned costs over prior costs by the number of minority rows."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm._files import make_folder, write_whole
from ecselm._typing import AnyArray, IntArray
from ecselm.displays._drawing import COLOURS
from ecselm.metrics.intervals import bootstrap_interval
from ecselm.paper.bench.cases import BenchCase, keel_cases, select_cases
from ecselm.paper.bench.methods import find_bench_methods
from ecselm.paper.bench.plan import FULL_EFFORT, NO_DATA, QUICK_EFFORT, PlannedCase, plan_case
from ecselm.paper.bench.report import NAMES, markdown
from ecselm.paper.bench.tuning import Fitter, LabelledRows, label_rows, scores
from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import data_root
from ecselm.paper.jobs import (
    JobResult,
    Journal,
    Measurement,
    Row,
    check_run,
    read_rows,
    run_jobs,
    write_rows,
)
from ecselm.paper.protocols.figures import PANEL, STYLE, SUFFIXES, save_figure
from ecselm.paper.protocols.layout import Table
from ecselm.paper.protocols.protocol import repeat_generators
from ecselm.search import interruptible

SIZES = (5, 10, 17, 30, 50)
MIN_ROWS = 60  # minority rows of a training fold, so that 50 of them are a random sample


def smallest_class(y: AnyArray) -> int:
    """Return the class of fewest rows, the first of several.

    Examples
    --------
    >>> int(smallest_class(np.array([0, 0, 1, 0])))
    1
    """
    classes, counts = np.unique(y, return_counts=True)
    found: int = classes[counts.argmin()]
    return found


def is_suitable(data: Dataset) -> bool:
    """Tell whether there are two classes, and 60 rows of the minority in each training fold.

    Examples
    --------
    >>> fold = np.arange(200), np.arange(200)
    >>> y = np.repeat([0, 1], [140, 60])
    >>> is_suitable(Dataset("made", np.zeros((200, 1)), y, "Made here.", y[[0, -1]], folds=(fold,)))
    True
    """
    if len(data.counts) != 2 or not data.folds:
        return False
    rare = data.y == smallest_class(data.y)
    return min(int(rare[train].sum()) for train, _ in data.folds) >= MIN_ROWS


def subsample_minority(
    rows: IntArray, y: AnyArray, size: int, rng: np.random.Generator
) -> IntArray:
    """Return the rows with ``size`` of those of the minority.

    Equal generators draw nested samples: the five rows are among the ten.

    Parameters
    ----------
    rows : array of shape (n,)
    y : array
        Classes of all rows of the data.
    size : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1])
    >>> few, more = (
    ...     subsample_minority(np.arange(7), y, size, np.random.default_rng(0)) for size in (1, 2)
    ... )
    >>> len(few), len(more), set(few) <= set(more)
    (5, 6, True)
    """
    rare = y[rows] == smallest_class(y)
    kept = rng.permutation(rows[rare])[:size]
    return np.sort(np.concatenate([rows[~rare], kept]))


def suitable_cases(cases: Sequence[BenchCase], seed: int) -> list[PlannedCase]:
    """Return the cases that have enough minority rows; raise ValueError if none has."""
    found = [plan_case(case, seed) for case in cases if is_suitable(case.case.load())]
    if not found:
        names = ", ".join(case.name for case in cases)
        raise ValueError(
            f"sets must have two classes and at least {MIN_ROWS} rows of the minority in each "
            f"training fold, got {names}"
        )
    return found


TARGETS = ("gmean", "f1_macro")
PRIOR, LEARNED, DEFAULT = FORMS = ("prior", "learned", "default")


def keeps_prior(target: str) -> str:
    """Return the name of the metric that is 1 where the default kept the prior.

    Examples
    --------
    >>> keeps_prior("gmean")
    'gmean, keeps prior'
    """
    return f"{target}, keeps prior"


@dataclass(frozen=True, slots=True)
class MinorityJob:
    """All forms of ECSELM with ``size`` rows of the minority in one split of one data set.

    Parameters
    ----------
    planned : PlannedCase
    size : int
    split : int
    seed : int
    """

    planned: PlannedCase
    size: int
    split: int
    seed: int

    @property
    def label(self) -> str:
        """Return the name of the data in the results."""
        return self.planned.info.label

    @property
    def key(self) -> str:
        """Identify the job in a journal: all that its result depends on within a run."""
        info = self.planned.info
        data = f"{info.checksum}-{info.splits}"
        return "|".join(("minority", self.label, data, str(self.size), str(self.split)))

    @property
    def title(self) -> str:
        """Name the job in error messages."""
        return f"{self.size} rows of the minority of {self.label}, split {self.split}"

    def run(self) -> JobResult:
        """Fit on the subsampled training rows for every target, and score all test rows.

        Test rows are weighted so that classes have the shares they have in training.
        """
        case = self.planned.case
        data = case.case.load()
        folds = case.splits(data, self.seed)
        train, test = folds[self.split]
        rng = repeat_generators(len(folds), self.seed)[self.split]
        every = label_rows(data)
        train_rows = every.take(subsample_minority(train, data.y, self.size, rng))
        scaler = StandardScaler().fit(train_rows.X)
        train_rows, test_rows = train_rows.scaled(scaler), every.take(test).scaled(scaler)
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            warnings.simplefilter("ignore")  # few rows are the point
            start = time.perf_counter()
            measurements = tuple(
                one for target in TARGETS for one in self._score(target, train_rows, test_rows)
            )
            seconds = time.perf_counter() - start
        return JobResult(self.key, measurements, (Measurement("seconds", seconds, "learn"),))

    def _score(self, target: str, train: LabelledRows, test: LabelledRows) -> list[Measurement]:
        """Return the value of each form, and whether the default kept the prior.

        A default that kept the prior equals the form that always does, and is not fitted again.
        One that did not differs from the form that never does, whose search starts elsewhere.
        """
        fitter = Fitter(
            find_bench_methods(("ECSELM",))[0], by_cost=False, seed=self.seed + self.split
        )
        default = fitter.fit({}, train, target)
        learned = fitter.fit({"keep_prior": False}, train, target)
        prior = default
        if not default.keeps_prior_:
            prior = fitter.fit({"keep_prior": "always"}, train, target)
        y_pred = [model.predict(test.X) for model in (prior, learned, default)]
        # The shares of the training rows, because F1 depends on them.
        shares = np.bincount(train.y, minlength=train.n_classes) / len(train.y)
        values = scores(target, y_pred, test, shares)
        measurements = [
            Measurement(target, float(value), form)
            for form, value in zip(FORMS, values, strict=True)
        ]
        return [
            *measurements,
            Measurement(keeps_prior(target), float(default.keeps_prior_), DEFAULT),
        ]


def plan_minority(
    cases: Sequence[PlannedCase], seed: int, most_splits: int | None = None
) -> list[MinorityJob]:
    """Return the jobs set by set, so that a run that is stopped has whole sets.

    Parameters
    ----------
    cases : sequence of PlannedCase
    seed : int
        Of the rows that are drawn; seed plus split is the random state of ECSELM.
    most_splits : int or None, default=None
        Number of splits of a data set, the first ones; None is all.
    """
    return [
        MinorityJob(one, size, split, seed)
        for one in cases
        for size in SIZES
        for split in range(min(one.info.n_splits, most_splits or one.info.n_splits))
    ]


VALUES = ("target", "size", "data", *FORMS, "gain", "kept")
GAINS = ("target", "size", "n", *FORMS, "gain", "low", "high", "kept")


def values_of(results: Any) -> Any:
    """Return means over the splits of every data set, and the gain of learning there.

    Parameters
    ----------
    results : DataFrame
        Tidy results of whole data sets.

    Returns
    -------
    DataFrame
        target, size, data, a column for each form, ``gain`` of learned over prior, and
        ``kept``, the share of splits in which the default kept the prior.
    """
    import pandas as pd  # noqa: PLC0415  half a second that other imports need not wait

    means = results.groupby(["metric", "at", "data", "method"], sort=False)["value"].mean()
    rows = []
    for target in TARGETS:
        for size, data in dict.fromkeys(zip(results["at"], results["data"], strict=True)):
            own = {form: float(means[target, size, data, form]) for form in FORMS}
            gain = own[LEARNED] - own[PRIOR]
            share = float(means[keeps_prior(target), size, data, DEFAULT])
            rows.append((target, int(size), data, *own.values(), gain, share))
    found = pd.DataFrame(rows, columns=list(VALUES))
    return found.sort_values(["target", "size"], key=_in_order, kind="stable", ignore_index=True)


def gains_of(values: Any) -> Any:
    """Return means over data sets, and the 95 % bootstrap interval (BCa) of the gain.

    The bootstrap is over data sets; a single one has no interval.
    """
    import pandas as pd  # noqa: PLC0415

    rows = []
    for (target, size), part in values.groupby(["target", "size"], sort=False):
        forms = (part[form].mean() for form in FORMS)
        low, high = _interval(part["gain"].to_numpy())
        gain = (part["gain"].mean(), low, high)
        rows.append((target, size, len(part), *forms, *gain, part["kept"].mean()))
    return pd.DataFrame(rows, columns=list(GAINS))


def _interval(gains: Any) -> tuple[float, float]:
    if len(gains) < 2:
        return np.nan, np.nan
    found = bootstrap_interval(gains)
    return float(found.low), float(found.high)


def _in_order(column: Any) -> Any:
    """Return sort keys: targets in their listed order, sizes by number."""
    return column.map(TARGETS.index) if column.name == "target" else column


def draw_gains(values: Any, gains: Any, path: Path) -> tuple[Path, ...]:
    """Draw the gain of learned over prior costs, and return the files written.

    A panel for every target: a thin line for each data set, and their mean with its interval.
    The same frames give the same bytes, with the same version of matplotlib.

    Parameters
    ----------
    values, gains : DataFrame
        As ``values_of`` and ``gains_of`` of the findings return them.
    path : path
        Without an ending: a PNG and an SVG are written.
    """
    import matplotlib.figure  # noqa: PLC0415
    import matplotlib.style  # noqa: PLC0415

    targets = list(dict.fromkeys(gains["target"]))
    files = tuple(path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with matplotlib.style.context(["default", STYLE]):
        size = (PANEL[0] * len(targets), PANEL[1])
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(targets), squeeze=False, sharey=True)[0]
        for ax, target in zip(panels, targets, strict=True):
            ax.set_title(NAMES[target], fontsize="small")
            _draw(ax, values[values["target"] == target], gains[gains["target"] == target])
        panels[0].set_ylabel("gain of learned over prior costs")
        save_figure(figure, files)
    return files


def _draw(ax: Any, values: Any, gains: Any) -> None:
    for _, own in values.groupby("data", sort=False):
        ax.plot(own["size"], own["gain"], color="0.75", linewidth=0.7)
    ax.axhline(0.0, color="black", linewidth=0.7, linestyle=":")
    ax.fill_between(gains["size"], gains["low"], gains["high"], color=COLOURS[0], alpha=0.2)
    ax.plot(gains["size"], gains["gain"], color=COLOURS[0], marker="o", markersize=4)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(gains["size"], [str(size) for size in gains["size"]])
    ax.set_xlabel("rows of the minority")
    ax.grid(alpha=0.3)


HEADER = ("minority rows", *FORMS, "learned - prior", "95 % interval", "default keeps prior")
INTRODUCTION = """# When learning costs starts to pay

ECSELM with few rows of the minority in training and whole tests. "prior" keeps the costs that the
target asks for, "learned" takes the learned costs, "default" takes these if they beat the prior by
more than the standard error. Values are means over data sets of the means over their splits; the
interval is BCa's bootstrap over data sets. The last column is the share of fits.
"""


@dataclass(frozen=True, slots=True)
class MinorityResult:
    """The results of a run, and the folder of its files.

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
    unfinished : tuple of str
        Data sets with some results that are not finished.
    folder : path
    """

    results: Any
    values: Any
    gains: Any
    tables: tuple[Table, ...]
    unfinished: tuple[str, ...]
    folder: Path

    def text(self) -> str:
        """Return a table per target and the folder of the files, for a terminal."""
        parts = [f"{table.text()}\n" for table in self.tables] or ["no data set has finished yet"]
        if self.unfinished:
            parts.append(f"not finished, and missing: {', '.join(self.unfinished)}")
        if not find_spec("matplotlib"):
            parts.append('not drawn: install the extra "plot"')
        elif self.tables:
            parts.append(f"picture: {self.folder / 'gain.svg'}")
        return "\n".join([*parts, f"files: {self.folder}"])


def write_report(jobs: Sequence[MinorityJob], journal: Journal) -> MinorityResult:
    """Write the files of the finished jobs and return their results.

    Parameters
    ----------
    jobs : sequence of MinorityJob
        All jobs of the selected data, finished or not.
    journal : Journal
    """
    done = journal.results()
    finished = [(job, done[job.key]) for job in jobs if job.key in done]
    make_folder(journal.folder, name="output")
    write_rows(journal.folder / "results.parquet", _rows(finished))
    write_rows(journal.folder / "seconds.parquet", _seconds(finished))
    results = read_rows(journal.folder / "results.parquet")
    missing = {job.label for job in jobs if job.key not in done}
    unfinished = tuple(label for label in results["data"].unique() if label in missing)
    values = values_of(results[~results["data"].isin(unfinished)])
    gains = gains_of(values)
    tables = tables_of(gains)
    picture = _drawn(values, gains, journal.folder)
    page = "\n".join([INTRODUCTION, *(markdown(table) for table in tables), *picture])
    write_whole(journal.folder / "minority.md", page.encode())
    return MinorityResult(results, values, gains, tables, unfinished, journal.folder)


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
    """Draw the gain, if any, and return the lines of the page that show it."""
    if gains.empty or not find_spec("matplotlib"):
        return []
    draw_gains(values, gains, folder / "gain")
    return ["![gain of learned over prior costs](gain.svg)\n"]


def _rows(finished: Sequence[tuple[MinorityJob, JobResult]]) -> list[Row]:
    """Return tidy rows: forms as methods, at so many rows of the minority."""
    return [
        (job.label, one.at, job.split, one.metric, str(job.size), one.value)
        for job, found in finished
        for one in found.rows
    ]


def _seconds(finished: Sequence[tuple[MinorityJob, JobResult]]) -> list[Row]:
    """Return how long all fits of a job took together."""
    return [
        (job.label, "ECSELM", job.split, one.metric, str(job.size), one.value)
        for job, found in finished
        for one in found.seconds
    ]


VERSION = 1  # of the jobs; raised when results of the same job would differ
QUICK_SETS = ("ecoli1", "glass1")


def bench_minority(
    output: str | Path,
    *,
    sets: Sequence[str] | None = None,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    run: bool = True,
    progress: bool = False,
) -> MinorityResult:
    """Measure from how many minority rows on learned costs beat the prior.

    Of KEEL's sets of two classes those with at least 60 rows of the minority in each training
    fold; there the minority is subsampled to 5, 10, 17, 30 and 50 rows, and test rows are not.
    ECSELM keeps prior costs, takes the learned ones, or decides itself, which is its default.
    A run that was stopped goes on where it was.

    Parameters
    ----------
    output : path
        The folder of the run. Later runs of the same seed add to it, whatever their sets; a
        folder with results of another seed is refused.
    sets : sequence of str or None, default=None
        Names of data sets or patterns of them, such as ``"yeast*"``; None is all.
    quick : bool, default=False
        Two small data sets and two splits.
    seed : int, default=0
        Also of the rows that are kept.
    n_jobs : int, default=1
        Processes; results do not depend on it.
    run : bool, default=True
        Whether to run what is missing; otherwise the results of the folder are shown.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    MinorityResult
        The folder has ``results.parquet``, ``seconds.parquet``, ``minority.md`` and, with the
        extra ``plot``, a picture of the gain.

    Examples
    --------
    >>> from ecselm.paper.bench import bench_minority
    >>> bench_minority("benched-minority", sets=["pima"]).gains  # doctest: +SKIP
    """
    check_run(seed, n_jobs)
    data_root(None)  # a variable that names no folder
    every = keel_cases()
    if not every:
        raise FileNotFoundError(NO_DATA)
    found = select_cases(every, QUICK_SETS if quick and sets is None else sets, "all")
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    fingerprint = {"bench minority": VERSION, "effort": asdict(effort), "seed": seed}
    journal = Journal(Path(output), fingerprint)
    if not journal.results() and not run:  # a folder of another run is refused here, too
        raise FileNotFoundError(f"output must be a folder with results to show, got {output}")
    jobs = plan_minority(suitable_cases(found, seed), seed, effort.most_splits)
    if run:
        run_jobs(jobs, journal, n_jobs=n_jobs, progress="minority" if progress else None)
    return write_report(jobs, journal)
