"""ITML: the metric nearest to a given one that keeps to bounds on distances."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import BoolArray, FloatArray
from ecselm.pairs.forms import NegativeForm, differences
from ecselm.pairs.kissme import precision
from ecselm.pairs.learner import MetricLearner
from ecselm.pairs.products import quadratic
from ecselm.pairs.projections import Bounds, LogDetSolution, project_cyclically


class ITML(MetricLearner):
    """Information-theoretic metric learning.

    M has the least LogDet divergence from ``M_0`` such that like pairs are at most
    ``u`` apart and unlike ones at least ``l``, in ``(x - z)' M (x - z)``, with slack on
    the bounds (Davis et al., ICML 2007). The projections share slack by
    ``slack / (slack + 1)``, which solves that problem for every ``slack``; the factor 1/2
    that the article prints is this one for ``slack=1``. Pairs of equal vectors have no
    projection and are left out. O(P d^2) per sweep; the larger ``slack`` and the less
    equal the scales of the features, the more sweeps.

    Parameters
    ----------
    slack : float, default=1.0
        The larger, the more exactly the bounds are kept (gamma of the article).
    bounds : (float, float) or None, default=None
        ``(u, l)`` on squared distances. None takes the 5th and the 95th percentile of
        those of all training pairs under ``M_0``; the authors' code reads them off a
        histogram of 100 random pairs.
    prior : {"identity", "covariance"} or array of shape (d, d), default="identity"
        ``M_0``; ``"covariance"`` is the inverse of the mean of ``(x - z)(x - z)'`` over
        all training pairs.
    tol : float, default=1e-3
        The sweeps end when the multipliers change by less, relatively.
    max_iter : int, default=500
        Most sweeps; it warns when they do not suffice.

    Attributes
    ----------
    similarity_ : NegativeForm
        Its ``matrix`` is M (d, d).
    bounds_ : Bounds
    solution_ : LogDetSolution
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.pairs import ITML
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(ITML().fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "slack": [Interval(Real, 0, None, closed="neither")],
        "bounds": [tuple, list, None],
        "prior": [StrOptions({"identity", "covariance"}), "array-like"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    bounds_: Bounds
    solution_: LogDetSolution

    def __init__(
        self,
        slack: float = 1.0,
        *,
        bounds: tuple[float, float] | None = None,
        prior: Any = "identity",
        tol: float = 1e-3,
        max_iter: int = 500,
    ) -> None:
        self.slack = slack
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, pairs: FloatArray, same: BoolArray) -> NegativeForm:
        D = differences(pairs)
        apart = D.any(axis=1)
        D, same = D[apart], same[apart]
        M_0 = self._prior(D)
        self.bounds_ = Bounds(D, same, *self._bounds(quadratic(D, M_0)))
        solution = project_cyclically(M_0, self.bounds_, self.slack, self.tol, self.max_iter)
        if not solution.converged:
            warnings.warn(
                f"ITML did not converge in max_iter={self.max_iter} sweeps",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.solution_ = solution
        return NegativeForm(solution.matrix)

    def _prior(self, D: FloatArray) -> FloatArray:
        d = D.shape[1]
        if isinstance(self.prior, str):
            return np.eye(d) if self.prior == "identity" else precision(D, 1e-6)
        M_0 = np.asarray(self.prior, dtype=np.float64)
        if M_0.shape != (d, d) or not np.allclose(M_0, M_0.T):
            raise ValueError(f"prior must be symmetric of shape {(d, d)}, got {M_0.shape}")
        if np.linalg.eigvalsh(M_0)[0] <= 0.0:
            raise ValueError("prior must be positive definite, got an eigenvalue <= 0")
        return M_0

    def _bounds(self, distances: FloatArray) -> tuple[float, float]:
        if self.bounds is None:
            if not len(distances):
                raise ValueError("pairs must hold some vectors that differ, got none")
            upper, lower = np.percentile(distances, [5, 95])
            return float(upper), float(lower)
        if len(self.bounds) != 2 or not all(_is_bound(bound) for bound in self.bounds):
            raise ValueError(f"bounds must be two finite numbers > 0, got {self.bounds!r}")
        return float(self.bounds[0]), float(self.bounds[1])


def _is_bound(bound: Any) -> bool:
    return isinstance(bound, Real) and 0 < float(bound) < np.inf
