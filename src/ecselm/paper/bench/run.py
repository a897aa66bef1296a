"""Run a bench, or what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ecselm.paper.bench.cases import QUICK_SETS, bench_cases, chosen_cases
from ecselm.paper.bench.contestants import (
    CONTESTANTS,
    QUICK_METHODS,
    check_extras,
    find_contestants,
)
from ecselm.paper.bench.plan import (
    FULL_EFFORT,
    QUICK_EFFORT,
    VERSION,
    Effort,
    known_cases,
    plan_bench,
)
from ecselm.paper.bench.report import Benched, written
from ecselm.paper.datasets.dataset import data_root
from ecselm.paper.protocols.runner import run_jobs
from ecselm.paper.protocols.store import Store, check_parquet


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
        Of all methods that the folder has on these data. The folder has ``results.parquet``,
        ``seconds.parquet``, ``bench.md`` and, with the extra ``plot``, pictures of the ranks.

    Examples
    --------
    >>> from ecselm.paper.protocols import bench
    >>> bench("benched", sets=["glass*"], n_jobs=2).summary  # doctest: +SKIP
    """
    wanted = find_contestants(_asked(methods, QUICK_METHODS if quick else None))
    check_bench(seed, n_jobs)
    if run:
        check_extras(wanted)
    found = chosen_cases(bench_cases(), _asked(sets, QUICK_SETS if quick else None), half)
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    store = Store(Path(output), _fingerprint(effort, seed))
    if not store.finished() and not run:  # a folder of another run is refused here, too
        raise FileNotFoundError(f"output must be a folder with results to show, got {output}")
    cases = known_cases(found, seed, all_needed=sets is not None)
    if run:
        jobs = plan_bench(cases, wanted, seed, effort)
        with store.alone():
            run_jobs(jobs, store, n_jobs=n_jobs, progress="bench" if progress else None)
    return written(plan_bench(cases, CONTESTANTS, seed, effort), cases, store)


def _asked(names: Sequence[str] | None, otherwise: Sequence[str] | None) -> tuple[str, ...] | None:
    asked = otherwise if names is None else names
    return None if asked is None else tuple(asked)


def check_bench(seed: int, n_jobs: int) -> None:
    """Refuse what no bench can be run with, before any data are read."""
    check_parquet()
    for what, value, least in (("seed", seed, 0), ("n_jobs", n_jobs, 1)):
        if value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    data_root(None)  # a variable that names no folder


def _fingerprint(effort: Effort, seed: int) -> dict[str, Any]:
    return {"bench": VERSION, "effort": asdict(effort), "seed": seed}
