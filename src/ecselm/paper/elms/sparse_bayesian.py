"""ELMs whose output weights have a prior of their own each: most of them are pruned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.linalg import factor_shifted
from ecselm.paper.baselines._common import Labelled, class_pairs, pair_rows
from ecselm.paper.elms._base import (
    AT_LEAST_ONE,
    LAYER,
    POSITIVE,
    Activation,
    LayerClassifier,
    LayerMachine,
    LayerRegressor,
    Seed,
    class_scores,
)

NEWTON_STEPS = 50
LAST_GAIN = 1e-10  # of the log-likelihood, from which one more Newton step is exact
SHORTEST = 1e-10  # step
LEAST_NOISE = 1e-6  # over the variance of the targets
LEAST_SHARE = 1e-7  # of a probability, so that pairs of classes can be coupled


@dataclass(frozen=True, slots=True)
class Evidence:
    """Mode, precisions and kept units where the evidence is largest, in the sense of the loop."""

    mean: FloatArray  # (s,), of the weights of the kept units
    precision: FloatArray  # (s,), a
    units: IntArray  # (s,)
    noise: float  # variance of the targets around the function; 1 for classes
    n_iter: int
    converged: bool


def _by_rows(
    H: FloatArray, r: FloatArray, a: FloatArray, u: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return G, ``(I + GG')^-1 u`` and g, for fewer rows than units.

    With ``G = diag(sqrt(r)) H diag(a)^-1/2``, ``S = (H'diag(r)H + diag(a))^-1`` is
    ``diag(a)^-1/2 (I - G'(I + GG')^-1 G) diag(a)^-1/2``, and ``g_j = 1 - a_j S_jj`` is
    ``G_j'(I + GG')^-1 G_j``, which loses no digits.
    """
    G = np.sqrt(r)[:, np.newaxis] * H / np.sqrt(a)
    solved = factor_shifted(G @ G.T, 1.0).solve(np.column_stack([u, G]))
    return G, solved[:, 0], np.einsum("ij,ij->j", G, solved[:, 1:])


