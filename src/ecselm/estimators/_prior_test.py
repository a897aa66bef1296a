"""The test of learned against prior costs on validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.fitness import CountJudge, Judge, RowCostJudge
from ecselm.fitness.confusion import decided_classes, smoothed_decisions

FEW = 17  # rows of the smallest class from which learning costs may be trusted
STRONG = 2.0  # times the noise, where rows are fewer
STEP = 1e-6  # share of all rows by which a count is moved to see what it matters


class FewCasesWarning(UserWarning):
    """Prior costs are kept because the smallest class has too few rows to learn from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What learned costs gain over prior ones on rows that neither was trained on.

    Examples
    --------
    >>> Verdict(gain=0.02, noise=0.01, n_smallest=40).pays
    True
    >>> Verdict(gain=0.015, noise=0.01, n_smallest=5).pays
    False
    """

    gain: float
    noise: float  # standard error of the gain
    n_smallest: int  # distinct rows of the smallest class

    @property
    def few(self) -> bool:
        """Tell whether the smallest class has too few rows for anything but strong evidence."""
        return self.n_smallest < FEW

    @property
    def pays(self) -> bool:
        """Tell whether learned costs are worth having."""
        return self.gain > (STRONG if self.few else 1.0) * self.noise


def weigh(judge: Judge, learned: FloatArray, prior: FloatArray, keys: IntArray) -> Verdict | None:
    """Return the verdict on scores (n, m) of the rows that the judge knows.

    How much the gain would vary if other rows of the same classes had been judged is the
    sum of squares of what each row adds to it, to first order. Rows of the same key (n,) are
    one row, however often it occurs or is judged. A judge that is not made of sums over rows
    has no verdict.
    """
    if not isinstance(judge, CountJudge | RowCostJudge):
        return None
    influence = _influence(judge, learned) - _influence(judge, prior)
    noise, sizes = 0.0, []
    weight = np.ones(len(keys)) if judge.weight is None else judge.weight
    for c in np.unique(judge.y):
        mine = judge.y == c
        w = weight[mine]
        apart = w * (influence[mine] - np.average(influence[mine], weights=w))
        distinct, places = np.unique(keys[mine], return_inverse=True)
        noise += float((np.bincount(places, apart) ** 2).sum())
        sizes.append(len(distinct))
    fitness = judge(np.stack([learned, prior]))
    return Verdict(float(fitness[0] - fitness[1]), float(np.sqrt(noise)), min(sizes))


def _influence(judge: CountJudge | RowCostJudge, Z: FloatArray) -> FloatArray:
    """Return by how much the fitness grows with the weight of each row (n,)."""
    k = max(Z.shape[1], 2)
    told = np.eye(k)[decided_classes(Z[np.newaxis])[0]]
    spread = smoothed_decisions(Z[np.newaxis], judge.y, judge.weight)[0]
    total = np.zeros(len(Z))
    for share, decisions in ((1.0 - judge.smoothing, told), (judge.smoothing, spread)):
        if share > 0:
            total += share * _influence_of(judge, decisions)
    return total


def _influence_of(judge: CountJudge | RowCostJudge, decisions: FloatArray) -> FloatArray:
    weight = np.ones(len(decisions)) if judge.weight is None else judge.weight
    if isinstance(judge, RowCostJudge):
        return -(decisions * judge.costs).sum(axis=1) / weight.sum()
    k = judge.n_classes
    counts = np.zeros((k, k))
    np.add.at(counts, judge.y, decisions * weight[:, np.newaxis])
    step = STEP * weight.sum()
    moved = np.empty((k, k))  # fitness, by the cell that has a little more
    for c in range(k):  # all cells at once would need room for k^4 counts
        more = np.zeros((k, k, k))
        more[np.arange(k), c, np.arange(k)] = step
        moved[c] = judge.metric(counts + more)
    slopes = (moved - judge.metric(counts[np.newaxis])) / step
    return np.einsum("nj,nj->n", decisions, slopes[judge.y])
