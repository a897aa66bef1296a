"""Class importance, graphs and the base of subspace transformers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr, svd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.estimators._base import all_or_nothing, class_codes


@dataclass(frozen=True, slots=True)
class Edges:
    """Directed edges between N rows, and how long they are."""

    heads: IntArray
    tails: IntArray
    lengths: FloatArray
    n_rows: int

    @classmethod
    def join(cls, parts: list[Edges]) -> Edges:
        """Return the edges of all ``parts``."""
        return cls(
            np.concatenate([part.heads for part in parts]),
            np.concatenate([part.tails for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            parts[0].n_rows,
        )

    def shortest(self, n: int) -> Edges:
        """Return the ``n`` shortest, or all if there are fewer."""
        kept = np.argsort(self.lengths, kind="stable")[:n]
        return Edges(self.heads[kept], self.tails[kept], self.lengths[kept], self.n_rows)

    def graph(self, weights: FloatArray) -> Any:
        """Return the matrix W (N, N) with ``W_ij = W_ji``, the larger of both directions."""
        shape = self.n_rows, self.n_rows
        W = csr_array((weights, (self.heads, self.tails)), shape=shape)
        return csr_array(W.maximum(W.T))

    def binary_graph(self) -> Any:
        """Return W with 1 for every edge."""
        return self.graph(np.ones(len(self.lengths)))

    def heat_graph(self, width: float | str | None) -> Any:
        """Return W with ``exp(-length^2 / width)``; ``"mean"`` is the mean squared length.

        With None every edge weighs 1.
        """
        if width is None:
            return self.binary_graph()
        squares = self.lengths**2
        if isinstance(width, str):
            width = float(squares.mean()) if len(squares) else 0.0
        if width == 0.0:  # all neighbours are copies
            return self.binary_graph()
        return self.graph(np.exp(-squares / width))


def nearest_edges(X: FloatArray, n_neighbors: int) -> Edges:
    """Return an edge from every row to each of its nearest others."""
    return class_edges(X, np.zeros(len(X), dtype=np.intp), n_neighbors)


def class_edges(X: FloatArray, codes: IntArray, n_neighbors: int) -> Edges:
    """Return an edge from every row to each of its nearest of the same class.

    A class of fewer rows than ``n_neighbors`` + 1 is joined throughout.
    """
    parts = []
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        n = min(n_neighbors, len(rows) - 1)
        parts.append(_edges(X, rows, rows, n, None) if n else _no_edges(len(X)))
    return Edges.join(parts)


def border_edges(X: FloatArray, codes: IntArray, n_neighbors: int, per: str) -> Edges:
    """Return edges to rows of other classes.

    Parameters
    ----------
    X : array of shape (N, d)
    codes : array of shape (N,)
    n_neighbors : int
    per : {"sample", "class"}
        From every row to its nearest of other classes, or for every class the shortest
        pairs of one row in it and one outside. Those are among the nearest of their row.
    """
    parts = []
    for code in range(codes.max() + 1):
        inside = codes == code
        rows, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        found = _edges(X, rows, others, min(n_neighbors, len(others)), X[rows])
        parts.append(found if per == "sample" else found.shortest(n_neighbors))
    return Edges.join(parts)


def weighted_edges(W: Any, codes: IntArray, pairs: FloatArray) -> Any:
    """Return W with each edge times the entry of ``pairs`` (k, k) for its two classes."""
    edges = W.tocoo()
    edges.data = edges.data * pairs[codes[edges.row], codes[edges.col]]
    return edges.tocsr()


def _edges(
    X: FloatArray, rows: IntArray, others: IntArray, n: int, queries: FloatArray | None
) -> Edges:
    """Find the nearest ``others`` of ``rows``; without ``queries`` these are the same rows."""
    lengths, nearest = NearestNeighbors(n_neighbors=n).fit(X[others]).kneighbors(queries)
    return Edges(np.repeat(rows, n), others[nearest.ravel()], lengths.ravel(), len(X))


def _no_edges(n_rows: int) -> Edges:
    none = np.zeros(0, dtype=np.intp)
    return Edges(none, none, np.zeros(0), n_rows)


def class_means(X: FloatArray, codes: IntArray) -> FloatArray:
    """Return the mean of every class, shape (k, d)."""
    k = codes.max() + 1
    sums = np.zeros((k, X.shape[1]))
    np.add.at(sums, codes, X)
    return sums / np.bincount(codes, minlength=k)[:, np.newaxis]


def row_scatter(X: FloatArray, w: FloatArray) -> FloatArray:
    """Return ``X' diag(w) X`` for weights ``w`` >= 0."""
    Z = X * np.sqrt(w)[:, np.newaxis]
    return Z.T @ Z


