"""Linear discriminant analysis in the space of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ecselm._sklearn import Interval, fit_context
from ecselm._typing import FloatArray, Matrix
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import KERNEL, KernelMachine


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
