"""CSML: the projection in which cosines separate pairs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval
from ecselm._typing import BoolArray, FloatArray
from ecselm.paper.pairs._base import PairLearner, ProjectedCosine, cross_sum, rows_times

LEAST_VARIANCE = 1e-6  # over the largest, below which a direction is rounding error


@dataclass(frozen=True, slots=True)
class CosineLoss:
    """``-sum_t s_t cos(A x_t, A z_t) + beta |A - A_0|^2``, for a search."""

    pairs: FloatArray  # (P, 2, d)
    sign: FloatArray  # s (P,), 1 for like pairs, -alpha for unlike ones
    prior: FloatArray  # A_0 (r, d)
    beta: float

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient at ``theta``, the rows of A."""
        A = theta.reshape(self.prior.shape)
        x, z = self.pairs[:, 0], self.pairs[:, 1]
        a, c = rows_times(x, A.T), rows_times(z, A.T)
        ra, rc = (_reciprocal(np.linalg.norm(part, axis=1)) for part in (a, c))
        s = np.einsum("ij,ij->i", a, c) * ra * rc
        cross = self.sign * ra * rc
        to_x = c * cross[:, np.newaxis] - a * (self.sign * s * ra**2)[:, np.newaxis]
        to_z = a * cross[:, np.newaxis] - c * (self.sign * s * rc**2)[:, np.newaxis]
        away = A - self.prior
        slope = 2.0 * self.beta * away - cross_sum(to_x, x) - cross_sum(to_z, z)
        return float(self.beta * np.sum(away**2) - self.sign @ s), slope.ravel()


def _reciprocal(lengths: FloatArray) -> FloatArray:
    """Return ``1 / lengths``, and 0 for vectors of zeros."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def whitening(X: FloatArray, r: int) -> FloatArray:
    """Return ``Lambda^-1/2 V'`` (r, d) of the r main directions of the rows of ``X``.

    Directions in which the rows hardly vary become 0: rounding errors would be amplified.
    """
    d = X.shape[1]
    values, V = eigh(np.cov(X.T).reshape(d, d), subset_by_index=[d - r, d - 1])
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    lengths = np.where(values > LEAST_VARIANCE * values[0], np.sqrt(values), 0.0)
    return np.ascontiguousarray((V * _reciprocal(lengths)).T)


class CSML(PairLearner):
    """Cosine similarity metric learning.

    A maximises ``sum_same cos(A x, A z) - alpha sum_diff cos(A x, A z) - beta |A - A_0|^2``
    with ``alpha = #same / #diff`` and ``A_0`` the whitened principal components of the
    training vectors (Nguyen and Bai, ACCV 2010). The article searches beta on
    validation folds and takes A as the next ``A_0``, in a way that is uncertain in detail:
    here ``beta`` is a parameter, for a search like scikit-learn's, and ``rounds`` says
    how often A becomes ``A_0``.

    Parameters
    ----------
    n_components : int, default=200
        Rows of A, at most d.
    beta : float, default=10.0
        How close A stays to A_0; choose it between 1e-3 and 1e3 by cross-validation.
    rounds : int, default=1
        Number of searches, each of which starts from and stays near the last.
    max_iter : int, default=200
        Most steps of L-BFGS in a round; it warns when they do not suffice.
    tol : float, default=1e-7
        A round ends where a step changes the value by less, relatively.

    Attributes
    ----------
    similarity_ : ProjectedCosine
        Its ``projection`` is A (r, d).
    n_iter_ : int
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import CSML
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(CSML(2).fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "rounds": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    n_iter_: int

    def __init__(
        self,
        n_components: int = 200,
        beta: float = 10.0,
        *,
        rounds: int = 1,
        max_iter: int = 200,
        tol: float = 1e-7,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.rounds = rounds
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, pairs: FloatArray, same: BoolArray) -> ProjectedCosine:
        d = pairs.shape[2]
        A = whitening(pairs.reshape(-1, d), min(self.n_components, d))
        sign = np.where(same, 1.0, -same.sum() / (~same).sum())
        self.n_iter_ = 0
        for _ in range(self.rounds):
            A = self._improved(CosineLoss(pairs, sign, A, self.beta))
        return ProjectedCosine(A)

    def _improved(self, loss: CosineLoss) -> FloatArray:
        options = {"maxiter": self.max_iter, "ftol": self.tol, "gtol": 0.0}
        start = loss.prior.ravel()
        result = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
        self.n_iter_ += int(result.nit)
        if result.nit >= self.max_iter:
            warnings.warn(
                f"CSML did not converge in max_iter={self.max_iter} steps",
                ConvergenceWarning,
                stacklevel=2,
            )
        return result.x.reshape(loss.prior.shape)
