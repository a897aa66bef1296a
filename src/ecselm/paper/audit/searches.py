"""The search of section III with fitness on training rows, on folds, and on test rows.

The last is an oracle. It is built here from the parts of a search, and only here: no estimator
of this package offers it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ecselm import ELMClassifier
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.fitness import (
    Candidates,
    ConfusionFitness,
    CostedRows,
    Split,
    every_row,
    fold_splits,
    layer_engine,
)
from ecselm.fitness.engines import Solving
from ecselm.linalg import solve_weighted
from ecselm.paper.jobs import JobResult, Journal, Measurement, run_jobs
from ecselm.paper.statistics import Finding, corrected_t_test
from ecselm.search import BacktrackingSearch, Box, interruptible, minimize

N_TRAIN, N_TEST = 400, 220
N_HIDDEN, STRENGTH = 100, 32.0  # L and C; the paper does not give them for tables I to III
N_FOLDS = 3
PLAIN = "plain ELM, no search"
KINDS = ("training rows", "out-of-fold rows", "ORACLE: test rows")
SIGNED, POSITIVE = (-1.0, 1.0), (1e-3, 1.0)  # as in the paper; as costs should be
METRICS = ("fitness", "accuracy", "equal")  # of every arm, in the order of the journal
ARMS = tuple((bounds, kind) for bounds in (SIGNED, POSITIVE) for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Effort:
    """Size of the audit: repeats, candidates and generations (plus a first one)."""

    n_repeats: int = 10
    population_size: int = 100
    max_epochs: int = 100


@dataclass(frozen=True, slots=True)
class Arm:
    """One kind of search: its rows, its fitness there and its accuracy on the test rows."""

    fitness_on: str
    bounds: tuple[float, float] | None  # of the costs
    fitness: tuple[float, ...]  # accuracy on those rows, a repeat each
    accuracy: tuple[float, ...]  # on the test rows
    equal: tuple[float, ...] = ()  # accuracy of equal costs on the rows of the fitness

    @property
    def is_oracle(self) -> bool:
        """Tell whether the search used the test rows."""
        return self.fitness_on == KINDS[2]

    @property
    def mean(self) -> float:
        """Return the mean accuracy."""
        return float(np.mean(self.accuracy))

    @property
    def std(self) -> float:
        """Return the standard deviation of the accuracy, by one repeat less."""
        return float(np.std(self.accuracy, ddof=1))


def difference_test(arm: Arm, other: Arm) -> Finding:
    """Test whether two arms differ on the same splits, by the corrected resampled t-test.

    Examples
    --------
    >>> one = Arm("training rows", SIGNED, (0.5, 0.5, 0.5), (0.31, 0.30, 0.32))
    >>> difference_test(one, one).p
    1.0
    """
    return corrected_t_test(arm.accuracy, other.accuracy, test_train_ratio=N_TEST / N_TRAIN)


@dataclass(frozen=True, slots=True)
class Task:
    """Rows behind a hidden layer: training rows first, then test rows."""

    X: FloatArray  # (N, d)
    H: FloatArray  # (N, L)
    y: IntArray  # (N,) codes
    n_train: int
    n_classes: int

    @classmethod
    def draw(cls, X: FloatArray, y: IntArray, n_classes: int, rng: np.random.Generator) -> Task:
        """Draw 400 training rows, 220 test rows, and the layer of section II."""
        rows = rng.permutation(len(X))[: N_TRAIN + N_TEST]
        X, y = X[rows], y[rows]
        model = ELMClassifier(N_HIDDEN, draw="uniform", scale="minmax", random_state=rng)
        layer = model.fit(X[:N_TRAIN], y[:N_TRAIN]).layer_
        return cls(X, np.asarray(layer(X), dtype=np.float64), y, N_TRAIN, n_classes)

    @property
    def T(self) -> FloatArray:
        """Return targets (N, k): 1 for the class, -1 for the others."""
        return np.where(self.y[:, np.newaxis] == np.arange(self.n_classes), 1.0, -1.0)

    def accuracy(self, B: FloatArray) -> float:
        """Return the accuracy on the test rows, trained with costs B (n_train,) by (15)."""
        n = self.n_train
        beta = solve_weighted(self.H[:n], self.T[:n], B, STRENGTH).beta
        return float(np.mean((self.H[n:] @ beta).argmax(axis=1) == self.y[n:]))

    def splits(self, kind: str, rng: np.random.Generator) -> list[Split]:
        """Return the training and validation rows of candidates."""
        train = np.arange(self.n_train)
        if kind == KINDS[0]:
            return every_row(self.n_train)
        if kind == KINDS[1]:
            return fold_splits(self.X[train], self.y[train], N_FOLDS, rng)
        return [Split(train, np.arange(self.n_train, len(self.y)))]


class Found(NamedTuple):
    """Costs, their fitness, and that of equal costs on the same rows."""

    B: FloatArray  # (n_train,)
    fitness: float
    equal: float


def search_costs(
    task: Task, kind: str, bounds: tuple[float, float], effort: Effort, rng: np.random.Generator
) -> Found:
    """Search one cost per training row by (21).

    Fitness is the accuracy on the rows of the ``kind``, by backtracking search from a first
    population drawn at random, as Algorithm 2 has it. Equal costs are evaluated on the same
    rows by the same models: a gain in fitness can be compared with a gain on the test rows.
    """
    splits = task.splits(kind, rng)
    space = Box(np.full(task.n_train, bounds[0]), np.full(task.n_train, bounds[1]))
    search = BacktrackingSearch(space, effort.population_size, rng)
    losses = _losses(task, splits)
    with interruptible():  # a stopped search must not pass for a whole one
        minimize(search, losses, max_epochs=effort.max_epochs)
    B, loss = search.best
    equal = -float(losses(np.ones((1, task.n_train)))[0])
    return Found(B, -loss, equal)


def _losses(task: Task, splits: list[Split]) -> Callable[[FloatArray], FloatArray]:
    validation = np.concatenate([split.test for split in splits])
    N = max(task.n_train, int(validation.max()) + 1)
    engine = layer_engine(task.H[:N], CostedRows(task.T[:N], np.arange(N), N), splits)
    objective = ConfusionFitness(task.y[validation], task.n_classes, None, _accuracy, 0.0)

    def losses(points: FloatArray) -> FloatArray:
        costs = np.ones((len(points), N))  # also of rows that are not trained on, where N is larger
        costs[:, : task.n_train] = points
        candidates = Candidates(costs, np.full(len(points), STRENGTH))
        if isinstance(engine, Solving):
            fitness = objective.of_solved(engine.solved(candidates))
        else:
            fitness = objective(engine.scores(candidates))
        return np.where(np.isnan(fitness), np.inf, -fitness)  # no solution of (15): never wins

    return losses


def _accuracy(counts: FloatArray) -> FloatArray:
    accuracy: FloatArray = np.trace(counts, axis1=1, axis2=2) / counts.sum(axis=(1, 2))
    return accuracy


@dataclass(frozen=True, slots=True, eq=False)
class SearchJob:
    """Plain ELM and every search on one random split."""

    X: FloatArray  # (N, d)
    y: IntArray | None  # (N,) codes; None draws random labels
    n_classes: int
    effort: Effort
    rng: np.random.Generator
    split: int

    @property
    def key(self) -> str:
        """Identify the job in a journal: all that its result depends on within a run."""
        return f"audit|{'random' if self.y is None else 'given'} labels|{self.split}"

    @property
    def title(self) -> str:
        """Name the job in error messages."""
        return f"audit with {'random' if self.y is None else 'given'} labels, split {self.split}"

    def run(self) -> JobResult:
        """Return fitness and test accuracy of every arm."""
        rng, *arm_rngs = deepcopy(self.rng).spawn(1 + len(ARMS))
        y = rng.integers(self.n_classes, size=len(self.X)) if self.y is None else self.y
        with threadpool_limits(1):  # the last bits of a sum depend on the number of threads
            task = Task.draw(self.X, y, self.n_classes, rng)
            found = [(np.nan, task.accuracy(np.ones(task.n_train)), np.nan)]
            for (bounds, kind), arm_rng in zip(ARMS, arm_rngs, strict=True):
                B, fitness, equal = search_costs(task, kind, bounds, self.effort, arm_rng)
                found.append((fitness, task.accuracy(B), equal))
        return JobResult(
            self.key,
            tuple(
                Measurement(metric, float(value), str(arm))
                for arm, values in enumerate(found)
                for metric, value in zip(METRICS, values, strict=True)
            ),
        )


def compare_searches(
    X: FloatArray,
    y: AnyArray | None,
    effort: Effort,
    rng: np.random.Generator,
    *,
    n_classes: int = 5,
    n_jobs: int = 1,
    journal: Journal | None = None,
    progress: str | None = None,
) -> tuple[Arm, ...]:
    """Run plain ELM and every search on the same random splits 400/220.

    Parameters
    ----------
    X : array of shape (N, d), N >= 620
    y : array of shape (N,) or None
        None: random labels in every repeat, all classes equally likely, independent of the
        features.
    effort : Effort
    rng : numpy.random.Generator
    n_classes : int, default=5
        Number of classes of random labels.
    n_jobs : int, default=1
        Processes; the result does not depend on it.
    journal : Journal or None, default=None
        Results of a run that was stopped, to go on with.
    progress : str or None, default=None
        Title of a progress bar; None shows none.

    Returns
    -------
    arms : tuple of Arm
    """
    if len(X) < N_TRAIN + N_TEST:
        raise ValueError(f"X must have at least {N_TRAIN + N_TEST} rows, got {len(X)}")
    codes = None
    if y is not None:
        classes, codes = np.unique(y, return_inverse=True)
        n_classes = len(classes)
    jobs = [
        SearchJob(X, codes, n_classes, effort, split_rng, split)
        for split, split_rng in enumerate(rng.spawn(effort.n_repeats))
    ]
    results = run_jobs(jobs, journal, n_jobs=n_jobs, progress=progress)
    values = np.array([[one.value for one in results[job.key].rows] for job in jobs])
    n_metrics = len(METRICS)
    F, A, E = (values[:, j::n_metrics] for j in range(n_metrics))  # (n_repeats, 1 + n_arms) each
    return tuple(
        Arm(kind, bounds, *(tuple(M[:, i].tolist()) for M in (F, A, E)))
        for i, (bounds, kind) in enumerate([(None, PLAIN), *ARMS])
    )
