"""The search of costs around an estimator, without its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import column_or_1d, indexable, validate_data

from ecselm._sklearn import check_weights, safe_indexing
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import Costs
from ecselm.costs.levels import CostLevel
from ecselm.elm.class_costs import ClassCostLearning, cost_level
from ecselm.elm.family import all_or_nothing
from ecselm.elm.fitness import fitness_splits, judged_rows, trained_rows
from ecselm.elm.fitted_engine import FittedEngine, fitted, split_probabilities, weight_parameter
from ecselm.elm.groups import Groups, read_groups
from ecselm.elm.layers import seeded_clone
from ecselm.elm.learned import LearnedCosts
from ecselm.elm.scoring import JudgedRows
from ecselm.objectives import (
    CostedRows,
    Engine,
    ExpectedCostEngine,
    RememberedScores,
    Span,
    Split,
)
from ecselm.objectives.keys import row_keys


@dataclass(frozen=True, slots=True)
class InputRows:
    """Rows of positive weight, whatever their inputs are."""

    X: Any
    y: AnyArray
    codes: IntArray
    weight: FloatArray | None
    groups: Groups | None

    def judged(self, positions: IntArray) -> JudgedRows:
        """Return some of the rows as a judge sees them."""
        weight = None if self.weight is None else self.weight[positions]
        return JudgedRows(safe_indexing(self.X, positions), self.y[positions], None, weight)


class CostSearching(ClassCostLearning):
    """Read rows and costs, search, and fit the estimator with what was found."""

    estimator: Any
    fitness: Any
    validation_fraction: float

    @all_or_nothing
    @one_blas_thread()  # a search fits small models by the hundred
    def _fit_search(
        self, X: Any, y: Any, sample_weight: Any, stated: dict[str, Any], groups: Any
    ) -> Self:
        rows, codes, used = self._rows(X, y, sample_weight, groups)
        self._check_estimator(weighted=rows.weight is not None)
        costs = self._stated(codes, self.classes_, used, stated)
        level = cost_level(self.cost_level, rows.codes, len(self.classes_))
        rng, seed = self._stream()
        estimator = seeded_clone(self.estimator, rng)
        shares = self._shares(level, rows, self.classes_, costs)
        costed = _costed(rows, level, len(self.classes_), shares)
        learned = self._learn(rows, costed, level, costs, estimator, rng, seed)
        B = learned.weights[costed.groups]
        B = B if shares is None else B * shares
        self._store_costs(level, learned.entries, B, codes, used)
        weights = B if rows.weight is None else B * rows.weight
        decides = self.cost_level == "decision"
        self.estimator_ = fitted(estimator, rows.X, rows.y, rows.weight if decides else weights)
        return self

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[InputRows, IntArray, IntArray]:
        """Return the rows of positive weight, all class codes, and which rows these are."""
        if y is None:
            raise ValueError("CostSearchCV requires y to be passed, but the target y is None")
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        X, y = indexable(X, y)
        validate_data(self, X, skip_check_array=True)
        if np.shape(X)[1:] == (0,):
            raise ValueError(
                f"X has 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required."
            )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have at least two classes, got one class: {self.classes_.tolist()}"
            )
        weight = check_weights(sample_weight, np.empty((len(y), 1)))
        used = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
        if len(np.unique(codes[used])) < 2:
            raise ValueError("y must have two classes among the rows of positive weight, got one")
        kept = None if weight is None else weight[used]
        together = read_groups(groups, len(y), self.fitness)
        own = None if together is None else together.taken(used)
        return InputRows(safe_indexing(X, used), y[used], codes[used], kept, own), codes, used

    def _check_estimator(self, *, weighted: bool) -> None:
        """Refuse an estimator that lacks what the level needs."""
        if self.fitness == "loo":
            raise ValueError("fitness must not be 'loo' around an estimator, which has no formula")
        if is_regressor(self.estimator):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")
        bounds = self._bounds()
        if bounds is not None and bounds[0] < 0:
            raise ValueError(f"cost_bounds must be >= 0 here, got {self.cost_bounds!r}")
        decides = self.cost_level == "decision"
        if weighted or not decides:
            weight_parameter(self.estimator)
        if decides and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                "estimator must have predict_proba with cost_level='decision', got "
                f"{self.estimator!r}"
            )

    def _learn(
        self,
        rows: InputRows,
        costed: CostedRows,
        level: CostLevel,
        costs: Costs | None,
        estimator: Any,
        rng: np.random.Generator,
        seed: int,
    ) -> LearnedCosts:
        classes = self.classes_
        priors = self._priors(level, rows, classes, costs)
        decides, one = self.cost_level == "decision", Span.fixed(1.0)
        path = self._path(level, rows, classes, costs)
        masses = costed.masses()
        plan = self._plan(level, classes, priors, masses, one, decides=decides, path=path)
        folds_rng, search_rng = rng.spawn(2)
        X = rows.X if sparse.issparse(rows.X) else _table(rows.X)
        splits = fitness_splits(
            self.fitness, X, rows.codes, rows.y, self.validation_fraction, folds_rng, rows.groups
        )
        together = None if rows.groups is None else rows.groups.codes
        data = {"X": X, "y": rows.y, "sample_weight": rows.weight, "costs": costs}
        data |= {"splits": splits, "groups": together}
        checkpoint = self._checkpoint(plan, data, seed)  # refuses before any work
        positions = judged_rows(splits, len(costed))
        return self._search(
            plan,
            self._engine(estimator, rows, costed, splits or []),
            self._judge(rows, classes, costs, positions),
            search_rng,
            checkpoint,
            (row_keys(X) if together is None else together)[positions],
        ).completed(trained_rows(splits, len(costed)), rows.codes)

    def _engine(
        self, estimator: Any, rows: InputRows, costed: CostedRows, splits: list[Split]
    ) -> Engine:
        given = estimator, rows.X, rows.y, self.classes_
        if self.cost_level != "decision":
            return FittedEngine(*given, costed, splits, self.n_jobs)
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(split_probabilities)(*given, rows.weight, split) for split in splits
        )
        return ExpectedCostEngine(RememberedScores(np.concatenate(parts)), np.asarray)


def _costed(
    rows: InputRows, level: CostLevel, n_classes: int, shares: FloatArray | None
) -> CostedRows:
    """Return the rows by cost group; a fitted estimator has no targets of (15)."""
    none = np.empty((len(rows.y), 0))
    return CostedRows.at_level(level, none, rows.codes, n_classes, rows.weight, shares)


def _table(X: Any) -> AnyArray:
    """Return any inputs as rows that can be compared."""
    rows = np.asarray(X)
    if rows.ndim == 1 or rows.dtype.kind not in "biuf":  # words, dates
        rows = rows.astype(object)
    return rows.reshape(len(rows), -1)
