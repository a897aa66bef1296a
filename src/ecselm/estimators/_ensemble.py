"""The ensemble of models behind layers of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ecselm._threads import Workers
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.estimators._calibration import residual_slope
from ecselm.estimators._cost_search import CostSearch
from ecselm.estimators._layers import KindLayer
from ecselm.estimators._prior_test import PriorTest, prior_test
from ecselm.estimators._source import EngineLimits, LayerModel
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    Engine,
    Fitness,
    RowCostFitness,
    Split,
)
from ecselm.layers import LayerUnion

N_MEMBERS = 20  # of every kind
ROUNDING = 1e-10  # share of their size below which differences of scores mean nothing
N_CHOICE_FOLDS = 5
N_THRESHOLDS = 51
REACH = 2.5  # stds of a class to both sides of the middle
REACH_OF_MANY = 1.5  # stds to both sides of 0, class by class
THRESHOLD_SHRINKAGE = 0.1  # fitness that a threshold one std away from 0 has to earn
N_PENALTIES = 12  # values of C that are tried behind every layer
MOST_LAYERS = 24
N_DIGITS = 9  # of log(C B), in which two different models differ


# Models behind the layers


class LayerModels:
    """Models and engines behind several layers, kept where memory allows."""

    def __init__(
        self,
        layers: list[KindLayer],
        model: Callable[[Any], LayerModel],
        rows: CostedRows,
        splits: list[Split] | None,
        limits: EngineLimits,
        n_hidden: int,
    ) -> None:
        self.layers, self.rows = layers, rows
        self._model, self._splits, self._limits = model, splits, limits
        copies = 4 * MOST_LAYERS * len(rows) * n_hidden * 8  # H, and its rows by split
        self._keeps = copies <= limits.memory
        self._kept: dict[int, tuple[LayerModel, Engine]] = {}

    def __getitem__(self, i: int) -> tuple[LayerModel, Engine]:
        """Return the model behind the i-th layer, and the engine that scores candidates."""
        if i in self._kept:
            return self._kept[i]
        model = self._model(self.layers[i].layer)
        made = model, model.engine(self.rows, self._splits, self._limits)
        if self._keeps:
            self._kept[i] = made
        return made


# Candidates


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Points that were evaluated behind one layer."""

    layer: int
    kind: str
    points: FloatArray  # (n, D)
    losses: FloatArray  # (n,)
    from_prior: BoolArray  # (n,), whether the costs are the prior's
    cross_losses: FloatArray  # (folds, n), losses on the validation rows outside of each fold


@dataclass(frozen=True, slots=True)
class Members:
    """Points of the members behind one layer."""

    layer: int
    points: FloatArray  # (n, D)


@dataclass(slots=True)
class CandidatePool:
    """All evaluated points, to choose members from."""

    evaluated: list[Evaluated] = field(default_factory=list)

    @property
    def best(self) -> Evaluated:
        """Return the points behind the layer that has the best candidate of all."""
        return min(self.evaluated, key=lambda one: one.losses.min())

    @property
    def has_prior(self) -> bool:
        """Tell whether prior costs were evaluated."""
        return any(one.from_prior.any() for one in self.evaluated)

    @property
    def best_prior(self) -> FloatArray:
        """Return the best point (D,) whose costs are the prior's."""
        ((_, point),) = _best_of(self.evaluated, of_prior=True, number=1)
        return point

    def add_found(self, point: FloatArray, loss: float) -> None:
        """Add the result of a search behind the best layer."""
        beside = self.best
        # All validation rows took part in finding it: no choice by some of them may take it.
        cross_losses = np.full((len(beside.cross_losses), 1), np.inf)
        self.evaluated.append(
            Evaluated(
                beside.layer,
                beside.kind,
                point[np.newaxis],
                np.array([loss]),
                np.zeros(1, dtype=bool),
                cross_losses,
            )
        )

    def members(self, *, of_prior: bool = False, fold: int | None = None) -> list[Members]:
        """Return the best of every kind, layer by layer; with a ``fold``, chosen without it."""
        chosen: list[tuple[int, FloatArray]] = []
        for kind in dict.fromkeys(one.kind for one in self.evaluated):
            chosen += _best_of(
                [one for one in self.evaluated if one.kind == kind], of_prior, N_MEMBERS, fold
            )
        layers = dict.fromkeys(layer for layer, _ in sorted(chosen, key=lambda one: one[0]))
        return [
            Members(layer, np.stack([point for own, point in chosen if own == layer]))
            for layer in layers
        ]


