"""What a search takes beside its solves, and what a second core brings it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np

from benchmarks.end_to_end import ONE_MACHINE, Progress
from benchmarks.fit import NO_SLOWER, PAUSE
from benchmarks.problems import SHAPES, Shape, rows_of
from benchmarks.timing import Ratio, Stopwatch, blas_threads, seconds_by_round
from ecselm import ECSELMClassifier
from ecselm.fitness import CostEncoding, CostObjective

SHARE_TARGET = 0.15
CORES_TARGET = 1.6
TINY = Shape("tiny", 150, 20, 3)
COUNTS: dict[str, Any] = {"smoothing": 0.0}


@dataclass(frozen=True, slots=True)
class Size:
    """How long a search is, how often it is run, and whether shapes are shrunk."""

    population: int = 100
    epochs: int = 20
    rounds: int = 5
    shrunk: bool = False

    def rows(self, name: str) -> tuple[Shape, np.ndarray, np.ndarray]:
        """Return a shape with its rows."""
        shape = {**SHAPES, TINY.name: TINY}[name]
        shape = shape.shrunk() if self.shrunk else shape
        return shape, *rows_of(shape)


FULL = Size()
QUICK = Size(population=6, epochs=2, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a search that is neither engine nor judge."""

    search: str
    share: Ratio
    target: float = SHARE_TARGET

    @property
    def met(self) -> bool:
        """Tell whether the target is met."""
        return self.share.median <= self.target


@dataclass(frozen=True, slots=True)
class Gain:
    """The time of a search on one core over that on two, or why there is none."""

    search: str
    ratio: Ratio | None
    target: float
    missing: str | None = None

    @property
    def met(self) -> bool | None:
        """Tell whether the target is met, None if there is nothing to tell.

        Equal times fall on both sides of 1, so what must not be slower is held to the
        upper quartile.
        """
        if self.ratio is None:
            return None
        return (self.ratio.upper if self.target == NO_SLOWER else self.ratio.median) >= self.target


def measure_shares(size: Size) -> list[Share]:
    """Return the share at (a) and (e), with a progress bar and a callback."""
    searches = [
        ("a", "class", "train"),
        ("a", "sample", "train"),
        ("e", "class", 5),
        ("e", "sample", "train"),
    ]
    with blas_threads(1):
        return [_share(size, *search) for search in searches]


def _share(size: Size, name: str, level: str, fitness: Any) -> Share:
    shape, X, y = size.rows(name)
    settings = {"cost_level": level, "fitness": fitness, "verbose": 1, **COUNTS}
    rounds = [_one_share(size, shape, X, y, settings) for _ in range(size.rounds)]
    return Share(_named(name, level, fitness), Ratio.of(np.array(rounds)))


def _one_share(
    size: Size, shape: Shape, X: np.ndarray, y: np.ndarray, settings: dict[str, Any]
) -> float:
    watch = Stopwatch()
    with (
        redirect_stderr(io.StringIO()),
        watched(CostObjective, "__call__", watch),
        watched(CostEncoding, "decode", watch),
    ):
        whole = _search(size, shape, X, y, 1, settings).seconds[-1]
    return 1.0 - (sum(watch.seconds["__call__"]) - sum(watch.seconds["decode"])) / whole


@contextmanager
def watched(owner: type, method: str, watch: Stopwatch) -> Iterator[None]:
    """Time all calls of a method within a ``with``."""
    plain = getattr(owner, method)

    def timed(self: Any, *arguments: Any, **options: Any) -> Any:
        return watch.time(method, plain, self, *arguments, **options)

    with patch.object(owner, method, timed):
        yield


def compare_cores(size: Size) -> list[Gain]:
    """Return what a second core brings: much where there is much to do, no loss elsewhere."""
    searches: list[tuple[str, Any, float, Size]] = [
        ("e", 5, CORES_TARGET, size),
        ("f", 5, CORES_TARGET, Size(size.population, 2, min(3, size.rounds), size.shrunk)),
        ("a", "train", NO_SLOWER, size),
        ("b", "train", NO_SLOWER, size),
        (TINY.name, "train", NO_SLOWER, size),
    ]
    enough = joblib.cpu_count() >= 2
    return [
        Gain(
            _named(name, "class", fitness),
            _gain(length, name, fitness) if enough else None,
            target,
            None if enough else "one core only",
        )
        for name, fitness, target, length in searches
    ]


def _gain(size: Size, name: str, fitness: Any) -> Ratio:
    shape, X, y = size.rows(name)
    settings = {"fitness": fitness, **COUNTS}
    timers = [_on_cores(n, partial(_search, size, shape, X, y, n, settings)) for n in (1, 2)]
    for timer in timers:
        timer()
    one, two = seconds_by_round(timers, size.rounds, pause=PAUSE).T
    return Ratio.of(one / two)


def _on_cores(n_cores: int, search: Callable[[], Progress]) -> Callable[[], float]:
    """Return what tells the seconds of the generations, without what comes before them."""

    def seconds() -> float:
        with blas_threads(n_cores):
            return search().generation

    return seconds


def _search(
    size: Size, shape: Shape, X: np.ndarray, y: np.ndarray, n_jobs: int, settings: dict[str, Any]
) -> Progress:
    progress = Progress()
    ECSELMClassifier(
        shape.n_hidden,
        population_size=size.population,
        max_epochs=size.epochs,
        callbacks=progress,
        n_jobs=n_jobs,
        random_state=0,
        **{**ONE_MACHINE, "C": shape.C, **settings},
    ).fit(X, y)
    return progress


def _named(name: str, level: str, fitness: Any) -> str:
    judged = "training error" if fitness == "train" else f"{fitness} folds"
    return f"({name}), {level} level, {judged}"