def _by_units(A: FloatArray, a: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``S v`` and ``g_j = 1 - a_j S_jj`` for ``S = (A + diag(a))^-1``.

    The system is scaled to a unit diagonal: precisions differ by nine powers of ten.
    """
    M = A + np.diag(a)
    d = 1.0 / np.sqrt(M.diagonal())
    factor = factor_shifted(M * d * d[:, np.newaxis], 0.0)
    solved = d * factor.solve((d * v)[:, np.newaxis])[:, 0]
    return solved, 1.0 - a * d * d * factor.inverse_diagonal()


def evidence_regression(
    H: FloatArray, t: FloatArray, w: FloatArray, *, prune: float, max_iter: int, tol: float
) -> Evidence:
    """Maximise the evidence of ``t = H beta + noise``, ``beta_j ~ N(0, 1/a_j)``.

    In turns ``S = (b H'WH + diag(a))^-1`` and ``m = b S H'W t``, then ``g_j = 1 - a_j S_jj``,
    ``a_j = g_j / m_j^2`` and ``1/b = sum w (t - Hm)^2 / (sum w - sum g)``. Units whose a_j is
    above ``prune`` leave. The noise 1/b is at least 1e-6 of the variance of t: with more units
    than rows it would vanish, and rounding would decide which units stay.

    Parameters
    ----------
    H : array of shape (N, L)
    t, w : arrays of shape (N,)
    prune, tol : float
        The loop ends when the outputs change by less than ``tol`` standard deviations of t.
    max_iter : int
    """

    def mean(
        H: FloatArray, gram: FloatArray, moment: FloatArray, a: FloatArray, b: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return m and g."""
        if len(H) >= H.shape[1]:
            return _by_units(b * gram, a, b * moment)
        G, solved, g = _by_rows(H, b * w, a, np.sqrt(b * w) * t)
        return G.T @ solved / np.sqrt(a), g

    units = np.arange(H.shape[1])
    total = float(w.sum())
    variance_t = float(w @ (t - float(w @ t) / total) ** 2) / total
    if variance_t == 0:
        return Evidence(np.zeros(1), np.ones(1), units[:1], 0.0, 1, converged=True)
    b = 1.0 / variance_t
    least, most = 0.5 * b, b / LEAST_NOISE
    gram, moment = (H.T * w) @ H, (H.T * w) @ t
    a: FloatArray = np.ones(len(units))
    z: FloatArray = np.zeros(len(t))
    converged = False
    for n_iter in range(1, max_iter + 1):  # noqa: B007  reported
        m, g = mean(H, gram, moment, a, b)
        before, z = z, H @ m
        left = float(w @ (t - z) ** 2)
        a = np.maximum(g, 0.0) / np.maximum(m**2, np.finfo(np.float64).tiny)
        b = float(np.clip((total - float(g.sum())) / left if left > 0 else most, least, most))
        kept = _kept(a, prune)
        H, gram, moment = H[:, kept], gram[np.ix_(kept, kept)], moment[kept]
        units, a = units[kept], a[kept]
        if float(w @ (z - before) ** 2) <= tol**2 * variance_t * total:
            converged = True
            break
    m, _ = mean(H, gram, moment, a, b)
    return Evidence(m, a, units, 1.0 / b, n_iter, converged)


def _kept(a: FloatArray, prune: float) -> IntArray:
    """Return the units below the bound on precisions, at least one."""
    kept = np.flatnonzero(a < prune)
    return kept if len(kept) else np.array([int(a.argmin())])


def logistic_mode(
    H: FloatArray, t: FloatArray, w: FloatArray, a: FloatArray, m: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mode of the logistic posterior, and g of its Laplace approximation.

    Newton steps, from m, on ``-sum w (t log y + (1 - t) log(1 - y)) + sum a m^2 / 2`` with
    ``y = sigmoid(Hm)``: the gradient is ``H'W(y - t) + a m``, the second derivative
    ``H'WRH + diag(a)`` with ``R = diag(y (1 - y))``. A step that does not descend is halved.
    The last step is one that could gain no more than 1e-10: its error is the square of that.
    ``g_j = 1 - a_j S_jj`` is how much the rows, rather than the prior, say of a weight.
    """

    def loss(m: FloatArray) -> float:
        z = H @ m
        return float(w @ (np.logaddexp(0.0, z) - t * z) + 0.5 * a @ m**2)

    value, last = loss(m), False
    for _ in range(NEWTON_STEPS):
        y = expit(H @ m)
        slope = H.T @ (w * (y - t)) + a * m
        r = w * y * (1.0 - y)
        if len(H) >= H.shape[1]:
            step, g = _by_units((H.T * r) @ H, a, slope)
        else:
            scaled = slope / np.sqrt(a)
            G, solved, g = _by_rows(H, r, a, np.sqrt(r) * (H @ (scaled / np.sqrt(a))))
            step = (scaled - G.T @ solved) / np.sqrt(a)
        if last:
            break
        last, size = bool(slope @ step <= LAST_GAIN * (1.0 + value)), 1.0
        while not last and loss(m - size * step) > value and size > SHORTEST:
            size /= 2.0
        m = m - size * step
        value = loss(m)
    return m, g


def evidence_classification(
    H: FloatArray, t: FloatArray, w: FloatArray, *, prune: float, max_iter: int, tol: float
) -> Evidence:
    """Maximise the evidence of classes t in {0, 1} under ``sigmoid(H beta)``, by Laplace.

    In turns the mode m of the posterior and its ``g_j``, by :func:`logistic_mode`, and
    ``a_j = g_j / m_j^2``. Units whose a_j is above ``prune`` leave.

    Parameters
    ----------
    H : array of shape (N, L)
    t, w : arrays of shape (N,)
    prune, tol : float
        The loop ends when the outputs z change by less than ``tol`` of ``sqrt(1 + z^2)``.
    max_iter : int
    """
    units = np.arange(H.shape[1])
    a: FloatArray = np.ones(len(units))
    m: FloatArray = np.zeros(len(units))
    z: FloatArray = np.zeros(len(t))
    converged = False
    for n_iter in range(1, max_iter + 1):  # noqa: B007  reported
        m, g = logistic_mode(H, t, w, a, m)
        before, z = z, H @ m
        a = np.maximum(g, 0.0) / np.maximum(m**2, np.finfo(np.float64).tiny)
        kept = _kept(a, prune)
        H, units, a, m = H[:, kept], units[kept], a[kept], m[kept]
        if float(w @ (z - before) ** 2) <= tol**2 * float(w @ (1.0 + z**2)):
            converged = True
            break
    m, _ = logistic_mode(H, t, w, a, m)
    return Evidence(m, a, units, 1.0, n_iter, converged)


def coupled_probabilities(R: FloatArray, n_classes: int) -> FloatArray:
    """Return class probabilities (N, k) from those of pairs.

    ``R[:, p]`` is the probability of the second class of the pair p = (i, j), i < j. The
    probabilities minimise ``sum_ij (r_ji p_i - r_ij p_j)^2`` with the sum 1, where r_ij is the
    probability of i against j (Wu, Lin and Weng, JMLR 5, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> coupled_probabilities(np.array([[0.75]]), 2)
    array([[0.25, 0.75]])
    """
    if n_classes == 2:
        return np.hstack([1.0 - R, R])
    N, k = len(R), n_classes
    r = np.zeros((N, k, k))
    for p, (i, j) in enumerate(class_pairs(k)):
        second = np.clip(R[:, p], LEAST_SHARE, 1.0 - LEAST_SHARE)
        r[:, j, i], r[:, i, j] = second, 1.0 - second
    M = np.zeros((N, k + 1, k + 1))
    M[:, :k, :k] = -r * r.transpose(0, 2, 1)
    M[:, range(k), range(k)] = (r**2).sum(axis=1)
    M[:, :k, k] = M[:, k, :k] = 1.0
    v = np.zeros((N, k + 1, 1))
    v[:, k] = 1.0
    P = np.maximum(np.linalg.solve(M, v)[:, :k, 0], 0.0)
    return P / P.sum(axis=1, keepdims=True)


class EvidenceMachine(LayerMachine):
    """What the classifier and the regressor share: parameters and warnings."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "prune": POSITIVE,
        "max_iter": AT_LEAST_ONE,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        prune: float = 1e9,
        max_iter: int = 500,
        tol: float = 1e-3,
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.prune = prune
        self.max_iter = max_iter
        self.tol = tol
        super().__init__(n_hidden, activation, draw, scale, random_state)

    @property
    def _limits(self) -> dict[str, Any]:
        return {"prune": self.prune, "max_iter": self.max_iter, "tol": self.tol}

    def _warn(self, found: list[Evidence]) -> None:
        missed = sum(not one.converged for one in found)
        if missed:
            warnings.warn(
                f"the evidence did not converge in max_iter={self.max_iter} steps for {missed} of "
                f"{len(found)} machines: outputs still change by more than tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=3,
            )


class SparseBayesianELMClassifier(LayerClassifier, EvidenceMachine):
    """Sparse Bayesian ELM: output weights with a prior each, set by the evidence.

    The relevance vector machine on H. Two classes have ``p(x) = sigmoid(h(x) w)`` with
    ``w_j ~ N(0, 1/a_j)``; the posterior is approximated by a normal law at its mode (Laplace),
    and ``a_j = (1 - a_j S_jj)/w_j^2`` maximises the evidence. Most a_j grow without bound and
    their units are pruned. There is no C to choose. More classes are pairs of classes, whose
    probabilities are coupled.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of random units before pruning.
    prune : float, default=1e9
        Precision a_j from which a unit is dropped.
    max_iter : int, default=500
        Steps of the precisions; more are warned of.
    tol : float, default=1e-3
        Change of the outputs on training rows, relative to their size, at which the steps end.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (L, k(k-1)/2)
        Weights of every pair of classes, in the order (0, 1), (0, 2), ..., zero where pruned.
    precision_ : array of shape (L, k(k-1)/2)
        The a_j, infinite where pruned.
    layer_ : RandomLayer
    n_iter_ : int
        Largest number of steps of a pair.
    n_features_in_ : int

    Notes
    -----
    After Luo, Vong and Wong (IEEE TNNLS 25(4), 2014), which could not be had: that the machine
    is Tipping's (JMLR 1, 2001) on hidden units, with pairs of classes, is our reading; how the
    article couples pairs is UNCERTAIN. There is no intercept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import SparseBayesianELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseBayesianELMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), int((model.beta_ != 0).sum()) < 60
    (True, True)
    """

    def _learn_classes(self, given: Labelled) -> None:
        """Maximise the evidence of every pair of classes."""
        w = np.ones(len(given.y)) if given.weight is None else given.weight
        layer, H = self._layer_and_rows(given.X, given.weight)
        found: list[Evidence] = []
        with blas_threads(H.shape[1]):
            for pair in class_pairs(given.n_classes):
                rows = pair_rows(given.y, pair)
                t = (given.y[rows] == pair[1]).astype(np.float64)
                found.append(evidence_classification(H[rows], t, w[rows], **self._limits))
        self._warn(found)
        self.beta_ = np.zeros((H.shape[1], len(found)))
        self.precision_ = np.full(self.beta_.shape, np.inf)
        for p, one in enumerate(found):
            self.beta_[one.units, p], self.precision_[one.units, p] = one.mean, one.precision
        self.layer_, self.n_iter_ = layer, max(one.n_iter for one in found)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities at the mode of the posterior.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        R = expit(self._outputs(X))
        return coupled_probabilities(R, len(self.classes_))

    def _scores(self, X: Any) -> FloatArray:
        Z = self._outputs(X)
        if len(self.classes_) == 2:
            return class_scores(Z)
        return coupled_probabilities(expit(Z), len(self.classes_))


class SparseBayesianELMRegressor(LayerRegressor, EvidenceMachine):
    """Sparse Bayesian ELM for a real target: relevant units by evidence maximisation.

    ``t = mean + h(x) beta + noise`` with ``beta_j ~ N(0, 1/a_j)``: automatic relevance
    determination on the hidden units.

    Parameters
    ----------
    n_hidden, prune, max_iter, tol, activation, draw, scale, random_state :
        As in :class:`SparseBayesianELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (L,)
        Output weights, zero where pruned.
    precision_ : array of shape (L,)
        The a_j, infinite where pruned.
    intercept_ : float
        The mean of the targets.
    noise_ : float
        Variance of the targets around the function.
    layer_, n_iter_, n_features_in_ :
        As in :class:`SparseBayesianELMClassifier`.

    Notes
    -----
    The sources, and what is our reading of them, are those of
    :class:`SparseBayesianELMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.elms import SparseBayesianELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(200)
    >>> model = SparseBayesianELMRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99), round(model.noise_**0.5, 1)
    (True, 0.1)
    """

    def _learn(self, X: Matrix, T: FloatArray, weight: FloatArray | None) -> None:
        """Maximise the evidence."""
        w = np.ones(len(T)) if weight is None else weight
        layer, H = self._layer_and_rows(X, weight)
        with blas_threads(H.shape[1]):
            found = evidence_regression(H, T[:, 0], w, **self._limits)
        self._warn([found])
        self.beta_, self.precision_ = np.zeros(H.shape[1]), np.full(H.shape[1], np.inf)
        self.beta_[found.units], self.precision_[found.units] = found.mean, found.precision
        self.layer_, self.noise_, self.n_iter_ = layer, found.noise, found.n_iter
