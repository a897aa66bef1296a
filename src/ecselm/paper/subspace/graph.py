"""Subspaces by graphs of neighbours: LPP and MFA, plain and cost-sensitive."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import diags_array

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import FloatArray, IntArray
from ecselm.paper.subspace._base import (
    COSTS,
    RATIO,
    Directions,
    SubspaceTransformer,
    border_edges,
    class_edges,
    degree_scatter,
    edge_scatter,
    graph_scatter,
    largest_ratio,
    nearest_edges,
    relative_cost,
    row_scatter,
    weighted_edges,
)

GRAPH: dict[str, Any] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "width": [StrOptions({"mean"}), Interval(Real, 0, None, closed="neither"), None],
    "supervised": ["boolean"],
}


def locality_graph(
    Z: FloatArray, codes: IntArray, n_neighbors: int, width: float | str | None, supervised: bool
) -> Any:
    """Return the graph W (N, N) of near rows, within classes only if ``supervised``."""
    if supervised:
        return class_edges(Z, codes, n_neighbors).heat_graph(width)
    return nearest_edges(Z, n_neighbors).heat_graph(width)


def locality_directions(Z: FloatArray, W: Any, n: int, reg: float, normalize: str) -> Directions:
    """Return directions along which neighbours in W stay near each other.

    The least ratios of ``X'LX`` to ``X'DX`` are the largest of ``X'WX`` to ``X'DX``, since
    ``L = D - W``; the second form puts directions in which there are no rows last.
    """
    return largest_ratio(edge_scatter(Z, W), degree_scatter(Z, W), n, reg, normalize)


class LPP(SubspaceTransformer):
    """Locality preserving projections: near rows stay near.

    The directions are those of least ``a'X'LXa / a'X'DXa``, where ``W_ij =
    exp(-|x_i - x_j|^2 / width)`` if one row is among the nearest of the other and 0
    otherwise, D has the row sums of W on its diagonal, and ``L = D - W``. Rows are centred.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions; None takes all.
    n_neighbors : int, default=5
        Nearest rows that each row is joined to.
    width : "mean", float or None, default="mean"
        Width of the weights, or the mean squared distance of neighbours, which makes the
        method independent of the scale of X; with None all edges weigh 1.
    supervised : bool, default=False
        Join rows of the same class only, for which ``y`` must be given.
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
        ``a'X'WXa / a'X'DXa`` of each, that is 1 less the ratio above.
    mean_ : array of shape (d,)
        What projects to 0.
    classes_ : array of shape (k,)
        If ``supervised``.
    n_features_in_ : int

    Notes
    -----
    After X. He and P. Niyogi, "Locality preserving projections", NIPS 2003. Memory grows with
    ``N n_neighbors`` and d^2, time with N^2 d at worst.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.subspace import LPP
    >>> X, y = load_iris(return_X_y=True)
    >>> LPP(2).fit_transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**RATIO, **GRAPH}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 5,
        width: float | str | None = "mean",
        supervised: bool = False,
        pca_dim: int | None = None,
        reg: float = 1e-6,
        normalize: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.width = width
        self.supervised = supervised
        self.pca_dim = pca_dim
        self.reg = reg
        self.normalize = normalize

    @property
    def _needs_classes(self) -> bool:
        return self.supervised

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        W = locality_graph(Z, codes, self.n_neighbors, self.width, self.supervised)
        return locality_directions(Z, W, n, self.reg, self.normalize)


class CSLPP(SubspaceTransformer):
    """Cost-sensitive locality preserving projections.

    With ``variant="A"`` edges weigh ``sqrt(f(l_i) f(l_j)) W_ij``, where ``f(l)`` is the
    importance of class l, and all else is as in :class:`LPP`, which it is with equal costs.
    With ``variant="B"`` the directions maximise ``sum_ij cost[l_i, l_j] W_ij (z_i - z_j)^2``
    for projected rows z with ``sum_i f(l_i) D_ii z_i^2 = 1``: near rows of different classes
    are separated, those of costly confusions most.

    Parameters
    ----------
    n_components : int or None, default=None
        Number r of directions; None takes all.
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, in any form of :func:`ecselm.costs.parse_cost`; None
        is 1 each. Only ratios matter.
    variant : {"A", "B"}, default="A"
    importance : {"sum", "mean", "max"}, default="sum"
        How a row of ``cost`` becomes the importance of its class, see
        ``ecselm.paper.subspace._base.class_importance``.
    n_neighbors, width, supervised, pca_dim, reg, normalize :
        As in :class:`LPP`; variant B cannot be supervised.

    Attributes
    ----------
    components_ : array of shape (r, d)
        Directions, the best first.
    eigenvalues_ : array of shape (r,)
        The ratio each attained, as in :class:`LPP`; in variant B that of the separation.
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
    After J. Lu and Y.-P. Tan, CVPR 2010, whose formulas could not be had. Variant A is our
    reading: in the tables LPP and CSLPP are nearly equal, which variant B would not be.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.subspace import CSLPP
    >>> X, y = load_iris(return_X_y=True)
    >>> CSLPP(2, cost={(1, 2): 10}).fit_transform(X, y).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RATIO,
        **GRAPH,
        **COSTS,
        "variant": [StrOptions({"A", "B"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        cost: Any = None,
        variant: str = "A",
        importance: str = "sum",
        n_neighbors: int = 5,
        width: float | str | None = "mean",
        supervised: bool = False,
        pca_dim: int | None = None,
        reg: float = 1e-6,
        normalize: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.cost = cost
        self.variant = variant
        self.importance = importance
        self.n_neighbors = n_neighbors
        self.width = width
        self.supervised = supervised
        self.pca_dim = pca_dim
        self.reg = reg
        self.normalize = normalize

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        if self.variant == "B" and self.supervised:
            raise ValueError(
                "supervised must be False with variant='B', which draws neighbours of "
                "different classes apart, got True"
            )
        W = locality_graph(Z, codes, self.n_neighbors, self.width, self.supervised)
        if self.variant == "A":
            root = diags_array(np.sqrt(self.importance_[codes]))
            return locality_directions(Z, root @ W @ root, n, self.reg, self.normalize)
        return self._separating(Z, codes, W, n)

    def _separating(self, Z: FloatArray, codes: IntArray, W: Any, n: int) -> Directions:
        between = weighted_edges(W, codes, relative_cost(self.cost_matrix_))
        if not between.sum() > 0:
            raise ValueError(
                "n_neighbors must reach rows of other classes whose confusion costs something "
                f"with variant='B', got {self.n_neighbors}"
            )
        B = row_scatter(Z, self.importance_[codes] * W.sum(axis=1))
        A = 2.0 * graph_scatter(Z, between)
        return largest_ratio(A, B, n, self.reg, self.normalize)


MARGIN: dict[str, Any] = {
    "n_within": [Interval(Integral, 1, None, closed="left")],
    "n_between": [Interval(Integral, 1, None, closed="left")],
    "penalty": [StrOptions({"sample", "class"})],
}


class MFA(SubspaceTransformer):
    """Marginal Fisher analysis: neighbours of one class together, borders separate.

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
        Costs of errors by class, in any form of :func:`ecselm.costs.parse_cost`; None
        is 1 each. Only ratios matter.
    importance : {"sum", "mean", "max"}, default="sum"
        How a row of ``cost`` becomes the importance of its class, see
        ``ecselm.paper.subspace._base.class_importance``.
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
