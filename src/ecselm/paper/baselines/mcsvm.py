"""The multicategory support vector machine with a cost matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, fit_context
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, Matrix
from ecselm.costs import parse_cost
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import KERNEL, KernelFeatures, KernelMachine

RELAXED = 1.6  # steps beyond the middle, which ADMM likes


@dataclass(frozen=True, slots=True)
class CostlyHinge:
    """``(1/N) sum_ij L_ij (f_j(x_i) - v_ij)_+ + alpha/2 ||W||^2`` with ``f = ZW + b``.

    Features are those of the centred kernel, ``Z = P diag(s)`` with P of orthonormal
    columns; the free intercept makes that the same problem. Scores sum to 0 over classes.
    """

    P: FloatArray  # (N, r)
    s: FloatArray  # (r,)
    V: FloatArray  # (N, k), 1 for the true class and -1/(k - 1) for the others
    L: FloatArray  # (N, k), cost[y_i, j]
    alpha: float

    def value(self, W: FloatArray, b: FloatArray) -> float:
        """Return the objective."""
        excess = (self.P * self.s) @ W + b - self.V
        hinge = (self.L * np.maximum(excess, 0.0)).sum() / len(self.V)
        return float(hinge + 0.5 * self.alpha * (W**2).sum())

    def bound(self, a: FloatArray, b: FloatArray) -> float:
        """Return a lower bound of the minimum from dual variables ``0 <= a <= L``.

        ``-(||Z'D||^2 / 2 + N alpha sum a v) / (N^2 alpha)`` with ``D = a - mean(a)``;
        columns of D that miss their sum of 0 are charged with the intercepts.
        """
        D, N = _centred(a), len(self.V)
        weighted = self.s[:, np.newaxis] * (self.P.T @ D)
        lower = 0.5 * (weighted**2).sum() / (N * self.alpha) + (a * self.V).sum()
        missed = np.abs(D.sum(axis=0)) @ np.maximum(np.abs(b), 1.0)
        return -float(lower + missed) / N

    def ridge(self, T: FloatArray, rho: float) -> tuple[FloatArray, FloatArray]:
        """Return W and b of least ``rho/(2N) ||ZW + b - T||^2 + alpha/2 ||W||^2``."""
        shrink = self.s / (self.s**2 + self.alpha * len(T) / rho)
        return shrink[:, np.newaxis] * (self.P.T @ T), T.mean(axis=0)


def _centred(A: FloatArray) -> FloatArray:
    return A - A.mean(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class HingeSolution:
    """Weights, intercepts and dual variables, with the duality gap."""

    W: FloatArray  # (r, k)
    b: FloatArray  # (k,)
    a: FloatArray  # (N, k)
    value: float
    gap: float  # how far the value may lie above the minimum
    n_iter: int


def minimize_hinge(problem: CostlyHinge, max_iter: int, tol: float) -> HingeSolution:
    """Split scores from hinges (ADMM) until the gap is below ``tol`` times the objective.

    In turns a ridge regression finds scores near E + V - U, a threshold moves the excess
    E of the scores, and U collects their difference; ``rho U`` are dual variables. rho
    doubles or halves where one residual is ten times the other.
    """
    P, s, V, L = problem.P, problem.s, problem.V, problem.L
    E, U, rho = np.zeros_like(V), np.zeros_like(V), float(L.max())
    for n_iter in range(1, max_iter + 1):
        W, b = problem.ridge(_centred(E + V - U), rho)
        F = P @ (s[:, np.newaxis] * W) + b
        A = RELAXED * (F - V) + (1.0 - RELAXED) * E + U
        moved, E = E, A - np.clip(A, 0.0, L / rho)
        U = A - E
        if n_iter % 10 and n_iter < max_iter:
            continue
        value = problem.value(W, b)
        gap = value - problem.bound(rho * U, b)
        if gap <= tol * value:
            break
        factor = _balance(np.linalg.norm(F - V - E), np.linalg.norm(_centred(E - moved)))
        rho, U = rho * factor, U / factor
    return HingeSolution(W, b, np.clip(rho * U, 0.0, L), value, gap, n_iter)


def _balance(primal: np.floating[Any], dual: np.floating[Any]) -> float:
    if primal > 5.0 * dual:
        return 2.0
    return 0.5 if dual > 5.0 * primal else 1.0


class MCSVMClassifier(KernelMachine):
    """Multicategory support vector machine for any cost matrix.

    Scores ``f_j(x) = K(x, rows) c_j + b_j`` that sum to 0 over classes, of least
    ``(1/N) sum_ij cost[y_i, j] (f_j(x_i) - v_ij)_+ + alpha/2 sum_j c_j'K c_j`` with
    ``v_ij`` 1 for the true class and ``-1/(k-1)`` for the others (Lee, Lin and Wahba, JASA
    2004). With enough rows it predicts the class of least expected cost, for every cost
    matrix. Memory grows with N^2 and time with N^3.

    Parameters
    ----------
    cost : array, DataFrame, dict or None, default=None
        Costs of errors by class, as in :class:`ecselm.CSELMClassifier`. Costs twice
        as large are the same as a penalty half as large.
    alpha : float, default=2**-10
        The penalty lambda; smaller fits closer. Two classes with 0/1 costs are ``SVC``
        with ``C = 1 / (2 alpha N)``.
    kernel, gamma, degree, coef0 :
        As in :class:`LSSVMClassifier`.
    max_iter : int, default=5000
        Steps of the solver.
    tol : float, default=1e-3
        The duality gap, over the objective, at which to stop; what ends above it is
        warned of.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    cost_matrix_ : array of shape (k, k)
    dual_coef_ : array of shape (N, k)
    intercept_ : array of shape (k,)
    duality_gap_ : float
        How far the objective may lie above its minimum.
    objective_ : float
    n_iter_ : int
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    Which implementation the paper's mcSVM column used is UNCERTAIN; this is the one
    support vector machine here that is consistent with a cost matrix. The problem is
    solved by splitting, and its dual proves how good the result is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.baselines import MCSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCSVMClassifier(cost={(2, 1): 20}).fit(X, y)
    >>> int(((model.predict(X) == 1) & (y == 2)).sum())
    0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        "cost": "no_validation",
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        cost: Any = None,
        *,
        alpha: float = 2**-10,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_iter: int = 5000,
        tol: float = 1e-3,
        max_samples: int | None = 20000,
    ) -> None:
        self.cost = cost
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
    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the hinge by turns of ridge regressions and thresholds.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = self._read(X, y)
        cost = parse_cost(self.cost, given.classes)
        kernel, k = self._map(given), given.n_classes
        K = kernel(kernel.rows)
        mean = K.mean(axis=0)
        features = KernelFeatures.from_kernel(
            K - mean - mean[:, np.newaxis] + mean.mean(), size=float(np.abs(K).max())
        )
        s = np.linalg.norm(features.Z, axis=0)
        V = (given.one_hot * k - 1.0) / (k - 1)
        problem = CostlyHinge(features.Z / s, s, V, cost[given.y], self.alpha)
        with blas_threads(len(K)):
            solution = minimize_hinge(problem, self.max_iter, self.tol)
        self._warn(solution)
        coef = features.back @ solution.W
        coef -= coef.mean(axis=0)  # which is rounding; new rows need no centring then
        self._keep(given, kernel, coef, solution.b - mean @ coef)
        self.cost_matrix_ = cost
        self.objective_, self.duality_gap_ = solution.value, solution.gap
        self.n_iter_ = solution.n_iter
        return self

    def _warn(self, solution: HingeSolution) -> None:
        if solution.gap > self.tol * solution.value:
            warnings.warn(
                f"the support vector machine did not converge in max_iter={self.max_iter} steps: "
                f"its objective {solution.value:.3g} may lie {solution.gap:.1e} above the "
                f"minimum, tol={self.tol:g} of it was required",
                ConvergenceWarning,
                stacklevel=3,
            )