def _best_of(
    evaluated: list[Evaluated], of_prior: bool, number: int, fold: int | None = None
) -> list[tuple[int, FloatArray]]:
    losses = np.concatenate(
        [
            np.where(
                one.from_prior | (not of_prior),
                one.losses if fold is None else one.cross_losses[fold],
                np.inf,
            )
            for one in evaluated
        ]
    )
    places = [(one.layer, point) for one in evaluated for point in one.points]
    order = np.argsort(losses, kind="stable")[:number]
    return [places[i] for i in order if np.isfinite(losses[i])]


def score_priors(
    search: CostSearch,
    models: LayerModels,
    fitness: Fitness,
    folds: ChoiceFolds | None,
    n_threads: int,
) -> CandidatePool:
    """Evaluate the powers of W1 with several C behind every layer."""
    fitnesses = [fitness, *([] if folds is None else folds.cross_fitnesses())]
    points, of_prior = _prior_grid(search)
    pool = CandidatePool()
    with Workers(n_threads) as workers:
        for i, kind in enumerate(models.layers):
            _, engine = models[i]
            objective = CostObjective(search.encoding, engine, fitness, workers, search.shrinkage)
            losses, *cross_losses = objective.losses(points, fitnesses)
            cross = np.array(cross_losses).reshape(-1, len(points))
            pool.evaluated.append(Evaluated(i, kind.kind, points, losses, of_prior, cross))
    return pool


def _prior_grid(search: CostSearch) -> tuple[FloatArray, BoolArray]:
    """Return points (n, D) of costs and C, and whether their costs are the prior's.

    Costs outside of the allowed region are moved to the nearest inside. Classes of equal
    size, and costs moved, give several points that stand for one model, since ``(s B, C)``
    and ``(B, s C)`` are the same: one point is kept, the prior's if that is among them.
    """
    encoding, path = search.encoding, search.path
    points, from_prior = [], []
    for i, entries in enumerate(np.empty((0, 0)) if path is None else path.entries):
        inside = search.allowed(entries)
        known = encoding.region.repaired(entries[np.newaxis])[0] if inside is None else inside
        for C in encoding.C.evenly(N_PENALTIES):
            points.append(encoding.encode(known, C))
            from_prior.append(path is not None and i == path.implied and inside is not None)
    every, of_prior = np.stack(points), np.array(from_prior)
    found = encoding.decode(every)
    models = np.log(found.costs * found.C[:, np.newaxis]).round(N_DIGITS)
    prior_first = np.argsort(~of_prior, kind="stable")
    _, first = np.unique(models[prior_first], axis=0, return_index=True)
    kept = np.sort(prior_first[first])
    return every[kept], of_prior[kept]


# The test of learned against prior costs, each chosen on other rows than it is tested on


@dataclass(frozen=True, slots=True)
class ChoiceFolds:
    """The fold of every validation row, and for each fold a fitness of all other rows."""

    of_row: IntArray  # (n,)
    fitnesses: list[Fitness]

    @classmethod
    def drawn(
        cls, fitness: Fitness, row_ids: AnyArray, rng: np.random.Generator
    ) -> ChoiceFolds | None:
        """Assign rows to folds class by class, those of the same hash or group together.

        None for a fitness that is not made of sums over rows, or if there is only one fold.
        """
        if not isinstance(fitness, ConfusionFitness | RowCostFitness):
            return None
        _, codes = np.unique(row_ids, return_inverse=True)
        fold, start = np.full(codes.max() + 1, -1), 0
        for c in np.unique(fitness.y):
            new = np.unique(codes[fitness.y == c])
            new = new[fold[new] < 0]
            fold[new] = (start + rng.permutation(len(new))) % N_CHOICE_FOLDS
            start += len(new)
        of_row = fold[codes]
        if len(np.unique(of_row)) < 2:  # all rows are equal: none is left to choose by
            return None
        return cls(of_row, [_fitness_of(fitness, of_row != f) for f in range(N_CHOICE_FOLDS)])

    def cross_fitnesses(self) -> list[Fitness]:
        """Return functions of the scores of all rows that use those outside of each fold."""
        return [CrossFitness(fitness, self.of_row != f) for f, fitness in enumerate(self.fitnesses)]


def _fitness_of(fitness: ConfusionFitness | RowCostFitness, rows: BoolArray) -> Fitness:
    weight = None if fitness.weight is None else fitness.weight[rows]
    if isinstance(fitness, ConfusionFitness):
        return replace(fitness, y=fitness.y[rows], weight=weight)
    return replace(fitness, y=fitness.y[rows], costs=fitness.costs[rows], weight=weight)


@dataclass(frozen=True, slots=True)
class CrossFitness:
    """A fitness of some of the rows, given the scores of all."""

    fitness: Fitness
    rows: BoolArray  # (n,)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,) of scores (P, n, m)."""
        return self.fitness(np.ascontiguousarray(Z[:, self.rows]))