def within_scatter(X: FloatArray, codes: IntArray, f: FloatArray) -> FloatArray:
    """Return ``sum_k f_k sum_(i in k) (x_i - m_k)(x_i - m_k)'``."""
    return row_scatter(X - class_means(X, codes)[codes], f[codes])


def between_scatter(M: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return ``sum_ij pairs_ij (m_i - m_j)(m_i - m_j)'`` for points M (k, d).

    This is ``2 M'(D - P)M``, where P is the symmetric part of ``pairs`` and D has its row
    sums on the diagonal.
    """
    P = (pairs + pairs.T) / 2.0
    L = np.diag(P.sum(axis=1)) - P
    return 2.0 * (M.T @ L @ M)


def edge_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'WX`` for a symmetric graph W (N, N)."""
    return symmetric(X.T @ (W @ X))


def degree_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'DX``, where D has the row sums of W on its diagonal."""
    return row_scatter(X, W.sum(axis=1))


def graph_scatter(X: FloatArray, W: Any) -> FloatArray:
    """Return ``X'LX`` with ``L = D - W``, half of ``sum_ij W_ij (x_i - x_j)(x_i - x_j)'``."""
    return symmetric(X.T @ (W.sum(axis=1)[:, np.newaxis] * X - W @ X))


def symmetric(S: FloatArray) -> FloatArray:
    """Return S without the asymmetry of rounding."""
    return (S + S.T) / 2.0


LEAST = 1e-12  # a class whose mistakes cost nothing would vanish from every sum


IMPORTANCES = ("sum", "mean", "max")


def class_importance(kind: str, cost: FloatArray, counts: FloatArray) -> FloatArray:
    """Return f (k,), the importance of every class, with a mean of 1 over all rows.

    Parameters
    ----------
    kind : {"sum", "mean", "max"}
        Over a row of ``cost``: its sum; its mean where wrong predictions are as frequent as
        the classes (a plain mean would be the sum again, once it is divided by the mean of
        all); its largest entry, which does not grow with the number of classes.
    cost : array of shape (k, k)
    counts : array of shape (k,)
        Rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> class_importance("sum", np.array([[0.0, 1.0], [3.0, 0.0]]), np.array([5.0, 5.0]))
    array([0.5, 1.5])
    """
    if kind == "mean":
        f = cost @ counts / (counts.sum() - counts)
    else:
        f = cost.sum(axis=1) if kind == "sum" else cost.max(axis=1)
    return np.maximum(f * counts.sum() / (counts @ f), LEAST)


def relative_cost(cost: FloatArray) -> FloatArray:
    """Return symmetric costs of confusing two classes, with a mean of 1 over all pairs.

    Scatters and graphs are symmetric, so that only ``(cost + cost')/2`` can enter.
    """
    k = len(cost)
    return (cost + cost.T) * (k * (k - 1) / 2.0 / cost.sum())


def gallery_impostor_cost(
    n_gallery: int, c_gi: float = 2.0, c_ig: float = 20.0, c_gg: float = 1.0
) -> FloatArray:
    """Return the costs at a door: some persons are known, all others are one class, the last.

    Parameters
    ----------
    n_gallery : int
        Number of known persons.
    c_gi : float, default=2.0
        A known person is taken for an impostor.
    c_ig : float, default=20.0
        An impostor is taken for a known person.
    c_gg : float, default=1.0
        A known person is taken for another.

    Returns
    -------
    cost : array of shape (n_gallery + 1, n_gallery + 1)
        Rows are the truth, columns the prediction.

    Examples
    --------
    >>> gallery_impostor_cost(2)
    array([[ 0.,  1.,  2.],
           [ 1.,  0.,  2.],
           [20., 20.,  0.]])
    """
    if n_gallery < 1:
        raise ValueError(f"n_gallery must be at least 1, got {n_gallery}")
    costs = {"c_gi": c_gi, "c_ig": c_ig, "c_gg": c_gg}
    for name, value in costs.items():
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and >= 0, got {value}")
    cost = np.full((n_gallery + 1, n_gallery + 1), float(c_gg))
    cost[:, -1] = c_gi
    cost[-1] = c_ig
    np.fill_diagonal(cost, 0.0)
    return cost


NORMALIZATIONS = ("unit", "metric", "orth")
SHELL: dict[str, Any] = {
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "pca_dim": [Interval(Integral, 1, None, closed="left"), None],
}
RATIO: dict[str, Any] = {
    **SHELL,
    "reg": [Interval(Real, 0, None, closed="left")],
    "normalize": [StrOptions(set(NORMALIZATIONS))],
}
COSTS: dict[str, Any] = {
    "cost": "no_validation",
    "importance": [StrOptions(set(IMPORTANCES))],
}


@dataclass(frozen=True, slots=True)
class Directions:
    """Columns to project on, the best first, and the ratio each attains."""

    vectors: FloatArray  # (d, r)
    ratios: FloatArray  # (r,)

    def within(self, basis: FloatArray | None) -> Directions:
        """Return them in the space of all features, of which ``basis`` (n, d) is a part.

        The largest entry of each is positive, so that a result can be repeated.
        """
        vectors = self.vectors if basis is None else basis @ self.vectors
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
        return Directions(vectors * signs, self.ratios)


def largest_variance(S: FloatArray, n: int) -> Directions:
    """Return the ``n`` eigenvectors of S (d, d) with the largest eigenvalues."""
    d = len(S)
    ratios, vectors = eigh(S, subset_by_index=[d - n, d - 1])
    return Directions(vectors[:, ::-1], ratios[::-1])


def largest_ratio(A: FloatArray, B: FloatArray, n: int, reg: float, normalize: str) -> Directions:
    """Return the ``n`` directions of largest ``a'Aa / a'(B + r I)a``, ``r = reg tr(B)/d``.

    Parameters
    ----------
    A, B : array of shape (d, d)
        Symmetric; B positive semidefinite.
    n : int
    reg : float
    normalize : {"unit", "metric", "orth"}
        Length 1; ``a'(B + r I)a = 1``, as the eigenproblem leaves them; or an orthonormal
        basis of the same nested spaces.

    Examples
    --------
    >>> import numpy as np
    >>> largest_ratio(np.diag([1.0, 6.0]), np.diag([1.0, 2.0]), 1, 0.0, "unit").ratios
    array([3.])
    """
    d = len(B)
    if not np.trace(B) > 0:
        raise ValueError(
            "X must have rows that differ from others of their class or from their neighbours, "
            "got none"
        )
    ridged = B + reg * np.trace(B) / d * np.eye(d)
    try:
        ratios, vectors = eigh(A, ridged, subset_by_index=[d - n, d - 1])
    except LinAlgError:
        raise ValueError(
            "reg must make the scatter in the denominator positive definite, which it is not "
            f"for these rows (their features may depend on each other), got reg={reg:g}"
        ) from None
    return Directions(_normalized(vectors[:, ::-1], normalize), ratios[::-1])


def span_basis(X: FloatArray, n_components: int | None) -> FloatArray | None:
    """Return an orthonormal basis (d, r) of the span of centred rows, or of its main part.

    None stands for all features, where there are fewer of them than rows. In a larger
    space no ratio of scatters is attained outside the span, so that nothing is lost.
    """
    N, d = X.shape
    if n_components is None and d < N:
        return None
    if n_components is not None and n_components > min(N, d):
        raise ValueError(
            f"pca_dim must be at most {min(N, d)}, the smaller of {N} rows and {d} "
            f"features, got {n_components}"
        )
    _, s, Vt = svd(X, full_matrices=False)
    rank = int((s > s[0] * max(N, d) * np.finfo(np.float64).eps).sum())
    return Vt[:rank][:n_components].T


def _normalized(vectors: FloatArray, normalize: str) -> FloatArray:
    if normalize == "metric":
        return vectors
    if normalize == "orth":
        return qr(vectors, mode="economic")[0]
    return vectors / np.linalg.norm(vectors, axis=0)


class SubspaceTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the subspace methods; one that has a parameter ``cost`` learns importances."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    n_components: int | None
    pca_dim: int | None
    cost: Any
    importance: str
    classes_: AnyArray
    cost_matrix_: FloatArray
    importance_: FloatArray

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)
        y : array of shape (N,)
            Classes; a method that asks for none ignores it.

        Returns
        -------
        self
        """
        X, codes = self._checked(X, y)
        rows = X.astype(np.float64, copy=False)
        mean = self._centre(rows, codes)
        basis = span_basis(rows - rows.mean(axis=0), self.pca_dim)
        Z = rows - mean if basis is None else (rows - mean) @ basis
        n = self._component_count(self._most_components(Z))
        found = self._directions(Z, codes, n).within(basis)
        self.mean_ = mean.astype(X.dtype, copy=False)
        self.components_ = np.ascontiguousarray(found.vectors.T, dtype=X.dtype)
        self.eigenvalues_ = found.ratios
        return self

    def transform(self, X: Any) -> FloatArray:
        """Project rows on the directions.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        projected : array of shape (N, r)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        projected: FloatArray = (X - self.mean_) @ self.components_.T
        return projected

    def _directions(self, Z: FloatArray, codes: IntArray, n: int) -> Directions:
        """Return ``n`` directions for centred rows of the classes ``codes``."""
        raise NotImplementedError

    def _centre(self, X: FloatArray, codes: IntArray) -> FloatArray:
        """Return the point that projects to 0."""
        return X.mean(axis=0)

    def _most_components(self, Z: FloatArray) -> int:
        """Return how many directions there are at most: centred rows span N - 1."""
        return min(Z.shape[0] - 1, Z.shape[1])

    @property
    def _needs_classes(self) -> bool:
        return True

    def _checked(self, X: Any, y: Any) -> tuple[FloatArray, IntArray]:
        """Return rows and class codes, and store the attributes of the classes."""
        options = {"dtype": [np.float64, np.float32], "ensure_min_samples": 2}
        if not self._needs_classes:
            X = validate_data(self, X, **options)
            return X, np.zeros(len(X), dtype=np.intp)
        X, y = validate_data(self, X, y, **options)
        self.classes_, codes = class_codes(y)
        if hasattr(self, "cost"):
            self.cost_matrix_ = parse_cost(self.cost, self.classes_)
            counts = np.bincount(codes).astype(np.float64)
            self.importance_ = class_importance(self.importance, self.cost_matrix_, counts)
        return X, codes

    def _component_count(self, most: int) -> int:
        if most < 1:
            raise ValueError("X must have rows that differ from each other, got copies of one")
        if self.n_components is None:
            return most
        if self.n_components > most:
            raise ValueError(
                f"n_components must be at most {most} for these rows and parameters, "
                f"got {self.n_components}"
            )
        return self.n_components

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_classes
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
