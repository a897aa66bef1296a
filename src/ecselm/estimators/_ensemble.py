"""Search costs on several hidden layers and build the ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ecselm._threads import Workers
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from ecselm.estimators._calibration import residual_slope
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.estimators._cost_search import LearnedCosts, SearchPlan
from ecselm.estimators._evolution import Evolution, thread_number
from ecselm.estimators._evolving import CostProblem, EvolvingMachine, TrainingRows
from ecselm.estimators._machine import LayerMachine
from ecselm.estimators._prior_test import Verdict, weigh
from ecselm.fitness import (
    Candidates,
    CostedRows,
    CostEncoding,
    CostObjective,
    CountJudge,
    Engine,
    Judge,
    RowCostJudge,
    Split,
)
from ecselm.fitness.folds import judged_rows
from ecselm.fitness.hashing import N_LISTED, first_places, row_keys
from ecselm.layers import (
    HiddenLayer,
    InputScale,
    KernelMap,
    LandmarkLayer,
    LayerUnion,
    RandomLayer,
    RankScale,
    WeighedLayer,
    measure_scale,
    resolve_gamma,
)
from ecselm.layers.random import Weights

WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # in units of 1 / (n var(X))
STEEPNESS = 2.5  # of tanh units, so that the middle widths bend them well
N_MEMBERS = 20  # of every kind
ROUNDING = 1e-10  # share of their size below which differences of scores mean nothing
N_PARTS = 5
N_CUTS = 51
REACH = 2.5  # spreads of a class to both sides of the middle
REACH_OF_MANY = 1.5  # spreads to both sides of 0, class by class
RELUCTANCE = 0.1  # fitness that a cut one spread away from 0 has to earn


@dataclass(frozen=True, slots=True)
class DenseScale:
    """A scale that moves zeros: sparse rows become dense before it."""

    scale: Callable[[FloatArray], FloatArray]

    def __call__(self, X: Matrix) -> FloatArray:
        """Return the scaled rows."""
        return self.scale(X.toarray() if sparse.issparse(X) else X)


@dataclass(frozen=True, slots=True, eq=False)  # one is not like another
class KindLayer:
    """A layer with the kind and the width it has."""

    kind: str
    width: float
    layer: HiddenLayer


def layers_of_kinds(
    X: Matrix,
    weight: FloatArray | None,
    n_hidden: int,
    scale: str | None,
    rng: np.random.Generator,
) -> list[KindLayer]:
    """Return layers of every kind in all widths.

    ``"rbf"`` and ``"laplacian"`` are kernels seen from ``n_hidden`` rows drawn at random,
    ``"ranks"`` is the first of them on normal scores of ranks, and ``"tanh"`` has random
    directions. They depend on inputs alone. Sparse rows are not ranked.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> layers = layers_of_kinds(X, None, 10, "standard", np.random.default_rng(0))
    >>> len(layers), layers[0].kind, layers[0].layer(X).shape
    (24, 'rbf', (30, 10))
    """
    rows_rng, units_rng = rng.spawn(2)
    measured = measure_scale(X, scale, weight)
    to_landmarks = _uncentred(measured) if sparse.issparse(X) else DenseScale(measured)
    gamma = resolve_gamma("scale", to_landmarks(X), weight)
    distinct = first_places(row_keys(X))
    landmarks = X[distinct[landmark_places(len(distinct), n_hidden, rows_rng)]]
    ranks = None if sparse.issparse(X) else Ranks.measured(X[distinct])
    return layers_around(KindInputs(measured, gamma, landmarks, ranks), n_hidden, units_rng)


def landmark_places(n_distinct: int, n_hidden: int, rng: np.random.Generator) -> IntArray:
    """Return which of the distinct rows, in the order of their keys, units are set around.

    Beyond the first :func:`n_listed` of them, which are a random sample, nobody looks.
    """
    return np.sort(rng.permutation(min(n_distinct, n_listed(n_hidden)))[:n_hidden])


def n_listed(n_hidden: int) -> int:
    """Return how many distinct rows, those of the least keys, have to be known."""
    return max(N_LISTED, n_hidden)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks of inputs, and the width of a kernel on their normal scores."""

    scale: RankScale
    gamma: float

    @classmethod
    def measured(cls, X: FloatArray) -> Ranks:
        """Measure distinct rows."""
        scale = RankScale.measured(X)
        return cls(scale, resolve_gamma("scale", scale(X)))


