"""Estimators on Dask whose costs are learned: one pass of sums, then a search on the client."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from distributed import Client

from ecselm import _native as compiled
from ecselm._random import as_generator
from ecselm._sklearn import Interval, fit_context
from ecselm._typing import BoolArray, FloatArray
from ecselm.dask.estimator import DaskClassifier, DaskEstimator, DaskRegressor
from ecselm.dask.sums import GatheredRows, measured_layer, named
from ecselm.dask.survey import Grouped, SampleRule, Survey, by_class, by_level, survey
from ecselm.dask.table import Table
from ecselm.estimators import ECSELMClassifier, ECSELMRegressor
from ecselm.estimators._ensemble import (
    KindInputs,
    KindLayer,
    Ranks,
    landmark_places,
    layers_around,
    n_listed,
)
from ecselm.estimators._evolving import CostProblem, EvolvingMachine, TrainingRows
from ecselm.estimators._machine import EngineNeeds, LayerMachine
from ecselm.estimators._scoring import COSTED
from ecselm.estimators._training import finite
from ecselm.fitness import CostedRows, Engine, Split
from ecselm.fitness.engine_selection import SCORES_SHARE
from ecselm.fitness.engines import JudgedFeatures, LayerEngine
from ecselm.fitness.systems import BlockSystem, BlockTrainer, System, Trainer
from ecselm.layers import HiddenLayer
from ecselm.linalg import GramBlocks
from ecselm.metrics import get_scorer
from ecselm.metrics.confusion import BINARY, COUNTED

MAX_JUDGED = 100_000
SAMPLE_STREAM = 8  # children of the random state: a search has fewer
COUNTED_BY_WEIGHT = {*COSTED, *BINARY, *COUNTED}
SQUARES = "neg_mean_squared_error"


@dataclass(frozen=True)
class SummedFeatures(JudgedFeatures):
    """Rows to judge by, of which squared errors are known over all rows, not the sample alone."""

    total: GramBlocks | None = None

    @property
    def _sums(self) -> GramBlocks:
        if self.total is None:
            raise TypeError("the sums of the judged rows must be given")
        return self.total


@dataclass(frozen=True, slots=True)
class SummedMachine(LayerMachine):
    """A sample of rows behind a hidden layer, and the sums over all rows."""

    rows: GatheredRows
    source: tuple[str, Any]  # the parameter that answers for H, and its value

    @classmethod
    def behind(
        cls, layer: HiddenLayer, sample: TrainingRows, rows: GatheredRows, source: tuple[str, Any]
    ) -> SummedMachine:
        """Compute H of the sample."""
        made = LayerMachine.on_rows(layer, sample.X, *source)
        return cls(layer, made.H, rows, source)

    def engine(self, rows: CostedRows, splits: list[Split] | None, needs: EngineNeeds) -> Engine:
        """Return what trains candidates on all rows and judges them by the sample."""
        if splits is None:
            raise ValueError("fitness must not be 'loo' on Dask, which needs all rows at once")
        halved = 4 * self.H.size < needs.memory / 4
        trainers: list[Trainer] = []
        judged: list[JudgedFeatures] = []
        how = self.rows.dealt
        every = np.arange(how.n_cells)
        for split, trained, cell in zip(splits, how.trained, how.judged, strict=True):
            trainers.append(BlockTrainer.from_system(BlockSystem(self._over(trained))))
            weight = None if rows.weight is None else rows.weight[split.test]
            total = self._over(every == cell).weighted(np.ones(rows.n_groups))
            judged.append(
                SummedFeatures(self.H[split.test], rows.T[split.test], weight, halved, total)
            )
        name = f"sums by {rows.n_groups} cost groups of {self.H.shape[1]} units over partitions"
        return LayerEngine(
            trainers, judged, f"{name} ({compiled.path_name()})", needs.memory // SCORES_SHARE
        )

    def system(self, rows: CostedRows) -> System:
        """Return what solves (15) on all rows."""
        return BlockSystem(self._over(np.ones(self.rows.dealt.n_cells, dtype=bool)))

    def _over(self, cells: BoolArray) -> GramBlocks:
        """Return the sums by cost group over some cells."""
        sums, g = self.rows.sums(self.layer), self.rows.n_groups
        finite(sums.grams, *self.source)

        def added(values: FloatArray) -> FloatArray:
            return values.reshape(len(cells), g, *values.shape[1:])[cells].sum(axis=0)

        return GramBlocks(added(sums.grams), added(sums.moments), added(sums.squares), sums.eps)


class SummedSearch(EvolvingMachine):
    """Mixin of searches that are fitted to a sample and trained on all rows."""

    _gathered: GatheredRows

    def _layer(self, rows: TrainingRows, rng: np.random.Generator) -> LayerMachine:
        recipe = self._recipe(rows.X, rng)
        layer = measured_layer(recipe, self._gathered.known)
        self._gathered.put_behind([layer])
        return SummedMachine.behind(layer, rows, self._gathered, recipe.source)

    def _splits(self, rows: TrainingRows, rng: np.random.Generator) -> list[Split] | None:
        return self._gathered.splits(self.fitness, self.validation_fraction, rng)

    def _resumed(self, plan: Any, problem: CostProblem, splits: Any, seed: int) -> Any:
        extra = {**problem.extra, "rows": self._gathered.roll.mark}
        return super()._resumed(plan, replace(problem, extra=extra), splits, seed)


class SummedClassifier(SummedSearch, ECSELMClassifier):
    """:class:`ECSELMClassifier` on sums."""

    def _kinds(self, rows: TrainingRows, rng: np.random.Generator) -> list[KindLayer]:
        """Return the layers; ranks of inputs are those among the sample."""
        rows_rng, units_rng = rng.spawn(2)
        gathered, total = self._gathered, self._gathered.known.scale
        scale = total.scale("standard" if self.scale == "auto" else self.scale)
        distinct = gathered.distinct()
        places = distinct[landmark_places(len(distinct), self.n_hidden, rows_rng)]
        landmarks, ranks = gathered.inputs_at(places), Ranks.measured(gathered.distinct_sample())
        known = KindInputs(scale, total.gamma(scale), landmarks, ranks)
        layers = layers_around(known, self.n_hidden, units_rng)
        gathered.put_behind([kind.layer for kind in layers])
        return layers

    def _behind(self, layer: HiddenLayer, rows: TrainingRows) -> LayerMachine:
        return SummedMachine.behind(layer, rows, self._gathered, ("activation", self.activation))


class SummedRegressor(SummedSearch, ECSELMRegressor):
    """:class:`ECSELMRegressor` on sums."""


class SearchingEstimator(DaskEstimator):
    """What both searches on Dask share; subclasses say what rows are dealt by."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_judged": [Interval(Integral, 2, None, closed="left")],
    }
    _summed: ClassVar[Any]
    n_hidden: int
    max_judged: int
    cost_level: str
    fitness: Any
    scoring: Any
    warm_start: bool
    random_state: Any

    def _learned(self, client: Client, table: Table, model: Any) -> Any:
        self._refuse_what_needs_rows()
        known = survey(client, table, labels=self._summed is SummedClassifier)
        grouped = self._grouped(client, table, known)
        rng = as_generator(deepcopy(self.random_state)).spawn(SAMPLE_STREAM)[-1]
        rule = SampleRule.drawn(grouped.counts, self.max_judged, rng)
        if rule.quotas.sum() < grouped.counts.sum():
            self._check_weights_count()
        # One more than are listed tells that there are more.
        listed = n_listed(self.n_hidden) + 1
        rows = GatheredRows.called(client, table, known, grouped, rule, listed)
        search = self._summed(**model.get_params(deep=False))
        search._gathered = rows
        if self.warm_start and hasattr(self, "_local_"):
            search._entries_, search._numbers_ = self._local_._entries_, self._local_._numbers_
        X, y, weight = rows.stand_in()
        search.fit(named(X, table.form), y, weight)
        return self._as_model(search, model, rows)

    def _grouped(self, client: Client, table: Table, known: Survey) -> Grouped:
        """Return the classes or levels of the rows."""
        raise NotImplementedError

    def _refuse_what_needs_rows(self) -> None:
        if self.cost_level == "sample":
            raise ValueError(
                "cost_level must be 'class' or 'matrix' on Dask, got 'sample': a cost per row "
                "would be searched in as many dimensions as there are rows"
            )
        if self.fitness == "loo" or not isinstance(self.fitness, str | Integral):
            raise ValueError(
                f"fitness must be 'cv', 'holdout', 'train' or an int on Dask, got {self.fitness!r}"
            )

    def _check_weights_count(self) -> None:
        """Refuse a score that would take the sample for the rows it stands for."""
        if self.scoring is None or self.scoring in COUNTED_BY_WEIGHT:
            return
        function = getattr(get_scorer(self.scoring), "_score_func", None)
        if function is None or "sample_weight" not in inspect.signature(function).parameters:
            raise ValueError(
                "scoring must take sample_weight where a sample stands for all rows, got "
                f"{self.scoring!r}; a greater max_judged takes all rows as they are"
            )

    def _as_model(self, search: Any, model: Any, rows: GatheredRows) -> Any:
        """Return the ordinary estimator with what the search has learned."""
        own = {"_gathered", "cost_vector_", *model.get_params(deep=False)}
        vars(model).update({name: value for name, value in vars(search).items() if name not in own})
        model.n_judged_ = len(rows) if self.scoring == SQUARES else rows.n_judged
        return model