def cross_prior_test(
    pool: CandidatePool,
    folds: ChoiceFolds | None,
    models: LayerModels,
    encoding: CostEncoding,
    fitness: Fitness,
    validation: IntArray,
    row_ids: AnyArray,
) -> PriorTest | None:
    """Test ensembles of learned against those of prior costs, each chosen on other folds."""
    if folds is None or not pool.has_prior:
        return None

    def scores(layer: int, points: FloatArray) -> FloatArray:
        _, engine = models[layer]
        return engine.scores(encoding.decode(points, scaled=False))

    rows = models.rows.taken(validation)
    learned, prior = (
        cross_scores(pool, folds, rows, scores, of_prior=of_prior) for of_prior in (False, True)
    )
    return prior_test(fitness, learned, prior, row_ids)


def cross_scores(
    pool: CandidatePool,
    folds: ChoiceFolds,
    rows: CostedRows,
    scores: Callable[[int, FloatArray], FloatArray],
    *,
    of_prior: bool,
) -> FloatArray:
    """Return the score (n, m) of every validation row by an ensemble chosen without its fold.

    ``scores`` returns those of points (P, D) behind a layer, (P, n, m); ``rows`` are the
    validation rows. Scores of learned costs have thresholds, those of prior costs do not.
    """
    chosen = [pool.members(of_prior=of_prior, fold=f) for f in range(N_CHOICE_FOLDS)]
    means = _means(chosen, rows, scores)
    total = np.zeros_like(means[0])
    for f, fitness in enumerate(folds.fitnesses):
        others = folds.of_row != f
        known = rows.taken(np.flatnonzero(others))
        thresholds = np.zeros(total.shape[1])
        if not of_prior:
            thresholds = best_thresholds(means[f][others], known.groups, known.weight, fitness)
        total[~others] = means[f][~others] - thresholds
    return total


def _means(
    chosen: Sequence[list[Members]],
    rows: CostedRows,
    scores: Callable[[int, FloatArray], FloatArray],
) -> FloatArray:
    """Return the mean scores (folds, n, m) of the ensembles of all folds, layer by layer."""
    means = np.zeros((len(chosen), *rows.T.shape))
    for layer in sorted({one.layer for members in chosen for one in members}):
        mine = [
            (f, one.points, sum(len(other.points) for other in members))
            for f, members in enumerate(chosen)
            for one in members
            if one.layer == layer
        ]
        points, places = np.unique(
            np.vstack([points for _, points, _ in mine]), axis=0, return_inverse=True
        )
        Z = scores(layer, points)
        Z = Z / score_std(Z, rows.weight)[:, np.newaxis, np.newaxis]
        for f, own, size in mine:
            here, places = places[: len(own)], places[len(own) :]
            means[f] += Z[here].sum(axis=0) / size
    return means


