"""Cost-sensitive ordinal regression by thresholds."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ecselm._sklearn import HasMethods, fit_context
from ecselm._typing import AnyArray, BoolArray, FloatArray, Matrix
from ecselm.costs import parse_cost
from ecselm.estimators._base import all_or_nothing
from ecselm.layers import limit_rows
from ecselm.paper.baselines._common import KERNEL, read_labels, read_rows


def ordinal_cost(cost: Any, classes: AnyArray) -> FloatArray:
    """Return the cost matrix of ``cost``, which may also be "absolute" or "squared".

    Examples
    --------
    >>> ordinal_cost("squared", ["low", "middle", "high"])
    array([[0., 1., 4.],
           [1., 0., 1.],
           [4., 1., 0.]])
    """
    if not isinstance(cost, str):
        return parse_cost(cost, classes)
    level = np.arange(len(classes), dtype=np.float64)
    distance = np.abs(level[:, np.newaxis] - level)
    if cost == "absolute":
        return distance
    if cost == "squared":
        return distance**2
    raise ValueError(f"cost must be 'absolute', 'squared' or costs by class, got {cost!r}")


def threshold_weights(cost: FloatArray) -> FloatArray:
    """Return the cost of an error at each threshold by class, (k, k - 1).

    ``|cost[i, t + 1] - cost[i, t]|``. Where the cost of every row rises away from its
    diagonal, these weights of the thresholds that were misjudged sum to the cost.
    """
    return np.abs(np.diff(cost, axis=1))


class CSORClassifier(ClassifierMixin, BaseEstimator):
    """Ordinal classes by cost-weighted thresholds.

    For every threshold t one weighted binary classifier predicts whether y is above level t, with
    the weight ``|cost[y, t + 1] - cost[y, t]|``; the prediction is the level reached by as
    many steps as are predicted. Levels are the classes in sorted order.

    Parameters
    ----------
    cost : {"absolute", "squared"}, array, DataFrame, dict or None, default="absolute"
        Costs of errors: the distance of the levels, its square, or costs by class as
        in :class:`ecselm.CSELMClassifier`. None, every mistake costs 1, gives weight to
        neighbouring levels only. Weights are scaled to a mean of 1 at every threshold
        among the rows that have any, so the unit of the costs does not matter.
    estimator : classifier or None, default=None
        The binary classifier, with ``sample_weight`` in ``fit``; None is
        :class:`~sklearn.svm.SVC`, which is quadratic in N and cubic at worst.
    max_samples : int or None, default=20000
        More training rows are refused by an :class:`~sklearn.svm.SVC`; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
    estimators_ : list of k - 1
        The classifier of every threshold; a bool where all weighted rows are on one side.
    n_features_in_ : int

    Notes
    -----
    A documented substitute. CSOR (Yan, Neurocomputing 129, 2014) learns a regression that
    keeps the order of the labels under unequal costs; its objective is UNCERTAIN, and the
    reduction to thresholds (Li and Lin) has the same ingredients. The reduction is exact
    where costs rise with the distance from the true level. Yeses need not be monotone:
    they are counted.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.baselines import CSORClassifier
    >>> X = np.linspace(0, 3, 60)[:, np.newaxis]
    >>> y = np.floor(X[:, 0]).clip(max=2).astype(int)
    >>> bool(CSORClassifier().fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "cost": "no_validation",
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_samples": KERNEL["max_samples"],
    }

    def __init__(
        self,
        cost: Any = "absolute",
        *,
        estimator: Any = None,
        max_samples: int | None = 20000,
    ) -> None:
        self.cost = cost
        self.estimator = estimator
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=False)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Fit one classifier per threshold.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
            Levels; their order is their sorted order.

        Returns
        -------
        self
        """
        given = read_labels(self, X, y)
        self._check(given.X.shape[0])
        cost = ordinal_cost(self.cost, given.classes)
        weights = threshold_weights(cost)[given.y]
        self.estimators_ = [
            self._machine(given.X, given.y > t, weights[:, t]) for t in range(given.n_classes - 1)
        ]
        self.cost_matrix_ = cost
        self.classes_ = given.classes
        return self

    def _check(self, n_rows: int) -> None:
        if self.estimator is None or isinstance(self.estimator, SVC):
            limit_rows(n_rows, self.max_samples)
        elif not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                "estimator must take sample_weight in fit, by which thresholds are weighed, "
                f"got {self.estimator!r}"
            )

    def _machine(self, X: Matrix, above: BoolArray, weight: FloatArray) -> Any:
        used = np.flatnonzero(weight > 0)
        sides = np.unique(above[used])
        if len(sides) < 2:
            return bool(sides.size and sides[0])
        weight = weight[used] / weight[used].mean()
        model = SVC() if self.estimator is None else clone(self.estimator)
        return model.fit(X[used], above[used].astype(np.intp), sample_weight=weight)

    def predict(self, X: Any) -> AnyArray:
        """Return the level reached: one step for every threshold passed.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        X = read_rows(self, X)
        steps = np.zeros(X.shape[0], dtype=np.intp)
        for model in self.estimators_:
            steps += model if isinstance(model, bool) else model.predict(X)
        return self.classes_[steps]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
