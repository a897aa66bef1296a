"""Run what is not done yet, on several processes, and collect all results in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from ecselm._progress import progress_bar
from ecselm.paper.methods import find_method
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.items import Item, Part
from ecselm.paper.protocols.job import Job
from ecselm.paper.protocols.protocol import Case, Known, described
from ecselm.paper.protocols.store import Finished, Row, Store


class Runnable(Protocol):
    """What can be run, and known again in a journal."""

    @property
    def key(self) -> str:
        """What the journal knows it by."""

    @property
    def title(self) -> str:
        """What a person knows it by."""

    def run(self) -> Finished:
        """Return what came of it."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The rows of an item in the order of its plan."""

    results: tuple[Row, ...]
    seconds: tuple[Row, ...]
    cases: tuple[Known, ...]


def plan(
    item: Item, budget: Budget, seed: int, cache: Path | None = None, *, synthetic: bool = True
) -> list[Job]:
    """Return the jobs of an item: parts, then cases, methods and splits, in its own order.

    Parameters
    ----------
    item : Item
    budget : Budget
    seed : int
        Of the splits, and with the number of the split of what methods draw.
    cache : path or None, default=None
        A folder for what jobs of the same split may share.
    synthetic : bool, default=True
        Whether to run on stand-ins where there are no data.

    Examples
    --------
    >>> from ecselm.paper.protocols.budget import QUICK
    >>> from ecselm.paper.protocols.items import find_item
    >>> [job.setting.method for job in plan(find_item("table-11"), QUICK, 0)][:3]
    ['SVM', 'SVM', 'PCA-SVM']
    """
    return [
        replace(job, cache=cache)
        for part in item.parts
        for job in _jobs(part, budget, seed)
        if synthetic or job.known.origin != "synthetic"
    ]


def _jobs(part: Part, budget: Budget, seed: int) -> Iterator[Job]:
    protocol = part.protocol
    for case in _evenly(_cases(part), budget.most_cases):
        known = _known(part, case, budget, seed)
        for setting in part.settings:
            method = str(find_method(setting.method, protocol.task).name)
            named = replace(setting, method=method)
            # Few splits show how sensitive a method is: five values take five times as long.
            n_splits = min(budget.sensitive, known.n_splits) if setting.at else known.n_splits
            for split in range(n_splits):
                yield Job(protocol, case, known, named, split, seed, budget)


def _cases(part: Part) -> list[Case]:
    """Return the cases of a part that there are data for."""
    found = list(part.protocol.cases())
    if part.cases is None:
        return found
    named = sorted(
        (case for case in found if case.name in part.cases),
        key=lambda case: (part.cases or ()).index(case.name),
    )
    return named[:1] if part.best_only else named


def _evenly(cases: list[Case], most: int | None) -> list[Case]:
    if most is None or len(cases) <= most:
        return cases
    return [cases[i * len(cases) // most] for i in range(most)]


def _known(part: Part, case: Case, budget: Budget, seed: int) -> Known:
    data = case.load()
    return described(case, data, part.protocol.splits(data, budget, seed))


def run_jobs(
    jobs: Sequence[Runnable], store: Store, *, n_jobs: int = 1, progress: str | None = None
) -> None:
    """Run the jobs that the journal does not have, and enter each as it ends.

    Parameters
    ----------
    jobs : sequence of Runnable
    store : Store
    n_jobs : int, default=1
        Processes, each with one thread of BLAS. Results do not depend on it.
    progress : str or None, default=None
        What a bar with the time left is called; None shows none.
    """
    store.begin()
    done = store.finished()
    wanted = {job.key: job for job in jobs}
    left = [job for key, job in wanted.items() if key not in done]
    bar = progress_bar(
        progress or "",
        len(wanted),
        shown=progress is not None and bool(left),
        n_done=len(wanted) - len(left),
    )
    with (
        bar as advance,
        parallel_config("loky", inner_max_num_threads=1),
        _workers_ended_on_error(n_jobs),
    ):
        pool = Parallel(n_jobs=min(n_jobs, max(1, len(left))), return_as="generator_unordered")
        for finished in pool(delayed(_run)(job) for job in left):
            store.add(finished)
            advance("")


@contextmanager
def _workers_ended_on_error(n_jobs: int) -> Iterator[None]:
    """End processes whose work nobody waits for any more, after an error or Ctrl-C."""
    try:
        yield
    except BaseException:
        if n_jobs > 1:
            get_reusable_executor().shutdown(wait=True, kill_workers=True)
        raise


def _run(job: Runnable) -> Finished:
    """Run a job, and say which it was if it fails."""
    try:
        return job.run()
    except ImportError:
        raise
    except Exception as error:
        raise RuntimeError(f"{job.title}: {error}") from error


def collect(jobs: Sequence[Job], store: Store) -> Collected:
    """Return the rows of jobs that are all done, in the order of the jobs."""
    done = store.finished()
    results = [row for job in jobs for row in _rows(job, done[job.key])]
    seconds = [
        (job.known.label, job.setting.name, job.split, one.metric, one.at, one.value)
        for job in jobs
        if not job.setting.at
        for one in done[job.key].seconds
    ]
    cases = tuple(dict.fromkeys(job.known for job in jobs))
    return Collected(tuple(results), tuple(seconds), cases)


def _rows(job: Job, finished: Finished) -> Iterator[Row]:
    """Yield the rows of a job; given parameters take the place of a place in a metric."""
    at = job.setting.at
    for one in finished.rows:
        if not (at and one.at):
            label, method = job.known.label, job.setting.name
            yield label, method, job.split, one.metric, at or one.at, one.value
