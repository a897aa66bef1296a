"""Time of a generation of candidates: the literal loop's over ours, on both paths.

At class level the candidates are random. At sample level one backtracking search drives all
evaluators: its trials are evaluated on every path and, the first few of each generation, by
the literal loop. The time of the search itself counts on both sides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve

from benchmarks.problems import (
    BOUNDS,
    COMPILED,
    ERRORS,
    FOLDS,
    LAPACK,
    SHAPES,
    SQUARES,
    TIES,
    TRAIN,
    PathObjective,
    Problem,
    Shape,
    available_paths,
    candidate_flops,
    make_objective,
    missing_path,
    sample_flops,
)
from benchmarks.timing import OMITTED, Ratio, Stopwatch, blas_threads, duration, seconds_by_round
from ecselm.estimators._cost_search import FORGETTING
from ecselm.fitness import Split, TrainingKernel
from ecselm.fitness.objective import TIE_BREAK
from ecselm.search import BacktrackingSearch

LITERAL, PEAK, COPY = "literal loop", "GEMM", "copy"
PEAK_TARGET = 0.5  # on the compiled path
MIN_SECONDS = 0.05  # shorter tasks are repeated within a round
MAX_LOOPS = 8
MOST_COPIED = 1 << 26  # bytes of the copy that measures the memory
RUN = "sample level, whole BSA run"
MANY, ONE = "sample level, many coordinates move", "sample level, one coordinate moves"
Evaluate = Callable[[np.ndarray], np.ndarray]
Score = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


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
    """A fitness at class level, with the targets (compiled, LAPACK) by shape."""

    name: str
    splits: str
    fitness: str
    targets: dict[str, tuple[float, float]]


KINDS = (
    Kind(
        "class level, training error",
        TRAIN,
        ERRORS,
        targets("120 / 70 | 11 / 5 | 11 / 5.5 | 3 / 2.2 | 20 / 11 | 140 / 80"),
    ),
    Kind(
        "class level, 5 folds",
        FOLDS,
        ERRORS,
        targets("220 / 90 | 11 / 5 | 10.5 / 5 | 3.3 / 2.5 | 25 / 12 | 400 / 250"),
    ),
    Kind(
        "class level, squared loss",
        TRAIN,
        SQUARES,
        targets("300 / 110 | 11.5 / 5.5 | 11 / 5.5 | - | 30 / 15 | 2000 / 1000"),
    ),
)
RUN_TARGETS = targets("11 / 4.5 | 5 / 2.7 | 7 / 3.6 | - | 6.5 / 2.6")


@dataclass(frozen=True, slots=True)
class Size:
    """Number of candidates in a generation, and whether shapes are shrunk."""

    population: int = 100
    shrunk: bool = False
    shapes: tuple[str, ...] = tuple(SHAPES)
    matrix: int = 1024  # order of the product that measures the peak


@dataclass(frozen=True, slots=True)
class RunSize:
    """Length and number of the searches at sample level, and whether shapes are shrunk."""

    population: int = 100
    generations: int = 32  # with the first population
    runs: int = 3
    literal: int = 4  # trials of each generation that the literal loop evaluates
    shrunk: bool = False
    matrix: int = 768


FULL, FULL_RUNS = Size(), RunSize()
QUICK = Size(population=6, shrunk=True, matrix=64)
QUICK_RUNS = RunSize(population=6, generations=5, runs=2, literal=2, shrunk=True, matrix=64)


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """The literal loop's time over ours; without a ratio, ``missing`` is the reason."""

    kind: str
    shape: str
    path: str
    ratio: Ratio | None
    target: float | None = None
    ours_ms: float | None = None  # a generation
    peak: Ratio | None = None  # flops of the model per second, over those of a product
    missing: str | None = None
    bound: Ratio | None = field(default=None, metadata=OMITTED)  # our time over the roofline's

    @property
    def met(self) -> bool | None:
        """Return whether the target is met, None without a target or a ratio."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio.median >= self.target

    @property
    def over_roofline(self) -> float | None:
        """Return our time over what the machine needs at least, None if that is unknown."""
        if self.bound is not None:
            return self.bound.median
        return None if self.peak is None else 1.0 / self.peak.median


def error_rate(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:  # noqa: ARG001
    """Return the share of rows whose largest score is of another class (19)."""
    y_pred = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    return float(np.mean(y_pred != y))


def squared_loss(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:  # noqa: ARG001
    """Return the mean squared residual."""
    return float(np.mean((T - Z) ** 2))


def tie_broken_rate(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:
    """Return the error rate plus a thousandth of the squared residual relative to T's."""
    return error_rate(Z, T, y) + TIE_BREAK * squared_loss(Z, T, y) / float(T.var())


