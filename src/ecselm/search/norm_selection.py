"""Differential evolution that prefers the smaller norm among equals (E-ELM).

Zhu, Qin, Suganthan & Huang (2005) evolve the input weights of a network whose output
weights are solved for. Two points of nearly equal error are distinguished by the norm of
those output weights, since small ones generalise better. Sizes: NP points of D
coordinates. The article gives the rule of selection; the code its authors handed out
differs in strategy and in where the rule applies, so both forms are here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.search.interrupts import keeps_best
from ecselm.search.run import SearchHistory

STRATEGIES = ("rand1bin", "randtobest1exp")
TIE_BREAKS = ("selection", "best_only")
LEAST_SIZE = 4  # a parent and three others


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Points with what they were found to be worth; an infinite error never wins."""

    points: FloatArray  # (NP, D)
    errors: FloatArray  # (NP,)
    norms: FloatArray  # (NP,)

    def __getitem__(self, i: int) -> Evaluated:
        """Return one point alone, as arrays without their first axis."""
        return Evaluated(self.points[i], self.errors[i], self.norms[i])

    def replaced(self, others: Evaluated, wins: BoolArray) -> Evaluated:
        """Return the points with those of ``others`` where they win."""
        return Evaluated(
            np.where(wins[:, np.newaxis], others.points, self.points),
            np.where(wins, others.errors, self.errors),
            np.where(wins, others.norms, self.norms),
        )

    def first(self) -> Evaluated:
        """Return the point of the least error, of the least norm among equal ones."""
        return self[int(np.lexsort((self.norms, self.errors))[0])]


