"""Cost-sensitive nearest neighbours for many classes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import min_cost_decision, parse_cost
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import read_labels, read_rows


def neighbour_likelihood(
    neighbours: IntArray, y: IntArray, n_classes: int, smoothing: float
) -> FloatArray:
    """Return how often class a stands among the neighbours of class c, ``P[a, c]``.

    ``P(a|c) = (count + s) / (q n_c + s k)`` from the labels ``neighbours`` (N, q) of the
    q nearest rows; columns sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_likelihood(np.array([[0], [0], [1]]), np.array([0, 0, 1]), 2, 1.0)
    array([[0.75      , 0.33333333],
           [0.25      , 0.66666667]])
    """
    counts = np.full((n_classes, n_classes), smoothing, dtype=np.float64)
    np.add.at(counts, (neighbours, y[:, np.newaxis]), 1.0)
    return counts / counts.sum(axis=0)


def neighbour_count(n_neighbors: int | str, n_rows: int, n_classes: int) -> int:
    """Return the number of neighbours; ``"auto"`` is a fifth of a class's rows, from 1 to 5.

    Examples
    --------
    >>> [neighbour_count("auto", n_rows, 40) for n_rows in (200, 400, 4000)]
    [1, 2, 5]
    """
    if isinstance(n_neighbors, str):
        return int(np.clip(n_rows // (5 * n_classes), 1, 5))
    return n_neighbors


class MCKNNClassifier(ClassifierMixin, BaseEstimator):
    """Nearest neighbours whose labels are evidence, and the prediction of least cost.

    The labels ``a_1..a_q`` of the nearest training rows are taken as independent given
    the class, ``log p_c = log prior_c + sum_r log P(a_r|c)`` up to a constant, and the
    prediction is ``argmin_j sum_c p_c cost[c, j]`` (mckNN of Zhang and Zhou, TPAMI 2010).

    Parameters
    ----------
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, as in :class:`ecselm.CSELMClassifier`.
    n_neighbors : int or "auto", default="auto"
        ``"auto"`` is 5, or a fifth of the mean number of rows per class where that is less,
        but at least 1: most of 5 neighbours of a person with 5 pictures are others.
    smoothing : float, default=1.0
        Added to every count; > 0.
    include_self : bool, default=True
        Whether a training row is one of its own neighbours, as in the authors' code,
        which makes P more sure than it should be. False is better for new work.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
    likelihood_ : array of shape (k, k)
        ``P[a, c]``, class a among the neighbours of class c.
    class_prior_ : array of shape (k,)
    n_features_in_ : int

    Notes
    -----
    Neighbours are far from independent: the probabilities are too sure. The number of
    neighbours is not given; tune it by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.baselines import MCKNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCKNNClassifier(cost={(2, 1): 20}).fit(X, y)
    >>> bool(((model.predict(X) == 1) & (y == 2)).sum() < 2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "cost": "no_validation",
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "include_self": ["boolean"],
    }

    def __init__(
        self,
        cost: Any = None,
        *,
        n_neighbors: int | str = "auto",
        smoothing: float = 1.0,
        include_self: bool = True,
    ) -> None:
        self.cost = cost
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.include_self = include_self

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Count the classes among the neighbours of every class.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = read_labels(self, X, y)
        cost = parse_cost(self.cost, given.classes)
        most = given.X.shape[0] - (not self.include_self)
        q = neighbour_count(self.n_neighbors, given.X.shape[0], given.n_classes)
        if q > most:
            raise ValueError(
                f"n_neighbors must be at most the {most} rows a training row may have as "
                f"neighbours, got {q}"
            )
        self._index_ = NearestNeighbors(n_neighbors=q).fit(given.X)
        near = self._index_.kneighbors(given.X if self.include_self else None, None, False)
        self._y_ = given.y
        self.likelihood_ = neighbour_likelihood(
            given.y[near], given.y, given.n_classes, self.smoothing
        )
        self.class_prior_ = given.counts() / len(given.y)
        self.cost_matrix_ = cost
        self.classes_ = given.classes
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities given the labels of the neighbours.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        check_is_fitted(self)
        labels = self._y_[self._index_.kneighbors(read_rows(self, X), None, False)]
        evidence = np.log(self.likelihood_)[labels].sum(axis=1)
        return softmax(np.log(self.class_prior_) + evidence, axis=1)

    def predict(self, X: Any) -> AnyArray:
        """Return the class that is expected to cost least.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        P = self.predict_proba(X)
        return self.classes_[min_cost_decision(P, self.cost_matrix_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
