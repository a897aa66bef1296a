"""Times of whole searches by the estimators.

Searches are compared with a grid search and with one fit, and their candidates with those of
intelelm. Also measured: the share of a search outside of its solves, and the gain by a second
core. A search that runs fewer epochs than its nominal number is extrapolated: the missing
epochs count as long as the mean of those run.
"""

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
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from benchmarks.baselines import Package
from benchmarks.fit import NO_SLOWER, PAUSE
from benchmarks.problems import SHAPES, Shape, rows_of
from benchmarks.timing import (
    Comparison,
    Ratio,
    Stopwatch,
    blas_threads,
    duration,
    seconds_by_round,
)
from ecselm import ECSELMClassifier, EELMClassifier, ELMClassifier, KELMClassifier
from ecselm.fitness import CostEncoding, CostObjective

GRID_TARGET, FIT_TARGET, DEFAULTS_TARGET = 4.0, 60.0, 5.0
SHARE_TARGET = 0.15
CORES_TARGET = 1.6
GRID = {"C": 2.0 ** np.linspace(-10.0, 25.0, 36)}
KERNEL_GRID = {"C": 2.0 ** np.arange(-6.0, 16.0, 4.0), "gamma": np.geomspace(0.03, 10.0, 6) / 20}
N_FITS = 10  # one fit is too short to be timed alone
TINY = Shape("tiny", 150, 20, 3)
ERRORS_ONLY: dict[str, Any] = {"smoothing": 0.0}
# Settings of a single model with learned costs, in place of the default ensemble.
SINGLE_MODEL: dict[str, Any] = {
    "ensemble": None,
    "C": 32.0,
    "smoothing": 0.5,
    "keep_prior": False,
}


