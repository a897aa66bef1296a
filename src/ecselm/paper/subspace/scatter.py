"""Cost-sensitive PCA and LDA."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ecselm._sklearn import StrOptions
from ecselm._typing import FloatArray, IntArray
from ecselm.paper.subspace._base import (
    COSTS,
    RATIO,
    SHELL,
    Directions,
    SubspaceTransformer,
    between_scatter,
    class_means,
    largest_ratio,
    largest_variance,
    relative_cost,
    row_scatter,
    within_scatter,
)


class CSPCA(SubspaceTransformer):
    """Cost-sensitive principal components: costly classes count more in the variance.

    The directions are the leading eigenvectors of
    ``S = sum_i f(l_i) (x_i - m)(x_i - m)' / N`` with ``m = sum_i f(l_i) x_i / N``, where
    ``f(l)`` is the importance of class l, 1 on average. With equal costs this is PCA.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions; None takes all.
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, in any form of :func:`ecselm.costs.parse_cost`; None
        is 1 each. Only ratios matter.
    importance : {"sum", "mean", "max"}, default="sum"
        How a row of ``cost`` becomes the importance of its class, see
        ``ecselm.paper.subspace._base.class_importance``.
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


class CSLDA(SubspaceTransformer):
    """Cost-sensitive discriminants: costly confusions are separated further.

    The directions maximise ``a'S_b a / a'S_w a``, where
    ``S_b = sum_ij cost_ij n_i n_j / (2N) (m_i - m_j)(m_i - m_j)'`` runs over pairs of class
    means and ``S_w = sum_k f(k) sum_(x in k) (x - m_k)(x - m_k)'`` weights the scatter of a
    class by its importance. With equal costs they span the space of LDA. If all k - 1 are
    kept and f is the same for all, they still do, and costs change only the scale of axes.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions, at most k - 1 for k classes; None takes all.
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, in any form of :func:`ecselm.costs.parse_cost`; None
        is 1 each. Only ratios matter. Pairs of classes are weighted by ``cost + cost'``; the
        direction of a cost acts through the importance only.
    balance : {"counts", "none"}, default="counts"
        Whether pairs of classes count by the number of their rows, or all the same.
    importance : {"sum", "mean", "max"}, default="sum"
        How a row of ``cost`` becomes the importance of its class, see
        ``ecselm.paper.subspace._base.class_importance``.
    pca_dim : int or None, default=None
        Work in the space of that many principal components. With as many features as rows
        or more, the method always works in the space that the rows span.
    reg : float, default=1e-6
        Ridge on the denominator, as a share of its mean eigenvalue.
    normalize : {"unit", "metric", "orth"}, default="unit"
        Directions of length 1; scaled to a denominator of 1; or made orthonormal. A
        nearest neighbour in the projected space depends on it.

    Attributes
    ----------
    components_ : array of shape (r, d)
        Directions, the best first.
    eigenvalues_ : array of shape (r,)
        The ratio each attained.
    mean_ : array of shape (d,)
        What projects to 0.
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
        The costs as read.
    importance_ : array of shape (k,)
        The f of each class.
    n_features_in_ : int

    Notes
    -----
    After J. Lu and Y.-P. Tan, CVPR 2010 and IEEE TIFS 8(3), 2013, whose formulas could not be
    had: the two scatters are our reading. The published form has, as far as we know, no
    counts, which is ``balance="none"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from ecselm.paper.subspace import CSLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(CSLDA(1, cost={(1, 2): 10}), KNeighborsClassifier(5))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RATIO,
        **COSTS,
        "balance": [StrOptions({"counts", "none"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        cost: Any = None,
        balance: str = "counts",
        importance: str = "sum",
        pca_dim: int | None = None,
        reg: float = 1e-6,
        normalize: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.cost = cost
        self.balance = balance
        self.importance = importance
        self.pca_dim = pca_dim
        self.reg = reg
        self.normalize = normalize

    def _most_components(self, Z: FloatArray) -> int:
        return min(super()._most_components(Z), len(self.classes_) - 1)

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        pairs = relative_cost(self.cost_matrix_)
        if self.balance == "counts":
            counts = np.bincount(codes)
            pairs = pairs * np.outer(counts, counts) / (2.0 * len(codes))
        S_b = between_scatter(class_means(Z, codes), pairs)
        S_w = within_scatter(Z, codes, self.importance_)
        return largest_ratio(S_b, S_w, n, self.reg, self.normalize)
