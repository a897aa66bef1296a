"""Sub-SML: a bilinear form less a distance, in the intra-personal subspace."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ecselm._sklearn import Interval
from ecselm._typing import BoolArray, FloatArray
from ecselm.pairs.dual import DualSolution, PairForms, solve_dual
from ecselm.pairs.forms import differences, unit_rows
from ecselm.pairs.learner import PairLearner
from ecselm.pairs.products import outer_sum, quadratic


@dataclass(frozen=True, slots=True)
class IntraPersonalSpace:
    """Map ``x -> L^-1 x`` to length 1, with ``L L' = reg I + sum (x - z)(x - z)'``.

    The sum is over training pairs that are the same.
    """

    factor: FloatArray  # L (d, d), lower triangular

    @classmethod
    def from_pairs(cls, D: FloatArray, reg: float) -> IntraPersonalSpace:
        """Measure the space on differences ``D`` of pairs that are the same."""
        X_S = outer_sum(D) + reg * np.eye(D.shape[1])
        try:
            return cls(cholesky(X_S, lower=True))
        except np.linalg.LinAlgError:
            raise ValueError(
                "reg must make the scatter of pairs that are the same positive definite, "
                f"got {reg} with {len(D)} such pairs of {D.shape[1]} features"
            ) from None

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the pairs (P, 2, d) in this space."""
        rows = pairs.reshape(-1, pairs.shape[2])
        mapped = solve_triangular(self.factor, rows.T, lower=True).T
        return np.ascontiguousarray(unit_rows(mapped)).reshape(pairs.shape)


@dataclass(frozen=True, slots=True)
class SubspaceSimilarity:
    """Similarity ``x~'G z~ - (x~ - z~)'M(x~ - z~)`` in the intra-personal space."""

    space: IntraPersonalSpace
    distance: FloatArray  # M (d, d)
    bilinear: FloatArray  # G (d, d)

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d)."""
        X = self.space(pairs)
        inner = np.einsum("ij,ij->i", X[:, 0] @ self.bilinear, X[:, 1])
        return inner - quadratic(differences(X), self.distance)


class SubSML(PairLearner):
    """Similarity metric learning over the intra-personal subspace.

    Vectors become ``x~ = L^-1 x`` of length 1, where ``L L'`` is the scatter of pairs that
    are the same. The similarity ``f = x~'G z~ - (x~ - z~)'M(x~ - z~)`` minimises
    ``sum [1 - y f]_+ + gamma/2 |M - I|^2 + beta/2 |G - I|^2`` over symmetric M and G
    (Cao, Ying and Li, ICCV 2013). Like the authors' code, and unlike what the name of a
    metric suggests, neither is constrained to be positive semidefinite. With infinite
    ``gamma`` and ``beta`` both stay I: intra-personal PCA.

    Parameters
    ----------
    gamma, beta : float, default=10.0
        How close M and G stay to I; may be infinite.
    reg : float, default=1e-6
        Added to the diagonal of the scatter of pairs that are the same.
    tol : float, default=1e-4
        The search ends where primal and dual values differ by less, relatively.
    max_iter : int, default=2000
        Most steps of the search; it warns when they do not suffice.

    Attributes
    ----------
    similarity_ : SubspaceSimilarity
        Its ``distance`` is M (d, d) and its ``bilinear`` is G (d, d).
    solution_ : DualSolution
        Dual variables and how far from the optimum they are.
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.pairs import SubSML
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> bool(SubSML().fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [Interval(Real, 0, None, closed="right")],
        "beta": [Interval(Real, 0, None, closed="right")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    solution_: DualSolution

    def __init__(
        self,
        gamma: float = 10.0,
        beta: float = 10.0,
        *,
        reg: float = 1e-6,
        tol: float = 1e-4,
        max_iter: int = 2000,
    ) -> None:
        self.gamma = gamma
        self.beta = beta
        self.reg = reg
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, pairs: FloatArray, same: BoolArray) -> SubspaceSimilarity:
        space = IntraPersonalSpace.from_pairs(differences(pairs)[same], self.reg)
        forms = PairForms.from_pairs(space(pairs), self.gamma, self.beta)
        y = np.where(same, 1.0, -1.0)
        self.solution_ = solve_dual(forms, y, self.tol, self.max_iter)
        M, G = forms.matrices(self.solution_.multipliers * y)
        return SubspaceSimilarity(space, M, G)