@dataclass(frozen=True, slots=True)
class KindInputs:
    """What layers of all kinds have to know of the rows."""

    scale: InputScale
    gamma: float  # width of a kernel on that scale
    landmarks: Matrix  # rows as they came
    ranks: Ranks | None  # None for sparse rows


def layers_around(known: KindInputs, n_hidden: int, rng: np.random.Generator) -> list[KindLayer]:
    """Return layers of every kind in all widths for inputs of which so much is known."""
    rows, gamma = known.landmarks, known.gamma
    scale = _uncentred(known.scale) if sparse.issparse(rows) else DenseScale(known.scale)
    scaled = scale(rows)
    layers = [
        KindLayer(kind, width, _landmark_layer(kind, scaled, width * gamma, scale))
        for kind in ("rbf", "laplacian")
        for width in WIDTHS
    ]
    if known.ranks is not None:
        ranks = DenseScale(known.ranks.scale)
        ranked = ranks(rows)
        layers += [
            KindLayer(
                "ranks", width, _landmark_layer("rbf", ranked, width * known.ranks.gamma, ranks)
            )
            for width in WIDTHS
        ]
    drawn = Weights(rng.standard_normal((rows.shape[1], n_hidden)), rng.standard_normal(n_hidden))
    return layers + [
        KindLayer("tanh", width, _tanh_layer(drawn, width, gamma, known.scale)) for width in WIDTHS
    ]


def _uncentred(scale: InputScale) -> InputScale:
    """Return the scale that leaves zeros where they are; distances do not know the centre."""
    return replace(scale, center=np.zeros_like(scale.center))


def _landmark_layer(
    kernel: str, rows: Matrix, gamma: float, scale: Callable[[Matrix], Matrix]
) -> LandmarkLayer:
    return LandmarkLayer.around(KernelMap(kernel, rows, gamma, scale=scale))


def _tanh_layer(drawn: Weights, width: float, gamma: float, scale: InputScale) -> WeighedLayer:
    """Return units whose projections spread by the width, of rows about as long as 1."""
    steep = np.sqrt(STEEPNESS * width)
    weights = Weights(drawn.weights * (steep * np.sqrt(gamma)), drawn.biases * steep)
    layer = RandomLayer.from_draw(weights, "tanh", scale, np.dtype(np.float64))
    return WeighedLayer(layer, 1.0 / np.sqrt(layer.n_hidden))


@dataclass(frozen=True, slots=True)
class Judged:
    """Points that were judged behind one layer."""

    layer: int
    kind: str
    points: FloatArray  # (n, D)
    losses: FloatArray  # (n,)
    from_prior: BoolArray  # (n,), whether the costs are the prior's
    elsewhere: FloatArray  # (parts, n), losses on the judged rows outside of each part


@dataclass(frozen=True, slots=True)
class Members:
    """Points of the members behind one layer."""

    layer: int
    points: FloatArray  # (n, D)


