"""The evolutionary cost-sensitive extreme learning machine for real targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from ecselm._sklearn import Interval, StrOptions, check_weights, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import check_row_costs
from ecselm.costs.levels import ClassLevel, CostLevel, SampleLevel
from ecselm.elm.cost_learning import LEARNING
from ecselm.elm.evolving import (
    PRINTED,
    SEARCHED,
    CostProblem,
    EvolvingMachine,
    Settlement,
    TrainingRows,
)
from ecselm.elm.family import KERNEL_OR_LAYER, all_or_nothing
from ecselm.elm.groups import read_groups
from ecselm.elm.priors import LEAST_SHARE, prior_costs
from ecselm.elm.regression import ELMRegression
from ecselm.elm.scoring import target_judge
from ecselm.search import AskTell


class ECSELMRegressor(EvolvingMachine, ELMRegression):
    """Evolutionary cost-sensitive extreme learning machine for real targets.

    Searches the cost information vector B of (15) for the best fitness (20)-(21), where
    a cost is what a row's error weighs. There are no classes: the range of the targets is
    cut into levels of equal width, as the paper cuts its scores, and these have costs.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    cost_level : {"class", "sample"}, default="class"
        What has a cost of its own: every level of the target, or every row, as in the
        paper.
    n_levels : int, default=5
        Into how many levels the range of the target is cut; of several targets, that of
        their standardised mean. The keys of ``fixed_costs``, ``cost_intervals`` and
        ``cost_order`` are the levels 0 to ``n_levels - 1``.
    fitness : {"cv", "holdout", "loo", "train"}, int or splitter, default="cv"
        Which rows judge a candidate, as in :class:`ECSELMClassifier`.
    scoring : str, callable or None, default=None
        None is the mean absolute error of the paper; else a scorer of scikit-learn's by
        name, ``"cumulative_score"`` (35), or a scorer.
    smoothing : float, default=0.5
        Above 0, scores other than mean absolute and squared errors get a thousandth of
        the squared error to break ties.
    cost_bounds, fixed_costs, cost_intervals, cost_order, priors, validation_fraction, normalize :
        As in :class:`ECSELMClassifier`; (9) and (10) count levels.
    C, C_bounds, activation, draw, scale, hidden_layer, kernel, gamma, gamma_bounds, degree, coef0 :
        As in :class:`ECSELMClassifier`.
    optimizer, population_size, max_epochs, patience, max_time, checkpoint, callbacks, warm_start :
        As in :class:`ECSELMClassifier`.
    max_samples, n_jobs, memory_limit, random_state, verbose :
        As in :class:`ECSELMClassifier`.

    Attributes
    ----------
    cost_vector_ : array of shape (N,)
        The cost information vector B, learned.
    class_costs_ : array of shape (n_levels,)
        The cost of every level; of rows, the mean over the level.
    level_edges_ : array of shape (n_levels - 1,)
        Where one level ends and the next begins; only for a single target.
    C_, gamma_, best_score_, prior_scores_, history_, engine_, n_evaluations_ :
        As in :class:`ECSELMClassifier`.
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`ELMRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ecselm import ECSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ECSELMRegressor(max_epochs=3, random_state=0).fit(X, y)
    >>> model.best_score_ >= max(model.prior_scores_.values())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_OR_LAYER,
        **{name: rule for name, rule in LEARNING.items() if name != "cost"},
        **SEARCHED,
        "cost_level": [StrOptions({"class", "sample"})],
        "n_levels": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(  # noqa: PLR0915
        self,
        n_hidden: int = 100,
        *,
        cost_level: str = "class",
        n_levels: int = 5,
        cost_bounds: Any = None,
        fixed_costs: Mapping[Any, Any] | None = None,
        cost_intervals: Mapping[Any, Any] | None = None,
        cost_order: Sequence[Any] | None = None,
        priors: Sequence[str] = ("ones", "w1", "w2", "cost"),
        fitness: Any = "cv",
        validation_fraction: float = 0.25,
        scoring: Any = None,
        smoothing: float = 0.5,
        normalize: bool = True,
        C: float | str = 32.0,
        C_bounds: tuple[float, float] = (2.0**-6, 2.0**16),
        activation: str | Callable[[FloatArray], FloatArray] = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "auto",
        hidden_layer: Any = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None,
        gamma: float | str = "scale",
        gamma_bounds: tuple[float, float] = (2.0**-9, 2.0),
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
        optimizer: str | Callable[..., AskTell] = "bsa",
        population_size: int = 30,
        max_epochs: int = 30,
        patience: int | None = None,
        max_time: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        memory_limit: float | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.cost_level = cost_level
        self.n_levels = n_levels
        self.cost_bounds = cost_bounds
        self.fixed_costs = fixed_costs
        self.cost_intervals = cost_intervals
        self.cost_order = cost_order
        self.priors = priors
        self.fitness = fitness
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.smoothing = smoothing
        self.normalize = normalize
        self.C = C  # type: ignore[assignment]  # or "search"
        self.C_bounds = C_bounds
        self.activation = activation
        self.draw = draw
        self.scale = scale
        self.hidden_layer = hidden_layer
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples
        self.optimizer = optimizer
        self.population_size = population_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Return the machine with the paper's settings, see :meth:`ECSELMClassifier.paper`.

        Parameters
        ----------
        **parameters
            What is to differ, such as ``n_hidden``, ``C`` or ``random_state``.

        Examples
        --------
        >>> ECSELMRegressor.paper().population_size
        100
        """
        return cls(**{**PRINTED, **parameters})

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Search the costs, then solve for the output weights with the best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None
            A row of weight 2 counts as two rows, in training and in the fitness.
        sample_cost : array of shape (N,), default=None
            The person's own idea of what the rows' errors cost, for the first population.
        groups : array of shape (N,), default=None
            Labels of what rows belong to, as in :class:`ECSELMClassifier`.

        Returns
        -------
        self
        """
        return self._fit_targets(X, y, sample_weight, sample_cost, groups=groups)

    @all_or_nothing
    @one_blas_thread()
    def _fit_targets(
        self, X: Any, y: Any, sample_weight: Any, stated: Any = None, *, groups: Any = None
    ) -> Self:
        X, y = self._validated(X, reset=True, y=y, multi_output=True, y_numeric=True)
        weight = check_weights(sample_weight, X)
        together = read_groups(groups, len(y), self.fitness)
        T = y.reshape(len(y), -1)
        usable = slice(None) if weight is None else weight > 0
        position = level_position(T, T[usable].min(axis=0), T[usable].max(axis=0))
        edges = level_edges(position[usable].min(), position[usable].max(), self.n_levels)
        codes = np.digitize(position, edges, right=True)
        rows, used = TrainingRows.of_weight(X, y, codes, T, weight, together)
        level: CostLevel = ClassLevel(self.n_levels)
        if self.cost_level == "sample":
            level = SampleLevel(rows.codes)
        priors = self._priors(level, rows, _row_costs(stated, used, len(T)))
        problem = CostProblem(
            rows,
            level,
            np.arange(self.n_levels),
            priors,
            lambda judged: target_judge(self.scoring, rows.judged(judged), self.smoothing),
            {"sample_cost": stated},
        )
        settled = self._settle(problem)
        self._store(settled, rows, y.ndim, X.dtype)
        self._store_costs(settled, level, rows, codes, used)
        self.__dict__.pop("level_edges_", None)  # those of an earlier fit
        if T.shape[1] == 1:
            self.level_edges_ = edges
        return self

    def _priors(
        self, level: CostLevel, rows: TrainingRows, costs: FloatArray | None
    ) -> dict[str, FloatArray]:
        counts = np.bincount(rows.codes, rows.weight, self.n_levels).astype(np.float64)
        classes = np.arange(self.n_levels)
        priors = prior_costs(self.priors, level, counts, classes, self.normalize)
        if costs is None or "cost" not in self.priors:
            return priors
        if isinstance(level, ClassLevel):
            weighted = costs if rows.weight is None else rows.weight * costs
            costs = np.bincount(rows.codes, weighted, self.n_levels) / np.where(counts, counts, 1.0)
        priors["cost"] = np.maximum(costs, LEAST_SHARE * costs.max())
        return priors

    def _store(self, settled: Settlement, rows: TrainingRows, target_ndim: int, dtype: Any) -> None:
        learned = settled.learned
        solution = settled.machine.solution(settled.rows, learned.costs, learned.C)
        self.beta_ = solution.beta.astype(dtype)
        self.layer_, self.solver_ = settled.machine.layer, solution.path
        self._target_ndim_ = target_ndim

    def _store_costs(
        self,
        settled: Settlement,
        level: CostLevel,
        rows: TrainingRows,
        codes: IntArray,
        used: IntArray,
    ) -> None:
        costs = settled.learned.costs
        if isinstance(level, SampleLevel):
            seen = np.maximum(np.bincount(rows.codes, minlength=self.n_levels), 1)
            self.class_costs_: FloatArray = np.bincount(rows.codes, costs, self.n_levels) / seen
            self.cost_vector_ = self.class_costs_[codes]
            self.cost_vector_[used] = costs
        else:
            self.class_costs_ = costs
            self.cost_vector_ = costs[codes]


def _row_costs(stated: Any, used: IntArray, n_rows: int) -> FloatArray | None:
    """Return the person's costs of the rows used, None if there are none."""
    if stated is None:
        return None
    costs = check_row_costs(stated, "sample_cost")
    if costs.shape != (n_rows,):
        raise ValueError(
            f"sample_cost must have the shape ({n_rows},), one cost per row, got {costs.shape}"
        )
    if not costs[used].any():
        raise ValueError("sample_cost must not be 0 for every row of positive weight")
    return costs[used]


def level_edges(low: float, high: float, n_levels: int) -> FloatArray:
    """Return the inner edges of levels of equal width between two positions."""
    return np.linspace(low, high, n_levels + 1)[1:-1]


def level_position(T: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return where rows (N, m) lie: a single target itself, of several the standardised mean.

    ``low`` and ``high`` (m,) are the ends of the targets' ranges.
    """
    if T.shape[1] == 1:
        return T[:, 0].astype(np.float64)
    T = np.ascontiguousarray(T)  # in another order sums would be rounded otherwise
    return ((T - low) / np.where(high > low, high - low, 1.0)).mean(axis=1)
