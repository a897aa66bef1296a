"""Discriminant analysis: of few rows, with a kernel, and by partial least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve, solve_triangular, svd
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray, Matrix
from ecselm.estimators._base import all_or_nothing
from ecselm.estimators._layers import check_magnitude
from ecselm.paper.baselines._common import KERNEL, KernelMachine, margins, read_labels, read_rows


def ledoit_wolf_share(G: FloatArray, d: int) -> float:
    """Return the share s of the identity in ``(1 - s) S + s tr(S)/d I`` by Ledoit and Wolf.

    ``S = Z'Z/N`` for rows Z (N, d) about their mean, of which only ``G = ZZ'`` is needed:
    ``sum S_ij^2 = sum G_ij^2/N^2`` and ``tr(S) = tr(G)/N``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.covariance import ledoit_wolf_shrinkage
    >>> Z = np.random.default_rng(0).normal(size=(8, 30))
    >>> Z -= Z.mean(axis=0)
    >>> bool(abs(ledoit_wolf_share(Z @ Z.T, 30) - ledoit_wolf_shrinkage(Z)) < 1e-12)
    True
    """
    n = len(G)
    squares = float((G**2).sum()) / n**2  # of the entries of S
    away = squares - float(G.trace() / n) ** 2 / d  # from the multiple of the identity
    noise = (float((G.diagonal() ** 2).sum()) / n - squares) / n
    return 1.0 if away <= 0 else float(np.clip(noise / away, 0.0, 1.0))


class SmallSampleLDA(ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis that shrinks the scatter within classes where it is singular.

    N rows of k classes have a scatter S within classes of a rank of N - k at most. With more
    features than that, scikit-learn's solver leaves out the null space of S, in which few rows
    of many features differ most. Here S becomes ``(1 - s) S + s tr(S)/d I`` then, with the s of
    Ledoit and Wolf (2004); else this is scikit-learn's analysis.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        As in scikit-learn's LinearDiscriminantAnalysis. S is shrunk for ``"svd"`` only.
    shrinkage : float, "auto" or None, default=None
        As there, for the other solvers.

    Attributes
    ----------
    classes_ : array of shape (k,)
    coef_ : array of shape (k, n)
    intercept_ : array of shape (k,)
    shrinkage_ : float
        The s, 0 where S was not shrunk here.
    n_features_in_ : int

    Notes
    -----
    ``a_c = S^-1 mu_c`` needs no matrix of order n: with the rows Z about the means of their
    classes, ``S = r I + q Z'Z`` gives ``S^-1 v = (v - Z'(r/q I + ZZ')^-1 Z v)/r``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ecselm.paper.baselines.discriminants import SmallSampleLDA
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> model = SmallSampleLDA().fit(X[:20], y[:20])  # of 64 features
    >>> bool(model.score(X[20:], y[20:]) > 0.95), 0 < model.shrinkage_ < 1
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
    }

    def __init__(self, solver: str = "svd", *, shrinkage: float | str | None = None) -> None:
        self.solver = solver
        self.shrinkage = shrinkage

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Find the discriminants.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = read_labels(self, X, y, sparse=False)
        check_magnitude(given.X)
        if (given.X[0] == given.X).all():
            raise ValueError("X must have rows that differ from each other, got copies of one")
        n, d = given.X.shape
        self.classes_, self.shrinkage_ = given.classes, 0.0
        if self.solver != "svd" or self.shrinkage is not None or n - given.n_classes >= d:
            plain = LinearDiscriminantAnalysis(solver=self.solver, shrinkage=self.shrinkage)
            plain.fit(given.X, given.y)
            self.coef_, self.intercept_ = plain.coef_, plain.intercept_
            if given.n_classes == 2:  # half of the margin for each class
                self.coef_ = np.vstack([-plain.coef_, plain.coef_]) / 2
                self.intercept_ = np.append(-plain.intercept_, plain.intercept_) / 2
            return self
        counts, X64 = given.counts(), given.X.astype(np.float64)
        means = (given.one_hot.T @ X64) / counts[:, np.newaxis]
        Z = X64 - means[given.y]
        G = Z @ Z.T
        mean_variance = float(G.trace()) / (n * d)
        self.shrinkage_ = s = ledoit_wolf_share(G, d)
        if mean_variance == 0 or s == 1:  # S is a multiple of I
            self.coef_ = means / (mean_variance or 1.0)
        else:
            r, q = s * mean_variance, (1.0 - s) / n
            G.flat[:: n + 1] += r / q
            self.coef_ = (means - solve(G, Z @ means.T, assume_a="pos").T @ Z) / r
        self.intercept_ = np.log(counts / n) - 0.5 * np.einsum("ij,ij->i", means, self.coef_)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class; the largest is the predicted class.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
        """
        return margins(self._scores(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return read_rows(self, X, sparse=False) @ self.coef_.T + self.intercept_


def discriminant_directions(
    K: FloatArray, one_hot: FloatArray, reg: float, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return directions ``A`` (N, r) and how far each parts the classes (r,).

    The columns solve ``M a = v (Q + reg tr(Q)/N I) a`` with
    ``M = sum_c n_c (mu_c - mu)(mu_c - mu)'`` and ``Q = sum_c K_c (I - 11'/n_c) K_c'``,
    where ``mu_c`` is the mean of the columns of K in class c. M has at most k - 1
    directions, so one Cholesky factor and a thin SVD replace an eigenproblem of order N.
    """
    n = one_hot.sum(axis=0)
    means = (K @ one_hot) / n  # (N, k)
    between = (means - K.mean(axis=1, keepdims=True)) * np.sqrt(n)
    within = K - means @ one_hot.T
    Q = within @ within.T
    shift = reg * Q.trace() / len(K)
    Q.flat[:: len(Q) + 1] += shift if shift > 0 else 1.0  # classes of equal rows
    try:
        lower = cholesky(Q, lower=True, overwrite_a=True)
    except LinAlgError:
        raise ValueError(
            f"reg must be large enough to make the scatter within classes invertible, got {reg}"
        ) from None
    U, values, _ = svd(solve_triangular(lower, between, lower=True), full_matrices=False)
    U, values = U[:, :n_components], values[:n_components]
    A = solve_triangular(lower, U, lower=True, trans="T")
    signs = np.sign(A[np.abs(A).argmax(axis=0), np.arange(A.shape[1])])
    return A * np.where(signs == 0, 1.0, signs), values**2


class KernelLDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    """Kernel discriminant analysis: a projection, and the nearest class mean in it.

    ``z(x) = A'[K(x, x_1), ..., K(x, x_N)]'`` with the columns of A from
    ``M a = v (Q + reg tr(Q)/N I) a``, M between and Q within classes (Mika et al. 1999;
    Baudat and Anouar 2000). With the linear kernel and a small ``reg`` it spans the
    subspace of LDA. Memory grows with N^2 and time with N^3.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions, at most k - 1, which is None.
    reg : float, default=1e-3
        Ridge on the scatter within classes, in units of its mean eigenvalue.
    kernel, gamma, degree, coef0 :
        As in :class:`LSSVMClassifier`.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    means_ : array of shape (k, r)
        Class means of the projected training rows.
    ratios_ : array of shape (r,)
        Scatter between classes over scatter within, largest first.
    dual_coef_ : array of shape (N, r)
        The directions A, scaled to unit regularised scatter within classes.
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    The paper reports "one-against-one voting in SVM and LDA based methods"; for nearest
    means in one common projection a vote of pairs and the nearest mean are the same.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.baselines import KernelLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLDA().fit(X, y)
    >>> model.transform(X).shape, bool(model.score(X, y) > 0.95)
    ((150, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        reg: float = 1e-3,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
    ) -> None:
        self.n_components = n_components
        self.reg = reg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions and the class means along them.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = self._read(X, y)
        most = given.n_classes - 1
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components must be at most the number of classes less one, {most}, "
                f"got {self.n_components}"
            )
        kernel = self._map(given)
        K, Y = kernel(kernel.rows), given.one_hot
        A, self.ratios_ = discriminant_directions(K, Y, self.reg, self.n_components or most)
        self._keep(given, kernel, A, np.zeros(A.shape[1]))
        self.means_ = ((K @ Y) / Y.sum(axis=0)).T @ A
        self._n_features_out = A.shape[1]
        return self

    def transform(self, X: Any) -> FloatArray:
        """Project rows onto the directions.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        Z : array of shape (N, r)
        """
        return self._outputs(X)

    def _scores(self, X: Any) -> FloatArray:
        """Return ``z'm_c - ||m_c||^2 / 2``, largest for the nearest mean."""
        Z = self.transform(X)
        centre = self.means_.mean(axis=0)  # differences of large numbers would round
        means = self.means_ - centre
        return (Z - centre) @ means.T - 0.5 * np.einsum("cr,cr->c", means, means)


LEAST_COMPONENTS = 5


def component_count(n_components: int | None, n_classes: int) -> int:
    """Return the number of components; None is 5, or k - 1 of many classes.

    Fewer than k - 1 directions cannot tell the indicators of k classes apart.

    Examples
    --------
    >>> component_count(None, 3), component_count(None, 40), component_count(2, 40)
    (5, 39, 2)
    """
    return n_components or max(LEAST_COMPONENTS, n_classes - 1)


class PLSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Partial least squares on class indicators, and the largest of them.

    scikit-learn's :class:`~sklearn.cross_decomposition.PLSRegression` from X to 0/1
    indicators of the classes, ``argmax`` of what it predicts.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, or as many as X has directions in which rows differ: beyond
        these there is rounding error only. None is 5, or k - 1 where that is more.
    scale : bool, default=True
        Scale the columns of X and the indicators to unit variance first.
    discriminant : {"argmax", "lda"}, default="argmax"
        The largest indicator, which neglects small classes, or linear discriminant
        analysis of the scores.

    Attributes
    ----------
    classes_ : array of shape (k,)
    pls_ : PLSRegression
    lda_ : LinearDiscriminantAnalysis or None
    n_features_in_ : int

    Notes
    -----
    The paper does not state the number of components: choose it by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ecselm.paper.baselines import PLSDA
    >>> X, y = load_wine(return_X_y=True)
    >>> model = PLSDA(n_components=3).fit(X, y)
    >>> model.transform(X).shape, bool(model.score(X, y) > 0.95)
    ((178, 3), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "scale": ["boolean"],
        "discriminant": [StrOptions({"argmax", "lda"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        scale: bool = True,
        discriminant: str = "argmax",
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.discriminant = discriminant

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Regress the class indicators on X.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = read_labels(self, X, y, sparse=False)
        most = min(component_count(self.n_components, given.n_classes), _rank(given.X))
        self.pls_ = PLSRegression(most, scale=self.scale).fit(given.X, given.one_hot)
        self.lda_ = None
        if self.discriminant == "lda":
            self.lda_ = LinearDiscriminantAnalysis().fit(self.pls_.transform(given.X), given.y)
        self.classes_ = given.classes
        self._n_features_out = most
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the scores of rows on the components.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        T : array of shape (N, A)
        """
        check_is_fitted(self)
        return self.pls_.transform(read_rows(self, X, sparse=False))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class; the largest is the predicted class.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
        """
        check_is_fitted(self)
        if self.lda_ is not None:
            return self.lda_.decision_function(self.transform(X))
        X = read_rows(self, X, sparse=False)
        return margins(self.pls_.predict(X).reshape(len(X), -1))

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        scores = self.decision_function(X)
        winners = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return self.classes_[winners]


def _rank(X: FloatArray) -> int:
    """Return the number of directions in which rows differ, columns scaled alike."""
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    norms = np.linalg.norm(Z, axis=0)
    rounding = np.finfo(X.dtype).eps * np.sqrt(len(X)) * np.abs(X).max(axis=0)
    if not (norms > rounding).any():
        raise ValueError("X must have rows that differ from each other, got copies of one")
    Z = Z[:, norms > rounding] / norms[norms > rounding]
    s = np.linalg.svd(Z, compute_uv=False)
    return int((s > s[0] * max(Z.shape) * np.finfo(X.dtype).eps).sum())


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
    n_components : int or None, default=None
        Number A of components; fewer are taken where fewer explain all there is. None is 5,
        or k - 1 where that is more.
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
    components is not given in the paper; tune it by cross-validation.

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
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
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
        n_components = component_count(self.n_components, given.n_classes)
        pls = KernelPLS.from_kernel(K, given.one_hot, n_components)
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
