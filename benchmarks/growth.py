"""Growth of times with the size of the problem, beside the growth of the flop model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from benchmarks.problems import (
    BOUNDS,
    ERRORS,
    N_FEATURES,
    TIES,
    TRAIN,
    Problem,
    Shape,
    available_paths,
    candidate_flops,
    fit_flops,
    make_objective,
    rows_of,
    sample_flops,
)
from benchmarks.timing import Task, blas_threads, duration, seconds_by_round
from ecselm import ELMClassifier

POPULATION = 100
BASE = Shape("growth", 4000, 200, 5)
ROW_BASE = Shape("growth", 1600, 100, 5)  # one cost per row takes more time
FIT, CLASS, SAMPLE = "ELMClassifier.fit", "a generation, class level", "a generation, sample level"
FIELDS = {"N": "n_rows", "L": "n_hidden", "k": "n_classes"}


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes of the curves and number of rounds."""

    N: tuple[int, ...] = (1000, 2000, 4000, 8000, 16000, 32000)
    L: tuple[int, ...] = (50, 100, 200, 400, 800)
    k: tuple[int, ...] = (2, 5, 10, 20, 40)
    population: tuple[int, ...] = (10, 30, 100, 300)
    N_samples: tuple[int, ...] = (400, 800, 1600, 3200, 6400)
    rounds: int = 5


FULL = Size()
QUICK = Size(N=(50, 80), L=(5, 9), k=(2, 3), population=(2, 4), N_samples=(30, 50), rounds=2)


@dataclass(frozen=True, slots=True)
class Growth:
    """Times over one size, the others fixed, and the exponents of time and flops."""

    what: str
    over: str
    sizes: list[int]
    seconds: list[float]
    exponent: float
    model: float  # the exponent of the flop model over the same sizes


@dataclass(frozen=True, slots=True)
class Curve:
    """A task for each size, and its flops."""

    what: str
    over: str
    sizes: tuple[int, ...]
    task: Callable[[int], Task]
    flops: Callable[[int], float]

    def measure(self, rounds: int) -> Growth:
        """Time all sizes in turn."""
        tasks = [self.task(size) for size in self.sizes]
        for task in tasks:
            task()
        timers = [lambda task=task: duration(task) for task in tasks]
        seconds = np.median(seconds_by_round(timers, rounds), axis=0)
        sizes, flops = np.array(self.sizes), np.array([self.flops(size) for size in self.sizes])
        return Growth(
            self.what,
            self.over,
            list(self.sizes),
            seconds.tolist(),
            exponent(sizes, seconds),
            exponent(sizes, flops),
        )


def measure_growth(size: Size) -> list[Growth]:
    """Return all curves, each on one BLAS thread."""
    with blas_threads(1):
        return [curve.measure(size.rounds) for curve in (*_fits(size), *_searches(size))]


def _fits(size: Size) -> Iterator[Curve]:
    for over, sizes in (("N", size.N), ("L", size.L), ("k", size.k)):
        yield Curve(
            FIT,
            over,
            sizes,
            lambda value, over=over: _fit(_resized(BASE, over, value)),
            lambda value, over=over: fit_flops(_resized(BASE, over, value), N_FEATURES),
        )


def _searches(size: Size) -> Iterator[Curve]:
    for over, sizes in (("N", size.N), ("L", size.L), ("k", size.k)):
        yield Curve(
            CLASS,
            over,
            sizes,
            lambda value, over=over: _generation(_resized(BASE, over, value), "class"),
            lambda value, over=over: candidate_flops(_resized(BASE, over, value)),
        )
    yield Curve(
        CLASS, "population", size.population, lambda P: _generation(BASE, "class", P), float
    )
    yield Curve(
        SAMPLE,
        "N",
        size.N_samples,
        lambda value: _generation(_resized(ROW_BASE, "N", value), "sample"),
        lambda value: sample_flops(_resized(ROW_BASE, "N", value)),
    )


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of the logarithms: p where values grow as ``size**p``.

    Examples
    --------
    >>> round(exponent(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0])), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _resized(shape: Shape, over: str, value: int) -> Shape:
    return replace(shape, **{FIELDS[over]: value})


def _fit(shape: Shape) -> Task:
    X, y = rows_of(shape)
    model = ELMClassifier(shape.n_hidden, random_state=0)
    return lambda: model.fit(X, y)


def _generation(shape: Shape, level: str, population: int = POPULATION) -> Task:
    """Return a task that evaluates a few random generations in turn, one per call."""
    problem = Problem.of_shape(shape, with_folds=False)
    fitness = ERRORS if level == "class" else TIES
    objective = make_objective(problem, level, TRAIN, fitness, available_paths()[0])
    rng, D = np.random.default_rng(3), objective.encoding.level.n_entries
    costs = rng.uniform(*BOUNDS, (3, population, D))
    generations = cycle(np.log(costs) if level == "class" else costs)
    return lambda: objective(next(generations))