@dataclass(slots=True)
class Pool:
    """All that was judged, to choose members from."""

    judged: list[Judged] = field(default_factory=list)

    @property
    def best(self) -> Judged:
        """Return what was judged behind the layer with the best candidate of all."""
        return min(self.judged, key=lambda one: one.losses.min())

    @property
    def has_prior(self) -> bool:
        """Tell whether prior costs were judged."""
        return any(one.from_prior.any() for one in self.judged)

    @property
    def best_prior(self) -> FloatArray:
        """Return the best point (D,) whose costs are the prior's."""
        ((_, point),) = _best_of(self.judged, of_prior=True, number=1)
        return point

    def add_found(self, beside: Judged, point: FloatArray, loss: float) -> None:
        """Add what a search has found behind the layer of ``beside``."""
        # All rows took part in finding it: it cannot stand for a choice by some of them.
        elsewhere = np.full((len(beside.elsewhere), 1), np.inf)
        self.judged.append(
            Judged(
                beside.layer,
                beside.kind,
                point[np.newaxis],
                np.array([loss]),
                np.zeros(1, dtype=bool),
                elsewhere,
            )
        )

    def members(self, *, of_prior: bool = False, part: int | None = None) -> list[Members]:
        """Return the best of every kind, layer by layer; with a ``part``, chosen without it."""
        chosen: list[tuple[int, FloatArray]] = []
        for kind in dict.fromkeys(one.kind for one in self.judged):
            chosen += _best_of(
                [one for one in self.judged if one.kind == kind], of_prior, N_MEMBERS, part
            )
        layers = dict.fromkeys(layer for layer, _ in sorted(chosen, key=lambda one: one[0]))
        return [
            Members(layer, np.stack([point for own, point in chosen if own == layer]))
            for layer in layers
        ]


def _best_of(
    judged: list[Judged], of_prior: bool, number: int, part: int | None = None
) -> list[tuple[int, FloatArray]]:
    losses = np.concatenate(
        [
            np.where(
                one.from_prior | (not of_prior),
                one.losses if part is None else one.elsewhere[part],
                np.inf,
            )
            for one in judged
        ]
    )
    places = [(one.layer, point) for one in judged for point in one.points]
    order = np.argsort(losses, kind="stable")[:number]
    return [places[i] for i in order if np.isfinite(losses[i])]


@dataclass(frozen=True, slots=True)
class Committee:
    """Answers of all members together, as one machine behind the union of their layers."""

    layer: LayerUnion
    beta: FloatArray  # (L, m), the last row for the unit that is always 1
    held_out: FloatArray  # (n, m), scores of the judged rows
    rows: CostedRows  # these rows
    weights: tuple[float, ...] = ()  # of every member's output weights in the mean

    def cut_at(self, cuts: FloatArray) -> Committee:
        """Return the committee whose scores are smaller by ``cuts`` (m,)."""
        beta = self.beta.copy()
        beta[-1] -= cuts
        return replace(self, beta=beta, held_out=self.held_out - cuts)

    def slope(self, n_classes: int) -> float:
        """Return the slope of probabilities that the errors on judged rows give."""
        return residual_slope(self.held_out, self.rows.T, n_classes, self.rows.weight)

    def sized(self) -> Committee:
        """Return the committee with scores of the size of their targets."""
        Z, weight = self.held_out, self.rows.weight
        weighted = Z if weight is None else Z * weight[:, np.newaxis]
        squares = max(float((weighted * Z).sum()), np.finfo(float).tiny)
        size = float((weighted * self.rows.T).sum()) / squares
        if not size > 0:  # scores that speak against their targets stay as they are
            return self
        weights = tuple(weight * size for weight in self.weights)
        return replace(self, beta=self.beta * size, held_out=Z * size, weights=weights)