@dataclass(frozen=True, slots=True)
class Variation:
    """How trials come from a population: mutation, crossover, bounds."""

    strategy: str
    amplitude: float  # F
    crossover: float  # CR
    clip: bool

    def trials(self, P: FloatArray, best: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one trial for every individual of ``P`` (NP, D).

        ``rand1bin``: ``v = p_r1 + F (p_r2 - p_r3)``, and each coordinate of the trial
        comes from v with the probability CR, at least one. ``randtobest1exp``:
        ``v = p + F (best - p) + F (p_r1 - p_r2)``, and a block of neighbouring
        coordinates comes from v, as many as rand1bin would take; the textbook's
        exponential crossover would take no more than ``1 / (1 - CR)`` of them on average.
        """
        F, r = self.amplitude, _others(len(P), rng)
        if self.strategy == "rand1bin":
            mutants = P[r[0]] + F * (P[r[1]] - P[r[2]])
            mask = _binomial_mask(P.shape, self.crossover, rng)
        else:
            mutants = P + F * (best - P) + F * (P[r[0]] - P[r[1]])
            mask = _block_mask(P.shape, self.crossover, rng)
        U = np.where(mask, mutants, P)
        return np.clip(U, -1.0, 1.0) if self.clip else U


def _others(size: int, rng: np.random.Generator) -> IntArray:
    """Return three different individuals, none of them itself, for each (3, size)."""
    chosen = np.argsort(rng.random((size, size - 1)), axis=1)[:, :3]
    # Skipping the parent: positions from its own on stand for the next individual.
    return (chosen + (chosen >= np.arange(size)[:, np.newaxis])).T


def _binomial_mask(shape: tuple[int, ...], rate: float, rng: np.random.Generator) -> BoolArray:
    mask = rng.random(shape) < rate
    mask[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = True
    return mask


def _block_mask(shape: tuple[int, ...], rate: float, rng: np.random.Generator) -> BoolArray:
    """Gather the coordinates of a binomial mask into one block, the last next to the first."""
    size, D = shape
    lengths = np.maximum((rng.random(shape) < rate).sum(axis=1), 1)
    starts = rng.integers(D, size=size)
    return (np.arange(D) - starts[:, np.newaxis]) % D < lengths[:, np.newaxis]


@dataclass(frozen=True, slots=True)
class NormRule:
    """Which of two points is preferred, and at which steps.

    With ``margin = tolerance * max(error_old, floor)`` the new point is preferred if its
    error is smaller by more than the margin, or differs by no more than it and has the
    smaller norm. Without the floor nothing but an equal error would tie with error 0.

    Examples
    --------
    >>> import numpy as np
    >>> rule = NormRule("selection", tolerance=0.02, floor=0.0)
    >>> old = Evaluated(np.zeros((3, 1)), np.array([0.5, 0.5, 0.5]), np.array([2.0, 2.0, 2.0]))
    >>> new = Evaluated(np.ones((3, 1)), np.array([0.4, 0.505, 0.505]), np.array([9.0, 1.0, 3.0]))
    >>> rule.prefers(new, old)
    array([ True,  True, False])
    """

    tie_break: str
    tolerance: float
    floor: float

    def prefers(self, new: Evaluated, old: Evaluated) -> BoolArray:
        """Tell for every pair whether the new point is preferred."""
        with np.errstate(invalid="ignore"):  # two infinite errors have no difference
            gain = old.errors - new.errors
            margin = self.tolerance * np.maximum(old.errors, self.floor)
            tied = (np.abs(gain) <= margin) & (new.norms < old.norms)
            better = (gain > margin) | tied | ~np.isfinite(old.errors)
        return np.isfinite(new.errors) & better

    def wins(self, trials: Evaluated, parents: Evaluated) -> BoolArray:
        """Tell which trials take the place of their parents."""
        if self.tie_break == "selection":
            return self.prefers(trials, parents)
        return np.isfinite(trials.errors) & ~(trials.errors > parents.errors)

    def best(self, best: Evaluated, trials: Evaluated, wins: BoolArray) -> Evaluated:
        """Return the best point after the trials that won have been compared with it, in turn."""
        for i in np.flatnonzero(wins).tolist():
            best = trials[i] if self.prefers(trials[i], best) else best
        return best


@dataclass(frozen=True, slots=True)
class Evolution:
    """The best point, and the generations that led to it."""

    best: Evaluated
    history: SearchHistory


def evolve(
    evaluate: Callable[[FloatArray], Evaluated],
    shape: tuple[int, int],
    variation: Variation,
    rule: NormRule,
    *,
    max_epochs: int,
    rng: np.random.Generator,
) -> Evolution:
    """Evolve ``shape = (NP, D)`` coordinates drawn from U(-1, 1).

    Parameters
    ----------
    evaluate : callable
        Takes points (NP, D) and returns them with errors and norms.
    shape : tuple of int
        NP may be below 4 only for ``max_epochs=0``.
    variation : Variation
    rule : NormRule
    max_epochs : int
        Generations after the first population.
    rng : numpy.random.Generator

    Notes
    -----
    KeyboardInterrupt ends it with the best so far, once there is one and unless it is within
    :func:`~ecselm.search.interruptible`.

    Examples
    --------
    >>> import numpy as np
    >>> def evaluate(P):
    ...     return Evaluated(P, (P**2).sum(axis=1), np.abs(P).sum(axis=1))
    >>> found = evolve(
    ...     evaluate,
    ...     (20, 3),
    ...     Variation("rand1bin", amplitude=0.7, crossover=0.8, clip=True),
    ...     NormRule("selection", tolerance=0.02, floor=0.0),
    ...     max_epochs=60,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> bool(found.best.errors < 1e-3), found.history.evaluations
    (True, 1220)
    """
    if max_epochs > 0 and shape[0] < LEAST_SIZE:
        raise ValueError(
            f"population_size must be at least {LEAST_SIZE} unless max_epochs is 0, got {shape[0]}"
        )
    history = SearchHistory(reason="max_epochs")
    population = evaluate(rng.uniform(-1.0, 1.0, shape))
    best = population.first()
    history.add(float(best.errors), population.errors)
    try:
        for _ in range(max_epochs):
            trials = evaluate(variation.trials(population.points, best.points, rng))
            wins = rule.wins(trials, population)
            population, best = population.replaced(trials, wins), rule.best(best, trials, wins)
            history.add(float(best.errors), trials.errors)
    except KeyboardInterrupt:
        if not keeps_best():
            raise
        history.reason = "interrupted"
    return Evolution(best, history)
