"""The search of costs around any classifier."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import HasMethods, StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import expected_costs, min_cost_decision
from ecselm.elm.cost_learning import LEARNING
from ecselm.elm.cost_searching import CostSearching
from ecselm.elm.fitted_engine import (
    class_probabilities,
)
from ecselm.search import AskTell


def _fitted_has(name: str) -> Callable[[Any], bool]:
    def check(search: CostSearchCV) -> bool:
        getattr(getattr(search, "estimator_", search.estimator), name)
        return True

    return check


def _decides_or_has(search: CostSearchCV) -> bool:
    return search.cost_level == "decision" or _fitted_has("decision_function")(search)


class CostSearchCV(CostSearching, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Learn what mistakes cost, for any classifier.

    The search of :class:`ECSELMClassifier` around an estimator that takes
    ``sample_weight``: candidates are weights of the rows, judged by rows the estimator
    was not fitted on. With ``cost_level="decision"`` the estimator is left alone, and the
    matrix by which its probabilities decide is searched: tuned thresholds for any number
    of classes.

    Parameters
    ----------
    estimator : classifier
        Is cloned. It must take ``sample_weight`` in ``fit`` (or, in a pipeline, its last
        step must), except with ``cost_level="decision"``, where it must have
        ``predict_proba``.
    cost_level : {"class", "matrix", "sample", "decision"}, default="class"
        What has a cost of its own: every class, every confusion (through (12)), every
        row; or every confusion in decisions for the least expected cost.
    fitness : {"cv", "holdout", "train"}, int or splitter, default="cv"
        As in :class:`ECSELMClassifier`; there is no leave-one-out in closed form here.
    cost, cost_bounds, fixed_costs, cost_intervals, cost_order, priors :
        As in :class:`ECSELMClassifier`.
    validation_fraction, scoring, normalize, shrinkage, keep_prior :
        As in :class:`ECSELMClassifier`.
    smoothing : float, default=0.5
        As in :class:`ECSELMClassifier`.
    optimizer : default="bsa"
        As in :class:`ECSELMClassifier`.
    population_size : int, default=20
    max_epochs : int, default=10
        Generations after the first population. There are
        ``population_size * (max_epochs + 1)`` candidates, each of which is fitted once
        per fold, except with ``cost_level="decision"``, where the estimator is fitted once
        per fold in all.
    patience, max_time, checkpoint, callbacks, warm_start, random_state, verbose :
        As in :class:`ECSELMClassifier`. Random states that the estimator leaves open are
        seeded, the same for every candidate.
    n_jobs : int, default=None
        Fits at a time, by joblib; the result does not depend on it.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows with the costs learned.
    classes_ : array of shape (k,)
    cost_vector_ : array of shape (N,)
        The weights of the rows, without ``sample_weight``.
    class_costs_, cost_matrix_, best_score_, prior_scores_, history_, n_evaluations_ :
        As in :class:`ECSELMClassifier`.
    gain_, gain_noise_, keeps_prior_ :
        As in :class:`ECSELMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecselm import CostSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = CostSearchCV(model, cost_level="decision", scoring="mean_cost",
    ...                       cost={(0, 2): 5}, random_state=0)
    >>> search.fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LEARNING,
        "estimator": [HasMethods(["fit", "predict"])],
        "cost_level": [StrOptions({"class", "matrix", "sample", "decision"})],
    }

    def __init__(  # noqa: PLR0915
        self,
        estimator: Any,
        *,
        cost_level: str = "class",
        cost: Any = None,
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
        shrinkage: float = 0.01,
        keep_prior: bool | str = True,
        optimizer: str | Callable[..., AskTell] = "bsa",
        population_size: int = 20,
        max_epochs: int = 10,
        patience: int | None = None,
        max_time: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cost_level = cost_level
        self.cost = cost
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
        self.shrinkage = shrinkage
        self.keep_prior = keep_prior
        self.optimizer = optimizer
        self.population_size = population_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_cost: Any = None,
        *,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search the costs, then fit the estimator with the best on all rows.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n), or what the estimator takes
        y : array of shape (N,)
        sample_weight, sample_cost, tp_cost, tn_cost, fp_cost, fn_cost, groups :
            As in :class:`ECSELMClassifier`.

        Returns
        -------
        self
        """
        outcomes = {"tp_cost": tp_cost, "tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost}
        stated = {"sample_cost": sample_cost, **outcomes}
        return self._fit_search(X, y, sample_weight, stated, groups)

    @available_if(_fitted_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the fitted estimator.

        With ``cost_level="decision"`` the prediction is the class they expect to cost
        least, not their largest.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        check_is_fitted(self)
        return class_probabilities(self.estimator_, X, self.classes_)

    @available_if(_decides_or_has)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision function of the fitted estimator.

        With ``cost_level="decision"``, the negative of what predicting each class is
        expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
        """
        check_is_fitted(self)
        if self.cost_level != "decision":
            return self.estimator_.decision_function(X)
        costs = expected_costs(self.predict_proba(X), self.cost_matrix_)
        return costs[:, 0] - costs[:, 1] if len(self.classes_) == 2 else -costs

    def predict(self, X: Any) -> AnyArray:
        """Return the prediction of the fitted estimator, or the class of least expected cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        if self.cost_level != "decision":
            return self.estimator_.predict(X)
        winners = min_cost_decision(self.predict_proba(X), self.cost_matrix_)
        return self.classes_[winners]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.string = inner.input_tags.string
        tags.classifier_tags.multi_class = inner.classifier_tags is None or (
            inner.classifier_tags.multi_class
        )
        return tags
