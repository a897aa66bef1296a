"""Run the suite of the minority, or what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ecselm.paper.bench.cases import chosen_cases, keel_cases
from ecselm.paper.bench.minority.job import plan_minority
from ecselm.paper.bench.minority.report import BenchedMinority, written
from ecselm.paper.bench.minority.thinning import suited_cases
from ecselm.paper.bench.plan import FULL_EFFORT, NO_DATA, QUICK_EFFORT
from ecselm.paper.bench.run import check_bench
from ecselm.paper.protocols.runner import run_jobs
from ecselm.paper.protocols.store import Store

VERSION = 1  # of what a job does; raised when results of the same job would differ
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
) -> BenchedMinority:
    """Tell from how many minority cases on learning costs beats the prior.

    Of KEEL's sets of two classes those with at least 60 rows of the minority in each training
    fold; there the minority is thinned to 5, 10, 17, 30 and 50 rows, and tests stay whole.
    ECSELM keeps prior costs, takes what it learned, or decides itself, which is its default.

    Parameters
    ----------
    output : path
        The folder of the run. Later runs of the same seed add to it, whatever their sets; a
        folder that another seed has filled is refused.
    sets : sequence of str or None, default=None
        Names of data sets or patterns of them, such as ``"yeast*"``; None is all.
    quick : bool, default=False
        A taste: two small sets and two splits.
    seed : int, default=0
        Of the rows that are kept, too.
    n_jobs : int, default=1
        Processes; results do not depend on it.
    run : bool, default=True
        Whether to run what is left; else what the folder has is shown.
    progress : bool, default=False
        Show a bar with the time left.

    Returns
    -------
    BenchedMinority
        The folder has ``results.parquet``, ``seconds.parquet``, ``minority.md`` and, with the
        extra ``plot``, a picture of the gain.

    Examples
    --------
    >>> from ecselm.paper.protocols import bench_minority
    >>> bench_minority("benched-minority", sets=["pima"]).gains  # doctest: +SKIP
    """
    check_bench(seed, n_jobs)
    every = keel_cases()
    if not every:
        raise FileNotFoundError(NO_DATA)
    asked = QUICK_SETS if quick and sets is None else sets
    found = chosen_cases(every, None if asked is None else tuple(asked), "all")
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    fingerprint = {"bench minority": VERSION, "effort": asdict(effort), "seed": seed}
    store = Store(Path(output), fingerprint)
    if not store.finished() and not run:  # a folder of another run is refused here, too
        raise FileNotFoundError(f"output must be a folder with results to show, got {output}")
    jobs = plan_minority(suited_cases(found, seed), seed, effort.most_splits)
    if run:
        with store.alone():
            run_jobs(jobs, store, n_jobs=n_jobs, progress="minority" if progress else None)
    return written(jobs, store)
