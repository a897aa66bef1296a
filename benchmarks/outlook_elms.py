"""ELMs that the paper names beside those it compares: ``python -m benchmarks.outlook_elms FOLDER``.

The seven systems of ``ecselm.paper.elms``, three textbook relatives and ECSELM on sets of both
benches, tuned alike: twelve candidates at most, in the inner folds of ``ecselm bench``, for
accuracy, G-mean and log loss separately. What is compared is fixed on the development half, and
the confirmation half is run once. FOLDER has the journal, and a run that was stopped goes on;
``--minutes`` stops it by itself. Results by split are kept in ``benchmarks/results/outlook``, and
their tables in ``docs/methods.md``; without FOLDER the page is filled from what is kept. Needs
``ECSELM_DATA``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm._files import write_whole
from ecselm.paper.bench.cases import SMALLER_IS_BETTER, UCI_TARGETS, BenchCase, keel_cases
from ecselm.paper.bench.cases import uci_cases as all_uci_cases
from ecselm.paper.bench.methods import BenchMethod, bands, cross_product
from ecselm.paper.bench.plan import BenchJob, Effort, plan_bench, plan_case
from ecselm.paper.bench.report import NAMES
from ecselm.paper.jobs import JobResult, Journal, Measurement, read_rows, run_jobs, write_rows
from ecselm.paper.statistics import holm, wilcoxon_test

PAGE = HERE.parent / "docs" / "methods.md"
FOLDER = KEPT / "outlook"
RESULTS, SECONDS, SETS = "results.parquet", "seconds.parquet", "sets.csv"
BEGIN = "<!-- outlook -->\n"
VERSION = 1  # of methods, candidates and sets; raised when results of the same job would differ
SEED = 0
BENCHES: dict[str, Callable[[], tuple[BenchCase, ...]]] = {
    "KEEL": keel_cases,
    "UCI": all_uci_cases,
}
HALVES = ("development", "confirmation")
PER_GROUP = {"development": 2, "confirmation": 3}  # of four groups by size and imbalance
MOST_ROWS, MOST_CLASSES, MOST_FEATURES, LEAST_OF_A_CLASS = 1000, 10, 64, 10
SPLITS = 1  # the first of each set
BATCH = 20  # jobs between looks at the clock
PENALTIES = [2.0**p for p in (-6, -2, 2, 6, 10, 14)]


def _grid(**other: Any) -> Any:
    return lambda shape: cross_product(C=PENALTIES, **other)  # noqa: ARG005  grids are called alike


def _kernels(shape: Any) -> Any:
    return cross_product(C=PENALTIES, gamma=bands(shape)[2::2])


METHODS = (
    BenchMethod("ELM", _grid(n_hidden=[100, 400])),
    BenchMethod("W1ELM", _grid(n_hidden=[100, 400])),
    BenchMethod("KELM", _kernels),
    BenchMethod("ECSELM", kind="itself"),
    BenchMethod("Boosting WELM", _grid(n_hidden=[100, 400])),
    BenchMethod("Kernel OS-ELM", _kernels, params={"novelty": 0.01}),
    BenchMethod("Parsimonious ELM", _grid(tol=[1e-2, 1e-3]), params={"n_hidden": 200}),
    BenchMethod("Sparse Bayesian ELM", lambda _: cross_product(n_hidden=[50, 100, 200])),
    BenchMethod("Twin ELM", _grid(tau=[0.05, 0.25])),
    BenchMethod("ML-ELM", _grid(encoder_units=[(50,), (200,)])),
    BenchMethod("H-ELM", _grid(encoder_units=[(50,), (200,)])),
)
CHOSEN = (
    "The new system that ranks first on the development half against the textbook system that "
    "ranks first there, both on the confirmation half:"
)
TEXTBOOK = ("ELM", "W1ELM", "KELM", "ECSELM")
RELATIVES = {"ECSELM": "KELM", "Boosting WELM": "W1ELM", "Kernel OS-ELM": "KELM"}  # others: ELM


def groups(facts: pd.DataFrame) -> list[pd.DataFrame]:
    """Return four groups of sets: few and many rows, each with even and uneven classes.

    Examples
    --------
    >>> facts = pd.DataFrame({"name": list("abcd"), "rows": [1, 2, 3, 4], "ratio": [2, 1, 4, 3]})
    >>> [group["name"].tolist() for group in groups(facts)]
    [['b'], ['a'], ['d'], ['c']]
    """
    found = []
    by_size = facts.sort_values(["rows", "name"])
    for part in (by_size[: len(by_size) // 2], by_size[len(by_size) // 2 :]):
        by_ratio = part.sort_values(["ratio", "name"])
        found += [by_ratio[: len(by_ratio) // 2], by_ratio[len(by_ratio) // 2 :]]
    return found


def facts_of(bench: str, half: str) -> pd.DataFrame:
    """Return name, rows and imbalance of the sets of a half that are small enough."""
    rows = []
    for case in BENCHES[bench]():
        if case.half == half:
            data = case.case.load()
            counts = data.counts
            n, d = data.X.shape
            small = n <= MOST_ROWS and d <= MOST_FEATURES and len(counts) <= MOST_CLASSES
            if small and counts.min() >= LEAST_OF_A_CLASS:
                ratio = round(float(counts.max() / counts.min()), 2)
                rows.append((bench, half, case.name, n, d, len(counts), ratio))
    columns = ["bench", "half", "name", "rows", "features", "classes", "ratio"]
    return pd.DataFrame(rows, columns=columns)


def chosen_sets() -> pd.DataFrame:
    """Return the sets of both benches and halves: some of each group, drawn with the seed 0."""
    rng = np.random.default_rng(SEED)
    found = [
        drawn(group, PER_GROUP[half], rng)
        for bench in BENCHES
        for half in HALVES
        for group in groups(facts_of(bench, half))
    ]
    return pd.concat(found, ignore_index=True)


def drawn(group: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return some sets of a group, of different sources as far as it has them.

    Sets whose names begin with the same word have rows in common.
    """
    mixed = group.iloc[rng.permutation(len(group))]
    source = mixed["name"].str.extract("^([a-z]+)", expand=False)
    order = mixed.groupby(source).cumcount().sort_values(kind="stable").index
    return mixed.loc[order[:n]].sort_values(["rows", "name"])


