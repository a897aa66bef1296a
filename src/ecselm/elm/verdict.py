"""Whether learned costs beat prior ones by more than the noise of the comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.objectives import CountJudge, Judge, RowCostJudge

N_RESAMPLED = 200
FEW = 17  # rows of the smallest class from which learning costs may be trusted
STRONG = 2.0  # times the noise, where rows are fewer


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
    n_smallest: int  # rows of the smallest class

    @property
    def few(self) -> bool:
        """Tell whether the smallest class has too few rows for anything but strong evidence."""
        return self.n_smallest < FEW

    @property
    def pays(self) -> bool:
        """Tell whether learned costs are worth having."""
        return self.gain > (STRONG if self.few else 1.0) * self.noise


def weigh(
    judge: Judge,
    learned: FloatArray,
    prior: FloatArray,
    rng: np.random.Generator,
) -> Verdict | None:
    """Return the verdict on scores (n, m) of the rows that the judge knows.

    Rows are drawn again from every class to see how much the gain varies. A judge that
    is not made of sums over rows has no verdict.
    """
    if not isinstance(judge, CountJudge | RowCostJudge):
        return None
    Z, codes = np.stack([learned, prior]), judge.y
    weight = np.ones(len(codes)) if judge.weight is None else judge.weight
    gains = [_gain(judge, Z)]
    for _ in range(N_RESAMPLED):
        drawn = weight * _drawn_again(codes, rng)
        kept = drawn > 0
        gains.append(_gain(_of_rows(judge, kept, drawn[kept]), Z[:, kept]))
    smallest = int(np.bincount(codes)[np.unique(codes)].min())
    return Verdict(gains[0], float(np.std(gains[1:])), smallest)


def _gain(judge: Judge, Z: FloatArray) -> float:
    learned, prior = judge(Z)
    return float(learned - prior)


def _of_rows(judge: CountJudge | RowCostJudge, kept: BoolArray, weight: FloatArray) -> Judge:
    if isinstance(judge, CountJudge):
        return replace(judge, y=judge.y[kept], weight=weight)
    return replace(judge, y=judge.y[kept], costs=judge.costs[kept], weight=weight)


def _drawn_again(codes: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return how often each row is drawn when every class is drawn again from itself."""
    times = np.zeros(len(codes))
    for c in np.unique(codes):
        mine = np.flatnonzero(codes == c)
        times[mine] = rng.multinomial(len(mine), np.full(len(mine), 1.0 / len(mine)))
    return times
