"""Time of whole searches by the estimator, on one core: against a grid search, and a fit.

A search of fewer than 100 epochs counts as one of 100: the epochs left out are added, each
as long as one of those that were run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from benchmarks.fit import Comparison
from benchmarks.problems import SHAPES, Shape, rows_of
from benchmarks.timing import Ratio, blas_threads, duration, seconds_by_round
from ecselm import ECSELMClassifier, ELMClassifier, KELMClassifier

GRID_TARGET, FIT_TARGET = 4.0, 60.0
GRID = {"C": 2.0 ** np.linspace(-10.0, 25.0, 36)}
FITS = 10  # one fit is too short to be timed alone
COMMITTEE_TARGET = 5.0
KERNEL_GRID = {"C": 2.0 ** np.arange(-6.0, 16.0, 4.0), "gamma": np.geomspace(0.03, 10.0, 6) / 20}
# Searches of one machine, as they were before several became the default.
ONE_MACHINE = {"activation": "radbas", "C": 32.0, "smoothing": 0.5, "keep_prior": False}


@dataclass(frozen=True, slots=True)
class Size:
    """How long a search is, how much of it is run, and how often."""

    population: int = 100
    epochs: int = 100
    sample_epochs: int = 20  # run of the epochs, at sample level
    rounds: int = 3
    shrunk: bool = False

    def shape(self, name: str) -> Shape:
        """Return a shape, shrunk if need be."""
        return SHAPES[name].shrunk() if self.shrunk else SHAPES[name]


FULL = Size()
QUICK = Size(population=6, epochs=4, sample_epochs=2, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class Opponent:
    """What a search is held against."""

    name: str
    model: Any
    repeats: int  # too short to be timed alone
    target: float

    def seconds(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the seconds of one fit."""
        return duration(lambda: [self.model.fit(X, y) for _ in range(self.repeats)]) / self.repeats


class Progress:
    """A callback that keeps the seconds after every generation of a search."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, progress: Any) -> None:
        """Take the time of a generation."""
        self.seconds.append(progress.seconds)

    @property
    def generation(self) -> float:
        """Return the mean seconds of a generation after the first population."""
        return (self.seconds[-1] - self.seconds[0]) / (len(self.seconds) - 1)


def compare_whole(size: Size) -> list[Comparison]:
    """Return all comparisons, each on one BLAS thread and one core."""
    with blas_threads(1):
        return [*_against_grid(size), *_against_fits(size), _default_fit(size)]


def _default_fit(size: Size) -> Comparison:
    """Compare a fit with all defaults on 1000 rows of 20 inputs with a kernel grid search."""
    X, y = make_classification(
        120 if size.shrunk else 1000, 20, n_informative=8, weights=[0.85], random_state=0
    )
    ours = ECSELMClassifier(scoring="gmean", random_state=0)
    grid = GridSearchCV(KELMClassifier(), KERNEL_GRID, cv=5, n_jobs=1)
    timers = [partial(duration, partial(model.fit, X, y)) for model in (ours, grid)]
    mine, theirs = seconds_by_round(timers, size.rounds).T
    opponent = "GridSearchCV of KELMClassifier, 36 values of C and gamma, 5 folds"
    ratio = Ratio.of(mine / theirs)
    return Comparison("1000 x 20, all defaults", opponent, ratio, COMMITTEE_TARGET)


def _against_grid(size: Size) -> list[Comparison]:
    """Compare searches judged by 5 folds with a grid search judged by as many."""
    shape = size.shape("e")
    X, y = rows_of(shape)
    grid = GridSearchCV(ELMClassifier(shape.n_hidden, random_state=0), GRID, cv=5, n_jobs=1)
    return _against(
        Opponent("GridSearchCV of ELMClassifier, 36 values of C, 5 folds", grid, 1, GRID_TARGET),
        size,
        (X, y),
        {
            "(e), class level, 5 folds": (size.epochs, {"fitness": 5}),
            "(e), class level, 5 folds, counts only": (
                size.epochs,
                {"fitness": 5, "smoothing": 0.0},
            ),
        },
        n_hidden=shape.n_hidden,
    )


def _against_fits(size: Size) -> list[Comparison]:
    """Compare searches judged by training error with one fit of as many hidden units."""
    shape = size.shape("a")
    fit = ELMClassifier(shape.n_hidden, random_state=0)
    rows, counts = rows_of(shape), {"fitness": "train", "smoothing": 0.0}
    opponent = Opponent("one ELMClassifier.fit", fit, FITS, FIT_TARGET)
    return _against(
        opponent,
        size,
        rows,
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
    opponent: Opponent,
    size: Size,
    rows: tuple[np.ndarray, np.ndarray],
    searches: dict[str, tuple[int, dict[str, Any]]],
    n_hidden: int | None,
) -> list[Comparison]:
    """Run searches and the opponent in turn; targets are for costs by class."""
    timers = [
        partial(search_seconds, size, *rows, epochs, n_hidden=n_hidden, **settings)
        for epochs, settings in searches.values()
    ]
    timers.append(partial(opponent.seconds, *rows))
    *ours, theirs = seconds_by_round(timers, size.rounds).T
    return [
        Comparison(
            f"{name}, {epochs} epochs run",
            opponent.name,
            Ratio.of(mine / theirs),
            opponent.target if "class level" in name else None,
        )
        for (name, (epochs, _)), mine in zip(searches.items(), ours, strict=True)
    ]


def search_seconds(size: Size, X: np.ndarray, y: np.ndarray, epochs: int, **settings: Any) -> float:
    """Return the seconds of a search of ``size.epochs``, of which ``epochs`` are run."""
    progress = Progress()
    model = ECSELMClassifier(
        population_size=size.population,
        max_epochs=epochs,
        callbacks=progress,
        n_jobs=1,
        random_state=0,
        **{**ONE_MACHINE, **settings},
    )
    return duration(lambda: model.fit(X, y)) + (size.epochs - epochs) * progress.generation
