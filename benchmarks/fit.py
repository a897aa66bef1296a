"""Time of the weighted fit, as ratios: against others, and two threads against one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import ThreadpoolController

from benchmarks.opponents import PEERS, RIDGE, Lesson, fit_ridge
from benchmarks.timing import Ratio, Task, blas_threads, interleaved
from ecselm import ELMClassifier, WELMClassifier

TARGETS = {"float64": 0.65, "float32": 0.35}  # against NumPy + Ridge, which is always float64
NO_SLOWER = 1.0  # the second thread must not cost time
PAUSE = 0.1  # seconds; an OpenBLAS pool that has just worked spins for about 0.03
C = ELMClassifier().C  # the opponent solves what our default solves


@dataclass(frozen=True, slots=True)
class Size:
    """How large the problem is, and how often it is run."""

    n_rows: int = 20000
    n_features: int = 50
    n_informative: int = 20
    n_hidden: int = 200
    n_classes: int = 10
    repeats: int = 41


FULL = Size()
QUICK = Size(n_rows=600, n_features=12, n_informative=8, n_hidden=20, n_classes=3, repeats=2)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of the table: a ratio, or why there is none."""

    ours: str
    opponent: str
    ratio: Ratio | None
    target: float | None = None
    missing: str | None = None

    @property
    def met(self) -> bool | None:
        """Tell whether the target is met, None if there is nothing to tell."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio.median <= self.target


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, class codes and sample weights, with the size they came from."""

    size: Size
    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    @classmethod
    def make(cls, size: Size) -> Problem:
        """Draw the problem, which is the same every time."""
        X, y = make_classification(
            n_samples=size.n_rows,
            n_features=size.n_features,
            n_informative=size.n_informative,
            n_classes=size.n_classes,
            random_state=0,
        )
        return cls(size, X, y, np.random.default_rng(0).uniform(0.5, 2.0, len(y)))

    def lesson(self, dtype: str) -> Lesson:
        """Return the rows standardised, with the mean weight of every class."""
        Xs = ((self.X - self.X.mean(axis=0)) / self.X.std(axis=0)).astype(dtype)
        means = np.bincount(self.y, self.w) / np.bincount(self.y)
        return Lesson(Xs, self.y, self.size.n_hidden, means)


def compare_fits(size: Size) -> list[Comparison]:
    """Return all comparisons of running times."""
    problem = Problem.make(size)
    with blas_threads(1):
        rows = [*_against_others(problem, "float64"), *_against_others(problem, "float32")]
        rows.append(_welm_against_ridge(problem))
    return [*rows, *_two_threads_against_one(problem)]


def _elm(problem: Problem, dtype: str) -> Task:
    model, X = ELMClassifier(problem.size.n_hidden, C=C, random_state=0), problem.X.astype(dtype)
    return lambda: model.fit(X, problem.y, sample_weight=problem.w)


def _welm(problem: Problem) -> Task:
    model = WELMClassifier(problem.size.n_hidden, weighting="w1", C=C, random_state=0)
    return lambda: model.fit(problem.X, problem.y)


def _ridge(problem: Problem, w: np.ndarray) -> Task:
    return lambda: fit_ridge(problem.X, problem.y, w, problem.size.n_hidden, C)


def _against_others(problem: Problem, dtype: str) -> Iterator[Comparison]:
    """Compare with Ridge in float64 and with the packages in the same precision."""
    lesson = problem.lesson(dtype)
    missing = {peer.name: peer.missing for peer in PEERS}
    opponents = {RIDGE: _ridge(problem, problem.w)} | {
        peer.name: partial(peer.run, lesson) for peer in PEERS if not missing[peer.name]
    }
    ratios = interleaved(_elm(problem, dtype), opponents, problem.size.repeats)
    for name in (RIDGE, *missing):
        target = TARGETS[dtype] if name == RIDGE else None
        ours = f"ELMClassifier, {dtype}"
        yield Comparison(ours, name, ratios.get(name), target, missing.get(name))


def _welm_against_ridge(problem: Problem) -> Comparison:
    w = 1.0 / np.bincount(problem.y)[problem.y]  # (9)
    ratios = interleaved(_welm(problem), {RIDGE: _ridge(problem, w)}, problem.size.repeats)
    return Comparison("WELMClassifier, float64", RIDGE, ratios[RIDGE], TARGETS["float64"])


def _two_threads_against_one(problem: Problem) -> Iterator[Comparison]:
    """Compare our fits with themselves; nothing else runs in between."""
    fits = {
        "ELMClassifier, float64": _elm(problem, "float64"),
        "ELMClassifier, float32": _elm(problem, "float32"),
        "WELMClassifier, float64": _welm(problem),
    }
    enough = joblib.cpu_count() >= 2
    for name, fit in fits.items():
        ours, one = f"{name}, two BLAS threads", "itself, one BLAS thread"
        ratio = _thread_ratio(fit, problem.size.repeats) if enough else None
        yield Comparison(ours, one, ratio, NO_SLOWER, None if enough else "one core only")


def _thread_ratio(fit: Task, repeats: int) -> Ratio:
    tasks = [_with_threads(fit, n) for n in (2, 1)]
    return interleaved(tasks[0], {"one": tasks[1]}, repeats, pause=PAUSE)["one"]


def _with_threads(fit: Task, n_threads: int) -> Task:
    # The search for loaded libraries is slow, and no part of the fit.
    controller = ThreadpoolController()

    def run() -> None:
        with controller.limit(limits=n_threads, user_api="blas"):
            fit()

    return run
