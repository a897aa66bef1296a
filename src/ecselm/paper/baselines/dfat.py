"""Features, attributes, task: scores learned through attributes that people give a sample."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, solve, svd
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ecselm._random import as_generator
from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import BoolArray, FloatArray
from ecselm.estimators._base import all_or_nothing, check_targets

LINKS = ("identity", "tanh")


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


@dataclass(frozen=True, slots=True)
class RowLayers:
    """``|Y - b - PV|^2 + alpha |A - P_m|^2 + reg_w |W|^2 + reg_v |V|^2``, ``P = link(XW + c)``.

    The second term runs over the labels that are there. The best V and b for given W and c
    are a ridge regression on P, so that the objective is one of ``theta``, W over c, alone.
    """

    X: FloatArray  # (N, d), centred
    Y: FloatArray  # (N, m), centred
    A: FloatArray  # (N, K), anything where unknown
    known: BoolArray  # (N, K)
    alpha: float
    reg_w: float
    reg_v: float
    link: str = "identity"

    def attributes(self, theta: FloatArray) -> FloatArray:
        """Return P (N, k)."""
        P: FloatArray = self.X @ theta[:-1] + theta[-1]
        return np.tanh(P, out=P) if self.link == "tanh" else P

    def task_weights(self, P: FloatArray) -> FloatArray:
        """Return V = (P'P + reg_v I)^-1 P'Y with P centred, which includes b."""
        P = P - P.mean(axis=0)
        G = P.T @ P
        G[np.diag_indices_from(G)] += self.reg_v
        V: FloatArray = solve(G, P.T @ self.Y, assume_a="pos")
        return V

    def objective(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective at ``theta`` (d + 1, k), and its gradient.

        At the best V its own slope is 0, so that V counts as a constant.
        """
        P, K = self.attributes(theta), self.A.shape[1]
        V = self.task_weights(P)
        errors = (P - P.mean(axis=0)) @ V - self.Y
        missed = np.where(self.known, P[:, :K] - self.A, 0.0)
        slope = errors @ V.T
        slope[:, :K] += self.alpha * missed
        if self.link == "tanh":
            slope *= 1.0 - P**2
        penalty = self.reg_w * (theta[:-1] ** 2).sum() + self.reg_v * (V**2).sum()
        value = float((errors**2).sum() + self.alpha * (missed**2).sum() + penalty)
        gradient = np.vstack([self.X.T @ slope + self.reg_w * theta[:-1], slope.sum(axis=0)])
        return value, 2.0 * gradient


def descend(layers: RowLayers, start: FloatArray, max_iter: int, tol: float) -> FittedLayers:
    """Follow L-BFGS from ``start`` (d + 1, k) until a step gains less than ``tol``.

    That is a share of the objective at the start, by which all values are divided: the
    minimiser's own rule is absolute below 1.
    """
    first, _ = layers.objective(start)
    unit, path = first or 1.0, [first]

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = layers.objective(flat.reshape(start.shape))
        return value / unit, gradient.ravel() / unit

    def record(intermediate_result: OptimizeResult) -> None:
        path.append(unit * float(intermediate_result.fun))

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "ftol": tol, "gtol": 0.0, "maxcor": 20}
    found = minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", callback=record, options=options
    )
    theta = found.x.reshape(start.shape)
    P = layers.attributes(theta)
    V = layers.task_weights(P)
    b = -P.mean(axis=0) @ V
    return FittedLayers(theta[:-1], theta[-1], V, b, np.array(path), bool(found.success))


class DFATRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Scores by way of attributes, some labelled by people and some latent (DFAT, LDFAT).

    Two layers, from features to attributes and from attributes to scores, are learned
    together: minimise over W and V

    ``|Y - XWV|^2 + alpha |A - XW_m|^2 + reg_w |W|^2 + reg_v |V|^2``,

    where X, Y and A are centred and W_m are the columns of W for the attributes A that
    are given; ``n_latent`` more columns are free. DFAT has none of these, LDFAT
    has some. Each sweep solves for V and then for W in closed form. With ``link="tanh"``
    or labels that are missing the layers go on from there by L-BFGS.

    Parameters
    ----------
    n_latent : int, default=0
        Number of latent attributes. If no attributes are given to ``fit`` and ``n_latent``
        is 0, there are as many as there are scores.
    alpha : float, default=1.0
        Weight of the attributes given.
    reg_w, reg_v : float, default=1.0 and 0.1
        Ridges of the two layers. **Choose them by cross-validation**: errors are summed over
        rows, so what is right grows with N and with the variance of the features, and the
        defaults are no more than where to begin. On 310 faces of 300 components each they
        err three times as much as the mean score; ``reg_w=1e4, reg_v=10`` err 0.6 times
        as much.
    link : {"identity", "tanh"}, default="identity"
        Attributes are ``link(XW + c)``; with ``"tanh"`` they lie between -1 and 1, and
        scores need not be linear in the features. It overfits sooner: raise the ridges.
    max_iter : int, default=1000
        Most sweeps, which are cheap: their cost does not depend on N. Steps of L-BFGS,
        which look at every row, are as many at most.
    tol : float, default=1e-6
        Stop when a sweep lowers the objective by less than this share of it, or a step of
        L-BFGS by less than this share of what it began with.
    random_state : int, RandomState, Generator or None, default=None
        Where latent attributes start.

    Attributes
    ----------
    feature_weights_ : array of shape (d, K + n_latent)
        W; the columns of attributes that were given come first.
    attribute_intercept_ : array of shape (K + n_latent,)
    task_weights_ : array of shape (K + n_latent, m)
        V.
    task_intercept_ : array of shape (m,)
    objective_ : array of shape (``n_iter_ + 1``,)
        The objective at the start and after each sweep, or each step of L-BFGS after the
        sweeps; it never rises.
    n_iter_ : int
    n_attributes_ : int
        The K attributes that were given.
    n_features_in_ : int

    Notes
    -----
    After T. V. Nguyen et al., "Sense beauty via face, dressing, and/or voice", ACM MM 2012,
    and "Towards decrypting attractiveness via multi-modality cues", ACM TOMCCAP 2013. The
    articles could not be had beyond their abstracts: whether layers are linear or squashed
    is UNCERTAIN, squared losses and plain ridges are our reading. Linear layers give scores
    that are linear in x, so that attributes act as a learned regulariser. Without attributes
    one score with the weights ``u = WV`` is ridge regression of the penalty
    ``sqrt(reg_w reg_v) / |u|``, with any number of latent attributes. Intercepts are not
    penalised, which is what centring comes to where no label is missing. With metadata
    routing, ``set_fit_request(attributes=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.paper.baselines import DFATRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 8))
    >>> attributes = np.sign(X[:, :2])
    >>> model = DFATRegressor().fit(X, X[:, 0] - X[:, 1], attributes=attributes)
    >>> bool(model.score(X, X[:, 0] - X[:, 1]) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_latent": [Interval(Integral, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "reg_w": [Interval(Real, 0, None, closed="neither")],
        "reg_v": [Interval(Real, 0, None, closed="neither")],
        "link": [StrOptions(set(LINKS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_latent: int = 0,
        *,
        alpha: float = 1.0,
        reg_w: float = 1.0,
        reg_v: float = 0.1,
        link: str = "identity",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_latent = n_latent
        self.alpha = alpha
        self.reg_w = reg_w
        self.reg_v = reg_v
        self.link = link
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    @one_blas_thread()
    def fit(self, X: Any, y: Any, attributes: Any = None) -> Self:
        """Learn both layers.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)
        y : array of shape (N,) or (N, m)
            Scores of one or several tasks.
        attributes : array of shape (N, K), default=None
            Attributes that people gave to each row, 1 for yes and -1 for no, and NaN where
            missing; needed in training only.

        Returns
        -------
        self
        """
        check_targets(y)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        A = _checked_attributes(attributes, X, self.link)
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        rows = X.astype(np.float64, copy=False)
        means = rows.mean(axis=0), Y.mean(axis=0)
        found = self._learned(rows - means[0], Y - means[1], A)
        self.feature_weights_, self.task_weights_ = found.W.astype(X.dtype), found.V.astype(X.dtype)
        self.attribute_intercept_ = (found.c - means[0] @ found.W).astype(X.dtype)
        self.task_intercept_ = (found.b + means[1]).astype(X.dtype)
        self.objective_, self.n_iter_ = found.objective, len(found.objective) - 1
        self.n_attributes_, self._flat_ = A.shape[1], np.ndim(y) == 1
        self._squashed_ = self.link == "tanh"
        return self

    def _learned(self, X: FloatArray, Y: FloatArray, A: FloatArray) -> FittedLayers:
        """Solve for linear layers, and go on from them where that is not all."""
        known, weights = ~np.isnan(A), (self.alpha, self.reg_w, self.reg_v)
        means = np.nanmean(A, axis=0)
        linear = TwoLayers.from_rows(X, Y, np.where(known, A - means, 0.0), *weights)
        n_latent = self.n_latent or (0 if A.shape[1] else Y.shape[1])
        start = linear.start(n_latent, as_generator(self.random_state))
        c = np.concatenate([means, np.zeros(n_latent)])
        found = alternate(linear, start, c, self.max_iter, self.tol)
        if self.link != "identity" or not known.all():
            layers = RowLayers(X, Y, A, known, *weights, link=self.link)
            found = descend(layers, np.vstack([found.W, c]), self.max_iter, self.tol)
        if not found.converged:
            before, after = found.objective[-2:]
            warnings.warn(
                f"max_iter={self.max_iter} steps were not enough, the last lowered the "
                f"objective from {before:g} to {after:g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return found

    def predict(self, X: Any) -> FloatArray:
        """Return scores.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        scores : array of shape (N,) or (N, m)
        """
        scores = self._attributes(X) @ self.task_weights_ + self.task_intercept_
        return scores.ravel() if self._flat_ else scores

    def predict_attributes(self, X: Any) -> FloatArray:
        """Return the attributes that were given to ``fit``, as they would be for new rows.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        attributes : array of shape (N, K)
        """
        return self._attributes(X)[:, : self.n_attributes_]

    def _attributes(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        P: FloatArray = X @ self.feature_weights_ + self.attribute_intercept_
        return np.tanh(P) if self._squashed_ else P


def _checked_attributes(attributes: Any, X: FloatArray, link: str) -> FloatArray:
    """Return the attributes (N, K) with NaN for labels that are missing, none if there are none."""
    if attributes is None:
        return np.zeros((len(X), 0))
    A: FloatArray = check_array(
        attributes, dtype=np.float64, ensure_all_finite="allow-nan", input_name="attributes"
    )
    if len(A) != len(X):
        raise ValueError(f"attributes must have one row per row of X, {len(X)}, got {len(A)}")
    unlabelled = np.isnan(A).all(axis=0)
    if unlabelled.any():
        raise ValueError(
            "attributes must have a label in every column, got NaN only in column "
            f"{unlabelled.argmax()}"
        )
    largest = np.nanmax(np.abs(A))
    if link == "tanh" and largest > 1:
        raise ValueError(f"attributes must lie in [-1, 1] with link='tanh', got {largest:g}")
    return A
