"""ELMs of few hidden units, chosen by orthogonal least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr, qr_delete, solve_triangular

from ecselm._sklearn import StrOptions
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.layers import RandomLayer
from ecselm.linalg import solve_weighted
from ecselm.linalg.ridge import minimum_norm_solution
from ecselm.paper.elms._base import (
    AT_LEAST_ONE,
    LAYER,
    NOT_NEGATIVE,
    POSITIVE,
    Activation,
    LayerClassifier,
    LayerMachine,
    LayerRegressor,
    Seed,
)

DEPENDENT = 1e-20  # of a column's squares that are left, below which it adds nothing


@dataclass(frozen=True, slots=True)
class Selection:
    """Units in the order of their choice, and the squares that are left after each step.

    ``squares[0]`` is before the first step.
    """

    units: IntArray  # (s,)
    squares: FloatArray  # (steps + 1,)


def forward_selection(
    H: FloatArray, T: FloatArray, least_gain: float = 0.0, max_units: int | None = None
) -> Selection:
    """Add columns of H that explain most of T, by orthogonal least squares.

    The column j that lowers ``||T - H_S beta||^2`` most has the largest
    ``||w_j'T||^2 / w_j'w_j``, where w_j is its part orthogonal to the columns chosen before
    (modified Gram-Schmidt). It is added as long as that is more than ``least_gain``.

    Parameters
    ----------
    H : array of shape (N, L)
    T : array of shape (N, m)
    least_gain : float, default=0.0
        Squares.
    max_units : int or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    >>> forward_selection(H, np.array([[0.0], [0.0], [3.0]])).units
    array([2])
    """
    W, E = H.copy(), T.copy()
    first = np.einsum("ij,ij->j", W, W)
    open_units = np.ones(H.shape[1], dtype=bool)
    units: list[int] = []
    squares = [float((E**2).sum())]
    while len(units) < (H.shape[1] if max_units is None else max_units):
        norms = np.einsum("ij,ij->j", W, W)
        usable = open_units & (norms > DEPENDENT * first)
        products = W.T @ E
        gains = np.einsum("ij,ij->i", products, products)
        gains = np.where(usable, gains / np.where(usable, norms, 1.0), 0.0)
        j = int(gains.argmax())
        if gains[j] <= least_gain:
            break
        q = W[:, j] / np.sqrt(norms[j])
        E -= np.outer(q, q @ E)
        W -= np.outer(q, q @ W)
        open_units[j] = False
        units.append(j)
        squares.append(float((E**2).sum()))
    return Selection(np.array(units, dtype=np.intp), np.array(squares))


def backward_elimination(
    H: FloatArray, T: FloatArray, most_loss: float = 0.0, max_units: int | None = None
) -> Selection:
    """Remove the columns of H that T misses least, from a triangular factor ``H = QR``.

    Without column j, ``||T - H beta||^2`` grows by ``||beta_j||^2 / ((H'H)^-1)_jj``, and
    ``(H'H)^-1 = R^-1 R^-T``. A column is removed as long as that is at most ``most_loss`` or
    more than ``max_units`` are left; the factor is brought back to triangular form by
    rotations. Columns that depend on others are removed first, and one always stays.

    Parameters
    ----------
    H : array of shape (N, L)
    T : array of shape (N, m)
    most_loss : float, default=0.0
        Squares.
    max_units : int or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    >>> backward_elimination(H, np.array([[0.0], [0.0], [3.0]])).units
    array([2])
    """
    triangle, order = qr(H, mode="r", pivoting=True)
    sizes = np.abs(triangle.diagonal())
    kept = sizes > np.sqrt(DEPENDENT) * max(float(sizes[0]), np.finfo(np.float64).tiny)
    units = np.sort(order[: len(sizes)][kept]).astype(np.intp)
    Q, R = qr(H[:, units], mode="economic")
    z = Q.T @ T  # (s, m)
    squares = [float((T**2).sum() - (z**2).sum())]
    while len(units) > 1:
        inverse = solve_triangular(R, np.eye(len(R)))
        beta = inverse @ z
        losses = (beta**2).sum(axis=1) / (inverse**2).sum(axis=1)
        j = int(losses.argmin())
        if losses[j] > most_loss and (max_units is None or len(units) <= max_units):
            break
        rotation, R = qr_delete(np.eye(len(R)), R, j, which="col")
        z = (rotation.T @ z)[:-1]
        R = R[:-1]
        units = np.delete(units, j)
        squares.append(squares[-1] + float(losses[j]))
    return Selection(units, np.array(squares))


def penalised_rows(
    H: FloatArray, T: FloatArray, w: FloatArray | None, C: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return rows whose least squares is the weighted ridge regression (15).

    ``[sqrt(w) H; I/sqrt(C)]`` and ``[sqrt(w) T; 0]``; None for C adds nothing.
    """
    if w is not None:
        root = np.sqrt(w)[:, np.newaxis]
        H, T = root * H, root * T
    if C is None:
        return H, T
    L = H.shape[1]
    return np.vstack([H, np.eye(L) / np.sqrt(C)]), np.vstack([T, np.zeros((L, T.shape[1]))])


class ParsimoniousMachine(LayerMachine):
    """What the classifier and the regressor share: parameters, selection and solution."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "direction": [StrOptions({"constructive", "destructive"})],
        "tol": NOT_NEGATIVE,
        "max_units": [*AT_LEAST_ONE, None],
        "C": [*POSITIVE, None],
    }

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        direction: str = "constructive",
        tol: float = 1e-3,
        max_units: int | None = None,
        C: float | None = 32.0,
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.direction = direction
        self.tol = tol
        self.max_units = max_units
        self.C = C
        super().__init__(n_hidden, activation, draw, scale, random_state)

    def _learn(self, X: Matrix, T: FloatArray, weight: FloatArray | None) -> None:
        """Draw a layer, choose units and solve for their output weights."""
        layer, H = self._layer_and_rows(X, weight)
        with blas_threads(H.shape[1]):
            A, Y = penalised_rows(H, T, weight, self.C)
            share = self.tol * float((Y**2).sum())
            if self.direction == "constructive":
                found = forward_selection(A, Y, share, self.max_units)
            else:
                found = backward_elimination(A, Y, share, self.max_units)
            units = found.units if len(found.units) else np.zeros(1, dtype=np.intp)
            H = np.ascontiguousarray(H[:, units])
            solution = (
                minimum_norm_solution(H, T, weight)
                if self.C is None
                else solve_weighted(H, T, weight, self.C)  # (15)
            )
        self.layer_ = _some_units(layer, units)
        self.units_, self.squares_, self.beta_ = units, found.squares, solution.beta


def _some_units(layer: RandomLayer, units: IntArray) -> RandomLayer:
    """Return the layer of some of the units."""
    return RandomLayer(
        np.ascontiguousarray(layer.weights[:, units]),
        layer.biases[units],
        layer.activation,
        layer.center,
    )


class ParsimoniousELMClassifier(LayerClassifier, ParsimoniousMachine):
    """Parsimonious ELM: of many random units, keep those that orthogonal least squares needs.

    Constructive: units join that lower the squared error most, one by one, found by
    orthogonalising all others against the chosen ones. Destructive: of all units, the one
    whose loss raises the squared error least leaves, found from the triangular factor of H.
    The output weights of the remaining ones are (15).

    Parameters
    ----------
    n_hidden : int, default=100
        Number of random units to choose from.
    direction : {"constructive", "destructive"}, default="constructive"
    tol : float, default=1e-3
        A unit is kept if it explains more than this share of the squares of the targets.
    max_units : int or None, default=None
        Units at most.
    C : float or None, default=32.0
        Penalty of (15), which the choice counts as well; None is least squares without one.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (k,)
    units_ : array of shape (s,)
        The positions of the units that are kept; constructive in the order of choice.
    squares_ : array
        The penalised squared error before the first step and after each.
    beta_ : array of shape (s, m)
        Output weights of the kept units; one column for two classes.
    layer_ : RandomLayer
        The kept units.
    n_features_in_ : int

    Notes
    -----
    After Wang, Er and Han (IEEE TNNLS 25(10), 2014), which could not be had: the orders of
    choice are those of orthogonal least squares, the rule to stop is our reading. A bound on
    all unexplained squares would keep every unit where classes overlap, so the bound is
    on what one unit explains. The article has no penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import ParsimoniousELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ParsimoniousELMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), len(model.units_) < 50
    (True, True)
    """


class ParsimoniousELMRegressor(LayerRegressor, ParsimoniousMachine):
    """Parsimonious ELM for a real target.

    The choice of units sees targets of mean 0; the mean is added to predictions.

    Parameters
    ----------
    n_hidden, direction, tol, max_units, C, activation, draw, scale, random_state :
        As in :class:`ParsimoniousELMClassifier`.

    Attributes
    ----------
    units_, squares_, beta_, layer_, n_features_in_ :
        As in :class:`ParsimoniousELMClassifier`.
    intercept_ : float
        The mean of the targets.

    Notes
    -----
    The sources, and what is our reading of them, are those of
    :class:`ParsimoniousELMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.elms import ParsimoniousELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
    >>> model = ParsimoniousELMRegressor(C=1e6, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99), len(model.units_) < 20
    (True, True)
    """
