"""ECSELM as printed: C and L chosen one after the other, as section VIII does.

The paper takes C from 2^0, 2^5, 2^10, 2^20 and 2^30 at a given L, then L from 100 to 500 at the
best C. It does not say on which rows; here they are folds of the training rows. A search of
costs as long as the paper's for every value in every fold would take a day for one table, and
section IV.B allows for other sizes: searches are short while C and L are chosen, and of full
length for the model that is evaluated.
"""

from __future__ import annotations

import time
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.metaestimators import available_if

from ecselm._typing import AnyArray, FloatArray

PENALTIES = tuple(2.0**p for p in (0, 5, 10, 20, 30))  # C of section VIII
UNITS = (100, 200, 300, 400, 500)  # L of sections IV.B and VIII
CHOICE_SIZE = 10  # population and epochs of searches while C and L are chosen
Grid = tuple[tuple[str, tuple[Any, ...]], ...]


def _has_scores(search: Any) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), "decision_function")


class SequentialSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Choose parameters one after the other by cross-validation, then fit with all of them.

    Parameters
    ----------
    estimator : estimator
        With the values that parameters have until it is their turn.
    grid : tuple of (str, tuple)
        Names and values, in the order of the choice.
    short : dict, default=None
        Parameters during the choice only, such as shorter searches.
    scoring : str, callable or None, default=None
    cv : int or splits, default=3

    Attributes
    ----------
    best_estimator_ : estimator
    best_params_ : dict
    refit_time_ : float
        Seconds of the last fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = (("C", (1e-6, 1.0)), ("n_hidden", (1, 20)))
    >>> search = SequentialSearchCV(ELMClassifier(20, random_state=0), grid).fit(X, y)
    >>> search.best_params_
    {'C': 1.0, 'n_hidden': 20}
    """

    best_estimator_: Any
    best_params_: dict[str, Any]
    refit_time_: float

    def __init__(
        self,
        estimator: Any,
        grid: Grid,
        *,
        short: dict[str, Any] | None = None,
        scoring: Any = None,
        cv: Any = 3,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.short = short
        self.scoring = scoring
        self.cv = cv

    def fit(self, X: AnyArray, y: AnyArray, **params: Any) -> Self:
        """Choose the parameters and fit; ``params`` are those of the estimator's ``fit``."""
        trial = clone(self.estimator).set_params(**(self.short or {}))
        chosen: dict[str, Any] = {}
        for name, values in self.grid:
            search = GridSearchCV(
                trial.set_params(**chosen),
                {name: list(values)},
                scoring=self.scoring,
                cv=self.cv,
                refit=False,
            )
            chosen |= search.fit(X, y, **params).best_params_
        start = time.perf_counter()
        self.best_estimator_ = clone(self.estimator).set_params(**chosen).fit(X, y, **params)
        self.best_params_, self.refit_time_ = chosen, time.perf_counter() - start
        return self

    @property
    def classes_(self) -> AnyArray:
        """Return the classes of the fitted estimator."""
        classes: AnyArray = self.best_estimator_.classes_
        return classes

    def predict(self, X: AnyArray) -> AnyArray:
        """Predict by the fitted estimator."""
        predicted: AnyArray = self.best_estimator_.predict(X)
        return predicted

    @available_if(_has_scores)
    def decision_function(self, X: AnyArray) -> FloatArray:
        """Return the scores of the fitted estimator."""
        scores: FloatArray = self.best_estimator_.decision_function(X)
        return scores