@dataclass(frozen=True, slots=True)
class TimedJob:
    """A job of the bench that states its processor time, which other processes hardly change."""

    job: BenchJob

    @property
    def key(self) -> str:
        """Identify the job in a journal."""
        return self.job.key

    @property
    def title(self) -> str:
        """Name the job in error messages."""
        return self.job.title

    def run(self) -> JobResult:
        """Return the scores of the job, and its seconds."""
        start = time.process_time()
        done = self.job.run()
        return replace(done, seconds=(Measurement("seconds", time.process_time() - start),))


def jobs(sets: pd.DataFrame, methods: Sequence[BenchMethod] = METHODS) -> list[TimedJob]:
    """Return one job per method, set and split: those of development first."""
    planned = []
    for half in HALVES:
        for bench, cases in BENCHES.items():
            own = sets[(sets["half"] == half) & (sets["bench"] == bench)]
            known = {case.name: case for case in cases()}
            for name in own["name"]:
                one = plan_case(replace(known[name], targets=UCI_TARGETS), SEED)
                info = replace(one.info, label=f"{bench} {name}")  # both benches have a wine
                planned.append(replace(one, info=info))
    found = plan_bench(planned, methods, SEED, Effort(SPLITS))
    found.sort(key=lambda job: HALVES.index(job.case.half))
    return [TimedJob(job) for job in found]


def run(folder: Path, minutes: float, n_jobs: int = 1) -> bool:
    """Run what the journal lacks, for some minutes, and tell whether all is done."""
    end = time.monotonic() + 60 * minutes
    journal = Journal(folder, {"outlook": VERSION, "seed": SEED})
    if not (folder / SETS).is_file():  # all sets have to be read for that
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / SETS, chosen_sets().to_csv(index=False).encode(), name="output")
    sets = pd.read_csv(folder / SETS)
    planned = jobs(sets)
    known = journal.results()
    pending = [job for job in planned if job.key not in known]
    while pending and time.monotonic() < end:
        run_jobs(pending[:BATCH], journal, n_jobs=n_jobs)
        pending = pending[BATCH:]
    print(f"{len(planned) - len(pending)} of {len(planned)} jobs done")
    if not pending:
        keep(planned, journal.results(), sets)
    return not pending


def keep(planned: Sequence[TimedJob], done: dict[str, JobResult], sets: pd.DataFrame) -> None:
    """Write results, times and facts of the sets to where the page is made of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, part in ((RESULTS, "rows"), (SECONDS, "seconds")):
        rows = [
            (one.job.info.label, one.job.method.name, one.job.split, m.metric, m.at, m.value)
            for one in planned
            for m in getattr(done[one.key], part)
        ]
        write_rows(FOLDER / name, rows)
    sets.to_csv(FOLDER / SETS, index=False)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """The kept results: values by split, processor seconds by split, and the sets."""

    values: Any
    seconds: Any
    sets: Any

    def of(self, bench: str, half: str, target: str) -> Any:
        """Return means over splits, sets by methods."""
        own = self.sets[(self.sets["bench"] == bench) & (self.sets["half"] == half)]
        labels = [f"{bench} {name}" for name in own["name"]]
        rows = self.values[self.values["metric"] == target]
        means = rows.groupby(["data", "method"])["value"].mean().unstack()
        frame = means.loc[labels, [method.name for method in METHODS]]
        return frame.set_axis(list(own["name"])).round(9)


def stored(folder: Path = FOLDER) -> Findings:
    """Return the kept results."""
    return Findings(
        read_rows(folder / RESULTS), read_rows(folder / SECONDS), pd.read_csv(folder / SETS)
    )


def ranks_of(values: Any, target: str) -> Any:
    """Return the rank of every method on every set, 1 being the best."""
    return values.rank(axis=1, ascending=target in SMALLER_IS_BETTER)


@dataclass(frozen=True, slots=True)
class Duel:
    """One method against another over sets; gains are positive where the first is better."""

    wins: int
    ties: int
    losses: int
    gain: float
    p: float
    worst: float
    worst_on: str

    def cells(self, p: float) -> list[str]:
        """Return the cells of a table; ``p`` is corrected."""
        worst = f"{self.worst:.3f}, {self.worst_on}" if self.worst > 0 else "none"
        counts = f"{self.wins}/{self.ties}/{self.losses}"
        return [counts, f"{self.gain:+.3f}", f"{p:.2g}", worst]


def duel(values: Any, first: str, second: str, target: str) -> Duel:
    """Compare two methods over the sets of a table, by Wilcoxon's signed ranks."""
    sign = -1.0 if target in SMALLER_IS_BETTER else 1.0
    gain = (sign * (values[first] - values[second])).round(9)
    return Duel(
        int((gain > 0).sum()),
        int((gain == 0).sum()),
        int((gain < 0).sum()),
        float(gain.mean()),
        wilcoxon_test(values[first], values[second]).p,
        float(max(0.0, -gain.min())),
        str(gain.idxmin()),
    )


