"""Run a bench, or what is left of it, and write its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ecselm.datasets.source import data_root
from ecselm.protocols.bench.cases import QUICK_SETS, bench_cases, chosen_cases
from ecselm.protocols.bench.contestants import (
    CONTESTANTS,
    QUICK_METHODS,
    check_extras,
    find_contestants,
)
from ecselm.protocols.bench.job import BenchJob
from ecselm.protocols.bench.plan import (
    FULL_EFFORT,
    QUICK_EFFORT,
    VERSION,
    Effort,
    known_case,
    plan_bench,
)
from ecselm.protocols.runner import run_jobs
from ecselm.protocols.store import Finished, Row, Store, check_parquet, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class Benched:
    """A bench as it came out, and where its files are.

    Parameters
    ----------
    results : DataFrame
        A row per number: data, method, split, metric, at, value.
    folder : path
    """

    results: Any
    folder: Path


def bench(
    output: str | Path,
    *,
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    half: str = "all",
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    run: bool = True,
    progress: bool = False,
) -> Benched:
    """Compare methods that are all tuned alike on KEEL's data sets, and where costs are stated.

    Parameters
    ----------
    output : path
        The folder of the run. Later runs of the same seed add to it, whatever their sets and
        methods; a folder that another seed has filled is refused.
    sets : sequence of str or None, default=None
        Names of data sets or patterns of them, such as ``"glass*"``; None is all.
    methods : sequence of str or None, default=None
        None is all.
    half : {"development", "confirmation", "all"}, default="all"
        Of the data: two halves that share no source.
    quick : bool, default=False
        A taste: few small sets, two splits, few methods and candidates.
    seed : int, default=0
    n_jobs : int, default=1
        Processes; results do not depend on it.
    run : bool, default=True
        Whether to run what is left; else what the folder has is shown.
    progress : bool, default=False
        Show a bar with the time left.

    Returns
    -------
    Benched

    Examples
    --------
    >>> from ecselm.protocols import bench
    >>> bench("benched", sets=["glass*"], n_jobs=2).summary  # doctest: +SKIP
    """
    wanted = find_contestants(_asked(methods, QUICK_METHODS if quick else None))
    _check(seed, n_jobs)
    if run:
        check_extras(wanted)
    found = chosen_cases(bench_cases(), _asked(sets, QUICK_SETS if quick else None), half)
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    store = Store(Path(output), _fingerprint(effort, seed))
    store.finished()  # a folder of another run is refused before any work
    cases = [known_case(case, seed) for case in found]
    if run:
        jobs = plan_bench(cases, wanted, seed, effort)
        with store.alone():
            run_jobs(jobs, store, n_jobs=n_jobs, progress="bench" if progress else None)
    return _written(plan_bench(cases, CONTESTANTS, seed, effort), store)


def _asked(names: Sequence[str] | None, otherwise: Sequence[str] | None) -> tuple[str, ...] | None:
    asked = otherwise if names is None else names
    return None if asked is None else tuple(asked)


def _check(seed: int, n_jobs: int) -> None:
    """Refuse what no bench can be run with, before any data are read."""
    check_parquet()
    for what, value, least in (("seed", seed, 0), ("n_jobs", n_jobs, 1)):
        if value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    data_root(None)  # a variable that names no folder


def _fingerprint(effort: Effort, seed: int) -> dict[str, Any]:
    return {"bench": VERSION, "effort": asdict(effort), "seed": seed}


def _written(jobs: Sequence[BenchJob], store: Store) -> Benched:
    """Write the files of what is done of these jobs, and return it."""
    done = store.finished()
    finished = [(job, done[job.key]) for job in jobs if job.key in done]
    store.folder.mkdir(parents=True, exist_ok=True)
    for kind in ("results", "seconds"):
        rows = [row for job, one in finished for row in _rows(job, one, kind)]
        write_rows(store.folder / f"{kind}.parquet", rows)
    results = read_rows(store.folder / "results.parquet")
    return Benched(results, store.folder)


def _rows(job: BenchJob, finished: Finished, kind: str) -> list[Row]:
    label, method = job.known.label, job.contestant.method
    measured = finished.rows if kind == "results" else finished.seconds
    return [(label, method, job.split, one.metric, one.at, one.value) for one in measured]
