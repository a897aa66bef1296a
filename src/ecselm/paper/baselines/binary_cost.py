"""Classifiers of two classes that want four costs, given costs as everywhere else."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import HasMethods, fit_context
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.estimators._base import all_or_nothing
from ecselm.metrics.costs import row_class_costs
from ecselm.paper.baselines._common import Labelled, read_labels, read_rows


def _gives_probabilities(model: BinaryCostClassifier) -> bool:
    return hasattr(model.estimator, "predict_proba")


def error_costs_by_row(costs: FloatArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the costs (N,) of false negatives and of false positives beyond the right class.

    Of each row one of them is known; the other is the mean over the rows that have it, so that
    means over all rows are those of the class.

    Examples
    --------
    >>> error_costs_by_row(np.array([[0.0, 1.0], [9.0, 1.0], [5.0, 1.0]]), np.array([0, 1, 1]))
    (array([6., 8., 4.]), array([1., 1., 1.]))
    """
    beyond = costs[np.arange(len(y)), 1 - y] - costs[np.arange(len(y)), y]
    missed, alarm = (np.where(y == c, beyond, beyond[y == c].mean()) for c in (1, 0))
    return missed, alarm


class BinaryCostClassifier(ClassifierMixin, BaseEstimator):
    """Pass a cost matrix to a classifier whose ``fit`` takes ``fn_cost`` and ``fp_cost``.

    So do empulse's models. The second of two classes in sorted order is their positive one.

    Parameters
    ----------
    estimator : classifier
        Its ``fit`` takes ``fn_cost`` and ``fp_cost``.
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, as in :class:`ecselm.CSELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (2,)
    cost_matrix_ : array of shape (2, 2)
    estimator_ : classifier
        Fitted to the classes 0 and 1.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from ecselm.paper.baselines import BinaryCostClassifier
    >>> class Careful(DummyClassifier):
    ...     def fit(self, X, y, fn_cost=1, fp_cost=1):
    ...         self.constant = int(fn_cost > fp_cost)
    ...         return super().fit(X, y)
    >>> model = BinaryCostClassifier(Careful(strategy="constant"), cost={"ill": 5})
    >>> model.fit(np.zeros((3, 1)), ["ill", "well", "well"]).predict([[0]])
    array(['ill'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "cost": "no_validation",
    }

    def __init__(self, estimator: Any, cost: Any = None) -> None:
        self.estimator = estimator
        self.cost = cost

    @fit_context(prefer_skip_nested_validation=False)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_cost: Any = None) -> Self:
        """Fit the classifier with the costs of both mistakes.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_cost : array of shape (N, 2), default=None
            Cost of predicting each class by row, in the place of ``cost``. The cost of the
            right class is subtracted first. ``cost_matrix_`` then has the means by class.

        Returns
        -------
        self
        """
        given = read_labels(self, X, y, sparse=False)
        if given.n_classes != 2:
            raise ValueError(
                "Only binary classification is supported: y must have two classes, "
                f"got {given.n_classes}"
            )
        if sample_cost is None:
            cost = parse_cost(self.cost, given.classes)
            mistakes: dict[str, Any] = {"fn_cost": float(cost[1, 0]), "fp_cost": float(cost[0, 1])}
        else:
            missed, alarm = self._by_row(sample_cost, given)
            cost = np.array([[0.0, alarm.mean()], [missed.mean(), 0.0]])
            mistakes = {"fn_cost": missed, "fp_cost": alarm}
        self.estimator_ = clone(self.estimator).fit(given.X, given.y, **mistakes)
        self.classes_, self.cost_matrix_ = given.classes, cost
        return self

    def _by_row(self, sample_cost: Any, given: Labelled) -> tuple[FloatArray, FloatArray]:
        if self.cost is not None:
            raise ValueError("costs must be stated once, got cost and sample_cost")
        costs = row_class_costs(sample_cost, len(given.y), given.classes)
        return error_costs_by_row(costs, given.y)

    def predict(self, X: Any) -> AnyArray:
        """Return the predictions of the classifier.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        codes = np.asarray(self.estimator_.predict(read_rows(self, X, sparse=False)))
        return self.classes_[codes.astype(np.intp)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the classifier's probabilities, whose largest need not be the prediction.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, 2)
        """
        check_is_fitted(self)
        probabilities: FloatArray = self.estimator_.predict_proba(read_rows(self, X, sparse=False))
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
