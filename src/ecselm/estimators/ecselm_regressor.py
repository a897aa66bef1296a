"""The evolutionary cost-sensitive extreme learning machine for real targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import Interval, StrOptions, check_weights, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs.levels import ClassLevel, CostLevel, SampleLevel
from ecselm.costs.parse import check_row_costs
from ecselm.estimators._base import (
    KERNEL_OR_LAYER,
    ELMRegressorBase,
    all_or_nothing,
)
from ecselm.estimators._cost_search import (
    LEARNING,
    LITERAL_SEARCH,
    CostProblem,
    history_frame,
    n_evaluations,
    prior_test_attributes,
    random_stream,
    search_attributes,
    thread_number,
)
from ecselm.estimators._priors import LEAST_SHARE, prior_costs
from ecselm.estimators._scoring import target_fitness
from ecselm.estimators._source import (
    EngineLimits,
    KernelModel,
    MemorySource,
    SumsSource,
    TrainingData,
)
from ecselm.estimators.ecselm import (
    PREPARING,
    PRINTED,
    SEARCHED,
    no_partial_fit,
    one_model,
    planned_search,
    search_spans,
)
from ecselm.fitness.folds import read_groups, training_rows, validation_rows
from ecselm.search import AskTell
from ecselm.search.interrupts import keeping_best


class ECSELMRegressor(ELMRegressorBase):
    """Evolutionary cost-sensitive extreme learning machine for real targets.

    Searches the cost information vector B of (15) for the best fitness (20)-(21), where
    a cost is the weight of a row's error. There are no classes: the range of the targets is
    divided into levels of equal width, as the paper divides its scores, and these have costs.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    cost_level : {"class", "sample"}, default="class"
        What has a cost of its own: every level of the target, or every row, as in the
        paper.
    n_levels : int, default=5
        Number of levels of the range of the target; of several targets, of their
        standardised mean. The keys of ``fixed_costs``, ``cost_intervals`` and
        ``cost_order`` are the levels 0 to ``n_levels - 1``.
    fitness : {"cv", "holdout", "loo", "train"}, int or splitter, default="cv"
        Validation rows, as in :class:`ECSELMClassifier`.
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

    def __init__(
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
        self.C = C
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
    def paper(cls, *, literal: bool = False, **parameters: Any) -> Self:
        """Return the estimator with the paper's settings, see :meth:`ECSELMClassifier.paper`.

        Parameters
        ----------
        literal : bool, default=False
            False is the published backtracking search; True takes step 2.1 of Algorithm 2 and
            (30) letter by letter, which makes the search nearly random.
        **parameters
            Parameters that differ, such as ``n_hidden``, ``C`` or ``random_state``.

        Examples
        --------
        >>> ECSELMRegressor.paper().population_size
        100
        """
        letters = {"optimizer": LITERAL_SEARCH} if literal else {}
        return cls(**{**PRINTED, **letters, **parameters})

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
            Stated costs of the rows' errors, for the first population.
        groups : array of shape (N,), default=None
            Labels of groups of rows, as in :class:`ECSELMClassifier`.

        Returns
        -------
        self
        """
        return self._fit_source(MemorySource(X, y, sample_weight), groups, sample_cost=sample_cost)

    @keeping_best()
    @all_or_nothing
    @one_blas_thread()
    def _fit_source(
        self,
        source: SumsSource,
        groups: Any = None,
        *,
        previous: Any = None,
        sample_cost: Any = None,
    ) -> Self:
        """Search the costs on the rows of a source, and solve (15) with the best.

        The search begins with the costs of ``previous``, an estimator fitted before, if that
        is given, or with ``warm_start`` with those of this one.
        """
        # Validate: everything that can be refused is refused before any random draw.
        X, y = self._validated(source.X, reset=True, y=source.y, multi_output=True, y_numeric=True)
        weight = check_weights(source.sample_weight, X)
        row_groups = read_groups(groups, len(y), self.fitness)

        # Levels of the target take the place of classes.
        T = y.reshape(len(y), -1)
        usable = slice(None) if weight is None else weight > 0
        position = level_position(T, T[usable].min(axis=0), T[usable].max(axis=0))
        edges = level_edges(position[usable].min(), position[usable].max(), self.n_levels)
        codes = np.digitize(position, edges, right=True)
        data, used = TrainingData.of_positive_weight(X, y, codes, T, weight, row_groups)
        level: CostLevel = ClassLevel(self.n_levels)
        if self.cost_level == "sample":
            level = SampleLevel(data.codes)
        priors = self._priors(level, data, _row_costs(sample_cost, used, len(T)))
        problem = CostProblem(level, np.arange(self.n_levels), priors)
        rows = problem.costed(data)

        # The space of the search: costs, C, and the width of a kernel.
        rng, seed = random_stream(self.random_state, self.checkpoint)
        folds_rng, search_rng = rng.spawn(2)
        kernel = None if self.kernel is None else self._kernel_map(self.kernel, data.X, data.weight)
        spans = search_spans(self, kernel)
        search = planned_search(self, problem, rows.masses(), spans, previous)
        limits = EngineLimits.of_search(
            self.memory_limit, search.encoding, self.population_size, data.weight
        )

        # Candidates are validated on rows they are not trained on, or costs would overfit them.
        splits = source.splits(data, self.fitness, self.validation_fraction, folds_rng)
        validation = validation_rows(splits, len(data))
        fitness = target_fitness(self.scoring, data.validation(validation), self.smoothing)
        # A checkpoint of another search is refused before sums are made.
        identity = {**source.identity(), **data.identity()}
        identity |= {"splits": splits, "sample_cost": sample_cost}
        with search.steps(self.get_params(deep=False), identity, seed) as steps:
            # Search behind the layer or kernel, and solve (15) on all rows with the best.
            steps.bar.begin(PREPARING, 1, PREPARING)
            model = one_model(self, source, data, kernel, rng)
            engine = model.engine(rows, splits, limits)
            result = search.run(engine, fitness, search_rng, steps, thread_number(self.n_jobs))
        learned = search.learned(result.point)
        learned = learned.completed(training_rows(splits, len(data)), data.codes)
        if isinstance(model, KernelModel):
            model = model.with_gamma(learned.gamma)
        solution = model.system(rows).solution(learned.costs, learned.C)

        self.beta_ = solution.beta.astype(X.dtype)
        self.layer_, self.solver_ = model.layer, solution.path
        self._target_ndim_ = y.ndim
        self.C_, self.gamma_ = learned.C, learned.gamma
        self.__dict__.update(search_attributes(search, result, engine))
        self.__dict__.update(prior_test_attributes(None, keep_prior=False))  # levels have no prior
        costs = learned.costs
        if isinstance(level, SampleLevel):
            seen = np.maximum(np.bincount(data.codes, minlength=self.n_levels), 1)
            self.class_costs_: FloatArray = np.bincount(data.codes, costs, self.n_levels) / seen
            self.cost_vector_ = self.class_costs_[codes]
            self.cost_vector_[used] = costs
        else:
            self.class_costs_ = costs
            self.cost_vector_ = costs[codes]
        self.__dict__.pop("level_edges_", None)  # those of an earlier fit
        if T.shape[1] == 1:
            self.level_edges_ = edges
        return self

    def _priors(
        self, level: CostLevel, data: TrainingData, costs: FloatArray | None
    ) -> dict[str, FloatArray]:
        counts = np.bincount(data.codes, data.weight, self.n_levels).astype(np.float64)
        classes = np.arange(self.n_levels)
        priors = prior_costs(self.priors, level, counts, classes, self.normalize)
        if costs is None or "cost" not in self.priors:
            return priors
        if isinstance(level, ClassLevel):
            weighted = costs if data.weight is None else data.weight * costs
            costs = np.bincount(data.codes, weighted, self.n_levels) / np.where(counts, counts, 1.0)
        priors["cost"] = np.maximum(costs, LEAST_SHARE * costs.max())
        return priors

    @available_if(no_partial_fit)
    def partial_fit(self, X: Any, y: Any) -> Any:
        """Is not offered."""

    history_ = property(history_frame)
    n_evaluations_ = property(n_evaluations)


def _row_costs(stated: Any, used: IntArray, n_rows: int) -> FloatArray | None:
    """Return the stated costs of the rows used, None if there are none."""
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
