"""Time of a candidate in our searches against intelelm's evolutionary machine.

intelelm evolves the weights of the hidden units and so computes H and a pseudo-inverse for
every candidate, as our EELMClassifier does. ECSELMClassifier searches costs, for which
the sums over the rows are made once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.end_to_end import ONE_MACHINE
from benchmarks.fit import Comparison
from benchmarks.opponents import Peer
from benchmarks.problems import SHAPES, rows_of
from benchmarks.timing import Ratio, blas_threads, duration, seconds_by_round
from ecselm import ECSELMClassifier, EELMClassifier


@dataclass(frozen=True, slots=True)
class Size:
    """How many candidates are evaluated, how often, and whether the rows are few."""

    population: int = 30
    ours: int = 10  # generations after the first population
    theirs: int = 1
    rounds: int = 3
    shrunk: bool = False


FULL = Size()
QUICK = Size(population=6, ours=2, theirs=1, rounds=2, shrunk=True)


@dataclass(frozen=True, slots=True)
class Evolution:
    """What another package is to evolve."""

    X: np.ndarray  # (N, n), standardised
    y: np.ndarray  # (N,) class codes
    n_hidden: int
    population: int
    generations: int  # after the first population


def _evolve_intelelm(intelelm: Any, task: Evolution) -> Any:
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


INTELELM = Peer("intelelm, MhaElmClassifier", "intelelm", "intelelm", _evolve_intelelm)
OURS: dict[str, Callable[[Evolution], Any]] = {
    "ECSELMClassifier, class level, training error": lambda task: ECSELMClassifier(
        task.n_hidden,
        fitness="train",
        population_size=task.population,
        max_epochs=task.generations,
        random_state=0,
        **ONE_MACHINE,
    ).fit(task.X, task.y),
    "EELMClassifier, sigmoid": lambda task: EELMClassifier(
        task.n_hidden,
        population_size=task.population,
        max_epochs=task.generations,
        random_state=0,
    ).fit(task.X, task.y),
}


def compare_rivals(size: Size) -> list[Comparison]:
    """Return the comparisons on digits, on one BLAS thread; fits count as a whole."""
    if INTELELM.missing:
        return [Comparison(ours, INTELELM.name, None, None, INTELELM.missing) for ours in OURS]
    shape = SHAPES["e"].shrunk() if size.shrunk else SHAPES["e"]
    X, y = rows_of(shape)
    X = StandardScaler().fit_transform(X)
    task = partial(Evolution, X, y, shape.n_hidden, size.population)
    timers = [partial(_candidate, run, task(size.ours)) for run in OURS.values()]
    timers.append(partial(_candidate, INTELELM.run, task(size.theirs)))
    with blas_threads(1):
        *ours, theirs = seconds_by_round(timers, size.rounds).T
    return [
        Comparison(name, INTELELM.name, Ratio.of(mine / theirs))
        for name, mine in zip(OURS, ours, strict=True)
    ]


def _candidate(run: Callable[[Evolution], Any], task: Evolution) -> float:
    """Return the seconds of a candidate."""
    return duration(lambda: run(task)) / (task.population * (task.generations + 1))
