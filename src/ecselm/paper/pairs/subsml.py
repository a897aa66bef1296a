"""Sub-SML: a bilinear form less a distance, in the intra-personal subspace."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import BoolArray, FloatArray, IntArray
from ecselm.paper.pairs._base import (
    PairLearner,
    differences,
    in_callers_order,
    outer_sum,
    quadratic,
    unit_rows,
)

AUTHORS_REG = 1e-6
FEW_PAIRS_REG = 10.0  # mean eigenvalues, where the scatter is singular


@dataclass(frozen=True, slots=True)
class PairForms:
    """Scores ``f = x'G z - D'M D`` of pairs as a function of ``v``.

    ``M(v) = I - 1/gamma sum v D D'`` and ``G(v) = I + 1/beta sum v (x z' + z x')/2``. With
    ``S = x + z``, ``x z' + z x' = (S S' - D D')/2``: squares only.
    """

    S: FloatArray  # (P, d)
    D: FloatArray  # (P, d)
    gamma: float
    beta: float

    @classmethod
    def from_pairs(cls, X: FloatArray, gamma: float, beta: float) -> PairForms:
        """Take pairs (P, 2, d) in the intra-personal space."""
        return cls(X[:, 0] + X[:, 1], X[:, 0] - X[:, 1], gamma, beta)

    def offsets(self) -> FloatArray:
        """Return f_0 (P,), the scores with M = G = I."""
        s, d = (np.einsum("ij,ij->i", part, part) for part in (self.S, self.D))
        return 0.25 * (s - d) - d

    def changes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``M - I`` and ``G - I``."""
        outer = outer_sum(self.D, v)
        return outer / -self.gamma, 0.25 * (outer_sum(self.S, v) - outer) / self.beta

    def kernel(self, v: FloatArray) -> FloatArray:
        """Return ``K v`` (P,)."""
        dM, dG = self.changes(v)
        return 0.25 * quadratic(self.S, dG) - quadratic(self.D, dM + 0.25 * dG)

    def matrices(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return M and G (d, d)."""
        identity = np.eye(self.D.shape[1])
        dM, dG = self.changes(v)
        return identity + dM, identity + dG


@dataclass(frozen=True, slots=True)
class DualSolution:
    """Dual variables in [0, 1] with the values of both problems."""

    multipliers: FloatArray  # alpha (P,), in the caller's order after a fit
    primal: float
    dual: float
    n_iter: int

    @property
    def gap(self) -> float:
        """Return how far at most either value is from the optimum."""
        return self.primal - self.dual


@dataclass(frozen=True, slots=True)
class _Point:
    """Dual variables with the values of one pass over the pairs."""

    alpha: FloatArray
    Kv: FloatArray
    y: FloatArray
    f_0: FloatArray

    def slacks(self) -> FloatArray:
        """Return ``1 - y f`` (P,), the gradient of the dual."""
        return 1.0 - self.y * (self.f_0 + self.Kv)

    def dual(self) -> float:
        v = self.alpha * self.y
        return float(self.alpha.sum() - v @ self.f_0 - 0.5 * (v @ self.Kv))

    def primal(self) -> float:
        v = self.alpha * self.y
        return float(np.maximum(self.slacks(), 0.0).sum() + 0.5 * (v @ self.Kv))

    def beyond(self, before: _Point, momentum: float) -> _Point:
        """Return the point as far beyond this one; all is affine in alpha."""
        return _Point(
            self.alpha + momentum * (self.alpha - before.alpha),
            self.Kv + momentum * (self.Kv - before.Kv),
            self.y,
            self.f_0,
        )


def solve_dual(forms: PairForms, y: FloatArray, tol: float, max_iter: int) -> DualSolution:
    """Return the multipliers of the pairs with labels ``y`` of -1 and +1.

    FISTA with backtracking, begun anew where momentum leads downhill; it ends where
    the duality gap falls below ``tol`` times the primal value.
    """
    f_0, P = forms.offsets(), len(y)
    start = np.full(P, 1.0 / P)
    now = _Point(start, forms.kernel(start * y), y, f_0)
    ahead, inertia, L = now, 1.0, 1.0
    for iteration in range(max_iter):  # noqa: B007
        if now.primal() - now.dual() <= tol * max(now.primal(), 1e-12):
            break
        new, L = _step(forms, ahead, L)
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
        if (ahead.alpha - new.alpha) @ (new.alpha - now.alpha) > 0.0:
            inertia, grown = 1.0, 1.0  # by slopes: values near the optimum differ by rounding
        ahead, now, inertia = new.beyond(now, (inertia - 1.0) / grown), new, grown
    else:
        warnings.warn(
            f"SubSML did not converge in max_iter={max_iter} steps: the duality gap is "
            f"{now.primal() - now.dual():.2g} of {now.primal():.3g}",
            ConvergenceWarning,
            stacklevel=2,
        )
        iteration = max_iter
    return DualSolution(now.alpha, now.primal(), now.dual(), iteration)


def _step(forms: PairForms, at: _Point, L: float) -> tuple[_Point, float]:
    """Return a projected gradient step from ``at`` and the curvature that allowed it."""
    gradient = at.slacks()
    while True:
        alpha = np.clip(at.alpha + gradient / L, 0.0, 1.0)
        new = _Point(alpha, forms.kernel(alpha * at.y), at.y, at.f_0)
        moved = alpha - at.alpha
        curvature = (moved * at.y) @ (new.Kv - at.Kv)
        if curvature <= L * (moved @ moved) * (1.0 + 1e-12):
            return new, L
        L *= 2.0


@dataclass(frozen=True, slots=True)
class IntraPersonalSpace:
    """Map ``x -> L^-1 x`` to length 1, with ``L L' = reg I + sum (x - z)(x - z)'``.

    The sum is over training pairs that are the same.
    """

    factor: FloatArray  # L (d, d), lower triangular

    @classmethod
    def from_pairs(cls, D: FloatArray, reg: float | str) -> IntraPersonalSpace:
        """Measure the space on differences ``D`` of pairs that are the same.

        With fewer pairs than features nothing is known of some directions, and a small
        ``reg`` would make them the longest of all; ``"auto"`` is then ten times the mean
        eigenvalue, else the authors' 1e-6.
        """
        X_S, d = outer_sum(D), D.shape[1]
        if isinstance(reg, str):
            few = len(D) < d and np.trace(X_S) > 0.0
            reg = FEW_PAIRS_REG * float(np.trace(X_S)) / d if few else AUTHORS_REG
        X_S = X_S + reg * np.eye(d)
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
    reg : float or "auto", default="auto"
        Added to the diagonal of the scatter of pairs that are the same. ``"auto"`` is 1e-6,
        as in the authors' code; with fewer such pairs than features, where the scatter is
        singular, ten times its mean eigenvalue. Few pairs need a ridge in any case: with 300
        like pairs of faces of 150 components 1e-6 recognises .60 of new pairs, the mean
        eigenvalue .82, a cosine .83.
    tol : float, default=1e-4
        The search ends where primal and dual values differ by less, relatively.
    max_iter : int, default=2000
        Most steps of the search; it warns when they do not suffice.

    Attributes
    ----------
    similarity_ : SubspaceSimilarity
        Its ``distance`` is M (d, d) and its ``bilinear`` is G (d, d).
    solution_ : DualSolution
        Dual variables, one per pair in the order of ``fit``, and how far from the optimum
        they are.
    threshold_ : float
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.pairs import SubSML
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
        "reg": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    solution_: DualSolution

    def __init__(
        self,
        gamma: float = 10.0,
        beta: float = 10.0,
        *,
        reg: float | str = "auto",
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

    def _number_pairs(self, order: IntArray) -> None:
        alpha = in_callers_order(self.solution_.multipliers, order)
        self.solution_ = replace(self.solution_, multipliers=alpha)
