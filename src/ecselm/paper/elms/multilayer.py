"""Stacked ELM autoencoders in front of an ELM: ML-ELM and H-ELM."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ecselm._random import as_generator
from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import blas_threads
from ecselm._typing import FloatArray
from ecselm.estimators._base import all_or_nothing
from ecselm.layers import ACTIVATIONS, InputScale, measure_scale
from ecselm.linalg import solve_weighted
from ecselm.paper.baselines._common import Labelled, read_rows
from ecselm.paper.elms._base import (
    AT_LEAST_ONE,
    LAYER,
    POSITIVE,
    Activation,
    LayerMachine,
    ScoreClassifier,
    Seed,
    class_scores,
    labelled_rows,
    target_columns,
)

BIAS = 0.1  # constant input of H-ELM's layers


def orthogonal_weights(
    n_inputs: int, n_units: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw W (n, L) with orthonormal columns, or rows if there are fewer, and b of length 1.

    Examples
    --------
    >>> import numpy as np
    >>> W, b = orthogonal_weights(5, 3, np.random.default_rng(0))
    >>> bool(np.allclose(W.T @ W, np.eye(3))), round(float(b @ b), 12)
    (True, 1.0)
    """
    shape = max(n_inputs, n_units), min(n_inputs, n_units)
    Q, _ = np.linalg.qr(rng.standard_normal(shape))
    b = rng.standard_normal(n_units)
    return Q if n_inputs >= n_units else Q.T, b / np.linalg.norm(b)


def ridge_autoencoder(
    X: FloatArray,
    n_units: int,
    activation: str,
    C: float,
    rng: np.random.Generator,
    w: FloatArray | None = None,
) -> FloatArray:
    """Return beta (L, n) of (5) that gives X back from ``H = g(XW + b)``.

    W is orthogonal and b of length 1; ``beta'`` are the weights of a layer of L units that
    learned the inputs.
    """
    W, b = orthogonal_weights(X.shape[1], n_units, rng)
    H = ACTIVATIONS[activation](X @ W + b)
    return solve_weighted(H, X, w, C).beta


@dataclass(frozen=True, slots=True)
class LassoSolution:
    """Weights, and how far they are from the conditions of a minimum."""

    beta: FloatArray  # (L, n)
    gap: float  # over the largest slope at beta = 0
    n_iter: int


def sparse_weights(
    A: FloatArray, X: FloatArray, alpha: float, max_iter: int, tol: float
) -> LassoSolution:
    """Minimise ``||A beta - X||^2 + alpha |beta|_1`` by FISTA.

    Steps of ``1/(2 l)`` with the largest eigenvalue l of A'A along the gradient
    ``2 A'(A beta - X)``, each followed by a shrinkage of ``alpha/(2 l)`` towards 0, from a point
    ahead of the last step. The lead is given up where it no longer descends (O'Donoghue
    and Candes, 2015), without which the steps oscillate. They end when the conditions of a
    minimum hold up to ``tol`` of the largest slope at 0: slopes of ``-alpha`` times the sign of a
    weight, of at most alpha in size at a weight of 0.

    Parameters
    ----------
    A : array of shape (N, L)
    X : array of shape (N, n)
    alpha : float
    max_iter : int
    tol : float

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0], [0.4]])
    >>> sparse_weights(np.eye(2), X, 1.0, 100, 1e-9).beta.ravel()
    array([2.5, 0. ])
    """
    G, M = 2.0 * A.T @ A, 2.0 * A.T @ X
    steepest = float(np.linalg.eigvalsh(G)[-1])
    first = max(float(np.abs(M).max()), np.finfo(np.float64).tiny)
    beta = np.zeros(M.shape)
    if steepest <= 0:
        return LassoSolution(beta, 0.0, 0)
    ahead, lead, gap, n_iter = beta, 1.0, np.inf, 0
    for n_iter in range(1, max_iter + 1):
        moved = ahead - (G @ ahead - M) / steepest
        new = np.sign(moved) * np.maximum(np.abs(moved) - alpha / steepest, 0.0)
        if float(((ahead - new) * (new - beta)).sum()) > 0:
            lead = 1.0
        after = 0.5 + np.sqrt(0.25 + lead**2)
        ahead = new + (lead - 1.0) / after * (new - beta)
        beta, lead = new, after
        if n_iter % 10 == 0 or n_iter == max_iter:
            gap = lasso_gap(G @ beta - M, beta, alpha) / first
            if gap <= tol:
                break
    return LassoSolution(beta, gap, n_iter)


