"""LDML: logistic regression on a Mahalanobis distance."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import expit

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import BoolArray, FloatArray
from ecselm.paper.pairs._base import (
    MetricLearner,
    NegativeForm,
    cross_sum,
    differences,
    outer_sum,
    rows_times,
)


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """Mean of ``-log p`` over pairs, ``p(same) = sigma(b - |L D|^2)``, plus ``decay |L|^2``."""

    D: FloatArray  # (P, d)
    same: BoolArray
    weight: FloatArray  # (P,), sum 1
    decay: float

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient at ``theta``, the rows of L and then b."""
        L, b = theta[:-1].reshape(-1, self.D.shape[1]), theta[-1]
        LD = rows_times(self.D, L.T)
        margin = b - np.einsum("ij,ij->i", LD, LD)
        loss = np.logaddexp(0.0, np.where(self.same, -margin, margin))
        missing = self.weight * (self.same - expit(margin))  # t - p
        fit = cross_sum(LD * missing[:, np.newaxis], self.D)
        slope = 2.0 * (fit + self.decay * L)
        value = self.weight @ loss + self.decay * np.sum(L**2)
        return float(value), np.append(slope.ravel(), -missing.sum())


def starting_point(D: FloatArray, rank: int) -> FloatArray:
    """Return the first L (rank, d): the main directions, to a median distance of 1."""
    d = D.shape[1]
    L = np.eye(d) if rank == d else eigh(outer_sum(D), subset_by_index=[d - rank, d - 1])[1].T
    q = np.sum((D @ L.T) ** 2, axis=1)
    return L / np.sqrt(np.median(q) or 1.0)


class LDML(MetricLearner):
    """Logistic discriminant metric learning.

    ``p(same) = sigma(b - (x - z)' M (x - z))`` with ``M = L'L``, by maximum likelihood over
    L and b (Guillaumin et al., ICCV 2009). The authors' code starts at random and
    takes 100 conjugate gradient steps; here L starts at I over the root of the median
    squared distance, b at 1, and L-BFGS goes as many steps. Stopping early is what
    keeps separable data from an unbounded M, so it does not warn. With many features a
    few steps are enough: choose ``max_iter`` like any other parameter. In the space of
    :class:`SubSML`, with 60 or 100 features and 1, 2 or 4 steps as training folds choose, it
    knows .817 of the pairs of LFW view 2, where a whitened cosine knows .787
    (``python -m benchmarks.lfw``).

    Parameters
    ----------
    rank : int or None, default=None
        Rows of L, at most d; None is d, for which the problem has no local minima but
        the global one.
    decay : float, default=0.0
        Weight of ``|L|^2`` beside the mean loss per pair; differences are measured in units
        of their median length.
    class_weight : {"balanced"} or None, default="balanced"
        ``"balanced"`` gives like and unlike pairs the same total weight.
    max_iter : int, default=100
        Most steps.
    tol : float, default=1e-6
        They end before where no entry of the gradient is larger.

    Attributes
    ----------
    similarity_ : NegativeForm
        Its ``matrix`` is M (d, d) and its ``offset`` is b.
    components_ : array of shape (rank, d)
        L.
    n_iter_ : int
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import LDML
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(LDML().fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "decay": [Interval(Real, 0, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    components_: FloatArray
    n_iter_: int

    def __init__(
        self,
        rank: int | None = None,
        *,
        decay: float = 0.0,
        class_weight: str | None = "balanced",
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> None:
        self.rank = rank
        self.decay = decay
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, pairs: FloatArray, same: BoolArray) -> NegativeForm:
        D = differences(pairs)
        unit = float(np.sqrt(np.median(np.sum(D**2, axis=1)))) or 1.0
        D, (P, d) = D / unit, D.shape
        share = np.full(P, 1.0 / P)
        if self.class_weight == "balanced":
            share = np.where(same, 0.5 / same.sum(), 0.5 / (~same).sum())
        L = starting_point(D, d if self.rank is None else min(self.rank, d))
        result = minimize(
            LogisticLoss(D, same, share, self.decay),
            np.append(L.ravel(), 1.0),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0},
        )
        self.n_iter_ = int(result.nit)
        self.components_ = result.x[:-1].reshape(L.shape) / unit
        return NegativeForm(outer_sum(self.components_), float(result.x[-1]))
