"""Machines behind several layers whose answers are averaged.

Every layer judges the same costs and penalties on rows it was not trained on. The best of
every kind of layer make the committee: what is best by a hair is best by luck, and the mean
over a plateau is steadier than its highest point. Each member's scores are divided by
their spread, so that no member is louder than another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.elm.calibration import residual_slope
from ecselm.elm.layer_kinds import KindLayer
from ecselm.elm.machine import LayerMachine
from ecselm.hidden import LayerUnion
from ecselm.objectives import Candidates, CostedRows, Engine

N_MEMBERS = 20  # of every kind
ROUNDING = 1e-10  # share of their size below which differences of scores mean nothing


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
