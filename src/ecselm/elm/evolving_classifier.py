"""The classifier whose costs are searched, without its parameters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray
from ecselm.elm.calibration import LogisticCalibration, residual_slope, score_slope
from ecselm.elm.class_costs import ClassCostLearning, cost_level
from ecselm.elm.classification import class_targets
from ecselm.elm.convening import Convened, Convening
from ecselm.elm.decisions import CostDeciding
from ecselm.elm.evolving import CostProblem, Settlement, TrainingRows
from ecselm.elm.family import AUTO, all_or_nothing
from ecselm.elm.fitness import judged_rows
from ecselm.elm.groups import read_groups
from ecselm.elm.leave_one_out import LeftOutScores
from ecselm.elm.machine import EngineNeeds, Machine, left_out
from ecselm.objectives import (
    Candidates,
    CostedRows,
    Engine,
    ExpectedCostEngine,
    RememberedScores,
    Split,
)
from ecselm.solvers import Solution


class EvolvingClassifier(ClassCostLearning, Convening, CostDeciding):
    """Read costs and classes, search, and store."""

    decision: str
    _members_: list[tuple[Any, ...]] | None
    _member_weights_: list[float] | None

    @property
    def _decides(self) -> bool:
        return self.decision == "min_cost"

    @all_or_nothing
    @one_blas_thread()
    def _fit_labels(
        self, X: Any, y: Any, sample_weight: Any, *, groups: Any = None, **stated: Any
    ) -> Self:
        X, codes, classes, weight = self._checked_labels(X, y, sample_weight)
        together = read_groups(groups, len(codes), self.fitness)
        if self._decides and self.cost_level != "matrix":
            raise ValueError(
                "decision='min_cost' must go with cost_level='matrix', got "
                f"cost_level={self.cost_level!r}"
            )
        T = class_targets(len(classes))[codes]
        rows, used = TrainingRows.of_weight(X, classes[codes], codes, T, weight, together)
        costs = self._stated(codes, classes, used, stated)
        level = cost_level(self.cost_level, rows.codes, len(classes))
        problem = CostProblem(
            rows,
            level,
            classes,
            self._priors(level, rows, classes, costs),
            lambda judged: self._judge(rows, classes, costs, judged),
            {"costs": costs},
            self._path(level, rows, classes, costs),
            self._shares(level, rows, classes, costs),
        )
        settled: Convened | Settlement
        if self._has_several_layers:
            settled = self._convene(problem)
            self._store_committee(settled, classes, X.dtype)
        else:
            deciding = self._deciding(rows) if self._decides else None
            settled = self._settle(problem, deciding, self._decides)
            self._store(settled, rows, classes, X.dtype)
        B = settled.learned.costs[settled.rows.groups]
        own = B if problem.shares is None else B * problem.shares
        self._store_costs(level, settled.learned.entries, own, codes, used)
        return self

    @property
    def _has_several_layers(self) -> bool:
        """Tell whether layers of several kinds are asked for, and costs go with them."""
        bounds = self._bounds()
        return (
            self.activation == AUTO
            and self.kernel is None
            and self.hidden_layer is None
            and self.cost_level == "class"
            and (bounds is None or bounds[0] > 0)
        )

    def _store_committee(self, convened: Convened, classes: AnyArray, dtype: Any) -> None:
        """Keep the members' output weights behind the union of their layers."""
        committee = convened.committee
        beta = committee.beta.astype(dtype)
        self.classes_ = classes
        self.beta_ = np.hstack([-beta, beta]) if len(classes) == 2 else beta
        self.layer_ = committee.layer
        self._members_ = convened.members
        self._member_weights_ = list(committee.weights)
        self.solver_ = f"committee of {len(self._members_)}"
        self._slope_ = committee.slope(len(classes))
        self._probabilities_ = None

    @property
    def members_(self) -> Any:
        """Return a frame of the machines whose answers are averaged: layer, C and costs."""
        import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

        check_is_fitted(self)
        if self._members_ is None:
            raise AttributeError("members_ is there only for a committee, activation='auto'")
        names = ["layer", "width", "C", *(f"cost of {label}" for label in self.classes_.tolist())]
        return pd.DataFrame(self._members_, columns=names)

    def _deciding(self, rows: TrainingRows) -> Any:
        """Return what makes an engine that decides by expected costs."""

        def engine(
            machine: Machine,
            costed: CostedRows,
            splits: list[Split] | None,
            spans: Any,
            needs: EngineNeeds,
        ) -> Engine:
            judged = judged_rows(splits, len(costed))
            weight = np.ones(len(judged)) if rows.weight is None else rows.weight[judged]
            k = costed.n_groups

            def probabilities(Z: FloatArray) -> FloatArray:
                scores = LeftOutScores(Z, rows.codes[judged], weight)
                return LogisticCalibration.from_left_out(scores, k)(Z)

            plain = machine.engine(costed, splits, needs)
            if any(span is not None and span.is_searched for span in spans):
                return ExpectedCostEngine(plain, probabilities)
            C, gamma = (None if span is None else np.array([span.start]) for span in spans)
            Z = plain.scores(Candidates(np.ones((1, k)), np.asarray(C), gamma))[0]
            return ExpectedCostEngine(RememberedScores(probabilities(Z)), np.asarray)

        return engine

    def _store(
        self, settled: Settlement, rows: TrainingRows, classes: AnyArray, dtype: Any
    ) -> None:
        """Solve (15) on all rows with the costs learned."""
        learned, machine, costed = settled.learned, settled.machine, settled.rows
        solution = machine.solution(costed, learned.costs, learned.C)
        beta = solution.beta.astype(dtype)
        self.classes_ = classes
        self.beta_ = np.hstack([-beta, beta]) if len(classes) == 2 else beta
        self.layer_, self.solver_ = machine.layer, solution.path
        self._members_ = self._member_weights_ = None
        self._slope_ = self._score_slope(solution, settled)
        self._probabilities_ = None
        if self._decides:
            weight = np.ones(len(costed)) if rows.weight is None else rows.weight
            scores = left_out(machine, costed, learned.costs, learned.C)
            self._probabilities_ = LogisticCalibration.from_left_out(
                LeftOutScores(scores, rows.codes, weight), len(classes)
            )

    def _score_slope(self, solution: Solution, settled: Settlement) -> float:
        costed, costs, k = settled.rows, settled.learned.costs, len(self.classes_)
        if (costs < 0).any():  # a saddle point leaves residuals that mean nothing
            return residual_slope(settled.machine.fitted(solution.beta), costed.T, k)
        B = costed.vector(costs)
        n_rows = len(costed) if costed.weight is None else float(costed.weight.sum())
        return score_slope(solution, n_rows, float(B.sum()), k)
