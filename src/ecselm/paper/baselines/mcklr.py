"""Cost-sensitive kernel logistic regression for many classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import expected_costs, parse_cost
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import KERNEL, KernelFeatures, KernelMachine


def softmax_weights(
    Z: FloatArray, Y: FloatArray, w: FloatArray, alpha: float, max_iter: int, tol: float
) -> tuple[FloatArray, FloatArray, int]:
    """Return W (r, k), b (k,) and the number of steps to them.

    They make ``-sum_i w_i log p_y(z_i) + alpha/2 ||W||^2`` least. The gradient is
    ``Z'R + alpha W`` and the column sums of R, with ``R = diag(w)(P - Y)``; the
    weights ``w`` (N,) should sum to 1.
    """
    shape = Z.shape[1] + 1, Y.shape[1]

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        W, b = theta.reshape(shape)[:-1], theta.reshape(shape)[-1]
        log_p = log_softmax(Z @ W + b, axis=1)
        R = w[:, np.newaxis] * (np.exp(log_p) - Y)
        loss = 0.5 * alpha * (W**2).sum() - w @ (Y * log_p).sum(axis=1)
        return float(loss), np.vstack([Z.T @ R + alpha * W, R.sum(axis=0)]).ravel()

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "gtol": tol, "ftol": 0.0, "maxcor": 20}
    found = minimize(
        objective, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    slope = float(np.abs(found.jac).max())
    if not found.success and slope > 100.0 * tol:  # less is lost in rounding
        warnings.warn(
            f"logistic regression did not converge, max_iter={max_iter}: after {found.nit} steps "
            f"the largest slope is {slope:.1e}, tol={tol:g}",
            ConvergenceWarning,
            stacklevel=3,
        )
    theta = found.x.reshape(shape)
    return theta[:-1], theta[-1], max(int(found.nit), 1)


class MCKLRClassifier(KernelMachine):
    """Kernel logistic regression that predicts the class of least expected cost.

    ``p(x) = softmax(K(x, rows) A + b)`` of least
    ``-(1/N) sum_i w_i log p_y(x_i) + alpha/2 tr(A'KA)``, after mcKLR of Zhang and Zhou
    (TPAMI 2010). Memory grows with N^2 and time with N^3.

    Parameters
    ----------
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, as in :class:`ecselm.CSELMClassifier`.
    cost_in : {"decision", "training"}, default="decision"
        ``"decision"`` trains without costs and predicts ``argmin_j sum_c p_c cost[c, j]``,
        right for every cost matrix if the probabilities are. ``"training"`` weighs each
        row by the mean cost of its class's mistakes, scaled to a mean of 1, and predicts the
        most probable class, right only if the cost depends on the true class alone.
    alpha : float, default=1e-4
        Penalty; smaller fits closer. Too large a penalty flattens the probabilities,
        and a costly class is then predicted everywhere; with many classes of few rows it
        errs as well: of 40 persons with 5 pictures each 1e-2 knows .84, 1e-4 .94.
    kernel, gamma, degree, coef0 :
        As in :class:`LSSVMClassifier`.
    max_iter : int, default=500
        Steps of L-BFGS; more are warned of.
    tol : float, default=1e-8
        Largest slope at which it stops.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
    dual_coef_ : array of shape (N, k)
    intercept_ : array of shape (k,)
    n_iter_ : int
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    The article's cost-sensitive likelihood is UNCERTAIN: no public copy was found. Both
    places a cost can take are offered, and never both at once, which counts it twice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecselm.paper.baselines import MCKLRClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> model = make_pipeline(StandardScaler(), MCKLRClassifier({(0, 1): 10}, alpha=1e-3))
    >>> int(((model.fit(X, y).predict(X) == 1) & (y == 0)).sum()) < 4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        "cost": "no_validation",
        "cost_in": [StrOptions({"decision", "training"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        cost: Any = None,
        *,
        cost_in: str = "decision",
        alpha: float = 1e-4,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_iter: int = 500,
        tol: float = 1e-8,
        max_samples: int | None = 20000,
    ) -> None:
        self.cost = cost
        self.cost_in = cost_in
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.tol = tol
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Descend the penalised likelihood.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Multiplies w; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        given = self._read(X, y, sample_weight)
        cost = parse_cost(self.cost, given.classes)
        kernel = self._map(given)
        features = KernelFeatures.from_kernel(kernel(kernel.rows))
        w = self._row_weights(given.y, given.weight, cost)
        with blas_threads(len(w)):
            W, b, self.n_iter_ = softmax_weights(
                features.Z, given.one_hot, w, self.alpha, self.max_iter, self.tol
            )
        self._keep(given, kernel, features.back @ W, b)
        self.cost_matrix_ = cost
        self._by_cost_ = self.cost_in == "decision"
        return self

    def _row_weights(self, y: IntArray, weight: FloatArray | None, cost: FloatArray) -> FloatArray:
        """Return the weights of the rows, of sum 1."""
        w = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        if self.cost_in == "training":
            w = w * cost.sum(axis=1)[y]
        if not w.any():
            raise ValueError("cost must be > 0 for mistakes on some class of y, got 0 for all")
        return w / w.sum()

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        return softmax(self._outputs(X), axis=1)

    def _scores(self, X: Any) -> FloatArray:
        """Return the negated expected cost of each prediction, or the log-odds."""
        outputs = self._outputs(X)
        if not self._by_cost_:
            return outputs
        return -expected_costs(softmax(outputs, axis=1), self.cost_matrix_)
