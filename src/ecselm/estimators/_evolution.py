"""Run the search of an estimator: first population, progress, checkpoints, and the result."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import parent_process
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.exceptions import ConvergenceWarning

from ecselm._progress import progress_bar
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.fitness import CostObjective
from ecselm.search import (
    AskTell,
    BacktrackingSearch,
    Box,
    CovarianceAdaptation,
    DifferentialEvolution,
    RandomSearch,
    SearchHistory,
    SobolSearch,
    minimize,
)

logger = logging.getLogger(__name__)

OPTIMIZERS: dict[str, Callable[..., AskTell]] = {
    "bsa": BacktrackingSearch,
    "de": DifferentialEvolution,
    "cma": CovarianceAdaptation,
    "random": RandomSearch,
    "sobol": SobolSearch,
}
FORGETTING = 32  # generations after which engines begin anew, so that a resumed search can


def thread_number(n_jobs: int | None) -> int:
    """Return the threads that ``n_jobs`` stands for, here.

    Inside a worker of joblib, as in a grid search with jobs of its own, there are no more
    than BLAS was left: joblib divides the cores among its processes. Inside one of its
    threads there is one, because nobody divides the cores among threads.
    """
    backend, _ = get_active_backend()
    # A backend may count the cores of a cluster, but threads are of this machine.
    most = n_jobs if n_jobs is not None and n_jobs > 0 else cpu_count()
    threads = min(int(effective_n_jobs(n_jobs)), most)
    if not backend.nesting_level:
        return threads
    if parent_process() is None:
        return 1
    with one_blas_thread() as allowed:
        return min(threads, allowed)


def make_search(
    optimizer: str | Callable[..., AskTell],
    box: Box,
    size: int,
    rng: np.random.Generator,
    initial: FloatArray | None = None,
) -> AskTell:
    """Return an optimiser by its name or by what makes it."""
    make = OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
    return make(box, size, rng, initial=initial)


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """What a callback is told after every generation; greater scores are better."""

    generation: int
    max_epochs: int
    n_evaluations: int
    best_score: float
    mean_score: float
    spread: float
    seconds: float


@dataclass(frozen=True, slots=True)
class PriorFitness:
    """The best point of a prior, and its score."""

    point: FloatArray  # (D,)
    score: float


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a search has found."""

    point: FloatArray  # (D,)
    score: float
    priors: dict[str, PriorFitness]
    history: SearchHistory


class ReplayedFitness:
    """Fitness as a checkpoint tells it, then as the objective does.

    An objective that remembers begins anew every so often. What it remembers where a
    search is resumed is made again, so that the search goes on to the last digit.
    """

    def __init__(
        self,
        objective: Callable[[FloatArray], FloatArray],
        checkpoint: Checkpoint | None,
        max_epochs: int,
    ) -> None:
        self._objective, self._checkpoint = objective, checkpoint
        self.told = [] if checkpoint is None else checkpoint.fitness
        goes_on = len(self.told) <= max_epochs
        remembers = isinstance(objective, CostObjective) and objective.remembers
        resumed = len(self.told) // FORGETTING * FORGETTING
        self._made_again = range(
            resumed if remembers and goes_on else len(self.told), len(self.told)
        )

    def __call__(self, points: FloatArray, generation: int) -> FloatArray:
        """Return the fitness (P,) of a generation of points."""
        if generation % FORGETTING == 0 and isinstance(self._objective, CostObjective):
            self._objective.forget()
        if generation in self._made_again:
            self._objective(points)
        if generation < len(self.told):
            return self.told[generation]
        values = self._objective(points)
        if self._checkpoint is not None:
            self._checkpoint.add(values)
        return values


