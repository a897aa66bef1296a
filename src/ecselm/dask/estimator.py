"""What all estimators on Dask share: parameters, lazy answers, and the model they wrap."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, ClassVar, Self

import dask
import numpy as np
from distributed import Client
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ecselm.dask.answers import lazy_answers
from ecselm.dask.cluster import client_or_default
from ecselm.dask.table import Table, is_collection, read_table


class DaskEstimator(BaseEstimator):
    """Fit on collections of Dask, and answer lazily where it is asked lazily.

    A subclass names the ordinary estimator, ``local``, whose parameters it takes besides
    its own, and learns one in ``_learned``.
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
        """Read the collections and learn; if that fails the estimator stays as it was."""
        model = self._unfitted()
        _refuse_what_needs_all_rows(model)
        table = read_table(X, **others)
        self._local_ = self._learned(client_or_default(self.client), table, model)
        return self

    def _learned(self, client: Client, table: Table, model: Any) -> Any:
        """Return the model, fitted."""
        raise NotImplementedError

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

    def _answers(self, name: str, X: Any) -> Any:
        """Return what a method of the model says: at once of rows that are here, else lazily."""
        check_is_fitted(self)
        if not is_collection(X):
            return getattr(self._local_, name)(X)
        return lazy_answers(self._local_, name, X)

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
        labels : dask array, or series of the same index, computed when asked for; an array
            of shape (N,) for rows that are here
        """
        return self._answers("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        probabilities : dask array (N, k), or dataframe with a column per class; an array for
            rows that are here
        """
        return self._answers("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classes.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        scores : as of ``predict`` for two classes, else as of ``predict_proba``
        """
        return self._answers("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right answers, computed at once.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes
        y : labels
        sample_weight : weights, default=None

        Returns
        -------
        score : float
        """
        told, truth, weight = dask.compute(self.predict(X), y, sample_weight)
        return float(accuracy_score(np.asarray(truth), np.asarray(told), sample_weight=weight))


class DaskRegressor(MultiOutputMixin, RegressorMixin, DaskEstimator):
    """Regressors on Dask."""

    def predict(self, X: Any) -> Any:
        """Return the target of every row.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes

        Returns
        -------
        targets : dask array, or series or dataframe of the same index, computed when asked
            for; an array of shape (N,) or (N, m) for rows that are here
        """
        return self._answers("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the variance that is explained, computed at once.

        Parameters
        ----------
        X : dask array or dataframe, or what the ordinary estimator takes
        y : targets
        sample_weight : weights, default=None

        Returns
        -------
        score : float
        """
        told, truth, weight = dask.compute(self.predict(X), y, sample_weight)
        return float(r2_score(np.asarray(truth), np.asarray(told), sample_weight=weight))


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


def _refuse_what_needs_all_rows(model: Any) -> None:
    """Refuse a kernel, which is between all rows, and a layer that is fitted to all of them."""
    if getattr(model, "kernel", None) is not None:
        raise ValueError(
            f"kernel must be None on Dask, got {model.kernel!r}: a kernel is between all rows"
        )
    if model.hidden_layer is not None:
        raise ValueError(
            f"hidden_layer must be None on Dask, got {model.hidden_layer!r}: it would have to be "
            "fitted to all rows at once"
        )
