"""SILD: side-information linear discriminants."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import BoolArray, FloatArray
from ecselm.paper.pairs._base import (
    PairLearner,
    ProjectedCosine,
    differences,
    outer_sum,
    with_ridge,
)


@dataclass(frozen=True, slots=True)
class ProjectedDistance:
    """Similarity ``-|A x - A z|`` of pairs."""

    projection: FloatArray  # (r, d)

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d)."""
        return -np.linalg.norm(differences(pairs) @ self.projection.T, axis=1)


def discriminants(D: FloatArray, same: BoolArray, r: int, reg: float) -> FloatArray:
    """Return the r directions (r, d) along which unlike pairs differ most, like ones least.

    They are the leading solutions of ``S_b a = lambda (S_w + reg tr(S_w)/d I) a``,
    scaled to ``a' (S_w + ...) a = 1``.
    """
    within = with_ridge(outer_sum(D[same]) / same.sum(), reg)
    between = outer_sum(D[~same]) / (~same).sum()
    d = len(within)
    try:
        _, V = eigh(between, within, subset_by_index=[d - r, d - 1])
    except np.linalg.LinAlgError:
        raise ValueError(
            "reg must make the scatter of pairs that are the same positive definite, "
            f"got {reg} with {same.sum()} such pairs of {d} features"
        ) from None
    return np.ascontiguousarray(V[:, ::-1].T)


class SILD(PairLearner):
    """Side-information linear discriminant: LDA whose classes are known by pairs only.

    ``A`` maximises ``tr((A S_w A')^-1 A S_b A')`` with the mean scatters S_w and S_b of
    ``x - z`` over pairs that are the same and over those that are not (Kan et al., BMVC
    2011). Which similarity the article takes in the projected space is uncertain; the
    default is the cosine.

    Parameters
    ----------
    n_components : int, default=100
        Number r of directions, at most d of them; choose it by cross-validation.
    similarity : {"cosine", "euclidean"}, default="cosine"
        Cosine of ``A x`` and ``A z``, or the negative of their distance.
    reg : float, default=1e-6
        Added to the diagonal of S_w, in units of its mean.

    Attributes
    ----------
    similarity_ : ProjectedCosine or ProjectedDistance
        Its ``projection`` is A (r, d).
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import SILD
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> SILD(n_components=2).fit(pairs, y).similarity_.projection.shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "similarity": [StrOptions({"cosine", "euclidean"})],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, n_components: int = 100, *, similarity: str = "cosine", reg: float = 1e-6
    ) -> None:
        self.n_components = n_components
        self.similarity = similarity
        self.reg = reg

    def _learn(self, pairs: FloatArray, same: BoolArray) -> ProjectedCosine | ProjectedDistance:
        r = min(self.n_components, pairs.shape[2])
        A = discriminants(differences(pairs), same, r, self.reg)
        return ProjectedCosine(A) if self.similarity == "cosine" else ProjectedDistance(A)
