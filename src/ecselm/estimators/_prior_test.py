"""The test of learned against prior costs on validation rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.fitness import ConfusionFitness, Fitness, RowCostFitness
from ecselm.fitness.confusion import decided_classes, smoothed_decisions

FEW = 17  # rows of the smallest class from which on one standard error is enough evidence
STRONG = 2.0  # standard errors needed where rows are fewer
STEP = 1e-6  # share of all rows by which a count is moved to differentiate a metric


class FewCasesWarning(UserWarning):
    """Prior costs are kept because the smallest class has too few rows to learn from."""


@dataclass(frozen=True, slots=True)
class PriorTest:
    """Gain of learned over prior costs on validation rows.

    Examples
    --------
    >>> PriorTest(gain=0.02, std_error=0.01, n_smallest=40).passed
    True
    >>> PriorTest(gain=0.015, std_error=0.01, n_smallest=5).passed
    False
    """

    gain: float
    std_error: float
    n_smallest: int  # distinct rows of the smallest class

    @property
    def few_rows(self) -> bool:
        """Tell whether the smallest class has so few rows that strong evidence is needed."""
        return self.n_smallest < FEW

    @property
    def passed(self) -> bool:
        """Tell whether learned costs beat the prior by more than chance."""
        return self.gain > (STRONG if self.few_rows else 1.0) * self.std_error


def prior_test(
    fitness: Fitness, learned: FloatArray, prior: FloatArray, row_ids: AnyArray
) -> PriorTest | None:
    """Test the scores (n, m) of learned costs against those of prior costs.

    The squared standard error of the gain is the sum of squares of what each row adds to
    it, to first order, within its class. Rows of the same hash or group in ``row_ids`` (n,)
    are one row, however often it occurs. A fitness that is not made of sums over rows
    cannot be tested: None.
    """
    if not isinstance(fitness, ConfusionFitness | RowCostFitness):
        return None
    influence = _influence(fitness, learned) - _influence(fitness, prior)
    variance, sizes = 0.0, []
    weight = np.ones(len(row_ids)) if fitness.weight is None else fitness.weight
    for c in np.unique(fitness.y):
        mine = fitness.y == c
        w = weight[mine]
        centred = w * (influence[mine] - np.average(influence[mine], weights=w))
        distinct, places = np.unique(row_ids[mine], return_inverse=True)
        variance += float((np.bincount(places, centred) ** 2).sum())
        sizes.append(len(distinct))
    values = fitness(np.stack([learned, prior]))
    return PriorTest(float(values[0] - values[1]), float(np.sqrt(variance)), min(sizes))


def prior_is_kept(test: PriorTest | None, keep_prior: bool | str) -> bool:
    """Tell whether prior costs are kept, and warn if that is for want of rows."""
    if test is None:
        return False
    if keep_prior == "always":
        return True
    if test.few_rows and not test.passed:
        warnings.warn(
            f"the smallest class has {test.n_smallest} rows, fewer than {FEW}, and the costs "
            f"learned gain {test.gain:.3g} with a standard error of {test.std_error:.3g}: prior "
            "costs are kept",
            FewCasesWarning,
            stacklevel=2,
        )
    return not test.passed


def _influence(fitness: ConfusionFitness | RowCostFitness, Z: FloatArray) -> FloatArray:
    """Return by how much the fitness grows with the weight of each row (n,)."""
    k = max(Z.shape[1], 2)
    counted = np.eye(k)[decided_classes(Z[np.newaxis])[0]]
    smoothed = smoothed_decisions(Z[np.newaxis], fitness.y, fitness.weight)[0]
    total = np.zeros(len(Z))
    for share, decisions in ((1.0 - fitness.smoothing, counted), (fitness.smoothing, smoothed)):
        if share > 0:
            total += share * _influence_of(fitness, decisions)
    return total


def _influence_of(fitness: ConfusionFitness | RowCostFitness, decisions: FloatArray) -> FloatArray:
    weight = np.ones(len(decisions)) if fitness.weight is None else fitness.weight
    if isinstance(fitness, RowCostFitness):
        return -(decisions * fitness.costs).sum(axis=1) / weight.sum()
    k = fitness.n_classes
    counts = np.zeros((k, k))
    np.add.at(counts, fitness.y, decisions * weight[:, np.newaxis])
    step = STEP * weight.sum()
    moved = np.empty((k, k))  # fitness, by the cell that has a little more
    for c in range(k):  # all cells at once would need memory for k^4 counts
        more = np.zeros((k, k, k))
        more[np.arange(k), c, np.arange(k)] = step
        moved[c] = fitness.metric(counts + more)
    slopes = (moved - fitness.metric(counts[np.newaxis])) / step
    return np.einsum("nj,nj->n", decisions, slopes[fitness.y])