class GenerationTimes:
    """A callback that records the seconds after every generation of a search."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, progress: Any) -> None:
        """Record the time of a generation."""
        self.seconds.append(progress.seconds)

    @property
    def generation(self) -> float:
        """Return the mean seconds of a generation after the first population."""
        return (self.seconds[-1] - self.seconds[0]) / (len(self.seconds) - 1)


# Whole searches over a grid search, and over one fit.


@dataclass(frozen=True, slots=True)
class Size:
    """Length of the searches, number of epochs run, and number of rounds."""

    population: int = 100
    epochs: int = 100
    sample_epochs: int = 20  # run of the epochs, at sample level
    rounds: int = 3
    shrunk: bool = False

    def shape(self, name: str) -> Shape:
        """Return a shape, shrunk if the size is."""
        return SHAPES[name].shrunk() if self.shrunk else SHAPES[name]


FULL = Size()
QUICK = Size(population=6, epochs=4, sample_epochs=2, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A model whose fit is compared with a search."""

    name: str
    model: Any
    repeats: int
    target: float

    def seconds(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the seconds of one fit."""
        return duration(lambda: [self.model.fit(X, y) for _ in range(self.repeats)]) / self.repeats


def compare_whole(size: Size) -> list[Comparison]:
    """Return all comparisons, each on one BLAS thread and one core."""
    with blas_threads(1):
        return [*_against_grid(size), *_against_fits(size), _default_fit(size)]


def _default_fit(size: Size) -> Comparison:
    """Compare a fit with all defaults on 1000 rows of 20 features with a kernel grid search."""
    X, y = make_classification(
        120 if size.shrunk else 1000, 20, n_informative=8, weights=[0.85], random_state=0
    )
    ours = ECSELMClassifier(scoring="gmean", random_state=0)
    grid = GridSearchCV(KELMClassifier(), KERNEL_GRID, cv=5, n_jobs=1)
    timers = [partial(duration, partial(model.fit, X, y)) for model in (ours, grid)]
    mine, theirs = seconds_by_round(timers, size.rounds).T
    baseline = "GridSearchCV of KELMClassifier, 36 values of C and gamma, 5 folds"
    ratio = Ratio.of(mine / theirs)
    return Comparison("1000 x 20, all defaults", baseline, ratio, DEFAULTS_TARGET)


def _against_grid(size: Size) -> list[Comparison]:
    """Compare searches scored on 5 folds with a grid search on as many."""
    shape = size.shape("e")
    grid = GridSearchCV(ELMClassifier(shape.n_hidden, random_state=0), GRID, cv=5, n_jobs=1)
    name = "GridSearchCV of ELMClassifier, 36 values of C, 5 folds"
    return _against(
        Baseline(name, grid, 1, GRID_TARGET),
        size,
        rows_of(shape),
        {
            "(e), class level, 5 folds": (size.epochs, {"fitness": 5}),
            "(e), class level, 5 folds, counts only": (size.epochs, {"fitness": 5, **ERRORS_ONLY}),
        },
        n_hidden=shape.n_hidden,
    )


def _against_fits(size: Size) -> list[Comparison]:
    """Compare searches scored by training error with one fit of as many hidden units."""
    shape = size.shape("a")
    fit = ELMClassifier(shape.n_hidden, random_state=0)
    counts = {"fitness": "train", **ERRORS_ONLY}
    return _against(
        Baseline("one ELMClassifier.fit", fit, N_FITS, FIT_TARGET),
        size,
        rows_of(shape),
        {
            "(a), class level, training error": (size.epochs, {"fitness": "train"}),
            "(a), class level, training error, counts only": (size.epochs, counts),
            "(a), sample level, training error, counts only": (
                size.sample_epochs,
                {**counts, "cost_level": "sample"},
            ),
        },
        n_hidden=shape.n_hidden,
    )


def _against(
    baseline: Baseline,
    size: Size,
    rows: tuple[np.ndarray, np.ndarray],
    searches: dict[str, tuple[int, dict[str, Any]]],
    n_hidden: int | None,
) -> list[Comparison]:
    """Run searches and the baseline in turn; targets are for costs per class."""
    timers = [
        partial(search_seconds, size, *rows, epochs, n_hidden=n_hidden, **settings)
        for epochs, settings in searches.values()
    ]
    timers.append(partial(baseline.seconds, *rows))
    *ours, theirs = seconds_by_round(timers, size.rounds).T
    return [
        Comparison(
            f"{name}, {epochs} epochs run",
            baseline.name,
            Ratio.of(mine / theirs),
            baseline.target if "class level" in name else None,
        )
        for (name, (epochs, _)), mine in zip(searches.items(), ours, strict=True)
    ]


def search_seconds(size: Size, X: np.ndarray, y: np.ndarray, epochs: int, **settings: Any) -> float:
    """Return the seconds of a search of ``size.epochs``, of which ``epochs`` are run."""
    times = GenerationTimes()
    model = ECSELMClassifier(
        population_size=size.population,
        max_epochs=epochs,
        callbacks=times,
        n_jobs=1,
        random_state=0,
        **{**SINGLE_MODEL, **settings},
    )
    return duration(lambda: model.fit(X, y)) + (size.epochs - epochs) * times.generation


# The share of a search outside of its solves, and the gain by a second core.


@dataclass(frozen=True, slots=True)
class ShareSize:
    """Length of the searches, number of rounds, and whether shapes are shrunk."""

    population: int = 100
    epochs: int = 20
    rounds: int = 5
    shrunk: bool = False

    def rows(self, name: str) -> tuple[Shape, np.ndarray, np.ndarray]:
        """Return a shape with its rows."""
        shape = {**SHAPES, TINY.name: TINY}[name]
        shape = shape.shrunk() if self.shrunk else shape
        return shape, *rows_of(shape)


FULL_SHARES = ShareSize()
QUICK_SHARES = ShareSize(population=6, epochs=2, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a search that is spent neither in its engine nor in its fitness."""

    search: str
    share: Ratio
    target: float = SHARE_TARGET

    @property
    def met(self) -> bool:
        """Return whether the target is met."""
        return self.share.median <= self.target


@dataclass(frozen=True, slots=True)
class CoreSpeedUp:
    """The time of a search on one core over two; without it, ``missing`` is the reason."""

    search: str
    ratio: Ratio | None
    target: float
    missing: str | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the target is met, None without a ratio.

        Equal times vary around a ratio of 1, so the upper quartile has to reach a target
        of 1, and the median any other target.
        """
        if self.ratio is None:
            return None
        return (self.ratio.upper if self.target == NO_SLOWER else self.ratio.median) >= self.target


def measure_shares(size: ShareSize) -> list[Share]:
    """Return the shares at (a) and (e), with a progress bar and a callback."""
    searches = [
        ("a", "class", "train"),
        ("a", "sample", "train"),
        ("e", "class", 5),
        ("e", "sample", "train"),
    ]
    with blas_threads(1):
        return [_share(size, *search) for search in searches]


def _share(size: ShareSize, name: str, level: str, fitness: Any) -> Share:
    shape, X, y = size.rows(name)
    settings = {"cost_level": level, "fitness": fitness, "verbose": 1, **ERRORS_ONLY}
    rounds = [_one_share(size, shape, X, y, settings) for _ in range(size.rounds)]
    return Share(_label(name, level, fitness), Ratio.of(np.array(rounds)))


def _one_share(
    size: ShareSize, shape: Shape, X: np.ndarray, y: np.ndarray, settings: dict[str, Any]
) -> float:
    watch = Stopwatch()
    with (
        redirect_stderr(io.StringIO()),
        timed_calls(CostObjective, "__call__", watch),
        timed_calls(CostEncoding, "decode", watch),
    ):
        whole = _search(size, shape, X, y, 1, settings).seconds[-1]
    return 1.0 - (sum(watch.seconds["__call__"]) - sum(watch.seconds["decode"])) / whole


@contextmanager
def timed_calls(owner: type, method: str, watch: Stopwatch) -> Iterator[None]:
    """Time all calls of a method inside a ``with`` block."""
    plain = getattr(owner, method)

    def timed(self: Any, *arguments: Any, **options: Any) -> Any:
        return watch.time(method, plain, self, *arguments, **options)

    with patch.object(owner, method, timed):
        yield


def compare_cores(size: ShareSize) -> list[CoreSpeedUp]:
    """Return the speed-ups by a second core: large problems must gain, small ones not lose."""
    short = ShareSize(size.population, 2, min(3, size.rounds), size.shrunk)
    searches: list[tuple[str, Any, float, ShareSize]] = [
        ("e", 5, CORES_TARGET, size),
        ("f", 5, CORES_TARGET, short),
        ("a", "train", NO_SLOWER, size),
        ("b", "train", NO_SLOWER, size),
        (TINY.name, "train", NO_SLOWER, size),
    ]
    enough = joblib.cpu_count() >= 2
    return [
        CoreSpeedUp(
            _label(name, "class", fitness),
            _core_ratio(length, name, fitness) if enough else None,
            target,
            None if enough else "one core only",
        )
        for name, fitness, target, length in searches
    ]


def _core_ratio(size: ShareSize, name: str, fitness: Any) -> Ratio:
    shape, X, y = size.rows(name)
    settings = {"fitness": fitness, **ERRORS_ONLY}
    timers = [_on_cores(n, partial(_search, size, shape, X, y, n, settings)) for n in (1, 2)]
    for timer in timers:
        timer()
    one, two = seconds_by_round(timers, size.rounds, pause=PAUSE).T
    return Ratio.of(one / two)


def _on_cores(n_cores: int, search: Callable[[], GenerationTimes]) -> Callable[[], float]:
    """Return a timer of the generations alone, without the preparation of the search."""

    def seconds() -> float:
        with blas_threads(n_cores):
            return search().generation

    return seconds


def _search(
    size: ShareSize,
    shape: Shape,
    X: np.ndarray,
    y: np.ndarray,
    n_jobs: int,
    settings: dict[str, Any],
) -> GenerationTimes:
    times = GenerationTimes()
    ECSELMClassifier(
        shape.n_hidden,
        population_size=size.population,
        max_epochs=size.epochs,
        callbacks=times,
        n_jobs=n_jobs,
        random_state=0,
        **{**SINGLE_MODEL, "C": shape.C, **settings},
    ).fit(X, y)
    return times


def _label(name: str, level: str, fitness: Any) -> str:
    scored_on = "training error" if fitness == "train" else f"{fitness} folds"
    return f"({name}), {level} level, {scored_on}"


# A candidate of our searches over one of intelelm. intelelm evolves the weights of the hidden
# units and so computes H and a pseudo-inverse for every candidate, as EELMClassifier does.
# ECSELMClassifier searches costs, for which the sums over the rows are computed once.


@dataclass(frozen=True, slots=True)
class EvolutionSize:
    """Number of candidates and of rounds, and whether the shape is shrunk."""

    population: int = 30
    ours: int = 10  # generations after the first population
    theirs: int = 1
    rounds: int = 3
    shrunk: bool = False


FULL_EVOLUTION = EvolutionSize()
QUICK_EVOLUTION = EvolutionSize(population=6, ours=2, theirs=1, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class EvolutionTask:
    """Training data and settings of an evolutionary search."""

    X: np.ndarray  # (N, n), standardised
    y: np.ndarray  # (N,) class codes
    n_hidden: int
    population: int
    generations: int  # after the first population


def _evolve_intelelm(intelelm: Any, task: EvolutionTask) -> Any:
    """Evolve sigmoid units for accuracy by mealpy's differential evolution."""
    model = intelelm.MhaElmClassifier(
        layer_sizes=(task.n_hidden,),
        act_name="sigmoid",
        obj_name="AS",
        optim="OriginalDE",
        optim_params={"epoch": task.generations, "pop_size": task.population},
        seed=0,
        verbose=False,
    )
    return model.fit(task.X, task.y)


INTELELM = Package("intelelm, MhaElmClassifier", "intelelm", "intelelm", _evolve_intelelm)
OURS: dict[str, Callable[[EvolutionTask], Any]] = {
    "ECSELMClassifier, class level, training error": lambda task: ECSELMClassifier(
        task.n_hidden,
        fitness="train",
        population_size=task.population,
        max_epochs=task.generations,
        random_state=0,
        **SINGLE_MODEL,
    ).fit(task.X, task.y),
    "EELMClassifier, sigmoid": lambda task: EELMClassifier(
        task.n_hidden,
        population_size=task.population,
        max_epochs=task.generations,
        random_state=0,
    ).fit(task.X, task.y),
}


def compare_evolution(size: EvolutionSize) -> list[Comparison]:
    """Return the comparisons on digits, on one BLAS thread; whole fits are timed."""
    if INTELELM.missing:
        return [Comparison(ours, INTELELM.name, None, None, INTELELM.missing) for ours in OURS]
    shape = SHAPES["e"].shrunk() if size.shrunk else SHAPES["e"]
    X, y = rows_of(shape)
    X = StandardScaler().fit_transform(X)
    task = partial(EvolutionTask, X, y, shape.n_hidden, size.population)
    timers = [partial(_candidate_seconds, run, task(size.ours)) for run in OURS.values()]
    timers.append(partial(_candidate_seconds, INTELELM.run, task(size.theirs)))
    with blas_threads(1):
        *ours, theirs = seconds_by_round(timers, size.rounds).T
    return [
        Comparison(name, INTELELM.name, Ratio.of(mine / theirs))
        for name, mine in zip(OURS, ours, strict=True)
    ]


def _candidate_seconds(run: Callable[[EvolutionTask], Any], task: EvolutionTask) -> float:
    """Return the seconds of a candidate."""
    return duration(lambda: run(task)) / (task.population * (task.generations + 1))