# The ensemble itself


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The mean of all members, as one model behind the union of their layers."""

    layer: LayerUnion
    beta: FloatArray  # (L, m), the last row for the unit that is always 1
    validation_scores: FloatArray  # (n, m)
    rows: CostedRows  # the validation rows
    weights: tuple[float, ...] = ()  # of every member's output weights in the mean

    @classmethod
    def of_members(
        cls,
        members: Sequence[Members],
        models: LayerModels,
        encoding: CostEncoding,
        validation: IntArray,
        fitness: Fitness | None,
    ) -> Ensemble:
        """Solve (15) on all rows for every member, and average.

        Scores of members are divided by their standard deviation before they are averaged.
        With a ``fitness``, the thresholds between classes are those that it likes best.
        """
        rows = models.rows
        known = rows.taken(validation)
        layers, betas, weights = [], [], []
        total = sum(len(one.points) for one in members)
        mean: FloatArray | float = 0.0
        for one in members:
            model, engine = models[one.layer]
            scores = engine.scores(encoding.decode(one.points, scaled=False))
            std = score_std(scores, known.weight)
            mean = mean + np.einsum("pnm,p->nm", scores, 1.0 / std) / total
            candidates = encoding.decode(one.points)
            system = model.system(rows)
            solved = (
                system.solution(costs, float(C)).beta
                for costs, C in zip(candidates.costs, candidates.C, strict=True)
            )
            scaled = (beta / own for beta, own in zip(solved, std, strict=True))
            layers.append(models.layers[one.layer].layer)
            betas.append(sum(scaled) / total)
            weights += (1.0 / (std * total)).tolist()
        last = np.zeros((1, rows.T.shape[1]))
        beta = np.vstack([*betas, last])
        made = cls(LayerUnion(tuple(layers)), beta, np.asarray(mean), known, tuple(weights))
        if fitness is not None:
            made = made.with_thresholds(
                best_thresholds(made.validation_scores, known.groups, known.weight, fitness)
            )
        return made.scaled()

    def with_thresholds(self, thresholds: FloatArray) -> Ensemble:
        """Return the ensemble whose scores are smaller by ``thresholds`` (m,)."""
        beta = self.beta.copy()
        beta[-1] -= thresholds
        return replace(self, beta=beta, validation_scores=self.validation_scores - thresholds)

    def scaled(self) -> Ensemble:
        """Return the ensemble with scores of the size of their targets."""
        Z, weight = self.validation_scores, self.rows.weight
        weighted = Z if weight is None else Z * weight[:, np.newaxis]
        squares = max(float((weighted * Z).sum()), np.finfo(float).tiny)
        size = float((weighted * self.rows.T).sum()) / squares
        if not size > 0:  # scores opposed to their targets stay as they are
            return self
        weights = tuple(weight * size for weight in self.weights)
        return replace(self, beta=self.beta * size, validation_scores=Z * size, weights=weights)

    def slope(self, n_classes: int) -> float:
        """Return the slope of probabilities, from the errors on validation rows."""
        return residual_slope(self.validation_scores, self.rows.T, n_classes, self.rows.weight)


def member_table(
    members: Sequence[Members], layers: list[KindLayer], encoding: CostEncoding
) -> list[tuple[Any, ...]]:
    """Return kind and width of the layer, C and the costs by class of every member."""
    table = []
    for one in members:
        kind, found = layers[one.layer], encoding.decode(one.points)
        for C, costs in zip(found.C.tolist(), found.costs.tolist(), strict=True):
            table.append((kind.kind, kind.width, C, *costs))
    return table


def score_std(scores: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return the standard deviation (P,) of scores (P, n, m), for weights (n,) of the rows.

    Of constant scores, which have no standard deviation to be divided by, the size.

    Examples
    --------
    >>> scores = np.array([[[0.0], [2.0]]])
    >>> score_std(scores, None), score_std(scores, np.array([3.0, 1.0])).round(3)
    (array([1.]), array([0.866]))
    """

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.average(values, axis=1, weights=weight).mean(axis=1))

    std = np.sqrt(mean((scores - mean(scores)[:, np.newaxis, np.newaxis]) ** 2))
    size = np.sqrt(mean(scores**2))
    return np.where(std > ROUNDING * size, std, np.where(size > 0, size, 1.0))


def best_thresholds(
    scores: FloatArray, codes: IntArray, weight: FloatArray | None, fitness: Fitness
) -> FloatArray:
    """Return what to subtract from scores (n, m) before their sign or largest decides, (m,).

    Thresholds of the best fitness on validation rows, less a penalty that keeps them near
    0: of two classes the one threshold, of more a threshold for each, one after the other.
    Rows of a single class give none.

    Examples
    --------
    >>> from ecselm.metrics.confusion import accuracy
    >>> from ecselm.fitness import ConfusionFitness
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = np.array([[-0.4], [-0.3], [-0.2], [-0.1], [0.0], [0.1]])
    >>> fitness = ConfusionFitness(y, 2, None, accuracy, 0.5)
    >>> bool(best_thresholds(scores, y, None, fitness)[0] < 0)
    True
    """
    w = np.ones(len(codes)) if weight is None else weight
    if scores.shape[1] == 1:
        means, std = _of_classes(np.repeat(scores, 2, axis=1), codes, w)
        steps = means.mean() + std * np.linspace(-REACH, REACH, N_THRESHOLDS)
    else:
        _, std = _of_classes(scores, codes, w)
        steps = std * np.linspace(-REACH_OF_MANY, REACH_OF_MANY, N_THRESHOLDS)
    thresholds = np.zeros(scores.shape[1])
    if std == 0 or len(np.unique(codes)) < 2:
        return thresholds
    for c in range(len(thresholds)):
        tried = np.repeat(thresholds[np.newaxis], 1 + N_THRESHOLDS, axis=0)
        tried[1:, c] = steps  # the first is left as it is, and wins ties
        penalty = THRESHOLD_SHRINKAGE * ((tried / std) ** 2).sum(axis=1)
        thresholds = tried[np.argmax(fitness(scores - tried[:, np.newaxis]) - penalty)]
    return thresholds


def _of_classes(
    scores: FloatArray, codes: IntArray, weight: FloatArray
) -> tuple[FloatArray, float]:
    """Return the mean (k,) of every class's own score, and their std within classes."""
    own = scores[np.arange(len(codes)), codes]
    k = scores.shape[1]
    sums = np.maximum(np.bincount(codes, weight, k), np.finfo(float).tiny)
    means = np.bincount(codes, weight * own, k) / sums
    return means, float(np.sqrt(np.average((own - means[codes]) ** 2, weights=weight)))
