"""Partial least squares discriminant analysis in the space of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, solve
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, fit_context
from ecselm._typing import FloatArray, Matrix
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import KERNEL, KernelMachine


@dataclass(frozen=True, slots=True)
class KernelPLS:
    """``scores = K(x, rows) projection - offset``, ``targets = scores loadings + mean``."""

    projection: FloatArray  # (N, A)
    offset: FloatArray  # (A,)
    loadings: FloatArray  # (A, m)
    mean: FloatArray  # (m,)

    @classmethod
    def from_kernel(cls, K: FloatArray, Y: FloatArray, n_components: int) -> KernelPLS:
        """Take components one by one from the kernel matrix and targets ``Y`` (N, m).

        With K and Y centred, ``t = K u / ||K u||`` and ``u = Y q`` where q is the leading
        eigenvector of ``Y'KY``, the fixed point of Rosipal and Trejo's iteration. Then
        ``K <- (I - tt') K (I - tt')`` and ``Y <- Y - tt'Y``. With the first K and Y,
        ``projection = U (T'KU)^-1``, centred, and ``loadings = T'Y``. It ends early where
        nothing is left to explain.
        """
        columns, mean = K.mean(axis=0), Y.mean(axis=0)
        centred = K - columns - columns[:, np.newaxis] + columns.mean()
        T, U = _components(centred.copy(), Y - mean, n_components)
        projection = solve((T.T @ centred @ U).T, U.T).T
        projection -= projection.mean(axis=0)  # centres the kernel values of new rows
        return cls(projection, columns @ projection, T.T @ (Y - mean), mean)


def _components(K: FloatArray, Y: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray]:
    """Return T and U (N, A); overwrites ``K``, not ``Y``."""
    T: list[FloatArray] = []
    U: list[FloatArray] = []
    first = 0.0
    for _ in range(n_components):
        values, vectors = eigh(Y.T @ K @ Y)
        first = first or float(values[-1])
        if values[-1] <= 1e-12 * first:
            break
        u = Y @ vectors[:, -1]
        u /= np.linalg.norm(u)
        t = K @ u
        t /= np.linalg.norm(t)
        Kt = K @ t
        K -= np.outer(t, Kt) + np.outer(Kt - t * (t @ Kt), t)
        Y = Y - np.outer(t, t @ Y)
        T.append(t)
        U.append(u)
    if not T:
        raise ValueError("X must have rows whose kernel values differ between classes, got none")
    return np.column_stack(T), np.column_stack(U)


class KernelPLSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    """Kernel partial least squares on class indicators, and the largest of them.

    Rosipal and Trejo (JMLR 2001) on 0/1 indicators of the classes: scores
    ``t(x) = K(x, .) U (T'KU)^-1`` with a centred kernel and predicted indicators
    ``t(x) T'Y + mean(Y)``. With the linear kernel it is
    ``PLSRegression(scale=False)``. Memory grows with N^2 and time with A N^2.

    Parameters
    ----------
    n_components : int, default=5
        Number A of components; fewer are taken where fewer explain all there is.
    kernel, gamma, degree, coef0 :
        As in :class:`LSSVMClassifier`.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    pls_ : KernelPLS
        The map from kernel values to scores and indicators.
    dual_coef_ : array of shape (N, k)
    intercept_ : array of shape (k,)
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    The iteration is replaced by its fixed point, an eigenvector of a k x k matrix. Small
    classes get small indicators: the argmax favours frequent classes. The number of
    components is not stated in the paper; choose it by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.baselines import KernelPLSDA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelPLSDA().fit(X, y)
    >>> model.transform(X).shape, bool(model.score(X, y) > 0.95)
    ((150, 5), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 5,
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Take the components.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = self._read(X, y)
        kernel = self._map(given)
        K = kernel(kernel.rows)
        pls = KernelPLS.from_kernel(K, given.one_hot, self.n_components)
        B = pls.projection @ pls.loadings
        self._keep(given, kernel, B, pls.mean - pls.offset @ pls.loadings)
        self.pls_ = pls
        self._n_features_out = pls.projection.shape[1]
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the scores of rows on the components.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        T : array of shape (N, A)
        """
        check_is_fitted(self)
        return self._mapped(X, self.pls_.projection, -self.pls_.offset)
