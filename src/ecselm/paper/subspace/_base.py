"""What all subspace methods share: validate, reduce, find directions, project."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr, svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import parse_cost
from ecselm.estimators._base import all_or_nothing, class_codes
from ecselm.paper.subspace.importance import IMPORTANCES, class_importance

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
    """Return an orthonormal basis (d, r) of what centred rows span, or of its main part.

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
        """Return rows and class codes, and store what is known of the classes."""
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