def loudness_of(scores: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return the standard deviation (P,) of scores (P, n, m), for weights (n,) of the rows.

    Scores that are all the same are as loud as they are large: they have no spread to be
    divided by.

    Examples
    --------
    >>> scores = np.array([[[0.0], [2.0]]])
    >>> loudness_of(scores, None), loudness_of(scores, np.array([3.0, 1.0])).round(3)
    (array([1.]), array([0.866]))
    """

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.average(values, axis=1, weights=weight).mean(axis=1))

    spread = np.sqrt(mean((scores - mean(scores)[:, np.newaxis, np.newaxis]) ** 2))
    size = np.sqrt(mean(scores**2))
    return np.where(spread > ROUNDING * size, spread, np.where(size > 0, size, 1.0))


def assembled(
    members: Sequence[Members],
    layers: Sequence[KindLayer],
    rows: CostedRows,
    machine: Callable[[KindLayer], tuple[LayerMachine, Engine]],
    decode: Callable[..., Candidates],
    judged: IntArray,
) -> Committee:
    """Return the committee: (15) solved on all rows for every member, and averaged.

    ``machine`` prepares a layer, ``decode`` turns points into costs and C, ``judged`` are
    the positions of the rows that the engines score.
    """
    known = rows.taken(judged)
    parts, betas, weights = [], [], []
    total = sum(len(one.points) for one in members)
    held_out: FloatArray | float = 0.0
    for one in members:
        behind, engine = machine(layers[one.layer])
        scores = engine.scores(decode(one.points, scaled=False))
        loudness = loudness_of(scores, known.weight)
        held_out = held_out + np.einsum("pnm,p->nm", scores, 1.0 / loudness) / total
        candidates = decode(one.points)
        system = behind.system(rows)
        solved = (
            system.solution(costs, float(C)).beta
            for costs, C in zip(candidates.costs, candidates.C, strict=True)
        )
        weighed = (beta / loud for beta, loud in zip(solved, loudness, strict=True))
        parts.append(layers[one.layer].layer)
        betas.append(sum(weighed) / total)
        weights += (1.0 / (loudness * total)).tolist()
    last = np.zeros((1, rows.T.shape[1]))
    beta = np.vstack([*betas, last])
    union = LayerUnion(tuple(parts))
    return Committee(union, beta, np.asarray(held_out), known, tuple(weights))


@dataclass(frozen=True, slots=True)
class Parts:
    """The part of every judged row, and for each part a judge of all other rows."""

    of_row: IntArray  # (n,)
    judges: list[Judge]

    @classmethod
    def dealt(cls, judge: Judge, keys: AnyArray, rng: np.random.Generator) -> Parts | None:
        """Deal rows out class by class, those of the same key together.

        None for a judge that is not made of sums over rows, or if there is only one part.
        """
        if not isinstance(judge, CountJudge | RowCostJudge):
            return None
        _, codes = np.unique(keys, return_inverse=True)
        part, start = np.full(codes.max() + 1, -1), 0
        for c in np.unique(judge.y):
            new = np.unique(codes[judge.y == c])
            new = new[part[new] < 0]
            part[new] = (start + rng.permutation(len(new))) % N_PARTS
            start += len(new)
        of_row = part[codes]
        if len(np.unique(of_row)) < 2:  # equal rows all: nothing is left to choose by
            return None
        return cls(of_row, [_judge_of(judge, of_row != p) for p in range(N_PARTS)])


def _judge_of(judge: CountJudge | RowCostJudge, rows: BoolArray) -> Judge:
    weight = None if judge.weight is None else judge.weight[rows]
    if isinstance(judge, CountJudge):
        return replace(judge, y=judge.y[rows], weight=weight)
    return replace(judge, y=judge.y[rows], costs=judge.costs[rows], weight=weight)


@dataclass(frozen=True, slots=True)
class CrossJudge:
    """Another judge, for those rows alone that are not in a part."""

    judge: Judge
    rows: BoolArray  # (n,)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the fitness (P,) of scores (P, n, m)."""
        return self.judge(np.ascontiguousarray(Z[:, self.rows]))


def cross_judges(parts: Parts) -> list[Judge]:
    """Return judges of scores of all rows that look at those outside of each part."""
    return [CrossJudge(judge, parts.of_row != p) for p, judge in enumerate(parts.judges)]


def cross_scores(
    pool: Pool,
    parts: Parts,
    rows: CostedRows,
    scores: Callable[[int, FloatArray], FloatArray],
    *,
    of_prior: bool,
) -> FloatArray:
    """Return the score (n, m) of every judged row by a committee chosen without its part.

    ``scores`` returns those of points (P, D) behind a layer, (P, n, m); ``rows`` are the
    judged rows. Scores of learned costs are cut, those of prior costs are not.
    """
    chosen = [pool.members(of_prior=of_prior, part=p) for p in range(N_PARTS)]
    means = _means(chosen, rows, scores)
    total = np.zeros_like(means[0])
    for p, judge in enumerate(parts.judges):
        others = parts.of_row != p
        known = rows.taken(np.flatnonzero(others))
        cuts = np.zeros(total.shape[1])
        if not of_prior:
            cuts = best_cuts(means[p][others], known.groups, known.weight, judge)
        total[~others] = means[p][~others] - cuts
    return total


def _means(
    chosen: Sequence[list[Members]],
    rows: CostedRows,
    scores: Callable[[int, FloatArray], FloatArray],
) -> FloatArray:
    """Return the mean scores (parts, n, m) of the committees of all parts, layer by layer."""
    means = np.zeros((len(chosen), *rows.T.shape))
    for layer in sorted({one.layer for members in chosen for one in members}):
        mine = [
            (p, one.points, sum(len(other.points) for other in members))
            for p, members in enumerate(chosen)
            for one in members
            if one.layer == layer
        ]
        points, places = np.unique(
            np.vstack([points for _, points, _ in mine]), axis=0, return_inverse=True
        )
        Z = scores(layer, points)
        Z = Z / loudness_of(Z, rows.weight)[:, np.newaxis, np.newaxis]
        for p, own, size in mine:
            here, places = places[: len(own)], places[len(own) :]
            means[p] += Z[here].sum(axis=0) / size
    return means


def best_cuts(
    scores: FloatArray, codes: IntArray, weight: FloatArray | None, judge: Judge
) -> FloatArray:
    """Return what to subtract from scores (n, m) before their sign or largest decides, (m,).

    Cuts with the best fitness on rows that were not trained on, less what keeps them near
    0: of two classes the one cut, of more a cut for each, one after the other. Rows of a
    single class say nothing.

    Examples
    --------
    >>> from ecselm.metrics.confusion import accuracy
    >>> from ecselm.fitness import CountJudge
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> scores = np.array([[-0.4], [-0.3], [-0.2], [-0.1], [0.0], [0.1]])
    >>> bool(best_cuts(scores, y, None, CountJudge(y, 2, None, accuracy, 0.5))[0] < 0)
    True
    """
    w = np.ones(len(codes)) if weight is None else weight
    if scores.shape[1] == 1:
        means, spread = _of_classes(np.repeat(scores, 2, axis=1), codes, w)
        steps = means.mean() + spread * np.linspace(-REACH, REACH, N_CUTS)
    else:
        _, spread = _of_classes(scores, codes, w)
        steps = spread * np.linspace(-REACH_OF_MANY, REACH_OF_MANY, N_CUTS)
    cuts = np.zeros(scores.shape[1])
    if spread == 0 or len(np.unique(codes)) < 2:
        return cuts
    for c in range(len(cuts)):
        tried = np.repeat(cuts[np.newaxis], 1 + N_CUTS, axis=0)  # as it is comes first
        tried[1:, c] = steps
        fitness = judge(scores - tried[:, np.newaxis])
        cuts = tried[np.argmax(fitness - RELUCTANCE * ((tried / spread) ** 2).sum(axis=1))]
    return cuts


def _of_classes(
    scores: FloatArray, codes: IntArray, weight: FloatArray
) -> tuple[FloatArray, float]:
    """Return the mean (k,) of every class's own score, and their spread within classes."""
    own = scores[np.arange(len(codes)), codes]
    k = scores.shape[1]
    sums = np.maximum(np.bincount(codes, weight, k), np.finfo(float).tiny)
    means = np.bincount(codes, weight * own, k) / sums
    return means, float(np.sqrt(np.average((own - means[codes]) ** 2, weights=weight)))


N_PENALTIES = 12  # values of C that every layer tries
MOST_LAYERS = 24
N_DIGITS = 9  # of log(C B), by which two machines are told from one
Prepared = Callable[[KindLayer], tuple[LayerMachine, Engine]]


@dataclass(frozen=True, slots=True)
class Convened:
    """What a search behind several layers leaves to be stored."""

    learned: LearnedCosts
    committee: Committee
    members: list[tuple[Any, ...]]  # kind and width of the layer, C, costs by class
    rows: CostedRows


class Convening(EvolvingMachine):
    """Search costs behind layers of several kinds."""

    def _convene(self, problem: CostProblem) -> Convened:
        """Judge priors behind every layer, search on behind the best, and take the best of all."""
        rng, seed = self._stream()
        rows, costed = problem.rows, problem.costed()
        C, _ = self._spans(None)
        plan = self._planned(problem, costed, C)
        layers_rng, folds_rng, search_rng, parts_rng = rng.spawn(4)
        splits = self._splits(rows, folds_rng)
        checkpoint = self._resumed(plan, problem, splits, seed)  # refused before sums are made
        layers = self._kinds(rows, layers_rng)
        prepared = self._preparing(rows, costed, splits, plan)
        positions = judged_rows(splits, len(costed))
        judge, keys = problem.judge(positions), rows.keys(positions)
        parts = Parts.dealt(judge, keys, parts_rng) if self.keep_prior else None
        pool = self._judged_priors(plan, layers, prepared, judge, parts)
        found = self._searched_on(pool, plan, layers, prepared, judge, search_rng, checkpoint)
        assembly = Assembly(layers, costed, prepared, plan, positions)
        self._tell_verdict(assembly.verdict(pool, parts, judge, keys))
        if self.keeps_prior_:
            found = replace(found, point=pool.best_prior)
        committee = assembly(pool, None if self.keeps_prior_ else judge)
        learned = self._settled(plan.encoding, found)
        self.C_, self.gamma_ = learned.C, None
        members = assembly.rows_of(pool.members(of_prior=self.keeps_prior_))
        return Convened(learned, committee, members, costed)

    def _kinds(self, rows: TrainingRows, rng: np.random.Generator) -> list[KindLayer]:
        """Return the layers of all kinds and widths."""
        scale = "standard" if self.scale == "auto" else self.scale
        return layers_of_kinds(rows.X, rows.weight, self.n_hidden, scale, rng)

    def _behind(self, layer: HiddenLayer, rows: TrainingRows) -> LayerMachine:
        """Return the machine behind one of them."""
        return LayerMachine.on_rows(layer, rows.X, "activation", self.activation)

    def _searched_on(
        self,
        pool: Pool,
        plan: SearchPlan,
        layers: list[KindLayer],
        prepared: Prepared,
        judge: Judge,
        rng: np.random.Generator,
        checkpoint: Checkpoint | None,
    ) -> Evolution:
        """Search behind the best layer, and add what is found to the pool."""
        best = pool.best
        _, engine = prepared(layers[best.layer])
        threads = thread_number(self.n_jobs)
        found = self._evolved(plan, engine, judge, rng, checkpoint, threads)
        pool.add_found(best, found.point, -found.score)
        return found

    def _preparing(
        self,
        rows: TrainingRows,
        costed: CostedRows,
        splits: list[Split] | None,
        plan: SearchPlan,
    ) -> Prepared:
        """Return what computes H behind a layer, and the sums that candidates need."""
        needs = self._needs(plan, rows)

        def prepared(kind: KindLayer) -> tuple[LayerMachine, Engine]:
            machine = self._behind(kind.layer, rows)
            return machine, machine.engine(costed, splits, needs)

        copies = 4 * MOST_LAYERS * len(costed) * self.n_hidden * 8  # H, and parts of it by split
        return lru_cache(None)(prepared) if copies <= needs.memory else prepared

    def _judged_priors(
        self,
        plan: SearchPlan,
        layers: list[KindLayer],
        prepared: Prepared,
        judge: Judge,
        parts: Parts | None,
    ) -> Pool:
        """Judge the powers of W1 with several C behind every layer."""
        judges = [judge, *([] if parts is None else cross_judges(parts))]
        points, of_prior = self._grid(plan)
        pool, pull = Pool(), self._pull(plan)
        with Workers(thread_number(self.n_jobs)) as workers:
            for i, kind in enumerate(layers):
                _, engine = prepared(kind)
                objective = CostObjective(plan.encoding, engine, judge, workers, pull)
                losses, *elsewhere = objective.of_judges(points, judges)
                apart = np.array(elsewhere).reshape(-1, len(points))
                pool.judged.append(Judged(i, kind.kind, points, losses, of_prior, apart))
        return pool

    def _grid(self, plan: SearchPlan) -> tuple[FloatArray, BoolArray]:
        """Return points (n, D) of costs and C, and whether their costs are the prior's.

        Costs that contradict what is known are moved to the nearest that do not.
        """
        encoding, path = plan.encoding, plan.path
        points, of_prior = [], []
        for i, entries in enumerate(np.empty((0, 0)) if path is None else path.entries):
            inside = self._inside(encoding.region, entries)
            known = encoding.region.repaired(entries[np.newaxis])[0] if inside is None else inside
            for C in encoding.C.evenly(N_PENALTIES):
                points.append(encoding.encode(known, C))
                of_prior.append(path is not None and i == path.asked_for and inside is not None)
        return self._distinct(encoding, np.stack(points), np.array(of_prior))

    def _distinct(
        self, encoding: CostEncoding, points: FloatArray, of_prior: BoolArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return one point for every machine, the prior's where that is among several.

        Classes of equal size, and costs moved to what is known, make points that differ
        stand for one machine: ``(s B, C)`` and ``(B, s C)`` are the same.
        """
        found = encoding.decode(points)
        machines = np.log(found.costs * found.C[:, np.newaxis]).round(N_DIGITS)
        prior_first = np.argsort(~of_prior, kind="stable")
        _, first = np.unique(machines[prior_first], axis=0, return_index=True)
        kept = np.sort(prior_first[first])
        return points[kept], of_prior[kept]


@dataclass(frozen=True, slots=True)
class Assembly:
    """Makes a committee from a pool: of all that was judged, or of prior costs alone."""

    layers: list[KindLayer]
    rows: CostedRows
    prepared: Prepared
    plan: SearchPlan
    judged: IntArray  # positions

    def __call__(self, pool: Pool, judge: Judge | None) -> Committee:
        """Return the committee, its scores cut where the judge likes them best.

        Without a judge, that of prior costs, whose scores are not cut.
        """
        members = pool.members(of_prior=judge is None)
        decode = self.plan.encoding.decode
        made = assembled(members, self.layers, self.rows, self.prepared, decode, self.judged)
        if judge is not None:
            made = made.cut_at(best_cuts(made.held_out, made.rows.groups, made.rows.weight, judge))
        return made.sized()

    def verdict(
        self, pool: Pool, parts: Parts | None, judge: Judge, keys: AnyArray
    ) -> Verdict | None:
        """Return whether learned costs beat prior ones, each chosen by other rows."""
        if parts is None or not pool.has_prior:
            return None

        def scores(layer: int, points: FloatArray) -> FloatArray:
            _, engine = self.prepared(self.layers[layer])
            return engine.scores(self.plan.encoding.decode(points, scaled=False))

        judged = self.rows.taken(self.judged)
        learned, prior = (
            cross_scores(pool, parts, judged, scores, of_prior=of_prior)
            for of_prior in (False, True)
        )
        return weigh(judge, learned, prior, keys)

    def rows_of(self, members: list[Members]) -> list[tuple[Any, ...]]:
        """Return kind and width of the layer, C and the costs by class of every member."""
        rows = []
        for one in members:
            kind, found = self.layers[one.layer], self.plan.encoding.decode(one.points)
            for C, costs in zip(found.C.tolist(), found.costs.tolist(), strict=True):
                rows.append((kind.kind, kind.width, C, *costs))
        return rows
