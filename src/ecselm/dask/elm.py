"""Machines on Dask whose costs are known: sums over partitions, then one solution."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from distributed import Client

from ecselm._sklearn import fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, IntArray
from ecselm.dask.estimator import DaskClassifier, DaskRegressor
from ecselm.dask.sums import LabelReader, RowReader, TargetReader, cost_sums, measured_layer, named
from ecselm.dask.survey import Survey, survey
from ecselm.dask.table import Table, by_partition
from ecselm.estimators import CSELMClassifier, ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.estimators._training import SAMPLE_ROWS, LayerLearner, Rows, RowSample


class CostedClassifier(DaskClassifier):
    """Classifiers whose costs are known before they are fitted."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sum over the partitions and solve for the output weights.

        Parameters
        ----------
        X : dask array of shape (N, n) or dask dataframe
        y : dask array or series of shape (N,)
        sample_weight : dask array or series of shape (N,), default=None
            Multiplies B; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y=y, sample_weight=sample_weight)

    def _learned(self, client: Client, table: Table, model: Any) -> Any:
        known = survey(client, table, labels=True)
        reader = LabelReader(model, known.classes)
        # A bad cost matrix is refused before rows are summed.
        costs = reader.costs(np.zeros(0, dtype=np.intp), table.empty.get("sample_cost"))
        learner, none = _summed(client, table, known, reader)
        with one_blas_thread():
            model._learn(learner, none, costs, known.classes)
        return model


class DaskELMClassifier(CostedClassifier, local=ELMClassifier):
    """Extreme learning machine on Dask: :class:`~ecselm.ELMClassifier` on many partitions.

    The data are read twice: once for classes and the scale of the inputs, once for the sums
    of (5). Output weights equal those of the ordinary estimator up to rounding, however the
    rows are cut and whoever sums them.

    Parameters
    ----------
    n_hidden, C, activation, draw, scale, random_state :
        As in :class:`~ecselm.ELMClassifier`.
    hidden_layer : None
        Not on Dask.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, beta_, layer_, solver_, n_features_in_ :
        As in :class:`~ecselm.ELMClassifier`. There is no ``cost_vector_``, which would be as
        long as the data.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.dask import DaskELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     X, y = da.from_array(X, chunks=(40, 4)), da.from_array(y, chunks=40)
    ...     model = DaskELMClassifier(50, random_state=0, client=client).fit(X, y)
    ...     labels = model.predict(X).compute()
    >>> bool((labels == y.compute()).mean() > 0.9), type(model.to_local()).__name__
    (True, 'ELMClassifier')
    """


class DaskWELMClassifier(CostedClassifier, local=WELMClassifier):
    """Weighted machine on Dask: :class:`~ecselm.WELMClassifier` on many partitions.

    Parameters
    ----------
    n_hidden, weighting, normalize, C, activation, draw, scale, random_state :
        As in :class:`~ecselm.WELMClassifier`.
    hidden_layer, kernel : None
        Not on Dask; ``gamma``, ``degree``, ``coef0`` and ``max_samples`` have no effect.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, class_weights_, beta_, layer_, solver_, n_features_in_ :
        As in :class:`~ecselm.WELMClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.dask import DaskWELMClassifier
    >>> X, y = (da.from_array(values, chunks=(50, *values.shape[1:]))
    ...         for values in load_iris(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskWELMClassifier(20, random_state=0, client=client).fit(X, y)
    >>> model.class_weights_
    array([0.02, 0.02, 0.02])
    """


