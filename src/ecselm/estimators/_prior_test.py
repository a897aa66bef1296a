"""The test of learned against prior costs on validation rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.fitness import ConfusionFitness, Fitness, RowCostFitness
from ecselm.fitness.confusion import decided_classes, smoothed_decisions
from ecselm.metrics.intervals import confusion_effects, from_effects

FEW = 17  # rows of the smallest class from which on one standard error is enough evidence
STRONG = 2.0  # standard errors needed where rows are fewer


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
        """Tell whether learned costs beat the prior by one standard error, or two with few rows."""
        return self.gain > (STRONG if self.few_rows else 1.0) * self.std_error


def prior_test(
    fitness: Fitness, learned: FloatArray, prior: FloatArray, row_ids: AnyArray
) -> PriorTest | None:
    """Test the scores (n, m) of learned costs against those of prior costs.

    The standard error is that of every paired difference of the package, see
    :mod:`ecselm.metrics.intervals`. Rows of the same hash or group in ``row_ids`` (n,) are
    one row, however often it occurs. A fitness that is not made of sums over rows cannot be
    tested: None.
    """
    if not isinstance(fitness, ConfusionFitness | RowCostFitness):
        return None
    values = fitness(np.stack([learned, prior]))
    effects = np.zeros(len(fitness.y))
    if fitness.smoothing < 1:
        counted = np.eye(max(learned.shape[1], 2))
        a, b = (counted[decided_classes(Z[np.newaxis])[0]] for Z in (learned, prior))
        effects += (1.0 - fitness.smoothing) * _effects(fitness, a, b)
    if fitness.smoothing > 0:
        a, b = smoothed_decisions(np.stack([learned, prior]), fitness.y, fitness.weight)
        effects += fitness.smoothing * _effects(fitness, a, b)
    found = from_effects(float(values[0] - values[1]), effects, row_ids)
    n_smallest = min(len(np.unique(row_ids[fitness.y == c])) for c in np.unique(fitness.y))
    return PriorTest(found.difference, found.std_error, n_smallest)


def _effects(
    fitness: ConfusionFitness | RowCostFitness, learned: FloatArray, prior: FloatArray
) -> FloatArray:
    """Return what each row (n,) adds to the gain, for decisions (n, k) of both."""
    if isinstance(fitness, RowCostFitness):
        weight = np.ones(len(learned)) if fitness.weight is None else fitness.weight
        return weight * ((prior - learned) * fitness.costs).sum(axis=1) / weight.sum()
    return confusion_effects(fitness.metric, fitness.y, learned, prior, fitness.weight)


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
