"""Learning the costs of classes: what a person states, priors and judges."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import ClassCosts, Costs, ExampleCosts, read_costs
from ecselm.costs.levels import ClassLevel, CostLevel, MatrixLevel, SampleLevel
from ecselm.elm.cost_learning import CostLearning
from ecselm.elm.powers import PowerPath, counts_costs, power_path
from ecselm.elm.priors import prior_costs, row_costs, row_shares, stated_costs
from ecselm.elm.scoring import JudgedClasses, JudgedRows, class_judge
from ecselm.objectives import Judge


class LabelledRows(Protocol):
    """Rows of positive weight with their classes."""

    @property
    def codes(self) -> IntArray:
        """Return the class codes (N,)."""

    @property
    def weight(self) -> FloatArray | None:
        """Return the sample weights (N,)."""

    def judged(self, positions: IntArray) -> JudgedRows:
        """Return some of the rows as a judge sees them."""


def cost_level(name: str, y: IntArray, n_classes: int) -> CostLevel:
    """Return the level by its name."""
    if name == "sample":
        return SampleLevel(y)
    return ClassLevel(n_classes) if name == "class" else MatrixLevel(n_classes)


class ClassCostLearning(CostLearning):
    """Mixin of classifiers that learn costs."""

    cost: Any
    scoring: Any
    smoothing: float
    classes_: AnyArray
    cost_vector_: FloatArray
    class_costs_: FloatArray
    cost_matrix_: Any

    @property
    def _decides(self) -> bool:
        """Tell whether the costs searched act on decisions rather than on training."""
        return self.cost_level == "decision"

    def _stated(
        self, codes: IntArray, classes: AnyArray, used: IntArray, stated: dict[str, Any]
    ) -> Costs | None:
        """Return the person's costs of the rows used, None if there are none."""
        costs = read_costs(self.cost, codes, classes, aggregate="classes", **stated)
        if self.cost is None and all(value is None for value in stated.values()):
            return None
        if isinstance(costs, ClassCosts):
            return costs
        return ExampleCosts(row_costs(costs, codes, len(classes))[used])

    def _priors(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> dict[str, FloatArray]:
        """Return the entries of every prior, by name."""
        counts = np.bincount(rows.codes, rows.weight, minlength=len(classes)).astype(np.float64)
        priors = prior_costs(self.priors, level, counts, classes, self.normalize)
        if costs is not None and "cost" in self.priors:
            priors["cost"] = stated_costs(costs, level, rows.codes, len(classes), rows.weight)
        return priors

    def _path(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> PowerPath | None:
        """Return the costs that the metric may ask for; rows have none of their own."""
        if isinstance(level, SampleLevel):
            return None
        counts = np.bincount(rows.codes, rows.weight, minlength=len(classes)).astype(np.float64)
        stated = None
        if costs is not None:
            stated = stated_costs(costs, level, rows.codes, len(classes), rows.weight)
        return power_path(self.scoring, level, counts, stated)

    def _shares(
        self, level: CostLevel, rows: LabelledRows, classes: AnyArray, costs: Costs | None
    ) -> FloatArray | None:
        """Return how dear rows are among their class, where such costs are to be saved."""
        by_class = isinstance(level, ClassLevel) and self.cost_level == "class"
        if not (by_class and isinstance(costs, ExampleCosts) and counts_costs(self.scoring)):
            return None
        return row_shares(costs, rows.codes, len(classes), rows.weight)

    def _judge(
        self, rows: LabelledRows, classes: AnyArray, costs: Costs | None, judged: IntArray
    ) -> Judge:
        """Return the judge of the rows at these positions."""
        known = JudgedClasses(
            rows.codes[judged],
            classes,
            costs.matrix if isinstance(costs, ClassCosts) else None,
            costs.matrix[judged] if isinstance(costs, ExampleCosts) else None,
            decides=self._decides,
        )
        return class_judge(self.scoring, rows.judged(judged), known, self.smoothing)

    def _store_costs(
        self,
        level: CostLevel,
        entries: FloatArray,
        B: FloatArray,
        codes: IntArray,
        used: IntArray,
    ) -> None:
        """Store costs by class and confusion from ``entries``, and by row from B of those used.

        A row of weight 0 gets the mean cost of its class.
        """
        k = len(self.classes_)
        seen = np.maximum(np.bincount(codes[used], minlength=k), 1)
        means = np.bincount(codes[used], B, minlength=k) / seen
        self.cost_vector_ = means[codes]
        self.cost_vector_[used] = B
        if isinstance(level, SampleLevel):
            self.class_costs_ = means
        else:
            self.class_costs_ = level.group_costs(entries[np.newaxis])[0]
        self.cost_matrix_ = self.class_costs_[:, np.newaxis] * (1.0 - np.eye(k))
        if isinstance(level, MatrixLevel):
            self.cost_matrix_ = level.matrices(entries[np.newaxis])[0]