@dataclass(frozen=True, slots=True)
class SearchRun:
    """How a search is to be run, and its run."""

    optimizer: str | Callable[..., AskTell]
    population_size: int
    max_epochs: int
    patience: int | None = None
    max_time: float | None = None
    callbacks: Sequence[Callable[[SearchProgress], Any]] = ()
    verbose: int = 0
    checkpoint: Checkpoint | None = None
    title: str = ""  # how candidates are evaluated
    start: float = field(default_factory=time.monotonic)

    def evolve(
        self,
        objective: Callable[[FloatArray], FloatArray],
        box: Box,
        seeds: dict[str, FloatArray],
        rng: np.random.Generator,
    ) -> Evolution:
        """Minimise ``objective`` from a first population that holds the ``seeds``.

        Each seed is some points (n, D) with a name. The result is never worse than any
        of them, even if the population is too small to hold them all.
        """
        losses = {name: objective(points) for name, points in seeds.items()}
        initial = _ranked(seeds, losses, self.population_size)
        search = make_search(self.optimizer, box, self.population_size, rng, initial)
        history = self._run(search, objective)
        point, loss = search.best
        priors = {
            name: PriorFitness(seeds[name][values.argmin()].copy(), -float(values.min()))
            for name, values in losses.items()
        }
        for prior in priors.values():
            if -prior.score < loss:
                point, loss = prior.point, -prior.score
        if not np.isfinite(loss):
            raise ValueError(
                "the search must meet a candidate with a finite fitness, got none in "
                f"{history.evaluations} evaluations"
            )
        return Evolution(point, -loss, priors, history)

    def _run(self, search: AskTell, objective: Callable[[FloatArray], FloatArray]) -> SearchHistory:
        fitness = ReplayedFitness(objective, self.checkpoint, self.max_epochs)
        if self.verbose > 1:
            logger.info("evaluated by %s", self.title)
        with progress_bar(self.title, self.max_epochs + 1, shown=self.verbose == 1) as advance:

            def callback(_: AskTell, history: SearchHistory) -> bool:
                progress = self._progress(history)
                advance(f"best={progress.best_score:.4g}")
                return len(history.generations) > len(fitness.told) and self._tell(progress)

            history = minimize(
                search,
                lambda points: fitness(points, search.generation),
                max_epochs=self.max_epochs,
                patience=self.patience,
                max_time=self.max_time,
                callback=callback,
            )
        self._close(history)
        return history

    def _progress(self, history: SearchHistory) -> SearchProgress:
        last = history.generations[-1]
        return SearchProgress(
            last.generation,
            self.max_epochs,
            last.evaluations,
            -last.best,
            -last.mean,
            last.spread,
            time.monotonic() - self.start,
        )

    def _tell(self, progress: SearchProgress) -> bool:
        """Tell everybody about a generation; anybody may stop the search."""
        if self.verbose > 1:
            logger.info(
                "generation %d of %d: best %.6g, mean %.6g",
                progress.generation,
                progress.max_epochs,
                progress.best_score,
                progress.mean_score,
            )
        answers = [callback(progress) for callback in self.callbacks]  # all are told
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)

    def _close(self, history: SearchHistory) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save()
        if history.reason == "interrupted":
            warnings.warn(
                f"the search was interrupted after generation "
                f"{len(history.generations) - 1} of {self.max_epochs}: the best so far is kept",
                ConvergenceWarning,
                stacklevel=2,
            )


def _ranked(
    seeds: dict[str, FloatArray], losses: dict[str, FloatArray], size: int
) -> FloatArray | None:
    """Return the best point of every seed, then the best others up to half a population."""
    if not seeds:
        return None
    first = [int(values.argmin()) for values in losses.values()]
    leaders = [points[i] for points, i in zip(seeds.values(), first, strict=True)]
    others = np.vstack(
        [np.delete(p, i, axis=0) for p, i in zip(seeds.values(), first, strict=True)]
    )
    rest = np.concatenate([np.delete(v, i) for v, i in zip(losses.values(), first, strict=True)])
    room = max(0, size // 2 - len(leaders))
    ranked = others[np.argsort(rest, kind="stable")[:room]]
    return np.vstack([*leaders, ranked])[:size]
