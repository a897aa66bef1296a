"""Time of a generation of our optimiser over others', with a fitness that takes no time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.baselines import Package
from benchmarks.timing import Clock, Ratio, blas_threads, seconds_by_round
from ecselm.search import BacktrackingSearch, Box


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the searches and number of rounds."""

    dimensions: tuple[int, ...] = (100, 5400)
    population: int = 100
    ours: int = 60  # generations in a round; about half of ours move one coordinate only
    theirs: int = 6
    repeats: int = 11


FULL = Size()
QUICK = Size(dimensions=(3, 8), population=6, ours=4, theirs=2, repeats=2)


@dataclass(frozen=True, slots=True)
class Overhead:
    """The ratio and the milliseconds of a generation; ``missing`` is why there is none."""

    dimension: int
    baseline: str
    ratio: Ratio | None
    ours_ms: float
    theirs_ms: float | None
    missing: str | None = None


class FreeFitness:
    """The first coordinate as fitness, on the box from -1 to 1; it times the generations.

    Time runs from the last evaluation of the first population to the last evaluation, so
    that set-up does not count.

    Examples
    --------
    >>> ticks = iter([5.0, 11.0])
    >>> fitness = FreeFitness(np.zeros((2, 3)), generations=3, clock=lambda: next(ticks))
    >>> for _ in range(4):
    ...     values = fitness(fitness.initial)
    >>> fitness.seconds
    2.0
    """

    def __init__(
        self, initial: np.ndarray, generations: int, clock: Clock = time.perf_counter
    ) -> None:
        self.initial, self.generations = initial, generations
        self._clock, self._evaluated, self._times = clock, 0, []

    def __call__(self, points: np.ndarray) -> Any:
        """Return the fitness of one point (D,) or of several (n, D)."""
        size, D = self.initial.shape
        self._evaluated += points.size // D
        if self._evaluated in (size, size * (self.generations + 1)):
            self._times.append(self._clock())
        return points[..., 0]

    @property
    def seconds(self) -> float:
        """Return the seconds of a generation; raise if the number of evaluations is wrong."""
        expected = self.initial.shape[0] * (self.generations + 1)
        if self._evaluated != expected:
            raise ValueError(f"{expected} points must be evaluated, got {self._evaluated}")
        start, end = self._times
        return (end - start) / self.generations


def run_ours(fitness: FreeFitness, rng: np.random.Generator) -> None:
    """Run backtracking search through ask and tell."""
    size, D = fitness.initial.shape
    space = Box(np.full(D, -1.0), np.ones(D))
    search = BacktrackingSearch(space, size, rng, initial=fitness.initial)
    for _ in range(fitness.generations + 1):
        search.tell(fitness(search.ask()))


def _run_scipy(optimize: Any, fitness: FreeFitness) -> None:
    """Run SciPy on whole populations; with a tolerance of 0 it never stops early."""
    optimize.differential_evolution(
        lambda points: fitness(points.T),
        [(-1.0, 1.0)] * fitness.initial.shape[1],
        init=fitness.initial,
        maxiter=fitness.generations,
        vectorized=True,
        updating="deferred",
        polish=False,
        tol=0.0,
        rng=0,
    )


def _run_mealpy(mealpy: Any, fitness: FreeFitness) -> None:
    """Run mealpy, which evaluates one point at a time."""
    size, D = fitness.initial.shape
    problem = {
        "obj_func": fitness,
        "bounds": mealpy.FloatVar(lb=[-1.0] * D, ub=[1.0] * D),
        "minmax": "min",
        "log_to": None,
    }
    search = mealpy.DE.OriginalDE(epoch=fitness.generations, pop_size=size)
    search.solve(problem, seed=0, starting_solutions=fitness.initial)


def _run_pymoo(de: Any, fitness: FreeFitness) -> None:
    """Run pymoo on whole populations; its first population counts as a generation."""
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    class Free(Problem):
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = fitness(x)

    size, D = fitness.initial.shape
    search = de.DE(pop_size=size, sampling=fitness.initial)
    problem = Free(n_var=D, n_obj=1, xl=-1.0, xu=1.0)
    minimize(problem, search, ("n_gen", fitness.generations + 1), seed=0)


OPTIMIZERS = (
    Package("SciPy, differential_evolution", "scipy", "scipy.optimize", _run_scipy),
    Package("mealpy, OriginalDE", "mealpy", "mealpy", _run_mealpy),
    Package("pymoo, DE", "pymoo", "pymoo.algorithms.soo.nonconvex.de", _run_pymoo),
)


def compare_optimizers(size: Size) -> list[Overhead]:
    """Return all comparisons, each on one BLAS thread."""
    with blas_threads(1):
        return [row for D in size.dimensions for row in _overheads(D, size)]


def _overheads(D: int, size: Size) -> Iterator[Overhead]:
    rng = np.random.default_rng(0)
    initial = rng.uniform(-1.0, 1.0, (size.population, D))
    present = [package for package in OPTIMIZERS if not package.missing]
    timers = [partial(_timed, partial(run_ours, rng=rng), initial, size.ours)]
    timers += [partial(_timed, package.run, initial, size.theirs) for package in present]
    for timer in timers:
        timer()
    ours, *theirs = seconds_by_round(timers, size.repeats).T
    seconds = {package.name: column for package, column in zip(present, theirs, strict=True)}
    for package in OPTIMIZERS:
        found = seconds.get(package.name)
        yield Overhead(
            D,
            package.name,
            ratio=None if found is None else Ratio.of(ours / found),
            ours_ms=1e3 * float(np.median(ours)),
            theirs_ms=None if found is None else 1e3 * float(np.median(found)),
            missing=package.missing,
        )


def _timed(run: Callable[[FreeFitness], object], initial: np.ndarray, generations: int) -> float:
    fitness = FreeFitness(initial, generations)
    run(fitness)
    return fitness.seconds
