"""Marginal Fisher analysis, plain and cost-sensitive."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import FloatArray, IntArray
from ecselm.paper.subspace._base import COSTS, RATIO, Directions, SubspaceTransformer, largest_ratio
from ecselm.paper.subspace._graphs import border_edges, class_edges, graph_scatter, weighted_edges
from ecselm.paper.subspace.importance import relative_cost

MARGIN: dict[str, Any] = {
    "n_within": [Interval(Integral, 1, None, closed="left")],
    "n_between": [Interval(Integral, 1, None, closed="left")],
    "penalty": [StrOptions({"sample", "class"})],
}


class MFA(SubspaceTransformer):
    """Marginal Fisher analysis: neighbours of one class together, borders apart.

    The directions maximise ``a'X'L_p X a / a'X'L_c X a``. L_c is the Laplacian of a graph
    that joins a row to its ``n_within`` nearest of its own class, L_p that of one that joins
    it to its ``n_between`` nearest of other classes; edges weigh 1 and go both ways.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions; None takes all.
    n_within : int, default=5
        Neighbours within the class; a smaller class is joined throughout.
    n_between : int, default=20
        Neighbours in other classes.
    penalty : {"sample", "class"}, default="sample"
        Whether ``n_between`` is counted for every row, as in the implementations in use, or
        for every class the shortest pairs across its border, as the article defines it.
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
    n_features_in_ : int

    Notes
    -----
    After S. Yan et al., "Graph embedding and extensions", IEEE TPAMI 29(1), 2007. Memory
    grows with the number of edges and d^2, time with N^2 d at worst.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.subspace import MFA
    >>> X, y = load_iris(return_X_y=True)
    >>> MFA(2).fit_transform(X, y).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**RATIO, **MARGIN}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_within: int = 5,
        n_between: int = 20,
        penalty: str = "sample",
        pca_dim: int | None = None,
        reg: float = 1e-6,
        normalize: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.n_within = n_within
        self.n_between = n_between
        self.penalty = penalty
        self.pca_dim = pca_dim
        self.reg = reg
        self.normalize = normalize

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        S_c = class_edges(Z, codes, self.n_within).binary_graph()
        S_p = border_edges(Z, codes, self.n_between, self.penalty).binary_graph()
        return largest_ratio(
            graph_scatter(Z, S_p), graph_scatter(Z, S_c), n, self.reg, self.normalize
        )


class CSMFA(SubspaceTransformer):
    """Cost-sensitive marginal Fisher analysis.

    As :class:`MFA`, but an edge within class l weighs its importance ``f(l)``, and one across
    a border ``(cost[l_i, l_j] + cost[l_j, l_i]) / 2``. With equal costs it is MFA.

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
    n_within, n_between, penalty, pca_dim, reg, normalize :
        As in :class:`MFA`.

    Attributes
    ----------
    components_, eigenvalues_, mean_, classes_, n_features_in_ :
        As in :class:`MFA`.
    cost_matrix_ : array of shape (k, k)
        The costs as read.
    importance_ : array of shape (k,)
        The f of each class.

    Notes
    -----
    After J. Lu and Y.-P. Tan, IEEE TIFS 8(3), 2013, whose formulas could not be had: where
    costs enter, and that both directions of a mistake count half, is our reading.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.subspace import CSMFA
    >>> X, y = load_iris(return_X_y=True)
    >>> CSMFA(2, cost={(1, 2): 10}).fit_transform(X, y).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**RATIO, **MARGIN, **COSTS}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        cost: Any = None,
        importance: str = "sum",
        n_within: int = 5,
        n_between: int = 20,
        penalty: str = "sample",
        pca_dim: int | None = None,
        reg: float = 1e-6,
        normalize: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.cost = cost
        self.importance = importance
        self.n_within = n_within
        self.n_between = n_between
        self.penalty = penalty
        self.pca_dim = pca_dim
        self.reg = reg
        self.normalize = normalize

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        f, pairs = self.importance_, relative_cost(self.cost_matrix_)
        S_c = class_edges(Z, codes, self.n_within).binary_graph()
        S_p = border_edges(Z, codes, self.n_between, self.penalty).binary_graph()
        within = graph_scatter(Z, weighted_edges(S_c, codes, np.sqrt(np.outer(f, f))))
        between = graph_scatter(Z, weighted_edges(S_p, codes, pairs))
        return largest_ratio(between, within, n, self.reg, self.normalize)
