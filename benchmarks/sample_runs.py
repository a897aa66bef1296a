"""Time of a whole search of one cost per row: the literal loop's over ours.

One backtracking search drives all: its trials are evaluated on every path and, the first
few of each generation, by the literal loop. The time of the search itself counts for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.engines import (
    COMPILED,
    LAPACK,
    PathObjective,
    make_objective,
    missing_path,
    open_paths,
)
from benchmarks.flops import sample_flops
from benchmarks.generations import (
    LITERAL,
    Evaluate,
    Product,
    SpeedUp,
    check_losses,
    targets,
)
from benchmarks.literal import LiteralLoop
from benchmarks.problems import SHAPES, Problem
from benchmarks.timing import Ratio, Stopwatch, blas_threads
from ecselm.estimators._cost_search import FORGETTING
from ecselm.search import BacktrackingSearch

RUN = "sample level, whole BSA run"
MANY, ONE = "sample level, many coordinates move", "sample level, one coordinate moves"
TARGETS = targets("11 / 4.5 | 5 / 2.7 | 7 / 3.6 | - | 6.5 / 2.6")
JUDGE = "errors, ties by squares"


@dataclass(frozen=True, slots=True)
class Size:
    """How long the searches are, how many, and whether shapes are shrunk."""

    population: int = 100
    generations: int = 32  # with the first population
    runs: int = 3
    literal: int = 4  # trials of each generation that the literal loop evaluates
    shrunk: bool = False
    matrix: int = 768


FULL = Size()
QUICK = Size(population=6, generations=5, runs=2, literal=2, shrunk=True, matrix=64)


@dataclass(frozen=True, slots=True)
class RunTimes:
    """What took how long in one run of G generations."""

    searching: float  # seconds of asking and telling
    evaluating: dict[str, np.ndarray]  # (G,) seconds, for the whole population
    moves_one: np.ndarray  # (G,) whether each trial moves in one coordinate only
    peaks: np.ndarray  # (G,) flops a second of a product

    def ratio(self, path: str) -> float:
        """Return the literal loop's time over ours for the whole run."""
        ours, literal = (self.evaluating[name].sum() for name in (path, LITERAL))
        return (literal + self.searching) / (ours + self.searching)


def compare_runs(size: Size) -> list[SpeedUp]:
    """Return all comparisons, each on one BLAS thread."""
    with blas_threads(1):
        return [line for name in TARGETS for line in _of_shape(name, size)]


def _of_shape(name: str, size: Size) -> Iterator[SpeedUp]:
    problem = Problem.of_shape(SHAPES[name].shrunk() if size.shrunk else SHAPES[name])
    runs = time_runs(problem, size)
    flops = size.population * sample_flops(problem.shape)
    for path, target in zip((COMPILED, LAPACK), TARGETS[name], strict=True):
        if missing := missing_path(path):
            yield SpeedUp(RUN, name, path, None, target, missing=missing)
        else:
            ours = 1e3 * float(np.mean([run.evaluating[path].mean() for run in runs]))
            ratio = Ratio.of(np.array([run.ratio(path) for run in runs]))
            yield SpeedUp(RUN, name, path, ratio, target, ours)
            yield from _by_moves(name, path, runs, flops)


def _by_moves(name: str, path: str, runs: list[RunTimes], flops: float) -> Iterator[SpeedUp]:
    """Tell generations apart, because the costs of one row alone are a cheap update."""
    ours, literal = (np.concatenate([run.evaluating[of] for run in runs]) for of in (path, LITERAL))
    peaks = np.concatenate([run.peaks for run in runs])
    one = np.concatenate([run.moves_one for run in runs])
    for kind, chosen in ((MANY, ~one), (ONE, one)):
        if chosen.any():
            mine = ours[chosen]
            peak = None if kind == ONE else Ratio.of(flops / mine / peaks[chosen])
            ratio = Ratio.of(literal[chosen] / mine)
            yield SpeedUp(kind, name, path, ratio, None, 1e3 * float(np.median(mine)), peak)


def time_runs(problem: Problem, size: Size) -> list[RunTimes]:
    """Run several searches and check all losses of each."""
    objectives = {
        path: make_objective(problem, "sample", "train", JUDGE, path) for path in open_paths()
    }
    box = next(iter(objectives.values())).encoding.box
    literal = LiteralLoop.of(problem, "train", JUDGE)
    evaluators: dict[str, Evaluate] = {**objectives, LITERAL: lambda B: literal(B[: size.literal])}
    runs = []
    for rng in np.random.default_rng(2).spawn(size.runs):
        search = BacktrackingSearch(box, size.population, rng)
        runs.append(_run(evaluators, search, size, problem.shape.n_rows))
    return runs


def _run(
    evaluators: dict[str, Evaluate], search: BacktrackingSearch, size: Size, n_rows: int
) -> RunTimes:
    watch, parents, product = Stopwatch(), Parents(), Product(size.matrix)
    moves_one, peaks = [], []
    drives, *_ = evaluators
    for generation in range(size.generations):
        if generation % FORGETTING == 0:
            _forget(evaluators)
        points = watch.time("search", search.ask)
        order = list(evaluators)[:: -1 if generation % 2 else 1]
        losses = {name: watch.time(name, evaluators[name], points) for name in order}
        for name in evaluators:
            if name != LITERAL:
                check_losses([losses[name]], [losses[LITERAL]], JUDGE, n_rows)
        watch.time("search", search.tell, losses[drives])
        peaks.append(product.flops / product())
        moves_one.append(parents.admit(points, losses[drives]))
    seconds = {name: np.array(watch.seconds[name]) for name in evaluators}
    seconds[LITERAL] *= size.population / size.literal
    searching = float(np.sum(watch.seconds["search"]))
    return RunTimes(searching, seconds, np.array(moves_one), np.array(peaks))


def _forget(evaluators: dict[str, Evaluate]) -> None:
    """Let engines begin anew, as often as they have to in a search by the estimator."""
    for evaluate in evaluators.values():
        if isinstance(evaluate, PathObjective):
            evaluate.forget()


class Parents:
    """The population as the search selects it (32), to see how trials differ from it."""

    def __init__(self) -> None:
        self._points: np.ndarray | None = None
        self._losses: np.ndarray | None = None

    def admit(self, points: np.ndarray, losses: np.ndarray) -> bool:
        """Keep the better ones; tell whether no trial moved in more than one coordinate."""
        if self._points is None or self._losses is None:
            self._points, self._losses = points.copy(), losses.copy()
            return False
        moved = (points != self._points).sum(axis=1).max()
        wins = losses < self._losses
        self._points[wins], self._losses[wins] = points[wins], losses[wins]
        return bool(moved <= 1)
