"""Cost-sensitive principal component analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.paper.subspace._base import (
    COSTS,
    SHELL,
    Directions,
    SubspaceTransformer,
    largest_variance,
)
from ecselm.paper.subspace._graphs import row_scatter


class CSPCA(SubspaceTransformer):
    """Cost-sensitive principal components: dear classes count more in the variance.

    The directions are the leading eigenvectors of
    ``S = sum_i f(l_i) (x_i - m)(x_i - m)' / N`` with ``m = sum_i f(l_i) x_i / N``, where
    ``f(l)`` is the importance of class l, 1 on average. With equal costs this is PCA.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions; None takes all.
    cost : array, DataFrame, dict or None, default=None
        What mistakes cost by class, in any form of :func:`ecselm.costs.parse_cost`; None
        is 1 each. Only ratios matter.
    importance : {"sum", "mean", "max"}, default="sum"
        How a row of ``cost`` becomes the importance of its class, see
        ``ecselm.paper.subspace.importance.class_importance``.
    pca_dim : int or None, default=None
        Work in the space of that many principal components.

    Attributes
    ----------
    components_ : array of shape (r, d)
        Orthonormal directions, the one of largest variance first.
    eigenvalues_ : array of shape (r,)
        Weighted variance along each.
    mean_ : array of shape (d,)
        The weighted mean m, which projects to 0.
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
        The costs as read.
    importance_ : array of shape (k,)
        The f of each class.
    n_features_in_ : int

    Notes
    -----
    After J. Lu and Y.-P. Tan, "Cost-sensitive subspace learning for face recognition", CVPR
    2010. Its formulas could not be had: that f is a row sum and that m is the weighted mean
    are our reading.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.subspace import CSPCA
    >>> X, y = load_iris(return_X_y=True)
    >>> CSPCA(2, cost={0: 5}).fit_transform(X, y).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**SHELL, **COSTS}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        cost: Any = None,
        importance: str = "sum",
        pca_dim: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.cost = cost
        self.importance = importance
        self.pca_dim = pca_dim

    def _centre(self, X: FloatArray, codes: IntArray) -> FloatArray:
        mean: FloatArray = np.average(X, axis=0, weights=self.importance_[codes])
        return mean

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        return largest_variance(row_scatter(Z, self.importance_[codes] / len(Z)), n)
