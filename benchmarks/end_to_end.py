"""Time of whole searches by the estimator, on one core: against a grid search, and a fit.

A search of fewer than 100 epochs counts as one of 100: the epochs left out are added, each
as long as one of those that were run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.fit import Comparison
from benchmarks.problems import SHAPES, Shape, rows_of
from benchmarks.timing import Ratio, blas_threads, duration, seconds_by_round
from ecselm import ECSELMClassifier, ELMClassifier

GRID_TARGET, FIT_TARGET = 4.0, 60.0
GRID = {"C": 2.0 ** np.linspace(-10.0, 25.0, 36)}
FITS = 10  # one fit is too short to be timed alone


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
        return [_against_grid(size), *_against_fits(size)]


def _against_grid(size: Size) -> Comparison:
    shape = size.shape("e")
    X, y = rows_of(shape)
    search = partial(search_seconds, size, X, y, size.epochs, n_hidden=shape.n_hidden)
    grid = GridSearchCV(ELMClassifier(shape.n_hidden, random_state=0), GRID, cv=5, n_jobs=1)
    seconds = seconds_by_round([search, lambda: duration(lambda: grid.fit(X, y))], size.rounds)
    return Comparison(
        f"ECSELMClassifier, (e), class level, 5 folds, all {size.epochs} epochs run",
        "GridSearchCV of ELMClassifier, 36 values of C, 5 folds",
        Ratio.of(seconds[:, 0] / seconds[:, 1]),
        GRID_TARGET,
    )


def _against_fits(size: Size) -> list[Comparison]:
    """Compare searches by training fitness with one fit of as many hidden units."""
    shape = size.shape("a")
    X, y = rows_of(shape)
    plain = ELMClassifier(shape.n_hidden, random_state=0)
    whole = {"n_hidden": shape.n_hidden, "fitness": "train"}
    searches = {
        f"class level, all {size.epochs} epochs run": (size.epochs, {}),
        f"class level, counts only, all {size.epochs} epochs run": (
            size.epochs,
            {"smoothing": 0.0},
        ),
        f"sample level, counts only, {size.sample_epochs} epochs run": (
            size.sample_epochs,
            {"smoothing": 0.0, "cost_level": "sample"},
        ),
    }
    timers = [
        partial(search_seconds, size, X, y, epochs, **whole, **settings)
        for epochs, settings in searches.values()
    ]
    timers.append(lambda: duration(lambda: [plain.fit(X, y) for _ in range(FITS)]) / FITS)
    *ours, fit = seconds_by_round(timers, size.rounds).T
    targets = [FIT_TARGET, FIT_TARGET, None]
    return [
        Comparison(
            f"ECSELMClassifier, (a), training error, {name}",
            "one ELMClassifier.fit",
            Ratio.of(mine / fit),
            target,
        )
        for name, mine, target in zip(searches, ours, targets, strict=True)
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
        **settings,
    )
    return duration(lambda: model.fit(X, y)) + (size.epochs - epochs) * progress.generation