SCORES: dict[str, Score] = {ERRORS: error_rate, SQUARES: squared_loss, TIES: tie_broken_rate}


@dataclass(frozen=True, slots=True)
class Fold:
    """Training and validation rows of a split, gathered once for all candidates."""

    train: np.ndarray  # positions
    F: np.ndarray  # H of the training rows (N, L), or their K (N, N)
    F_validation: np.ndarray  # (n, L), or (n, N)
    T: np.ndarray  # (N, m)

    @classmethod
    def of(cls, problem: Problem, split: Split) -> Fold:
        """Gather the rows of a split."""
        train, test, features = split.train, split.test, problem.features
        if isinstance(features, TrainingKernel):
            K = features.K
            return cls(train, K[np.ix_(train, train)], K[np.ix_(test, train)], problem.T[train])
        return cls(train, _rows(features, train), _rows(features, test), problem.T[train])


@dataclass(frozen=True, slots=True)
class LiteralLoop:
    """Equation (15) as printed, by ``scipy.linalg.solve``, one candidate after the other."""

    folds: list[Fold]
    T: np.ndarray  # (n, m) of the validation rows
    y: np.ndarray  # (n,)
    C: float
    score: Score
    solve: Callable[[Fold, np.ndarray, float], np.ndarray]

    @classmethod
    def of(cls, problem: Problem, splits: str, fitness: str) -> LiteralLoop:
        """Gather the rows of every split."""
        rows, shape = problem.validation_rows(splits), problem.shape
        return cls(
            [Fold.of(problem, split) for split in problem.splits[splits]],
            problem.T[rows],
            problem.y[rows],
            shape.C,
            SCORES[fitness],
            dual_scores if shape.is_kernel else primal_scores,
        )

    def __call__(self, B: np.ndarray) -> np.ndarray:
        """Return the losses (P,) for costs of the rows (P, N)."""
        return np.array([self._loss(costs) for costs in B])

    def _loss(self, B: np.ndarray) -> float:
        scores = [self.solve(fold, B[fold.train], self.C) for fold in self.folds]
        return self.score(np.concatenate(scores), self.T, self.y)


def primal_scores(fold: Fold, B: np.ndarray, C: float) -> np.ndarray:
    """Return the scores of the validation rows with beta of (15)."""
    H = fold.F
    A = np.eye(H.shape[1]) / C + H.T @ (B[:, np.newaxis] * H)
    beta = solve(A, H.T @ (B[:, np.newaxis] * fold.T))  # (15)
    return fold.F_validation @ beta


def dual_scores(fold: Fold, B: np.ndarray, C: float) -> np.ndarray:
    """Return the scores of the validation rows with alpha of (15), where K replaces H H'."""
    K = fold.F
    alpha = solve(np.eye(len(K)) / C + B[:, np.newaxis] * K, B[:, np.newaxis] * fold.T)
    return fold.F_validation @ alpha


