"""KISSME: the likelihood ratio of two Gaussians of differences."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ecselm._sklearn import Interval
from ecselm._typing import BoolArray, FloatArray
from ecselm.paper.pairs._base import (
    MetricLearner,
    NegativeForm,
    differences,
    outer_sum,
    positive_part,
    with_ridge,
)


def precision(D: FloatArray, reg: float) -> FloatArray:
    """Return the inverse of the mean of ``D_t D_t'``, with ``reg tr/d`` on its diagonal.

    The metric is this inverse itself, so here one is formed, from the Cholesky factor.
    """
    S = with_ridge(outer_sum(D) / len(D), reg)
    try:
        inverse: FloatArray = cho_solve(cho_factor(S, lower=True), np.eye(len(S)))
    except np.linalg.LinAlgError:
        raise ValueError(
            "reg must make the mean of outer products of differences positive definite, "
            f"got {reg} with {len(D)} pairs of {len(S)} features"
        ) from None
    return 0.5 * (inverse + inverse.T)


class KISSME(MetricLearner):
    """Keep-it-simple-and-straightforward metric: a ratio of two Gaussians.

    With ``S`` and ``D`` the means of ``(x - z)(x - z)'`` over pairs that are the same and
    over those that are not, ``M = S^-1 - w D^-1`` and the similarity is
    ``-(x - z)' M (x - z)``: up to a constant, which the threshold takes up, twice the
    logarithm of the likelihood ratio of two Gaussians without mean (Köstinger et al.,
    CVPR 2012). Reduce the features first (by PCA) to far fewer than there are pairs.

    Parameters
    ----------
    weight : float, default=1.0
        Weight w of the second term.
    reg : float, default=1e-6
        Added to the diagonals of S and D, in units of their mean.
    clip : bool, default=True
        Replace M by the nearest positive semidefinite matrix. The authors' code clips
        only where a Cholesky factorisation fails and leaves small positive eigenvalues;
        here they become 0.

    Attributes
    ----------
    similarity_ : NegativeForm
        Its ``matrix`` is M (d, d).
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import KISSME
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(KISSME().fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "weight": [Interval(Real, 0, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "clip": ["boolean"],
    }

    def __init__(self, *, weight: float = 1.0, reg: float = 1e-6, clip: bool = True) -> None:
        self.weight = weight
        self.reg = reg
        self.clip = clip

    def _learn(self, pairs: FloatArray, same: BoolArray) -> NegativeForm:
        D = differences(pairs)
        M = precision(D[same], self.reg) - self.weight * precision(D[~same], self.reg)
        return NegativeForm(positive_part(M) if self.clip else M)
