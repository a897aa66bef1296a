"""Run the search of an estimator: seeds, progress, checkpoints, and what came of it."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from tqdm.auto import tqdm

from ecselm._typing import FloatArray
from ecselm.elm.checkpoint import Checkpoint
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
CHUNK = 16  # candidates evaluated together, whatever the number of jobs


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
class Evolution:
    """What a search has found."""

    point: FloatArray  # (D,)
    score: float
    prior_scores: dict[str, float]
    history: SearchHistory


@dataclass(frozen=True, slots=True)
class SearchRun:
    """How a search is to be run, and its run."""

    optimizer: str | Callable[..., AskTell]
    population_size: int
    max_epochs: int
    patience: int | None = None
    max_time: float | None = None
    n_jobs: int | None = None
    callbacks: Sequence[Callable[[SearchProgress], Any]] = ()
    verbose: int = 0
    checkpoint: Checkpoint | None = None
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
        losses = {name: self._evaluate(objective, points) for name, points in seeds.items()}
        initial = _ranked(seeds, losses, self.population_size)
        search = make_search(self.optimizer, box, self.population_size, rng, initial)
        history = self._run(search, objective)
        point, loss = search.best
        for name, values in losses.items():
            if values.min() < loss:
                point, loss = seeds[name][values.argmin()].copy(), float(values.min())
        if not np.isfinite(loss):
            raise ValueError(
                "the search must meet a candidate with a finite fitness, got none in "
                f"{history.evaluations} evaluations"
            )
        priors = {name: -float(values.min()) for name, values in losses.items()}
        return Evolution(point, -loss, priors, history)

    def _run(self, search: AskTell, objective: Callable[[FloatArray], FloatArray]) -> SearchHistory:
        told = [] if self.checkpoint is None else self.checkpoint.fitness

        def fitness(points: FloatArray) -> FloatArray:
            if search.generation < len(told):
                return told[search.generation]
            values = self._evaluate(objective, points)
            if self.checkpoint is not None:
                self.checkpoint.add(values)
            return values

        with tqdm(
            total=self.max_epochs + 1, disable=self.verbose != 1, unit="generation", leave=False
        ) as bar:

            def callback(_: AskTell, history: SearchHistory) -> bool:
                progress = self._progress(history)
                bar.update()
                bar.set_postfix(best=f"{progress.best_score:.4g}")
                return len(history.generations) > len(told) and self._tell(progress)

            history = minimize(
                search,
                fitness,
                max_epochs=self.max_epochs,
                patience=self.patience,
                max_time=self.max_time,
                callback=callback,
            )
        self._close(history)
        return history

    def _evaluate(
        self, objective: Callable[[FloatArray], FloatArray], points: FloatArray
    ) -> FloatArray:
        chunks = [points[start : start + CHUNK] for start in range(0, len(points), CHUNK)]
        if effective_n_jobs(self.n_jobs) == 1:
            return np.concatenate([objective(chunk) for chunk in chunks])
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return np.concatenate(parallel(delayed(objective)(chunk) for chunk in chunks))

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
