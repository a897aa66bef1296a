"""The problems whose cost searches are timed, their objectives, and the flop model."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ecselm import ELMClassifier, _native
from ecselm.costs.feasible import FeasibleRegion
from ecselm.costs.levels import ClassLevel, SampleLevel
from ecselm.estimators._base import class_targets
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    Engine,
    ErrorFitness,
    Fitness,
    Span,
    Split,
    TieBreakingFitness,
    TrainingKernel,
    every_row,
    fold_splits,
    kernel_engine,
    layer_engine,
)
from ecselm.layers import KernelMap, resolve_gamma
from ecselm.metrics.confusion import accuracy

N_FOLDS = 5
N_FEATURES = 20
ROW_STD = 3.0  # of rows around the centre of their class, so that the classes overlap
BOUNDS = (1e-3, 1.0)  # of all costs
COMPILED, LAPACK = "compiled", "LAPACK"
TRAIN, FOLDS = "train", "folds"  # the rows that score candidates
ERRORS, SQUARES, TIES = "errors", "squares", "errors, ties by squares"  # fitness functions


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a problem; a problem without hidden units uses a kernel."""

    name: str
    n_rows: int
    n_hidden: int | None
    n_classes: int
    C: float = 32.0
    data: str = "synthetic"
    rounds: int = 7
    literal: int = 20  # candidates that the literal loop evaluates in a round

    @property
    def n_targets(self) -> int:
        """Return m, the number of columns of T: two classes share one."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def is_kernel(self) -> bool:
        """Return whether a kernel takes the place of hidden units."""
        return self.n_hidden is None

    def shrunk(self) -> Shape:
        """Return a small version of the shape, for tests."""
        L = None if self.n_hidden is None else 8 + self.n_classes
        return replace(
            self, n_rows=60, n_hidden=L, n_classes=min(self.n_classes, 4), rounds=2, literal=3
        )


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("a", 5400, 100, 2),
        Shape("b", 320, 200, 6, C=2.0**20, literal=50),
        Shape("c", 400, 300, 5, literal=30),
        Shape("d", 700, None, 100, rounds=4, literal=6),
        Shape("e", 1437, 200, 10, data="digits"),
        Shape("f", 100_000, 300, 5, rounds=3, literal=2),
    )
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows behind a hidden layer or a kernel, with the splits that score candidates."""

    shape: Shape
    X: np.ndarray  # (N, n)
    y: np.ndarray  # (N,) class codes
    T: np.ndarray  # (N, m)
    features: np.ndarray | TrainingKernel  # H (N, L), or the kernel
    splits: dict[str, list[Split]]  # by TRAIN and FOLDS

    @classmethod
    def of_shape(cls, shape: Shape, *, with_folds: bool = True) -> Problem:
        """Make the problem from a fixed seed."""
        X, y = rows_of(shape)
        splits = {TRAIN: every_row(len(y))}
        if with_folds:
            splits[FOLDS] = fold_splits(X, y, N_FOLDS, np.random.default_rng(0))
        return cls(shape, X, y, class_targets(shape.n_classes)[y], _features(shape, X, y), splits)

    def validation_rows(self, splits: str) -> np.ndarray:
        """Return the positions of the validation rows, split after split."""
        return np.concatenate([split.test for split in self.splits[splits]])


def rows_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the class codes: training rows of digits, or rows around random centres."""
    if shape.data == "digits":
        X, y = load_digits(n_class=shape.n_classes, return_X_y=True)
        kept = train_test_split(X, y, train_size=shape.n_rows, stratify=y, random_state=0)
        return kept[0], kept[2]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(shape.n_rows) % shape.n_classes)
    centres = rng.standard_normal((shape.n_classes, N_FEATURES))
    return centres[y] + ROW_STD * rng.standard_normal((shape.n_rows, N_FEATURES)), y


def _features(shape: Shape, X: np.ndarray, y: np.ndarray) -> np.ndarray | TrainingKernel:
    if shape.n_hidden is None:
        return TrainingKernel.from_map(KernelMap("rbf", X, gamma=resolve_gamma("scale", X)))
    return ELMClassifier(shape.n_hidden, random_state=0).fit(X, y).layer_(X)


@dataclass(frozen=True, slots=True)
class PathObjective:
    """An objective that is built and evaluated on the compiled path or through LAPACK."""

    objective: CostObjective
    path: str

    @property
    def encoding(self) -> CostEncoding:
        """Return the encoding of costs as points."""
        return self.objective.encoding

    def forget(self) -> None:
        """Clear the state that the engine keeps between generations."""
        self.objective.forget()

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the losses (P,) of points (P, D)."""
        with use_path(self.path):
            return self.objective(points)


