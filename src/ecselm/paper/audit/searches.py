"""The search of section III, judged by rows of three kinds.

One of the kinds is an oracle: it looks at the test rows. It is made here from the parts of a
search, and only here; no estimator of this package can be told to do so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from ecselm import ELMClassifier
from ecselm._progress import progress_bar
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
from ecselm.paper.statistics import Finding, corrected_t_test
from ecselm.search import BacktrackingSearch, Box, interruptible, minimize

N_TRAIN, N_TEST = 400, 220
N_HIDDEN, STRENGTH = 100, 32.0  # L and C; the paper does not give them for tables I to III
N_FOLDS = 3
PLAIN = "plain ELM, no search"
KINDS = ("training rows", "out-of-fold rows", "ORACLE: test rows")
SIGNED, POSITIVE = (-1.0, 1.0), (1e-3, 1.0)  # as in the paper; as costs should be
ARMS = tuple((bounds, kind) for bounds in (SIGNED, POSITIVE) for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run: repeats, and candidates by generations (plus a first one)."""

    n_repeats: int = 10
    population_size: int = 100
    max_epochs: int = 100


@dataclass(frozen=True, slots=True)
class Arm:
    """What a search saw, what it found there, and what came of it on the test rows."""

    judged_by: str
    bounds: tuple[float, float] | None  # of the costs
    fitness: tuple[float, ...]  # accuracy on the rows judged by, a repeat each
    accuracy: tuple[float, ...]  # on the test rows

    @property
    def is_oracle(self) -> bool:
        """Tell whether the search saw the test rows."""
        return self.judged_by == KINDS[2]

    @property
    def mean(self) -> float:
        """Return the mean accuracy."""
        return float(np.mean(self.accuracy))

    @property
    def spread(self) -> float:
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
    """Rows behind a hidden layer: those to train on first, then the test rows."""

    X: FloatArray  # (N, d)
    H: FloatArray  # (N, L)
    y: IntArray  # (N,) codes
    n_train: int
    n_classes: int

    @classmethod
    def drawn(cls, X: FloatArray, y: IntArray, n_classes: int, rng: np.random.Generator) -> Task:
        """Draw 400 rows to train on and 220 others, and the layer as section II has it."""
        rows = rng.permutation(len(X))[: N_TRAIN + N_TEST]
        X, y = X[rows], y[rows]
        machine = ELMClassifier(N_HIDDEN, draw="uniform", scale="minmax", random_state=rng)
        layer = machine.fit(X[:N_TRAIN], y[:N_TRAIN]).layer_
        return cls(X, np.asarray(layer(X), dtype=np.float64), y, N_TRAIN, n_classes)

    @property
    def T(self) -> FloatArray:
        """Return targets (N, k): 1 for the class, -1 elsewhere."""
        return np.where(self.y[:, np.newaxis] == np.arange(self.n_classes), 1.0, -1.0)

    def accuracy(self, B: FloatArray) -> float:
        """Return the accuracy on the test rows, trained with costs B (n_train,) by (15)."""
        n = self.n_train
        beta = solve_weighted(self.H[:n], self.T[:n], B, STRENGTH).beta
        return float(np.mean((self.H[n:] @ beta).argmax(axis=1) == self.y[n:]))

    def splits(self, kind: str, rng: np.random.Generator) -> list[Split]:
        """Return what candidates are trained on and judged by."""
        train = np.arange(self.n_train)
        if kind == KINDS[0]:
            return every_row(self.n_train)
        if kind == KINDS[1]:
            return fold_splits(self.X[train], self.y[train], N_FOLDS, rng)
        return [Split(train, np.arange(self.n_train, len(self.y)))]


def searched(
    task: Task, kind: str, bounds: tuple[float, float], effort: Effort, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Search one cost per training row by (21); return B (n_train,) and its fitness.

    Fitness is the accuracy on the rows of the ``kind``, by backtracking search from a first
    population drawn at random, as Algorithm 2 has it.
    """
    splits = task.splits(kind, rng)
    space = Box(np.full(task.n_train, bounds[0]), np.full(task.n_train, bounds[1]))
    search = BacktrackingSearch(space, effort.population_size, rng)
    with interruptible():  # a search cut short must not pass for a whole one
        minimize(search, _losses(task, splits), max_epochs=effort.max_epochs)
    B, loss = search.best
    return B, -loss


def _losses(task: Task, splits: list[Split]) -> Callable[[FloatArray], FloatArray]:
    judged = np.concatenate([split.test for split in splits])
    N = max(task.n_train, int(judged.max()) + 1)
    engine = layer_engine(task.H[:N], CostedRows(task.T[:N], np.arange(N), N), splits)
    judge = ConfusionFitness(task.y[judged], task.n_classes, None, _share_right, 0.0)

    def losses(points: FloatArray) -> FloatArray:
        costs = np.ones((len(points), N))  # of rows that train nothing, too, where N is larger
        costs[:, : task.n_train] = points
        candidates = Candidates(costs, np.full(len(points), STRENGTH))
        if isinstance(engine, Solving):
            fitness = judge.of_solved(engine.solved(candidates))
        else:
            fitness = judge(engine.scores(candidates))
        return np.where(np.isnan(fitness), np.inf, -fitness)  # no solution of (15): never wins

    return losses


def _share_right(counts: FloatArray) -> FloatArray:
    right: FloatArray = np.trace(counts, axis1=1, axis2=2) / counts.sum(axis=(1, 2))
    return right


def _repeat(
    X: FloatArray,
    y: IntArray | None,
    n_classes: int,
    effort: Effort,
    rng: np.random.Generator,
) -> list[tuple[float, float]]:
    """Return fitness and test accuracy of every arm on one split, with ``y=None`` for noise."""
    drawn, *streams = rng.spawn(1 + len(ARMS))
    if y is None:
        y = drawn.integers(n_classes, size=len(X))
    task = Task.drawn(X, y, n_classes, drawn)
    found = [(np.nan, task.accuracy(np.ones(task.n_train)))]
    for (bounds, kind), stream in zip(ARMS, streams, strict=True):
        B, fitness = searched(task, kind, bounds, effort, stream)
        found.append((fitness, task.accuracy(B)))
    return found


def compared(
    X: FloatArray,
    y: AnyArray | None,
    effort: Effort,
    rng: np.random.Generator,
    *,
    n_classes: int = 5,
    n_jobs: int | None = 1,
    progress: str | None = None,
) -> tuple[Arm, ...]:
    """Run plain ELM and every search on the same random splits 400/220.

    Parameters
    ----------
    X : array of shape (N, d), N >= 620
    y : array of shape (N,) or None
        None: labels drawn anew in every repeat, all classes equally likely, with which the
        features have nothing to do.
    effort : Effort
    rng : numpy.random.Generator
    n_classes : int, default=5
        Of the labels drawn for ``y=None``.
    n_jobs : int, default=1
        Processes; the result does not depend on it.
    progress : str or None, default=None
        What a bar with the time left is called; None shows none.

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
    runs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_repeat)(X, codes, n_classes, effort, stream)
        for stream in rng.spawn(effort.n_repeats)
    )
    found = []
    with progress_bar(progress or "", effort.n_repeats, shown=progress is not None) as advance:
        for run in runs:
            found.append(run)
            advance("")
    F, A = np.moveaxis(np.array(found), 2, 0)  # (n_repeats, 1 + n_arms) each
    return tuple(
        Arm(kind, bounds, tuple(F[:, i].tolist()), tuple(A[:, i].tolist()))
        for i, (bounds, kind) in enumerate([(None, PLAIN), *ARMS])
    )
