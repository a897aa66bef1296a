"""Time of a generation of candidates: the literal loop's over ours, on both paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from benchmarks.engines import COMPILED, LAPACK, make_objective, missing_path, open_paths
from benchmarks.flops import candidate_flops
from benchmarks.literal import LiteralLoop
from benchmarks.problems import SHAPES, Problem
from benchmarks.timing import Ratio, blas_threads, duration, seconds_by_round

LITERAL, PEAK = "literal loop", "GEMM"
PEAK_TARGET = 0.5  # on the compiled path
LEAST_SECONDS = 0.05  # shorter tasks are repeated within a round
MOST_LOOPS = 8
Evaluate = Callable[[np.ndarray], np.ndarray]


def targets(row: str) -> dict[str, tuple[float, float]]:
    """Return the targets (compiled, LAPACK) by shape, from a row of a table.

    Examples
    --------
    >>> targets("120 / 70 | - | 11 / 5.5")
    {'a': (120.0, 70.0), 'c': (11.0, 5.5)}
    """
    cells = {name: cell.split(" / ") for name, cell in zip(SHAPES, row.split(" | "), strict=False)}
    return {name: (float(c[0]), float(c[1])) for name, c in cells.items() if len(c) == 2}


@dataclass(frozen=True, slots=True)
class Kind:
    """What is evaluated, with the targets (compiled, LAPACK) by shape."""

    name: str
    splits: str
    judge: str
    targets: dict[str, tuple[float, float]]


KINDS = (
    Kind(
        "class level, training error",
        "train",
        "errors",
        targets("120 / 70 | 11 / 5 | 11 / 5.5 | 3 / 2.2 | 20 / 11 | 140 / 80"),
    ),
    Kind(
        "class level, 5 folds",
        "folds",
        "errors",
        targets("220 / 90 | 11 / 5 | 10.5 / 5 | 3.3 / 2.5 | 25 / 12 | 400 / 250"),
    ),
    Kind(
        "class level, squared loss",
        "train",
        "squares",
        targets("300 / 110 | 11.5 / 5.5 | 11 / 5.5 | - | 30 / 15 | 2000 / 1000"),
    ),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How many candidates a generation has, and whether shapes are shrunk."""

    population: int = 100
    shrunk: bool = False
    shapes: tuple[str, ...] = tuple(SHAPES)
    matrix: int = 1024  # order of the product that measures the peak


FULL = Size()
QUICK = Size(population=6, shrunk=True, matrix=64)


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """One line of the table: the literal loop's time over ours, or why there is none."""

    kind: str
    shape: str
    path: str
    ratio: Ratio | None
    target: float | None = None
    ours_ms: float | None = None  # a generation
    peak: Ratio | None = None  # flops of the model a second, over those of a product
    missing: str | None = None

    @property
    def met(self) -> bool | None:
        """Tell whether the target is met, None if there is nothing to tell."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio.median >= self.target


@dataclass(slots=True)
class Runner:
    """Evaluate another generation in every round, and remember the losses of its first.

    The first call warms up and finds how many generations are worth a round.
    """

    evaluate: Evaluate
    generations: np.ndarray  # (rounds + 1, loops, P, D)
    share: float = 1.0  # of a generation, that is evaluated
    loops: int = 1
    losses: list[np.ndarray] = field(default_factory=list)

    def __call__(self) -> float:
        """Return the seconds of a generation."""
        points = self.generations[len(self.losses), : self.loops]
        start = time.perf_counter()
        found = [self.evaluate(generation) for generation in points]
        seconds = (time.perf_counter() - start) / self.loops
        if not self.losses:
            self.loops = int(np.clip(LEAST_SECONDS / seconds, 1, MOST_LOOPS))
        self.losses.append(found[0])
        return seconds / self.share


def compare_generations(size: Size) -> list[SpeedUp]:
    """Return all comparisons, each on one BLAS thread."""
    with blas_threads(1):
        return [line for name in size.shapes for line in _of_shape(name, size)]


def _of_shape(name: str, size: Size) -> Iterator[SpeedUp]:
    shape = SHAPES[name].shrunk() if size.shrunk else SHAPES[name]
    problem = Problem.of_shape(shape)
    for kind in KINDS:
        if name in kind.targets:
            yield from speed_ups(problem, kind, size)


def speed_ups(problem: Problem, kind: Kind, size: Size) -> list[SpeedUp]:
    """Return our speed-ups on every path, after a look at the losses of all rounds."""
    runners = _runners(problem, kind, size)
    for runner in runners.values():
        runner()
    timers = {**runners, PEAK: Product(size.matrix)}
    columns = seconds_by_round(list(timers.values()), problem.shape.rounds).T
    seconds = dict(zip(timers, columns, strict=True))
    for path in open_paths():
        check_losses(
            runners[path].losses, runners[LITERAL].losses, kind.judge, problem.shape.n_rows
        )
    return [_line(problem, kind, size, path, seconds) for path in (COMPILED, LAPACK)]


def _runners(problem: Problem, kind: Kind, size: Size) -> dict[str, Runner]:
    shape, rng = problem.shape, np.random.default_rng(1)
    n = min(shape.literal, size.population)
    costs = rng.uniform(1e-3, 1.0, (shape.rounds + 1, MOST_LOOPS, size.population, shape.n_classes))
    literal = LiteralLoop.of(problem, kind.splits, kind.judge)
    runners = {
        path: Runner(make_objective(problem, "class", kind.splits, kind.judge, path), np.log(costs))
        for path in open_paths()
    }
    runners[LITERAL] = Runner(
        lambda b: literal(b[:, problem.y]), costs[:, :, :n], share=n / size.population
    )
    return runners


def _line(
    problem: Problem, kind: Kind, size: Size, path: str, seconds: dict[str, np.ndarray]
) -> SpeedUp:
    name = problem.shape.name
    target = kind.targets[name][(COMPILED, LAPACK).index(path)]
    if path not in seconds:
        return SpeedUp(kind.name, name, path, None, target, missing=missing_path(path))
    ours = seconds[path]
    flops = size.population * candidate_flops(problem.shape, kind.splits, kind.judge)
    peak = Product(size.matrix).flops / seconds[PEAK]
    return SpeedUp(
        kind.name,
        name,
        path,
        Ratio.of(seconds[LITERAL] / ours),
        target,
        1e3 * float(np.median(ours)),
        Ratio.of(flops / ours / peak),
    )


def check_losses(
    ours: list[np.ndarray], literal: list[np.ndarray], judge: str, n_rows: int
) -> None:
    """Raise AssertionError unless errors are equal in number, and squares to 1e-8.

    The literal loop has evaluated the first candidates of every generation. Ours judges
    by accuracy, which is 1 less the error rate.
    """
    for losses, expected in zip(ours, literal, strict=True):
        found = losses[: len(expected)] + (judge != "squares")
        if judge == "errors":
            np.testing.assert_array_equal(np.rint(found * n_rows), np.rint(expected * n_rows))
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-8)


class Product:
    """A product of square matrices, whose speed is the peak that others are held against."""

    def __init__(self, order: int) -> None:
        self._A, self._B = np.random.default_rng(0).standard_normal((2, order, order))
        self._out, self.flops = np.empty((order, order)), 2.0 * order**3

    def __call__(self) -> float:
        """Return the seconds of the product."""
        return duration(lambda: np.matmul(self._A, self._B, out=self._out))
