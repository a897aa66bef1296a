"""Twin ELMs: a lower and an upper expectile by asymmetric least squares."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, StrOptions
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, Matrix
from ecselm.linalg import solve_weighted
from ecselm.paper.elms._base import (
    AT_LEAST_ONE,
    LAYER,
    POSITIVE,
    Activation,
    LayerClassifier,
    LayerMachine,
    LayerRegressor,
    Seed,
)

ROUNDING = 1e-14  # of the objective, below which signs that change are those of residuals of 0
SHORTEST = 1e-10  # step below which rounding, not the direction, keeps the error from falling
EVIDENCE_TOL = 1e-10  # of the logarithm of the C that the evidence asks for
LARGEST = float(np.log(1e6))  # of that logarithm


class Expectile(NamedTuple):
    """Output weights of one asymmetric machine, and the steps to them."""

    beta: FloatArray  # (L,)
    C: float
    n_iter: int
    converged: bool


def sign_costs(residual: FloatArray, tau: float) -> FloatArray:
    """Return the cost of every row by the sign of its residual: tau, or 1 - tau below 0.

    Examples
    --------
    >>> import numpy as np
    >>> sign_costs(np.array([2.0, 0.0, -1.0]), 0.9)
    array([0.9, 0.9, 0.1])
    """
    return np.where(residual >= 0, tau, 1.0 - tau)


def asymmetric_ridge(
    H: FloatArray,
    t: FloatArray,
    w: FloatArray,
    tau: float,
    C: float,
    max_iter: int,
    beta: FloatArray | None = None,
) -> Expectile:
    """Minimise ``C/2 sum B_i (t_i - h_i beta)^2 + ||beta||^2/2`` with B by the residual's sign.

    It is (15) with costs that depend on the solution: solve, set B, and repeat until no sign
    changes. The objective is convex and piecewise quadratic; a solution that raises it is
    approached only half the way, and so on.

    Parameters
    ----------
    H : array of shape (N, L)
    t, w : arrays of shape (N,)
        Targets, and weights > 0 that multiply B.
    tau : float
        0.5 is (5) with half the C.
    C : float
    max_iter : int
    beta : array of shape (L,) or None, default=None
        Where to begin; None is the symmetric solution.
    """

    def objective(beta: FloatArray) -> float:
        left = t - H @ beta
        return float(C * (w * sign_costs(left, tau)) @ left**2 + beta @ beta)

    if beta is None:
        beta = _solved(H, t, 0.5 * w, C)
    B = sign_costs(t - H @ beta, tau)
    beta = _solved(H, t, w * B, C)
    value, size = objective(beta), 1.0
    for n_iter in range(2, max_iter + 1):
        now = sign_costs(t - H @ beta, tau)
        if size == 1.0 and np.array_equal(now, B):  # beta solves (15) for its own signs
            return Expectile(beta, C, n_iter - 1, converged=True)
        B, step, size = now, _solved(H, t, w * now, C) - beta, 1.0
        while objective(beta + size * step) > value and size > SHORTEST:
            size /= 2.0
        if size <= SHORTEST:  # at the minimum up to rounding: rows of residual 0
            return Expectile(beta, C, n_iter, converged=True)
        beta = beta + size * step
        before, value = value, objective(beta)
        if before - value <= ROUNDING * before:
            return Expectile(beta, C, n_iter, converged=True)
    return Expectile(beta, C, max_iter, converged=False)


def _solved(H: FloatArray, t: FloatArray, B: FloatArray, C: float) -> FloatArray:
    return solve_weighted(H, t[:, np.newaxis], B, C).beta[:, 0]  # (15)


def asymmetric_evidence(
    H: FloatArray, t: FloatArray, w: FloatArray, tau: float, max_iter: int
) -> Expectile:
    """Choose the C of :func:`asymmetric_ridge` by the evidence (type II maximum likelihood).

    With the costs B of the solution, ``S = (a I + b H'BH)^-1``, ``m = b S H'Bt`` and
    ``g = sum l/(a + l)`` over the eigenvalues l of ``b H'BH``, the precisions are
    ``a = g / m'm`` and ``1/b = sum B (t - Hm)^2 / (N - g)``, and ``m`` is (15) with ``C = b/a``.
    In turns these steps creep or circle where signs change, so the ratio b/a that repeats
    itself is found as the zero of a function of one number, from 1 in the direction of the
    first step. It stays within 1e-6 and 1e6.

    Parameters
    ----------
    H : array of shape (N, L)
    t, w : arrays of shape (N,)
    tau : float
    max_iter : int
        Values of C that are tried, and steps of the signs for each.
    """
    found = asymmetric_ridge(H, t, w, tau, 1.0, max_iter)
    n_tried = 0

    def change(log_C: float) -> float:
        """Return the logarithm by which one step of the precisions changes C."""
        nonlocal found, n_tried
        n_tried += 1
        found = asymmetric_ridge(H, t, w, tau, float(np.exp(log_C)), max_iter, found.beta)
        return evidence_step(H, t, w, tau, found) - log_C

    near, far = 0.0, 0.0
    direction = np.sign(change(near))
    if direction:
        # At the bound a step goes nowhere or back, so a change of the sign is always found.
        while (
            np.sign(change(far := float(np.clip(far + direction, -LARGEST, LARGEST)))) == direction
        ):
            near = far
        zero, report = brentq(
            change, near, far, xtol=EVIDENCE_TOL, maxiter=max_iter, full_output=True, disp=False
        )
        change(zero)
        found = found._replace(converged=found.converged and report.converged)
    return found._replace(n_iter=n_tried)


def evidence_step(
    H: FloatArray, t: FloatArray, w: FloatArray, tau: float, found: Expectile
) -> float:
    """Return the logarithm of the ratio b/a of the precisions that a solution asks for."""
    left = t - H @ found.beta
    B = w * sign_costs(left, tau)
    values = np.maximum(np.linalg.eigvalsh((H.T * B) @ H), 0.0)
    g = float((values / (1.0 / found.C + values)).sum())
    # The logarithms of g, m'm, N - g and the weighted squares: quotients may overflow.
    parts = np.array([g, found.beta @ found.beta, w.sum() - g, B @ left**2])
    log_g, log_m, log_n, log_r = np.log(np.maximum(parts, np.finfo(np.float64).tiny))
    return float(np.clip((log_n - log_r) - (log_g - log_m), -LARGEST, LARGEST))


class TwinMachine(LayerMachine):
    """What the classifier and the regressor share: parameters and the pair of machines."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "tau": [Interval(Real, 0, 0.5, closed="neither")],
        "method": [StrOptions({"ridge", "evidence"})],
        "C": POSITIVE,
        "max_iter": AT_LEAST_ONE,
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        tau: float = 0.05,
        method: str = "ridge",
        C: float = 32.0,
        max_iter: int = 200,
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.tau = tau
        self.method = method
        self.C = C
        self.max_iter = max_iter
        super().__init__(n_hidden, activation, draw, scale, random_state)

    def _learn(self, X: Matrix, T: FloatArray, weight: FloatArray | None) -> None:
        """Learn the lower and the upper expectile of every target."""
        w = np.ones(len(T)) if weight is None else weight
        layer, H = self._layer_and_rows(X, weight)
        with blas_threads(H.shape[1]):
            pairs = [
                [self._expectile(H, t, w, tau) for t in T.T] for tau in (self.tau, 1.0 - self.tau)
            ]
        every = [one for bound in pairs for one in bound]
        if not all(one.converged for one in every):
            warnings.warn(
                f"asymmetric least squares did not converge in max_iter={self.max_iter} steps",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.layer_ = layer
        self.beta_ = np.column_stack([one.beta for one in every])
        self.penalties_ = np.array([[one.C for one in bound] for bound in pairs])
        self.n_iter_ = max(one.n_iter for one in every)

    def _expectile(self, H: FloatArray, t: FloatArray, w: FloatArray, tau: float) -> Expectile:
        if self.method == "evidence":
            return asymmetric_evidence(H, t, w, tau, self.max_iter)
        return asymmetric_ridge(H, t, w, tau, self.C, self.max_iter)

    def _bounds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return both outputs (N, m), the lower first where they cross, too."""
        lower, upper = np.hsplit(self._outputs(X), 2)
        return np.minimum(lower, upper), np.maximum(lower, upper)

    def _centre(self, X: Any) -> FloatArray:
        """Return the middle (N, m) of both outputs."""
        lower, upper = self._bounds(X)
        return (lower + upper) / 2


class TwinELMRegressor(LayerRegressor, TwinMachine):
    """Twin ELM: two asymmetric machines whose outputs bound an interval.

    Errors of either sign have different costs: tau where the target lies above the output,
    1 - tau where it lies below. The output is then the expectile of the level tau. The
    pair of levels tau and 1 - tau gives a lower and an upper one behind the same hidden layer;
    the prediction is their middle.

    Parameters
    ----------
    n_hidden : int, default=100
        Number L of hidden units.
    tau : float, default=0.05
        Level of the lower expectile, below 0.5. An expectile is not a quantile: 0.05 covers
        about 75 % of normally distributed targets, 0.005 about 95 %.
    method : {"ridge", "evidence"}, default="ridge"
        Least squares with the penalty C, or with the penalty that maximises the evidence, for
        each bound on its own.
    C : float, default=32.0
        Larger fits closer; without effect for ``"evidence"``.
    max_iter : int, default=200
        Steps; more are warned of.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (L, 2)
        Output weights of the lower and the upper machine.
    penalties_ : array of shape (2, 1)
        The C of both.
    intercept_ : float
        The mean of the targets, which both machines add.
    layer_ : RandomLayer
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    After the abstract of Ning, Liu, Dong, Wu and Wu (IEEE TNNLS 26(9), 2015), believed to be
    the paper's reference [74]: regularised asymmetric least squares, asymmetric Bayesian
    learning by type II maximum likelihood, and a pair of weights. The formulas could not be
    had and are our reading; so is the middle as the prediction. Outputs that cross are
    exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.elms import TwinELMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (500, 1))
    >>> y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(500)
    >>> lower, upper = TwinELMRegressor(tau=0.005, random_state=0).fit(X, y).predict_interval(X)
    >>> bool(0.85 < np.mean((lower <= y) & (y <= upper)) < 0.99)
    True
    """

    def predict_interval(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper expectile.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        lower, upper : arrays of shape (N,)
        """
        lower, upper = self._bounds(X)
        return lower[:, 0] + self.intercept_, upper[:, 0] + self.intercept_


class TwinELMClassifier(LayerClassifier, TwinMachine):
    """Twin ELM for classes: expectiles of the scores, whose middle decides.

    Targets are 1 for the class of a row and -1 for others, as in (5); each score is the
    middle of its lower and upper expectile, see :class:`TwinELMRegressor`.

    Parameters
    ----------
    n_hidden, tau, method, C, max_iter, activation, draw, scale, random_state :
        As in :class:`TwinELMRegressor`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (L, 2 m)
        Output weights of the lower machines, then of the upper ones: of every class, or of
        ``classes_[1]`` for two.
    penalties_ : array of shape (2, m)
    layer_, n_iter_, n_features_in_ :
        As in :class:`TwinELMRegressor`.

    Notes
    -----
    The source is about intervals of real targets; the classifier is our reading of "ensemble
    ELMs" in the paper's conclusion. Where the interval of the best class lies above those of
    all others, the pair agrees on the answer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import TwinELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TwinELMClassifier(random_state=0).fit(X, y)
    >>> lower, upper = model.score_interval(X)
    >>> bool(model.score(X, y) > 0.95), lower.shape
    (True, (150, 3))
    """

    def score_interval(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper expectile of every class's score.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        lower, upper : arrays of shape (N, k)
        """
        lower, upper = self._bounds(X)
        if lower.shape[1] > 1:
            return lower, upper
        return np.hstack([-upper, lower]), np.hstack([-lower, upper])