def missing_path(path: str) -> str | None:
    """Return why a path is not available, or None."""
    return None if path == LAPACK or _native.is_available() else "not available"


def available_paths() -> list[str]:
    """Return the paths that are available here."""
    return [path for path in (COMPILED, LAPACK) if not missing_path(path)]


def use_path(path: str) -> AbstractContextManager[Any]:
    """Return a context manager in which engines use one path."""
    return _native.disabled() if path == LAPACK else nullcontext()


def make_objective(
    problem: Problem, level: str, splits: str, fitness: str, path: str
) -> PathObjective:
    """Return the objective of costs per class or per sample, scored on the ``splits``."""
    costs = ClassLevel(problem.shape.n_classes) if level == "class" else SampleLevel(problem.y)
    low, high = (np.full(costs.n_entries, bound) for bound in BOUNDS)
    encoding = CostEncoding(
        costs, FeasibleRegion(low, high), Span.fixed(problem.shape.C), log=level == "class"
    )
    rows = CostedRows.at_level(costs, problem.T, problem.y, problem.shape.n_classes, None)
    with use_path(path):
        engine = _engine(problem, rows, splits)
    objective = CostObjective(encoding, engine, _fitness(problem, splits, fitness))
    return PathObjective(objective, path)


def _engine(problem: Problem, rows: CostedRows, splits: str) -> Engine:
    features = problem.features
    if isinstance(features, TrainingKernel):
        return kernel_engine(features, rows, problem.splits[splits])
    return layer_engine(features, rows, problem.splits[splits])


def _fitness(problem: Problem, splits: str, fitness: str) -> Fitness:
    rows, k = problem.validation_rows(splits), problem.shape.n_classes
    squares = ErrorFitness(problem.T[rows], None, np.square)
    errors = ConfusionFitness(problem.y[rows], k, None, accuracy, smoothing=0.0)
    ties = TieBreakingFitness(errors, problem.T[rows], None)
    return {ERRORS: errors, SQUARES: squares, TIES: ties}[fitness]


# The flop model counts the multiplications and additions that every exact method known to us
# needs. Exponentials, comparisons and memory traffic do not count.


def candidate_flops(shape: Shape, splits: str = TRAIN, fitness: str = ERRORS) -> float:
    """Return the flops of a candidate with one cost per class.

    A solve adds up one Gram matrix per class, factors the sum and solves for m columns:
    ``k L^2 + L^3/3 + 2 L^2 m``. Scores of n rows take ``2 n L m``; the squared loss needs
    no scores, only ``2 L^2 m`` more. With a kernel, a solve is ``N^3/3 + 2 N^2 m``, and only
    the validation rows of folds have to be scored.

    Examples
    --------
    >>> candidate_flops(Shape("a", 5400, 100, 2)) / 1e6  # doctest: +ELLIPSIS
    1.45...
    """
    N, m, k = shape.n_rows, shape.n_targets, shape.n_classes
    n_solves = N_FOLDS if splits == FOLDS else 1
    if shape.n_hidden is None:
        n = N if n_solves == 1 else N * (1 - 1 / N_FOLDS)
        scores = 0.0 if n_solves == 1 else 2.0 * N * n * m
        return n_solves * _solve_flops(n, m) + scores
    L = shape.n_hidden
    scores = 2.0 * L * L * m if fitness == SQUARES else 2.0 * N * L * m
    return n_solves * (k * L * L + _solve_flops(L, m)) + scores


def sample_flops(shape: Shape) -> float:
    """Return the flops of a candidate in which the costs of all rows are new.

    ``N L^2 + L^3/3 + 2 L^2 m`` and the scores or, solved in samples, ``N^3/3 + 2 N^2 m``.
    """
    N, L, m = shape.n_rows, shape.n_hidden or shape.n_rows, shape.n_targets
    return min(N * L * L + _solve_flops(L, m) + 2.0 * N * L * m, _solve_flops(N, m))


def fit_flops(shape: Shape, n_features: int) -> float:
    """Return the flops of a fit: H, its Gram matrix, ``H'T`` and the solution."""
    N, L, m = shape.n_rows, shape.n_hidden or shape.n_rows, shape.n_targets
    return N * L * (2.0 * n_features + L + 2.0 * m) + _solve_flops(L, m)


def _solve_flops(n: float, m: int) -> float:
    return n**3 / 3.0 + 2.0 * n * n * m
