"""The least-squares support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from ecselm._sklearn import StrOptions, fit_context
from ecselm._typing import FloatArray, Matrix
from ecselm.estimators._base import RIDGE, all_or_nothing, class_targets
from ecselm.linalg.factors import factor_shifted
from ecselm.paper.baselines._common import (
    KERNEL,
    KernelMachine,
    Labelled,
    class_pairs,
    pair_rows,
    voted,
)


def bordered_solution(
    K: FloatArray, T: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve the KKT system of the machine for all columns of ``T`` (N, m) with one factor.

    ``[[0, 1'], [1, A]] [b; alpha] = [0; T]`` with ``A = K + diag(shift)``, by block
    elimination: ``eta = A^-1 1``, ``nu = A^-1 T``, ``b = 1'nu / 1'eta`` and
    ``alpha = nu - eta b``.

    Examples
    --------
    >>> import numpy as np
    >>> alpha, b = bordered_solution(np.eye(2), np.array([[1.0], [3.0]]), np.ones(2))
    >>> alpha.ravel(), b
    (array([-0.5,  0.5]), array([2.]))
    """
    least = float(shift.min())
    A = K.copy()
    A.flat[:: len(A) + 1] += shift - least
    factor = factor_shifted(A, least)
    solved = factor.solve(np.hstack([np.ones((len(T), 1), dtype=K.dtype), T]))
    eta, nu = solved[:, :1], solved[:, 1:]
    b = nu.sum(axis=0) / eta.sum()
    return nu - eta * b, b


class LSSVMClassifier(KernelMachine):
    """Least-squares support vector machine: squared errors in place of the hinge.

    Two classes with targets -1 and 1 solve ``[[0, 1'], [1, K + I/C]] [b; a] = [0; y]``
    and decide by the sign of ``sum_i a_i K(x_i, x) + b`` (Suykens and Vandewalle,
    Neural Processing Letters 1999). It is kernel ridge regression with a bias that is
    not penalised, and so differs from :class:`ecselm.KELMClassifier` by that bias only.
    Memory grows with N^2 and time with N^3.

    Parameters
    ----------
    C : float, default=10.0
        The gamma of the article; larger fits closer.
    kernel : str or callable, default="rbf"
        As in :class:`ecselm.KELMClassifier`.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of rbf, polynomial and laplacian. LS-SVMlab's ``sigma2`` is ``1/gamma``.
    degree : float, default=3
    coef0 : float, default=1
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, each on the rows of its pair, and a vote; or one
        per class against the rest, all from a single factorisation. Two classes are the
        same in both.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    dual_coef_ : array of shape (N, m)
        One column per machine, zero where a row takes no part; k(k-1)/2 columns in the
        order (0, 1), (0, 2), ... for pairs, k for one against the rest, 1 for two classes.
    intercept_ : array of shape (m,)
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    How the compared LSSVM treats many classes is UNCERTAIN: the paper does not say and
    LS-SVMlab's default is a minimal output coding. One-against-one is taken here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.baselines import LSSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(LSSVMClassifier().fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        **RIDGE,
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    def __init__(
        self,
        C: float = 10.0,
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        multiclass: str = "ovo",
        max_samples: int | None = 20000,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the linear systems of all machines.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Puts ``1/(C s_i)`` in the place of ``1/C``: a row of weight 2 counts as two.

        Returns
        -------
        self
        """
        given = self._read(X, y, sample_weight)
        kernel = self._map(given)
        K = kernel(kernel.rows)
        by_pair = self.multiclass == "ovo" and given.n_classes > 2
        alpha, b = (self._pairs if by_pair else self._rest)(K, given)
        self._by_pair_ = by_pair
        self._keep(given, kernel, alpha, b)
        return self

    def _solve(
        self, K: FloatArray, T: FloatArray, weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        s = np.ones(len(K)) if weight is None else weight
        return bordered_solution(K, T, 1.0 / (self.C * s))

    def _rest(self, K: FloatArray, given: Labelled) -> tuple[FloatArray, FloatArray]:
        T = class_targets(given.n_classes)[given.y]
        alpha = np.zeros(T.shape)
        if given.weight is None:
            return self._solve(K, T, None)
        used = np.flatnonzero(given.weight > 0)
        alpha[used], b = self._solve(K[np.ix_(used, used)], T[used], given.weight[used])
        return alpha, b

    def _pairs(self, K: FloatArray, given: Labelled) -> tuple[FloatArray, FloatArray]:
        pairs = list(class_pairs(given.n_classes))
        alpha = np.zeros((len(K), len(pairs)))
        b = np.zeros(len(pairs))
        for p, pair in enumerate(pairs):
            rows = pair_rows(given.y, pair, given.weight)
            if len(rows) == 0:
                continue
            T = np.where(given.y[rows] == pair[1], 1.0, -1.0)[:, np.newaxis]
            weight = None if given.weight is None else given.weight[rows]
            column, b[p : p + 1] = self._solve(K[np.ix_(rows, rows)], T, weight)
            alpha[rows, p] = column[:, 0]
        return alpha, b

    def _scores(self, X: Any) -> FloatArray:
        D = self._outputs(X)
        if self._by_pair_:
            return voted(D, len(self.classes_))
        return np.hstack([-D, D]) / 2 if len(self.classes_) == 2 else D
