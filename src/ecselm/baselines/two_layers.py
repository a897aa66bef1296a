"""Two linear layers between features and scores, either of them in closed form.

Sizes: N rows, d features, K attributes given, k attributes with the latent ones, m scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve, svd

from ecselm._typing import FloatArray


@dataclass(frozen=True, slots=True)
class TwoLayers:
    """``|Y - XWV|^2 + alpha |A - XW_m|^2 + reg_w |W|^2 + reg_v |V|^2`` of centred rows.

    All that depends on rows is a product of two blocks, and X'X is diagonal in its own
    basis, so that a sweep costs nothing in N.
    """

    basis: FloatArray  # (d, d), eigenvectors of X'X
    spectrum: FloatArray  # (d,), its eigenvalues
    scores: FloatArray  # (d, m), X'Y in that basis
    attributes: FloatArray  # (d, K), X'A in that basis
    squares: tuple[float, float]  # |Y|^2 and |A|^2
    alpha: float
    reg_w: float
    reg_v: float

    @classmethod
    def from_rows(
        cls,
        X: FloatArray,
        Y: FloatArray,
        A: FloatArray,
        alpha: float,
        reg_w: float,
        reg_v: float,
    ) -> TwoLayers:
        """Take the products of centred rows X (N, d), Y (N, m) and A (N, K)."""
        spectrum, basis = eigh(X.T @ X)
        return cls(
            basis,
            np.maximum(spectrum, 0.0),
            basis.T @ (X.T @ Y),
            basis.T @ (X.T @ A),
            (float((Y**2).sum()), float((A**2).sum())),
            alpha,
            reg_w,
            reg_v,
        )

    @property
    def n_attributes(self) -> int:
        """Return the number K of attributes that were given."""
        return self.attributes.shape[1]

    def start(self, n_latent: int, rng: np.random.Generator) -> FloatArray:
        """Return W (d, k): a ridge from features to attributes, then latent columns.

        The first of these are the leading directions of a ridge from features to scores;
        any more than there are scores are random, a tenth as long.
        """
        ridges = (self.spectrum + self.reg_w)[:, np.newaxis]
        leading, lengths, _ = svd(self.scores / ridges, full_matrices=False)
        sizes = np.sqrt(lengths)[:n_latent]
        n_more = n_latent - len(sizes)
        size = 0.1 * (sizes.max(initial=0.0) or 1.0) / np.sqrt(len(self.basis))
        more = size * rng.standard_normal((len(self.basis), n_more))
        known = self.attributes / ridges
        return self.basis @ np.hstack([known, leading[:, : len(sizes)] * sizes, more])

    def balanced(self, W: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same product WV with the least penalty.

        A latent attribute may be scaled by c and its weights by 1/c; the best c has
        ``c^4 = reg_v |V_j|^2 / (reg_w |W_j|^2)``. Sweeps alone come to it slowly.
        """
        w, v = np.sqrt(self.reg_w) * np.linalg.norm(W, axis=0), np.linalg.norm(V, axis=1)
        v = np.sqrt(self.reg_v) * v
        free = (np.arange(len(V)) >= self.n_attributes) | (self.alpha == 0)
        free &= (w > 0) & (v > 0)
        c = np.sqrt(np.divide(v, w, out=np.ones_like(v), where=free))
        return W * c, V / c[:, np.newaxis]

    def task_weights(self, W: FloatArray) -> FloatArray:
        """Return V = (P'P + reg_v I)^-1 P'Y with P = XW."""
        R = self.basis.T @ W
        G = R.T @ (self.spectrum[:, np.newaxis] * R)
        G[np.diag_indices_from(G)] += self.reg_v
        V: FloatArray = solve(G, R.T @ self.scores, assume_a="pos")
        return V

    def feature_weights(self, V: FloatArray) -> FloatArray:
        """Return W, which solves ``X'X W (VV' + S) + reg_w W = X'(YV' + AS)``.

        S has ``alpha`` on the diagonal for attributes given and 0 for latent ones. In the
        eigenvectors Q of ``VV' + S`` and those of X'X every entry is a division.
        """
        k, K = len(V), self.n_attributes
        alphas = np.where(np.arange(k) < K, self.alpha, 0.0)
        values, Q = eigh(V @ V.T + np.diag(alphas))
        right = self.scores @ V.T
        right[:, :K] += self.alpha * self.attributes
        solved = (right @ Q) / (np.outer(self.spectrum, np.maximum(values, 0.0)) + self.reg_w)
        return self.basis @ solved @ Q.T

    def objective(self, W: FloatArray, V: FloatArray) -> float:
        """Return the objective, without looking at a row."""
        R = self.basis.T @ W
        fitted, known = R @ V, R[:, : self.n_attributes]
        return float(
            self._squared_error(fitted, self.scores, self.squares[0])
            + self.alpha * self._squared_error(known, self.attributes, self.squares[1])
            + self.reg_w * (W**2).sum()
            + self.reg_v * (V**2).sum()
        )

    def _squared_error(self, R: FloatArray, moments: FloatArray, squares: float) -> float:
        explained = 2.0 * float((R * moments).sum())
        return squares - explained + float(self.spectrum @ (R**2).sum(axis=1))


@dataclass(frozen=True, slots=True)
class FittedLayers:
    """Attributes ``P = link(XW + c)`` and scores ``PV + b`` of centred rows X and scores.

    Of linear layers only ``cV + b`` matters, which is 0.
    """

    W: FloatArray  # (d, k)
    c: FloatArray  # (k,)
    V: FloatArray  # (k, m)
    b: FloatArray  # (m,)
    objective: FloatArray  # at the start and after each step
    converged: bool


def alternate(
    layers: TwoLayers, start: FloatArray, c: FloatArray, max_iter: int, tol: float
) -> FittedLayers:
    """Solve for either layer in turn until a sweep gains less than ``tol`` of the objective.

    ``start`` is W (d, k), and ``c`` (k,) are the means that were taken from the attributes.
    """
    W, V = layers.balanced(start, layers.task_weights(start))
    objective, converged = [layers.objective(W, V)], False
    while not converged and len(objective) <= max_iter:
        W = layers.feature_weights(V)
        W, V = layers.balanced(W, layers.task_weights(W))
        objective.append(layers.objective(W, V))
        converged = objective[-2] - objective[-1] <= tol * objective[-2]
    return FittedLayers(W, c, V, -c @ V, np.array(objective), converged)