class DaskCSELMClassifier(CostedClassifier, local=CSELMClassifier):
    """Cost-sensitive machine on Dask: :class:`~ecselm.CSELMClassifier` on many partitions.

    Parameters
    ----------
    n_hidden, cost, decision, weighting, aggregate, normalize, C :
        As in :class:`~ecselm.CSELMClassifier`; costs by row are given to ``fit``.
    activation, draw, scale, random_state :
        As in :class:`~ecselm.CSELMClassifier`.
    hidden_layer, kernel : None
        Not on Dask; ``gamma``, ``degree``, ``coef0`` and ``max_samples`` have no effect.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, cost_matrix_, beta_, layer_, solver_, n_features_in_ :
        As in :class:`~ecselm.CSELMClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm.dask import DaskCSELMClassifier
    >>> X, y = (da.from_array(values, chunks=(200, *values.shape[1:]))
    ...         for values in load_breast_cancer(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskCSELMClassifier(
    ...         50, cost={(0, 1): 10}, decision="min_cost", random_state=0, client=client
    ...     ).fit(X, y)
    >>> model.cost_matrix_
    array([[ 0., 10.],
           [ 1.,  0.]])
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None) -> Self:
        """Sum over the partitions and solve for the output weights.

        Parameters
        ----------
        X : dask array of shape (N, n) or dask dataframe
        y : dask array or series of shape (N,)
        sample_weight : dask array or series of shape (N,), default=None
            Multiplies B; class counts are sums of it.
        sample_cost : dask array, series or dataframe of shape (N,) or (N, k), default=None
            B itself, or the cost of predicting each class for each row.

        Returns
        -------
        self
        """
        return self._fit(X, y=y, sample_weight=sample_weight, sample_cost=sample_cost)


class DaskELMRegressor(DaskRegressor, local=ELMRegressor):
    """Extreme learning machine for real targets on Dask: :class:`~ecselm.ELMRegressor`.

    Parameters
    ----------
    n_hidden, C, activation, draw, scale, random_state :
        As in :class:`~ecselm.ELMRegressor`.
    hidden_layer : None
        Not on Dask.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    beta_, layer_, solver_, n_features_in_ :
        As in :class:`~ecselm.ELMRegressor`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ecselm.dask import DaskELMRegressor
    >>> X = da.linspace(-3, 3, 200, chunks=60)[:, None]
    >>> y = da.sin(X[:, 0])
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskELMRegressor(50, C=1e4, random_state=0, client=client).fit(X, y)
    ...     score = model.score(X, y)
    >>> score > 0.99
    True
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sum over the partitions and solve for the output weights.

        Parameters
        ----------
        X : dask array of shape (N, n) or dask dataframe
        y : dask array, series or dataframe of shape (N,) or (N, m)
        sample_weight : dask array or series of shape (N,), default=None
            Multiplies B; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y=y, sample_weight=sample_weight)

    def _learned(self, client: Client, table: Table, model: Any) -> Any:
        known = survey(client, table, labels=False)
        learner, none = _summed(client, table, known, TargetReader(model))
        with one_blas_thread():
            model._learn(learner, none, known.head.y.ndim)
        return model


def _summed(
    client: Client, table: Table, known: Survey, reader: RowReader
) -> tuple[LayerLearner, Rows]:
    """Return the learner that all rows make, and no rows of their kind."""
    model = reader.model
    model._validated(named(known.head.X, table.form), reset=True)
    recipe = model._recipe(known.head.X)
    layer, rng = measured_layer(recipe, known), model._sample_rng()
    keys, picked = _sampled(known.sizes, rng)
    sums = cost_sums(client, table, reader, layer, picked)
    if not sums.masses.any():
        raise ValueError("costs must not be 0 for every row of positive weight")
    sample = None if rng is None else RowSample(sums.picked, keys, rng)
    learner = LayerLearner(recipe, layer, True, sums.blocks, sums.counts, sums.masses, sample)
    return learner, sums.picked.taken(np.arange(0))


def _sampled(sizes: IntArray, rng: np.random.Generator | None) -> tuple[FloatArray, list[IntArray]]:
    """Return the keys of the rows that a :class:`RowSample` keeps, and where they are.

    Overwrites ``rng``: it ends as that of a sample which has seen all rows.
    """
    if rng is None:
        return np.zeros(0), [np.arange(0) for _ in sizes]
    keys, places, start = np.zeros(0), np.zeros(0, dtype=np.intp), 0
    for size in sizes.tolist():
        keys = np.concatenate([keys, rng.random(size)])
        places = np.concatenate([places, np.arange(start, start + size)])
        start += size
        if len(keys) > SAMPLE_ROWS:
            kept = np.sort(np.argpartition(keys, SAMPLE_ROWS)[:SAMPLE_ROWS])
            keys, places = keys[kept], places[kept]
    return keys, by_partition(places, sizes)