class DaskECSELMClassifier(
    DaskClassifier, SearchingEstimator, local=ECSELMClassifier, max_judged=MAX_JUDGED
):
    """Machine on Dask that learns what mistakes cost: :class:`~ecselm.ECSELMClassifier`.

    One pass over the partitions sums (15) by class and fold; after it a candidate costs
    nothing in the number of rows. Candidates are trained on all rows and judged by a sample
    of them, which is gathered once, has as many rows of one class as of another, or all there
    are, and weighs each by how many it stands for. Up to ``max_judged`` rows the sample is
    all of them, and what is learned equals what the ordinary estimator learns.

    Parameters
    ----------
    n_hidden, cost_level, cost, cost_bounds, fixed_costs, cost_intervals, cost_order, priors :
        As in :class:`~ecselm.ECSELMClassifier`, but for ``cost_level="sample"``.
    decision, validation_fraction, scoring, smoothing, normalize, shrinkage, keep_prior :
        As in :class:`~ecselm.ECSELMClassifier`.
    fitness : {"cv", "holdout", "train"} or int, default="cv"
        As in :class:`~ecselm.ECSELMClassifier`.
    C, C_bounds, activation, draw, scale :
        As in :class:`~ecselm.ECSELMClassifier`. With ``activation="auto"`` the sums behind
        all layers are made in the same pass, and ranks of inputs are those among the sample.
    hidden_layer, kernel : None
        Not on Dask; ``gamma``, ``gamma_bounds``, ``degree``, ``coef0`` and ``max_samples``
        have no effect.
    optimizer, population_size, max_epochs, patience, max_time, checkpoint, callbacks :
        As in :class:`~ecselm.ECSELMClassifier`; the search is run by the client.
    warm_start, n_jobs, memory_limit, random_state, verbose :
        As in :class:`~ecselm.ECSELMClassifier`.
    max_judged : int, default=100_000
        How many rows may be gathered to judge candidates by.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, class_costs_, cost_matrix_, C_, gain_, keeps_prior_, best_score_, history_ :
        As in :class:`~ecselm.ECSELMClassifier`, like all others but ``cost_vector_``, which
        would be as long as the data.
    n_judged_ : int
        How many rows candidates were judged by; the ordinary estimator has it, too.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm.dask import DaskECSELMClassifier
    >>> X, y = (da.from_array(values, chunks=(200, *values.shape[1:]))
    ...         for values in load_breast_cancer(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskECSELMClassifier(
    ...         30, activation="radbas", scoring="gmean", max_epochs=3, random_state=0,
    ...         client=client,
    ...     ).fit(X, y)
    >>> model.n_judged_, model.class_costs_.shape
    (569, (2,))
    """

    _summed = SummedClassifier

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sum over the partitions, search the costs, and solve with the best.

        Parameters
        ----------
        X : dask array of shape (N, n) or dask dataframe
        y : dask array or series of shape (N,)
        sample_weight : dask array or series of shape (N,), default=None
            A row of weight 2 counts as two rows, in training and in the fitness.

        Returns
        -------
        self
        """
        return self._fit(X, y=y, sample_weight=sample_weight)

    def _grouped(self, client: Client, table: Table, known: Survey) -> Grouped:
        return by_class(known)


class DaskECSELMRegressor(
    DaskRegressor, SearchingEstimator, local=ECSELMRegressor, max_judged=MAX_JUDGED
):
    """Machine on Dask that learns what errors cost: :class:`~ecselm.ECSELMRegressor`.

    With ``scoring="neg_mean_squared_error"`` candidates are judged by all rows, through sums
    of squares; with others, such as the mean absolute error, by a sample of at most
    ``max_judged`` rows, see :class:`DaskECSELMClassifier`.

    Parameters
    ----------
    n_hidden, cost_level, n_levels, cost_bounds, fixed_costs, cost_intervals, cost_order, priors :
        As in :class:`~ecselm.ECSELMRegressor`, but for ``cost_level="sample"``.
    fitness : {"cv", "holdout", "train"} or int, default="cv"
        As in :class:`~ecselm.ECSELMRegressor`.
    validation_fraction, scoring, smoothing, normalize, C, C_bounds, activation, draw, scale :
        As in :class:`~ecselm.ECSELMRegressor`.
    hidden_layer, kernel : None
        Not on Dask; ``gamma``, ``gamma_bounds``, ``degree``, ``coef0`` and ``max_samples``
        have no effect.
    optimizer, population_size, max_epochs, patience, max_time, checkpoint, callbacks :
        As in :class:`~ecselm.ECSELMRegressor`; the search is run by the client.
    warm_start, n_jobs, memory_limit, random_state, verbose :
        As in :class:`~ecselm.ECSELMRegressor`.
    max_judged : int, default=100_000
        How many rows may be gathered to judge candidates by.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    class_costs_, level_edges_, C_, best_score_, prior_scores_, history_, beta_, layer_ :
        As in :class:`~ecselm.ECSELMRegressor`, like all others but ``cost_vector_``.
    n_judged_ : int
        How many rows candidates were judged by; the ordinary estimator has it, too.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from ecselm.dask import DaskECSELMRegressor
    >>> X, y = (da.from_array(values, chunks=(150, *values.shape[1:]))
    ...         for values in load_diabetes(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskECSELMRegressor(30, max_epochs=3, random_state=0, client=client).fit(X, y)
    >>> model.best_score_ >= max(model.prior_scores_.values())
    True
    """

    _summed = SummedRegressor
    n_levels: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sum over the partitions, search the costs, and solve with the best.

        Parameters
        ----------
        X : dask array of shape (N, n) or dask dataframe
        y : dask array, series or dataframe of shape (N,) or (N, m)
        sample_weight : dask array or series of shape (N,), default=None
            A row of weight 2 counts as two rows, in training and in the fitness.

        Returns
        -------
        self
        """
        return self._fit(X, y=y, sample_weight=sample_weight)

    def _grouped(self, client: Client, table: Table, known: Survey) -> Grouped:
        return by_level(client, table, known, self.n_levels)
