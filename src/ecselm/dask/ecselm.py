"""Machines on Dask whose costs are learned: one pass of sums, then a search on the client."""

from __future__ import annotations

import inspect
from copy import deepcopy
from numbers import Integral
from typing import Any, ClassVar, Self

from distributed import Client

from ecselm._random import as_generator
from ecselm._sklearn import Interval, fit_context
from ecselm.dask.estimator import DaskClassifier, DaskEstimator, DaskRegressor
from ecselm.dask.gathered import GatheredRows
from ecselm.dask.grouping import Grouped, by_class, by_level
from ecselm.dask.layers import named
from ecselm.dask.roll import SampleRule
from ecselm.dask.searching import SummedClassifier, SummedRegressor
from ecselm.dask.survey import Survey, survey
from ecselm.dask.table import Table
from ecselm.elm import ECSELMClassifier, ECSELMRegressor
from ecselm.elm.layer_kinds import n_listed
from ecselm.elm.scoring import COSTED
from ecselm.metrics import get_scorer
from ecselm.metrics.counted import BINARY, COUNTED

MAX_JUDGED = 100_000
SAMPLE_STREAM = 8  # children of the random state: a search has fewer
COUNTED_BY_WEIGHT = {*COSTED, *BINARY, *COUNTED}
SQUARES = "neg_mean_squared_error"


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
