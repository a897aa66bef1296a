"""Run the bench and report its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ecselm.paper.bench.cases import (
    QUICK_SETS,
    UCI_QUICK_SETS,
    BenchCase,
    bench_cases,
    keel_cases,
    select_cases,
    uci_cases,
)
from ecselm.paper.bench.methods import (
    BENCH_METHODS,
    QUICK_METHODS,
    UCI_METHODS,
    UCI_QUICK_METHODS,
    VARIANTS,
    BenchMethod,
    check_extras,
    find_bench_methods,
    left_out,
)
from ecselm.paper.bench.plan import FULL_EFFORT, QUICK_EFFORT, plan_bench, plan_cases
from ecselm.paper.bench.report import BenchResult, write_report
from ecselm.paper.datasets.dataset import data_root
from ecselm.paper.jobs import Journal, check_run, run_jobs

VERSION = 1  # of the jobs; raised when results of the same job would differ


@dataclass(frozen=True, slots=True)
class Suite:
    """The data sets and methods of a bench, and those of its quick form.

    Parameters
    ----------
    cases : callable
        Return the data sets that are available.
    methods : tuple of BenchMethod
    quick_sets, quick_methods : tuple of str
        Names.
    fingerprint : tuple of (str, str)
        What tells a folder of this suite from those of others.
    """

    cases: Callable[[], tuple[BenchCase, ...]]
    methods: tuple[BenchMethod, ...]
    quick_sets: tuple[str, ...]
    quick_methods: tuple[str, ...]
    fingerprint: tuple[tuple[str, str], ...] = ()


def bench(
    output: str | Path,
    *,
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    half: str = "all",
    variants: bool = False,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    run: bool = True,
    progress: bool = False,
) -> BenchResult:
    """Compare equally tuned methods on KEEL's data sets, and on data with known costs.

    A run that was stopped goes on where it was.

    Parameters
    ----------
    output : path
        The folder of the run. Later runs of the same seed add to it, whatever their sets and
        methods; a folder with results of another seed is refused.
    sets : sequence of str or None, default=None
        Names of data sets or patterns of them, such as ``"glass*"``; None is all.
    methods : sequence of str or None, default=None
        Names of methods; None is all.
    half : {"development", "confirmation", "all"}, default="all"
        Halves of the data, which share no source.
    variants : bool, default=False
        Compare variants of ECSELM instead, without and with each of its parts, on the sets of
        KEEL. Results of the default in the folder are used.
    quick : bool, default=False
        A few data sets, two splits, few methods and candidates.
    seed : int, default=0
    n_jobs : int, default=1
        Processes; results do not depend on it.
    run : bool, default=True
        Whether to run what is missing; otherwise the results of the folder are shown.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    BenchResult
        Of all methods that the folder has on these data. The folder has ``results.parquet``,
        ``seconds.parquet``, ``bench.md`` and, with the extra ``plot``, rank diagrams.

    Examples
    --------
    >>> from ecselm.paper.bench import bench
    >>> bench("benched", sets=["glass*"], n_jobs=2).summary  # doctest: +SKIP
    """
    suite = Suite(bench_cases, BENCH_METHODS, QUICK_SETS, QUICK_METHODS)
    if variants:
        suite = replace(_of_variants(suite), cases=keel_cases)
    return _bench(
        suite,
        output,
        sets=sets,
        methods=methods,
        half=half,
        quick=quick,
        seed=seed,
        n_jobs=n_jobs,
        run=run,
        progress=progress,
    )


def bench_uci(
    output: str | Path,
    *,
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    half: str = "all",
    variants: bool = False,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    run: bool = True,
    progress: bool = False,
) -> BenchResult:
    """Compare equally tuned methods on sets of UCI, by accuracy, log loss and G-mean.

    The sets are those of Fernandez-Delgado et al. (2014), in their splits. Optional methods
    whose packages are missing are left out unless ``methods`` names them.

    Parameters
    ----------
    output, sets, methods, half, variants, quick, seed, n_jobs, run, progress :
        As in :func:`bench`; a folder of that suite is refused.

    Returns
    -------
    BenchResult

    Examples
    --------
    >>> from ecselm.paper.bench import bench_uci
    >>> bench_uci("benched-uci", half="confirmation").summary  # doctest: +SKIP
    """
    suite = Suite(uci_cases, UCI_METHODS, UCI_QUICK_SETS, UCI_QUICK_METHODS, (("suite", "uci"),))
    if variants:
        suite = _of_variants(suite)
    return _bench(
        suite,
        output,
        sets=sets,
        methods=methods,
        half=half,
        quick=quick,
        seed=seed,
        n_jobs=n_jobs,
        run=run,
        progress=progress,
    )


def _of_variants(suite: Suite) -> Suite:
    """Return the suite with variants of ECSELM for its methods."""
    return replace(suite, methods=VARIANTS, quick_methods=tuple(one.name for one in VARIANTS))


def _bench(
    suite: Suite,
    output: str | Path,
    *,
    sets: Sequence[str] | None,
    methods: Sequence[str] | None,
    half: str,
    quick: bool,
    seed: int,
    n_jobs: int,
    run: bool,
    progress: bool,
) -> BenchResult:
    """Run a suite; the parameters are those of :func:`bench`."""
    names = suite.quick_methods if quick and methods is None else methods
    selected = find_bench_methods(names, suite.methods)
    missing = left_out(suite.methods) if methods is None else ()
    selected = tuple(method for method in selected if method.name not in missing)
    check_run(seed, n_jobs)
    data_root(None)  # a variable that names no folder
    if run:
        check_extras(selected)
    found = select_cases(suite.cases(), suite.quick_sets if quick and sets is None else sets, half)
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    fingerprint = {"bench": VERSION, "effort": asdict(effort), "seed": seed}
    journal = Journal(Path(output), {**fingerprint, **dict(suite.fingerprint)})
    if not journal.results() and not run:  # a folder of another run is refused here, too
        raise FileNotFoundError(f"output must be a folder with results to show, got {output}")
    cases = plan_cases(found, seed, all_needed=sets is not None)
    if run:
        jobs = plan_bench(cases, selected, seed, effort)
        run_jobs(jobs, journal, n_jobs=n_jobs, progress="bench" if progress else None)
    return write_report(plan_bench(cases, suite.methods, seed, effort), cases, journal, missing)