def _rows(H: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return some rows, or ``H`` without a copy if they are all: it may be large."""
    return H if len(positions) == len(H) else H[positions]


class Product:
    """A product of square matrices, whose speed is the peak of the report."""

    def __init__(self, order: int) -> None:
        self._A, self._B = np.random.default_rng(0).standard_normal((2, order, order))
        self._out, self.flops = np.empty((order, order)), 2.0 * order**3

    def __call__(self) -> float:
        """Return the seconds of the product."""
        return duration(lambda: np.matmul(self._A, self._B, out=self._out))


class Copy:
    """A copy of an array, whose speed is that of the memory or cache that holds it."""

    def __init__(self, n_bytes: int) -> None:
        self._source, self.n_bytes = np.zeros(n_bytes // 8), 2.0 * n_bytes  # read and written
        self._out = np.empty_like(self._source)

    def __call__(self) -> float:
        """Return the seconds of the copy."""
        return duration(lambda: np.copyto(self._out, self._source))


def copied_bytes(shape: Shape) -> int:
    """Return the bytes of H, or of a kernel matrix, up to what leaves every cache anyway."""
    return min(8 * shape.n_rows * (shape.n_hidden or shape.n_rows), MOST_COPIED)


def candidate_bytes(shape: Shape) -> float:
    """Return the bytes that a candidate at class level moves at least, if no cache is warm.

    Sums by class are read once for four candidates, H once for a batch of 16, and scores are
    written. With a kernel, four candidates share K.

    Examples
    --------
    >>> candidate_bytes(Shape("a", 5400, 100, 2))
    333600.0
    """
    N, m, k = shape.n_rows, shape.n_targets, shape.n_classes
    if shape.n_hidden is None:
        return 8.0 * (N * N / 8 + N * m)
    L = shape.n_hidden
    return 8.0 * (k * (L * L / 2 + L * m) / 4 + N * L / 16 + N * m)


def needed_flops(shape: Shape, moved: float) -> float:
    """Return the flops of a candidate at sample level of which a share of costs is new.

    The sums of the candidate it descends from are known: rows of equal cost are not summed.
    """
    N, L, m = shape.n_rows, shape.n_hidden or shape.n_rows, shape.n_targets
    primal = moved * N * L * L + L**3 / 3.0 + 2.0 * L * L * m + 2.0 * N * L * m
    return min(primal, sample_flops(shape))


def check_losses(
    ours: list[np.ndarray], literal: list[np.ndarray], fitness: str, n_rows: int
) -> None:
    """Raise AssertionError unless error counts are equal, and squared losses to 1e-8.

    The literal loop has evaluated the first candidates of every generation. Our fitness is
    the negative accuracy, which is the error rate less 1.
    """
    for losses, expected in zip(ours, literal, strict=True):
        found = losses[: len(expected)] + (fitness != SQUARES)
        if fitness == ERRORS:
            np.testing.assert_array_equal(np.rint(found * n_rows), np.rint(expected * n_rows))
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-8)


@dataclass(slots=True)
class Runner:
    """Evaluate new generations in every round, and keep the losses of the first of each.

    The first call is a warm-up and sets how many generations are timed in a round.
    """

    evaluate: Evaluate
    generations: np.ndarray  # (rounds + 1, loops, P, D)
    share: float = 1.0  # of the candidates of a generation that are evaluated
    loops: int = 1
    losses: list[np.ndarray] = field(default_factory=list)

    def __call__(self) -> float:
        """Return the seconds of a generation."""
        points = self.generations[len(self.losses), : self.loops]
        start = time.perf_counter()
        found = [self.evaluate(generation) for generation in points]
        seconds = (time.perf_counter() - start) / self.loops
        if not self.losses:
            self.loops = int(np.clip(MIN_SECONDS / seconds, 1, MAX_LOOPS))
        self.losses.append(found[0])
        return seconds / self.share


def compare_generations(size: Size) -> list[SpeedUp]:
    """Return all comparisons at class level, each on one BLAS thread."""
    lines: list[SpeedUp] = []
    with blas_threads(1):
        for name in size.shapes:
            shape = SHAPES[name].shrunk() if size.shrunk else SHAPES[name]
            problem = Problem.of_shape(shape)
            for kind in KINDS:
                if name in kind.targets:
                    lines += speed_ups(problem, kind, size)
    return lines


def speed_ups(problem: Problem, kind: Kind, size: Size) -> list[SpeedUp]:
    """Return our speed-ups on every path, after a check of the losses of all rounds."""
    shape = problem.shape
    runners = _runners(problem, kind, size)
    for runner in runners.values():
        runner()
    timers = {**runners, PEAK: Product(size.matrix), COPY: (copy := Copy(copied_bytes(shape)))}
    columns = seconds_by_round(list(timers.values()), shape.rounds).T
    seconds = dict(zip(timers, columns, strict=True))
    for path in available_paths():
        check_losses(runners[path].losses, runners[LITERAL].losses, kind.fitness, shape.n_rows)

    flops = size.population * candidate_flops(shape, kind.splits, kind.fitness)
    peak = Product(size.matrix).flops / seconds[PEAK]
    # The roofline: flops or bytes, whatever takes longer at the speed measured beside.
    moved = size.population * candidate_bytes(shape) * seconds[COPY] / copy.n_bytes
    least = np.maximum(flops / peak, moved)
    lines = []
    for path, target in zip((COMPILED, LAPACK), kind.targets[shape.name], strict=True):
        if missing := missing_path(path):
            lines.append(SpeedUp(kind.name, shape.name, path, None, target, missing=missing))
            continue
        ours = seconds[path]
        ratio, milliseconds = Ratio.of(seconds[LITERAL] / ours), 1e3 * float(np.median(ours))
        of_peak, bound = Ratio.of(flops / ours / peak), Ratio.of(ours / least)
        lines.append(
            SpeedUp(kind.name, shape.name, path, ratio, target, milliseconds, of_peak, bound=bound)
        )
    return lines


def _runners(problem: Problem, kind: Kind, size: Size) -> dict[str, Runner]:
    shape, rng = problem.shape, np.random.default_rng(1)
    n = min(shape.literal, size.population)
    costs = rng.uniform(*BOUNDS, (shape.rounds + 1, MAX_LOOPS, size.population, shape.n_classes))
    literal = LiteralLoop.of(problem, kind.splits, kind.fitness)
    runners = {
        path: Runner(
            make_objective(problem, "class", kind.splits, kind.fitness, path), np.log(costs)
        )
        for path in available_paths()
    }
    runners[LITERAL] = Runner(
        lambda b: literal(b[:, problem.y]), costs[:, :, :n], share=n / size.population
    )
    return runners


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Times of one search of G generations at sample level."""

    searching: float  # seconds of ask and tell
    evaluating: dict[str, np.ndarray]  # (G,) seconds, for the whole population
    moves_one: np.ndarray  # (G,) whether each trial moves in one coordinate only
    peaks: np.ndarray  # (G,) flops per second of a product
    least: np.ndarray  # (G,) seconds of the flops that the population needs, at that speed

    def ratio(self, path: str) -> float:
        """Return the literal loop's time over ours for the whole search."""
        ours, literal = (self.evaluating[name].sum() for name in (path, LITERAL))
        return (literal + self.searching) / (ours + self.searching)

    def bound(self, path: str) -> float:
        """Return our time over the roofline's for the whole search."""
        ours = self.evaluating[path].sum() + self.searching
        return float(ours / (self.least.sum() + self.searching))


def compare_runs(size: RunSize) -> list[SpeedUp]:
    """Return all comparisons at sample level, each on one BLAS thread."""
    with blas_threads(1):
        return [line for name in RUN_TARGETS for line in _runs_of_shape(name, size)]


def _runs_of_shape(name: str, size: RunSize) -> Iterator[SpeedUp]:
    problem = Problem.of_shape(SHAPES[name].shrunk() if size.shrunk else SHAPES[name])
    runs = time_runs(problem, size)
    flops = size.population * sample_flops(problem.shape)
    for path, target in zip((COMPILED, LAPACK), RUN_TARGETS[name], strict=True):
        if missing := missing_path(path):
            yield SpeedUp(RUN, name, path, None, target, missing=missing)
        else:
            ours = 1e3 * float(np.mean([run.evaluating[path].mean() for run in runs]))
            ratio = Ratio.of(np.array([run.ratio(path) for run in runs]))
            bound = Ratio.of(np.array([run.bound(path) for run in runs]))
            yield SpeedUp(RUN, name, path, ratio, target, ours, bound=bound)
            yield from _by_moves(name, path, runs, flops)


def _by_moves(name: str, path: str, runs: list[RunTimes], flops: float) -> Iterator[SpeedUp]:
    """Separate the generations in which one cost of each trial changes: a cheap update."""
    ours, literal = (np.concatenate([run.evaluating[of] for run in runs]) for of in (path, LITERAL))
    peaks = np.concatenate([run.peaks for run in runs])
    one = np.concatenate([run.moves_one for run in runs])
    least = np.concatenate([run.least for run in runs])
    for kind, chosen in ((MANY, ~one), (ONE, one)):
        if chosen.any():
            mine = ours[chosen]
            peak = None if kind == ONE else Ratio.of(flops / mine / peaks[chosen])
            ratio, bound = Ratio.of(literal[chosen] / mine), Ratio.of(mine / least[chosen])
            ms = 1e3 * float(np.median(mine))
            yield SpeedUp(kind, name, path, ratio, None, ms, peak, bound=bound)


def time_runs(problem: Problem, size: RunSize) -> list[RunTimes]:
    """Time several searches and check all losses of each."""
    objectives = {
        path: make_objective(problem, "sample", TRAIN, TIES, path) for path in available_paths()
    }
    box = next(iter(objectives.values())).encoding.box
    literal = LiteralLoop.of(problem, TRAIN, TIES)
    evaluators: dict[str, Evaluate] = {**objectives, LITERAL: lambda B: literal(B[: size.literal])}
    runs = []
    for rng in np.random.default_rng(2).spawn(size.runs):
        search = BacktrackingSearch(box, size.population, rng)
        runs.append(_time_run(evaluators, search, size, problem.shape))
    return runs


def _time_run(
    evaluators: dict[str, Evaluate], search: BacktrackingSearch, size: RunSize, shape: Shape
) -> RunTimes:
    watch, parents, product = Stopwatch(), Parents(), Product(size.matrix)
    moves_one, peaks, least = [], [], []
    driver, *_ = evaluators
    for generation in range(size.generations):
        if generation % FORGETTING == 0:  # as often as in a search by the estimator
            for evaluate in evaluators.values():
                if isinstance(evaluate, PathObjective):
                    evaluate.forget()
        points = watch.time("search", search.ask)
        order = list(evaluators)[:: -1 if generation % 2 else 1]
        losses = {name: watch.time(name, evaluators[name], points) for name in order}
        for name in evaluators:
            if name != LITERAL:
                check_losses([losses[name]], [losses[LITERAL]], TIES, shape.n_rows)
        watch.time("search", search.tell, losses[driver])
        peaks.append(product.flops / product())
        moved = parents.moved(points)
        least.append(sum(needed_flops(shape, n / shape.n_rows) for n in moved) / peaks[-1])
        moves_one.append(bool(generation and moved.max() <= 1))
        parents.select(points, losses[driver])
    seconds = {name: np.array(watch.seconds[name]) for name in evaluators}
    seconds[LITERAL] *= size.population / size.literal
    searching = float(np.sum(watch.seconds["search"]))
    return RunTimes(searching, seconds, np.array(moves_one), np.array(peaks), np.array(least))


class Parents:
    """The population as the search selects it (32), to count the coordinates that move."""

    def __init__(self) -> None:
        self._points: np.ndarray | None = None
        self._losses: np.ndarray | None = None

    def moved(self, points: np.ndarray) -> np.ndarray:
        """Return how many coordinates of each trial are new (P,): all, of the first ones."""
        if self._points is None:
            return np.full(len(points), points.shape[1])
        return np.asarray((points != self._points).sum(axis=1))

    def select(self, points: np.ndarray, losses: np.ndarray) -> None:
        """Keep the better points."""
        if self._points is None or self._losses is None:
            self._points, self._losses = points.copy(), losses.copy()
            return
        wins = losses < self._losses
        self._points[wins], self._losses[wins] = points[wins], losses[wins]
