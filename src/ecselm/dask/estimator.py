"""What all estimators on Dask share: parameters, lazy predictions, and the model they wrap."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
import pandas as pd
from distributed import Client
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ecselm._typing import AnyArray
from ecselm.dask.cluster import client_or_default
from ecselm.dask.table import Table, is_collection, read_table


def lazy_answers(model: Any, name: str, X: Any) -> Any:
    """Return what the method ``name`` of ``model`` says of a Dask array or dataframe.

    An array for an array; for a dataframe a series, or a dataframe with a column for each
    class, of its index.

    Examples
    --------
    >>> from ecselm import ELMRegressor
    >>> model = ELMRegressor(5, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> lazy_answers(model, "predict", da.zeros((4, 1), chunks=2)).chunks
    ((2, 2),)
    """
    none = _no_answers(model, name)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1}
        if none.ndim == 2:
            shape = {"chunks": (X.chunks[0], (none.shape[1],))}
        return X.map_blocks(_of_array, model, name, meta=none, dtype=none.dtype, **shape)
    return X.map_partitions(_of_frame, model, name, meta=_framed(none, X._meta.index[:0], model))


def _no_answers(model: Any, name: str) -> AnyArray:
    """Return the answers to no rows: their shape and type."""
    return np.asarray(getattr(model, name)(_some_row(model)))[:0]


def _some_row(model: Any) -> Any:
    row = np.zeros((1, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    return row if names is None else pd.DataFrame(row, columns=names)


def _of_array(block: AnyArray, model: Any, name: str) -> AnyArray:
    # No estimator of scikit-learn's kind answers to no rows.
    return getattr(model, name)(block) if len(block) else _no_answers(model, name)


def _of_frame(block: Any, model: Any, name: str) -> Any:
    answers = _of_array(block, model, name)
    return _framed(answers, block.index, model)


def _framed(answers: AnyArray, index: Any, model: Any) -> Any:
    """Return answers with the index of their rows."""
    classes: Any = getattr(model, "classes_", None)
    if answers.ndim == 2:
        return pd.DataFrame(answers, index=index, columns=classes)
    # Of objects Dask does not know that all are words, and writes them to no file.
    words = answers.dtype.kind in "OU" and all(isinstance(name, str) for name in classes)
    return pd.Series(answers, index=index, dtype="string" if words else None)


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