def as_markdown(found: Findings) -> str:
    """Return the tables of the page."""
    parts = [
        "Mean ranks, 1 being the best of eleven, by half and bench:",
        _overview(found),
        CHOSEN,
        _confirmed(found),
    ]
    for target in UCI_TARGETS:
        for bench in BENCHES:
            parts += [
                f"{NAMES[target]}, confirmation half of {bench}:",
                _against(found, bench, target),
            ]
    return "\n\n".join(parts)


def _overview(found: Findings) -> str:
    places = [
        (half, bench, target) for half in HALVES for bench in BENCHES for target in UCI_TARGETS
    ]
    ranks = {
        place: ranks_of(found.of(place[1], place[0], place[2]), place[2]).mean() for place in places
    }
    seconds = found.seconds.groupby("method")["value"].median()
    header = ["method", *(f"{b}, {_SHORT[t]}, {h[:3]}." for h, b, t in places), "CPU s of a split"]
    rows = [
        [
            one.name,
            *(f"{ranks[place][one.name]:.1f}" for place in places),
            f"{seconds[one.name]:.2f}",
        ]
        for one in METHODS
    ]
    return table(header, rows)


_SHORT = {"accuracy": "accuracy", "log_loss": "log loss", "gmean": "G-mean"}


def choices(found: Findings) -> Iterator[tuple[str, str, str, str]]:
    """Yield bench, target, and the new and the textbook system that lead on development."""
    for bench in BENCHES:
        for target in UCI_TARGETS:
            ranks = ranks_of(found.of(bench, "development", target), target).mean()
            new = ranks.drop(list(TEXTBOOK)).idxmin()
            yield bench, target, str(new), str(ranks[list(TEXTBOOK)].idxmin())


def _confirmed(found: Findings) -> str:
    chosen = list(choices(found))
    tables = [found.of(bench, "confirmation", target) for bench, target, _, _ in chosen]
    duels = [
        duel(t, new, old, target) for t, (_, target, new, old) in zip(tables, chosen, strict=True)
    ]
    rows = []
    corrected = holm([one.p for one in duels])
    for (bench, target, new, old), values, one, p in zip(
        chosen, tables, duels, corrected, strict=True
    ):
        means = [f"{new}, {values[new].mean():.3f}", f"{old}, {values[old].mean():.3f}"]
        rows.append([f"{bench}, {_SHORT[target]}", *means, *one.cells(float(p))])
    return table(["bench, metric", "new", "textbook", *_DUEL], rows)


_DUEL = ["wins/ties/losses", "difference", "p", "largest loss"]


def _against(found: Findings, bench: str, target: str) -> str:
    values = found.of(bench, "confirmation", target)
    others = {m.name: RELATIVES.get(m.name, "ELM") for m in METHODS if m.name != "ELM"}
    duels = {name: duel(values, name, other, target) for name, other in others.items()}
    corrected = dict(zip(duels, holm([one.p for one in duels.values()]), strict=True))
    rows = [["ELM", f"{values['ELM'].mean():.3f}", "", "", "", "", ""]]
    for name, one in duels.items():
        mean = f"{values[name].mean():.3f}"
        rows.append([name, mean, others[name], *one.cells(float(corrected[name]))])
    return table(["method", "mean", "against", *_DUEL], rows)


def filled(page: str, found: Findings) -> str:
    """Return the page with the tables of these results."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}{as_markdown(found)}\n{rest[rest.index(END) :]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, keep it and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="of the journal; without it nothing is run"
    )
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so many")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.folder is None or run(options.folder, options.minutes, options.jobs):
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")


if __name__ == "__main__":
    main()
