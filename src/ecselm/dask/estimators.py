"""The estimators on Dask: they fit on partitions and predict lazily."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import copy, deepcopy
from numbers import Integral
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
import pandas as pd
from distributed import Client
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, fit_context
from ecselm._typing import AnyArray
from ecselm.dask.cluster import DaskBlocks, client_or_default
from ecselm.dask.table import is_collection, read_table
from ecselm.estimators import (
    CSELMClassifier,
    ECSELMClassifier,
    ECSELMRegressor,
    ELMClassifier,
    ELMRegressor,
    WELMClassifier,
)
from ecselm.outofcore import MAX_VALIDATION_ROWS, fit_blocks, fit_search


def predict_lazily(model: Any, name: str, X: Any) -> Any:
    """Return the result of the method ``name`` of ``model`` for a Dask array or dataframe.

    An array for an array; for a dataframe a series, or a dataframe with a column for each
    class, of its index.

    Examples
    --------
    >>> from ecselm import ELMRegressor
    >>> model = ELMRegressor(5, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> predict_lazily(model, "predict", da.zeros((4, 1), chunks=2)).chunks
    ((2, 2),)
    """
    none = _no_predictions(model, name)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1}
        if none.ndim == 2:
            shape = {"chunks": (X.chunks[0], (none.shape[1],))}
        return X.map_blocks(_of_array, model, name, meta=none, dtype=none.dtype, **shape)
    return X.map_partitions(_of_frame, model, name, meta=_framed(none, X._meta.index[:0], model))


def _no_predictions(model: Any, name: str) -> AnyArray:
    """Return the predictions of no rows: their shape and type."""
    return np.asarray(getattr(model, name)(_some_row(model)))[:0]


def _some_row(model: Any) -> Any:
    row = np.zeros((1, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    return row if names is None else pd.DataFrame(row, columns=names)


def _of_array(block: AnyArray, model: Any, name: str) -> AnyArray:
    # Estimators of scikit-learn's kind refuse to predict no rows.
    return getattr(model, name)(block) if len(block) else _no_predictions(model, name)


def _of_frame(block: Any, model: Any, name: str) -> Any:
    return _framed(_of_array(block, model, name), block.index, model)


def _framed(values: AnyArray, index: Any, model: Any) -> Any:
    """Return predictions with the index of their rows."""
    classes: Any = getattr(model, "classes_", None)
    if values.ndim == 2:
        return pd.DataFrame(values, index=index, columns=classes)
    # Dask writes a column of objects to no file: it does not know that all are strings.
    strings = values.dtype.kind in "OU" and all(isinstance(name, str) for name in classes)
    return pd.Series(values, index=index, dtype="string" if strings else None)


class DaskEstimator(BaseEstimator):
    """Fit on collections of Dask, and predict collections lazily.

    A subclass names the ordinary estimator, ``local``, whose parameters it takes besides
    its own.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _local: ClassVar[Any]
    _local_: Any
    client: Client | None

    def __init_subclass__(cls, local: Any = None, **own: Any) -> None:
        super().__init_subclass__()
        if local is None:
            return
        cls._local = local
        cls.__init__ = _constructor(local, {**own, "client": None})  # type: ignore[method-assign]
        cls._parameter_constraints = {
            **local._parameter_constraints,
            **cls._parameter_constraints,
            "client": [Client, None],
        }

    def _fit(self, X: Any, **others: Any) -> Self:
        """Fit the ordinary estimator; if that fails, this one stays as it was."""
        model = self._unfitted()
        self._check(model)
        table = read_table(X, **others)
        client = client_or_default(self.client)
        blocks = DaskBlocks(client, table, has_labels=is_classifier(model))
        self._fit_local(model, blocks, table.empty.get("sample_cost"))
        self._local_ = model
        return self

    def _check(self, model: Any) -> None:
        """Refuse a kernel, which is between all rows, and what is fitted to all of them."""
        if getattr(model, "kernel", None) is not None:
            raise ValueError(
                f"kernel must be None on Dask, got {model.kernel!r}: a kernel is between all rows"
            )
        if model.hidden_layer is not None:
            raise ValueError(
                f"hidden_layer must be None on Dask, got {model.hidden_layer!r}: it would have to "
                "be fitted to all rows at once"
            )
        if model.ensemble is not None and not isinstance(model, ECSELMClassifier):
            raise ValueError(
                f"ensemble must be None on Dask, got {model.ensemble!r}: use DaskECSELMClassifier, "
                "which chooses members by a sample of the rows"
            )

    def _fit_local(self, model: Any, blocks: DaskBlocks, no_costs: Any) -> None:
        """Fit an ordinary estimator whose costs are known; it is overwritten."""
        fit_blocks(model, blocks, no_costs=no_costs)

    def _unfitted(self) -> Any:
        names = inspect.signature(self._local).parameters
        return self._local(**{name: getattr(self, name) for name in names})

    def to_local(self) -> Any:
        """Return the ordinary estimator, fitted: to be saved, exported, or used without Dask.

        Returns
        -------
        model : estimator
        """
        check_is_fitted(self)
        return deepcopy(self._local_)

    def _predict(self, name: str, X: Any) -> Any:
        """Return the result of a method of the model: lazily for collections, else at once."""
        check_is_fitted(self)
        if not is_collection(X):
            return getattr(self._local_, name)(X)
        return predict_lazily(self._local_, name, X)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and "_local_" in self.__dict__:
            return getattr(self._local_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_clone__(self) -> Self:
        """Return an estimator with the same client, which cannot be copied, unfitted."""
        given = self.get_params(deep=False)
        copies = {
            name: clone(value, safe=False) for name, value in given.items() if name != "client"
        }
        return type(self)(**copies, client=self.client)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client behind: another process has its own."""
        return {**super().__getstate__(), "client": None}


class DaskClassifier(ClassifierMixin, DaskEstimator):
    """Classifiers on Dask."""

    def predict(self, X: Any) -> Any:
        """Return the class of every row.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        labels : dask array, or series of the same index, computed lazily; an array of
            shape (N,) for rows in memory
        """
        return self._predict("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        probabilities : dask array (N, k), or dataframe with a column per class; an array for
            rows in memory
        """
        return self._predict("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classes.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        scores : as of ``predict`` for two classes, else as of ``predict_proba``
        """
        return self._predict("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, computed at once.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes
        y : labels
        sample_weight : weights, default=None

        Returns
        -------
        score : float
        """
        y_pred, y_true, weight = dask.compute(self.predict(X), y, sample_weight)
        return float(accuracy_score(np.asarray(y_true), np.asarray(y_pred), sample_weight=weight))


class DaskRegressor(MultiOutputMixin, RegressorMixin, DaskEstimator):
    """Regressors on Dask."""

    def predict(self, X: Any) -> Any:
        """Return the target of every row.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        targets : dask array, or series or dataframe of the same index, computed
            lazily; an array of shape (N,) or (N, m) for rows in memory
        """
        return self._predict("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, computed at once.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes
        y : targets
        sample_weight : weights, default=None

        Returns
        -------
        score : float
        """
        y_pred, y_true, weight = dask.compute(self.predict(X), y, sample_weight)
        return float(r2_score(np.asarray(y_true), np.asarray(y_pred), sample_weight=weight))


def _constructor(local: Any, own: dict[str, Any]) -> Any:
    """Return an ``__init__`` with the parameters of ``local`` and its own: it stores them."""
    known = inspect.signature(local.__init__)
    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, keyword, default=value) for name, value in own.items()]
    signature = known.replace(parameters=[*known.parameters.values(), *more])

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:
        bound = signature.bind(self, *arguments, **options)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


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


class DaskELMClassifier(CostedClassifier, local=ELMClassifier):
    """Extreme learning machine on Dask: :class:`~ecselm.ELMClassifier` on many partitions.

    The data are read twice: once for classes and the scale of the inputs, once for the sums
    of (5). Output weights equal those of the ordinary estimator up to rounding, whatever the
    partitions.

    Parameters
    ----------
    n_hidden, C, activation, draw, scale, random_state :
        As in :class:`~ecselm.ELMClassifier`.
    hidden_layer, ensemble : None
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
    hidden_layer, kernel, ensemble : None
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
    n_hidden, cost, rule, decision, weighting, aggregate, normalize, C :
        As in :class:`~ecselm.CSELMClassifier`; costs by row are given to ``fit``.
    activation, draw, scale, random_state :
        As in :class:`~ecselm.CSELMClassifier`.
    hidden_layer, kernel, ensemble : None
        Not on Dask; ``gamma``, ``degree``, ``coef0`` and ``max_samples`` have no effect.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, cost_matrix_, constraints_, beta_, layer_, solver_, n_features_in_ :
        As in :class:`~ecselm.CSELMClassifier`; its methods ``settled``, ``regret`` and
        ``predict_set`` are those of :meth:`to_local`.

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
    ...         50, cost={(0, 1): 10}, random_state=0, client=client
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
    hidden_layer, ensemble : None
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


class CostSearching(DaskEstimator):
    """Estimators whose costs are searched."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_validation_rows": [Interval(Integral, 2, None, closed="left")],
    }
    max_validation_rows: int

    def _check(self, model: Any) -> None:
        super()._check(model)
        if model.cost_level == "sample":
            raise ValueError(
                "cost_level must be 'class' or 'matrix' on Dask, got 'sample': a cost per row "
                "would be searched in as many dimensions as there are rows"
            )
        if is_classifier(model) and model._is_ensemble():  # it is checked there
            return
        if model.fitness == "loo" or not isinstance(model.fitness, str | Integral):
            raise ValueError(
                "fitness must be 'cv', 'holdout', 'train' or an int on Dask, of one layer, got "
                f"{model.fitness!r}"
            )

    def _fit_local(self, model: Any, blocks: DaskBlocks, no_costs: Any) -> None:
        previous = getattr(self, "_local_", None) if model.warm_start else None
        fit_search(model, blocks, self.max_validation_rows, previous)


class DaskECSELMClassifier(
    DaskClassifier, CostSearching, local=ECSELMClassifier, max_validation_rows=MAX_VALIDATION_ROWS
):
    """Machine on Dask that learns what mistakes cost: :class:`~ecselm.ECSELMClassifier`.

    A sample of the rows is gathered once. It is as even over the classes as there are rows, and
    weighs each row by how many it stands for. One pass over the partitions sums (15): behind
    the layers of an ensemble, which are scaled and chosen by the sample, with all rows weighted
    by their prior costs; behind one layer by class and fold. After it the time of a candidate
    does not depend on the number of rows. Models are trained on all rows and validated on the
    sample. Up to ``max_validation_rows`` the sample is all of them, and the result equals that
    of the ordinary estimator.

    Parameters
    ----------
    n_hidden, cost_level, cost, cost_bounds, fixed_costs, cost_intervals, cost_order, priors :
        As in :class:`~ecselm.ECSELMClassifier`, but for ``cost_level="sample"``.
    rule, decision, validation_fraction, scoring, smoothing, normalize, shrinkage, keep_prior :
        As in :class:`~ecselm.ECSELMClassifier`.
    fitness : {"auto", "cv", "holdout", "train"} or int, default="auto"
        As in :class:`~ecselm.ECSELMClassifier`; ``"loo"`` for an ensemble alone.
    ensemble, C, C_bounds, activation, draw, scale :
        As in :class:`~ecselm.ECSELMClassifier`.
    hidden_layer, kernel : None
        Not on Dask; ``gamma``, ``gamma_bounds``, ``degree``, ``coef0`` and ``max_samples``
        have no effect.
    optimizer, population_size, max_epochs, patience, max_time, checkpoint, callbacks :
        As in :class:`~ecselm.ECSELMClassifier`; the search is run by the client.
    warm_start, n_jobs, memory_limit, random_state, verbose :
        As in :class:`~ecselm.ECSELMClassifier`.
    max_validation_rows : int, default=100_000
        Number of rows that candidates are validated on, at most.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    classes_, class_costs_, cost_matrix_, C_, gain_, keeps_prior_, best_score_, history_ :
        As in :class:`~ecselm.ECSELMClassifier`, like all others but ``cost_vector_``, which
        would be as long as the data; its methods ``settled``, ``regret`` and ``predict_set``
        are those of :meth:`to_local`.
    front_ : DataFrame
        As in :class:`~ecselm.ECSELMClassifier`, of the rows that candidates were validated on.
    n_validation_rows_ : int
        Number of rows that candidates were validated on; the ordinary estimator has it, too.

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
    >>> model.n_validation_rows_, model.class_costs_.shape
    (569, (2,))
    """

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

    def at(
        self,
        costs: Any = None,
        recall: Mapping[Any, float] | None = None,
        alarms: float | None = None,
    ) -> Self:
        """Return a copy that decides at another point; nothing is refitted, no row is read.

        Parameters
        ----------
        costs, recall, alarms :
            As in :meth:`ecselm.ECSELMClassifier.at`: exactly one of them. Points are those of
            ``front_``, which comes from the sample of rows that candidates were validated on.

        Returns
        -------
        model : DaskECSELMClassifier
        """
        check_is_fitted(self)
        moved = copy(self)
        moved.client = self.client  # which copies leave behind, since other processes copy
        moved._local_ = self._local_.at(costs, recall, alarms)
        return moved


class DaskECSELMRegressor(
    DaskRegressor, CostSearching, local=ECSELMRegressor, max_validation_rows=MAX_VALIDATION_ROWS
):
    """Machine on Dask that learns what errors cost: :class:`~ecselm.ECSELMRegressor`.

    With ``scoring="neg_mean_squared_error"`` candidates are validated on all rows, through
    sums of squares; with others, such as the mean absolute error, on a sample of at most
    ``max_validation_rows`` rows, see :class:`DaskECSELMClassifier`.

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
    max_validation_rows : int, default=100_000
        Number of rows that candidates are validated on, at most.
    client : distributed.Client, default=None
        None is the client made last.

    Attributes
    ----------
    class_costs_, level_edges_, C_, best_score_, prior_scores_, history_, beta_, layer_ :
        As in :class:`~ecselm.ECSELMRegressor`, like all others but ``cost_vector_``.
    n_validation_rows_ : int
        Number of rows that candidates were validated on; the ordinary estimator has it, too.

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
