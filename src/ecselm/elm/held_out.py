"""Candidate layers judged by training rows held out of their own training (E-ELM)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
from ecselm.elm.layers import LayerRecipe
from ecselm.elm.learners import finite
from ecselm.elm.rows import Rows
from ecselm.hidden import HiddenLayer, InputScale, RandomLayer
from ecselm.hidden.draws import Weights
from ecselm.objectives.folds import holdout
from ecselm.objectives.keys import row_keys
from ecselm.search.norm_selection import Evolution, Judged
from ecselm.solvers import Solution, solve_weighted
from ecselm.solvers.minimum_norm import minimum_norm_solution

Activation = str | Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows to train on, rows to judge by, and how many of the latter are different."""

    train: Rows
    test: Rows
    n_distinct: int


def hold_out(rows: Rows, fraction: float, rng: np.random.Generator) -> HeldOut:
    """Hold out a share of the different rows of each class; no class gives its last one.

    Equal rows stay together and rows of weight 0 take no part, so that a row of weight
    2 and the same row twice lead to one split, whatever the order of the rows.
    """
    if rows.weight is not None:
        rows = rows.taken(np.flatnonzero(rows.weight > 0))
    (split,) = holdout(rows.X, rows.y, fraction, rng)
    test = rows.taken(split.test)
    distinct = set(zip(test.y.tolist(), row_keys(test.X), strict=True))
    return HeldOut(rows.taken(split.train), test, len(distinct))


@dataclass(frozen=True, slots=True)
class ErrorMeasure:
    """An error of scores Z (N, m), its unit for given rows, and the score of error 0."""

    error: Callable[[Rows, FloatArray], float]
    unit: Callable[[Rows], float]
    perfect: float

    def score(self, error: float) -> float:
        """Return what is the greater the better."""
        return self.perfect - error


def _error_rate(rows: Rows, Z: FloatArray) -> float:
    decided = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    return float(np.average(decided != rows.y, weights=rows.weight))


def _one(_: Rows) -> float:
    return 1.0


def _root_mean_square(rows: Rows, Z: FloatArray) -> float:
    squares = ((rows.T.astype(np.float64) - Z) ** 2).mean(axis=1)
    return float(np.sqrt(np.average(squares, weights=rows.weight)))


def _spread(rows: Rows) -> float:
    mean = np.average(rows.T, axis=0, weights=rows.weight)
    return _root_mean_square(rows, mean[np.newaxis])


ERROR_RATE = ErrorMeasure(_error_rate, _one, perfect=1.0)
ROOT_MEAN_SQUARE = ErrorMeasure(_root_mean_square, _spread, perfect=0.0)


@dataclass(frozen=True, slots=True)
class LayerJudge:
    """Give every candidate its held-out error and the norm of its output weights.

    The scale of the inputs is that of all training rows: the layer that wins is the
    layer that was judged.
    """

    rows: HeldOut
    scale: InputScale
    activation: Activation
    n_hidden: int
    C: float | None
    measure: ErrorMeasure

    def __call__(self, P: FloatArray) -> Judged:
        """Judge the points of ``P`` (NP, L (n + 1))."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows never wins
            found = np.array([self._judge(theta) for theta in P])
        return Judged(P, found[:, 0], found[:, 1])

    def _judge(self, theta: FloatArray) -> tuple[float, float]:
        train, test = self.rows.train, self.rows.test
        drawn = as_weights(theta, self.n_hidden)
        layer = RandomLayer.from_draw(drawn, self.activation, self.scale, train.T.dtype)
        H = layer(train.X)
        if not np.isfinite(np.vdot(H, H)):
            return np.inf, np.inf
        beta = solve_output(H, train.T, train.weight, self.C).beta
        Z = layer(test.X) @ beta
        if not np.isfinite(Z).all():
            return np.inf, np.inf
        return self.measure.error(test, Z), float(np.linalg.norm(beta))


def as_weights(theta: FloatArray, n_hidden: int) -> Weights:
    """Cut ``theta = vec([W; b])``, (n + 1) L numbers, into W (n, L) and b (L,)."""
    stacked = theta.reshape(-1, n_hidden)
    return Weights(stacked[:-1], stacked[-1])


def solve_output(H: FloatArray, T: FloatArray, w: FloatArray | None, C: float | None) -> Solution:
    """Return beta of (5), or without a ridge, for ``C=None``, that of (3)."""
    return minimum_norm_solution(H, T, w) if C is None else solve_weighted(H, T, w, C)


@dataclass(frozen=True, slots=True)
class EvolvedLearner:
    """All training rows behind the layer that won."""

    recipe: LayerRecipe
    layer: HiddenLayer
    known: Rows
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (1,) weighted factors of the one cost group
    evolution: Evolution

    def solve(self, coefficients: FloatArray, C: float | None) -> Solution:
        """Return beta of (5) or (3)."""
        H = finite(self.layer(self.known.X), *self.recipe.source)
        return solve_output(H, self.known.T, self.known.weights(coefficients), C)
