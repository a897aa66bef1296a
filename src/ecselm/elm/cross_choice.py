"""Committees chosen by some of the judged rows, and scored on the others.

The best of many on some rows look better there than they are. So for a fair comparison the
judged rows are dealt into parts, and each part is scored by a committee whose members and
cuts were chosen without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.elm.committee import Members, Pool, loudness_of
from ecselm.elm.offset import best_cuts
from ecselm.objectives import CostedRows, CountJudge, Judge, RowCostJudge

N_PARTS = 5


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