def lasso_gap(slope: FloatArray, beta: FloatArray, alpha: float) -> float:
    """Return by how much the slopes of the squares miss those of a minimum, at most.

    Examples
    --------
    >>> import numpy as np
    >>> lasso_gap(np.array([-1.0, 0.7]), np.array([2.0, 0.0]), 1.0)
    0.0
    """
    missed = np.where(
        beta != 0, np.abs(slope + alpha * np.sign(beta)), np.maximum(np.abs(slope) - alpha, 0.0)
    )
    return float(missed.max(initial=0.0))


class StackedMachine(LayerMachine, ScoreClassifier):
    """What both share: a scale, encoders one after the other, a random layer and (15)."""

    encoder_units: int | Sequence[int]
    C: float
    beta_: FloatArray
    encoders_: list[Any]
    input_scale_: InputScale

    def _widths(self) -> list[int]:
        """Return the number of units of every encoder."""
        units: Any = self.encoder_units
        widths = [units] if isinstance(units, Integral) else list(units)
        if not all(isinstance(one, Integral) and int(one) >= 1 for one in widths):
            raise ValueError(
                f"encoder_units must be one or several integers >= 1, got {self.encoder_units!r}"
            )
        return [int(one) for one in widths]

    def _fit_encoder(
        self, X: FloatArray, n_units: int, w: FloatArray | None, rng: np.random.Generator
    ) -> Any:
        """Return a function from rows to encoded rows that is fitted to X."""
        raise NotImplementedError

    def _stack(self, given: Labelled) -> None:
        """Fit the encoders, then draw a layer behind them and solve for its output weights."""
        widths = self._widths()
        rngs = as_generator(self.random_state).spawn(len(widths) + 1)
        self.input_scale_ = measure_scale(given.X, self.scale, given.weight)
        X = self.input_scale_(given.X)
        self.encoders_ = []
        with blas_threads(max([*widths, self.n_hidden])):
            for n_units, rng in zip(widths, rngs[1:], strict=True):
                encoder = self._fit_encoder(X, n_units, given.weight, rng)
                self.encoders_.append(encoder)
                X = encoder(X)
            self.layer_ = self._drawn(X, given.weight, rngs[0])
            H = self._hidden(self.layer_, X)
            T = target_columns(given)
            self.beta_ = solve_weighted(H, T, given.weight, self.C).beta  # (15)
        self.classes_ = given.classes

    def encode(self, X: Any) -> FloatArray:
        """Return the outputs of the last encoder.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        features : array of shape (N, L)
        """
        rows = self._rows(X)
        X = self.input_scale_(rows)
        for encoder in self.encoders_:
            X = encoder(X)
        return X

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return read_rows(self, X, sparse=False).astype(np.float64, copy=False)

    def _scores(self, X: Any) -> FloatArray:
        encoded = self.encode(X)
        return class_scores(self.layer_(encoded) @ self.beta_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


@dataclass(frozen=True, slots=True)
class RidgeEncoder:
    """``x -> g(beta x)`` with the weights of an autoencoder."""

    beta: FloatArray  # (L, n)
    activation: str

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the encoded rows (N, L)."""
        return ACTIVATIONS[self.activation](X @ self.beta.T)


class MLELMClassifier(StackedMachine):
    """Multilayer ELM: ELM autoencoders stacked in front of an ELM.

    An autoencoder draws orthogonal weights W and a bias of length 1, and solves
    ``beta = (I/C_e + H'H)^-1 H'X`` for ``H = g(XW + b)``; its layer is ``X <- g(X beta')``. The
    output of the last one is the input of an :class:`ecselm.ELMClassifier`. Nothing is tuned
    backwards.

    Parameters
    ----------
    encoder_units : int or sequence of int, default=(100,)
        Units of every autoencoder; an empty sequence is a plain ELM.
    n_hidden : int, default=100
        Hidden units of the ELM behind them.
    C : float, default=32.0
        Penalty of the ELM; larger fits closer.
    encoder_C : float, default=1e3
        Penalty C_e of the autoencoders.
    encoder_activation : str, default="tanh"
        The g of the autoencoders: a name as in :class:`ecselm.ELMClassifier`.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`, of the ELM; ``scale`` also of the inputs.

    Attributes
    ----------
    classes_ : array of shape (k,)
    encoders_ : list of RidgeEncoder
        The ``beta`` (L, n) of every autoencoder.
    beta_ : array of shape (L, m)
        Output weights of the ELM; one column for two classes.
    layer_ : RandomLayer
    input_scale_ : InputScale
    n_features_in_ : int

    Notes
    -----
    After Kasun, Zhou, Huang and Vong (IEEE Intelligent Systems 28(6), 2013), which could not be
    had: activations and the scale between layers are UNCERTAIN. The ELM behind the encoders has
    a random layer of its own; its inputs are standardised again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import MLELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MLELMClassifier((20, 10), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), [encoder.beta.shape for encoder in model.encoders_]
    (True, [(20, 4), (10, 20)])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "encoder_units": [Interval(Integral, 1, None, closed="left"), list, tuple],
        "C": POSITIVE,
        "encoder_C": POSITIVE,
        "encoder_activation": [StrOptions(set(ACTIVATIONS))],
    }

    def __init__(
        self,
        encoder_units: int | Sequence[int] = (100,),
        *,
        n_hidden: int = 100,
        C: float = 32.0,
        encoder_C: float = 1e3,
        encoder_activation: str = "tanh",
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.encoder_units = encoder_units
        self.C = C
        self.encoder_C = encoder_C
        self.encoder_activation = encoder_activation
        super().__init__(n_hidden, activation, draw, scale, random_state)

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit autoencoders one after the other, then the ELM.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            The B of (15), also in the autoencoders; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._stack(labelled_rows(self, X, y, sample_weight, sparse=False))
        return self

    def _fit_encoder(
        self, X: FloatArray, n_units: int, w: FloatArray | None, rng: np.random.Generator
    ) -> RidgeEncoder:
        beta = ridge_autoencoder(X, n_units, self.encoder_activation, self.encoder_C, rng, w)
        return RidgeEncoder(beta, self.encoder_activation)


@dataclass(frozen=True, slots=True)
class SparseEncoder:
    """``x -> beta [x, 0.1]``, mapped to the range [0, 1] of the training rows."""

    beta: FloatArray  # (L, n + 1)
    low: FloatArray  # (L,)
    width: FloatArray  # (L,)
    n_iter: int

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the encoded rows (N, L)."""
        return (with_bias(X) @ self.beta.T - self.low) / self.width


def with_bias(X: FloatArray) -> FloatArray:
    """Return the rows with one more input, which is constant."""
    return np.hstack([X, np.full((len(X), 1), BIAS)])


def to_unit_range(A: FloatArray) -> FloatArray:
    """Map the entries of every row to [-1, 1]; a row of equal entries becomes 0."""
    low, high = A.min(axis=1, keepdims=True), A.max(axis=1, keepdims=True)
    width = (high - low) / 2.0
    return (A - (low + high) / 2.0) / np.where(width > 0, width, 1.0)


class HELMClassifier(StackedMachine):
    """Hierarchical ELM: sparse autoencoders stacked in front of an ELM.

    An autoencoder maps inputs with a constant one by uniform random weights to A, linearly and
    with every row scaled to [-1, 1], and gives them back by the weights of least
    ``||A beta - X||^2 + alpha |beta|_1`` (FISTA); its layer is ``X <- X beta'``, scaled to
    [0, 1]. A random layer and (15) follow.

    Parameters
    ----------
    encoder_units : int or sequence of int, default=(100,)
        Units of every autoencoder; an empty sequence is a plain ELM.
    n_hidden : int, default=100
        Hidden units of the ELM behind them.
    C : float, default=32.0
        Penalty of the ELM; larger fits closer.
    alpha : float, default=1e-3
        Penalty of the absolute values of an autoencoder's weights.
    max_iter : int, default=5000
        Steps of FISTA; more are warned of. The authors' code takes 50 and does not check.
    tol : float, default=1e-4
        How far slopes may be from those of a minimum, over the largest at 0.
    activation, draw, scale, random_state :
        As in :class:`ecselm.ELMClassifier`, of the ELM; ``scale`` also of the inputs.

    Attributes
    ----------
    classes_ : array of shape (k,)
    encoders_ : list of SparseEncoder
        The ``beta`` (L, n + 1) of every autoencoder, and the range of its outputs.
    beta_ : array of shape (L, m)
        Output weights of the ELM; one column for two classes.
    layer_ : RandomLayer
    input_scale_ : InputScale
    n_iter_ : int
        Largest number of steps of an autoencoder; 1 without any.
    n_features_in_ : int

    Notes
    -----
    Tang, Deng and Huang (IEEE TNNLS 27(4), 2016), after public versions of the authors' code,
    whose step ``1/l`` is twice as long as the convergence of FISTA allows and is halved here.
    Inputs are scaled by column rather than by row, and the last layer is the random layer of
    this package rather than an orthogonal one with a factor to choose: both are our reading.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import HELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HELMClassifier((20, 10), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), [encoder.beta.shape for encoder in model.encoders_]
    (True, [(20, 5), (10, 21)])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LAYER,
        "encoder_units": [Interval(Integral, 1, None, closed="left"), list, tuple],
        "C": POSITIVE,
        "alpha": POSITIVE,
        "max_iter": AT_LEAST_ONE,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        encoder_units: int | Sequence[int] = (100,),
        *,
        n_hidden: int = 100,
        C: float = 32.0,
        alpha: float = 1e-3,
        max_iter: int = 5000,
        tol: float = 1e-4,
        activation: Activation = "radbas",
        draw: str = "orthogonal",
        scale: str | None = "standard",
        random_state: Seed = None,
    ) -> None:
        self.encoder_units = encoder_units
        self.C = C
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        super().__init__(n_hidden, activation, draw, scale, random_state)

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit autoencoders one after the other, then the ELM.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            The B of (15), also of the autoencoders' squares; a row of weight 2 counts as two
            rows.

        Returns
        -------
        self
        """
        self._stack(labelled_rows(self, X, y, sample_weight, sparse=False))
        self.n_iter_ = max((encoder.n_iter for encoder in self.encoders_), default=1)
        return self

    def _fit_encoder(
        self, X: FloatArray, n_units: int, w: FloatArray | None, rng: np.random.Generator
    ) -> SparseEncoder:
        inputs = with_bias(X)
        A = to_unit_range(inputs @ rng.uniform(-1.0, 1.0, (inputs.shape[1], n_units)))
        root = 1.0 if w is None else np.sqrt(w)[:, np.newaxis]
        found = sparse_weights(root * A, root * inputs, self.alpha, self.max_iter, self.tol)
        if found.gap > self.tol:
            warnings.warn(
                f"the sparse autoencoder did not converge in max_iter={self.max_iter} steps: "
                f"slopes are {found.gap:.1e} from those of a minimum, tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=5,
            )
        Z = inputs @ found.beta.T
        low, width = Z.min(axis=0), np.ptp(Z, axis=0)
        return SparseEncoder(found.beta, low, np.where(width > 0, width, 1.0), found.n_iter)
