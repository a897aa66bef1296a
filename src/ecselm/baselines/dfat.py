"""Features, attributes, task: scores learned through what people say about a sample."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ecselm._random import as_generator
from ecselm._sklearn import Interval, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.baselines.two_layers import TwoLayers
from ecselm.elm.family import all_or_nothing


class DFATRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Scores by way of attributes, some labelled by people and some latent (DFAT, LDFAT).

    Two linear layers, from features to attributes and from attributes to scores, are
    learned together: minimise over W and V

    ``|Y - XWV|^2 + alpha |A - XW_m|^2 + reg_w |W|^2 + reg_v |V|^2``,

    where X, Y and A are centred and W_m are the columns of W for the attributes A that
    are given; ``n_latent`` more columns are held to nothing. DFAT has none of these, LDFAT
    has some. Each sweep solves for V and then for W in closed form.

    Parameters
    ----------
    n_latent : int, default=0
        Number of latent attributes. If no attributes are given to ``fit`` and ``n_latent``
        is 0, there are as many as there are scores.
    alpha : float, default=1.0
        Weight of the attributes given.
    reg_w, reg_v : float, default=1.0 and 0.1
        Ridges of the two layers.
    max_iter : int, default=1000
        Most sweeps, which are cheap: their cost does not depend on N.
    tol : float, default=1e-6
        Stop when a sweep lowers the objective by less than this share of it.
    random_state : int, RandomState, Generator or None, default=None
        Where latent attributes start.

    Attributes
    ----------
    feature_weights_ : array of shape (d, K + n_latent)
        W; the columns of attributes that were given come first.
    task_weights_ : array of shape (K + n_latent, m)
        V.
    objective_ : array of shape (n_iter_ + 1,)
        The objective at the start and after each sweep; it never rises.
    n_iter_ : int
    n_attributes_ : int
        The K attributes that were given.
    n_features_in_ : int

    Notes
    -----
    After T. V. Nguyen et al., "Sense beauty via face, dressing, and/or voice", ACM MM 2012,
    and "Towards decrypting attractiveness via multi-modality cues", ACM TOMCCAP 2013. The
    articles could not be had beyond their abstracts: linear layers, squared losses and plain
    ridges are our reading. Scores are then linear in x, so that attributes act as a learned
    regulariser. With metadata routing, ``set_fit_request(attributes=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm.baselines import DFATRegressor
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
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    _means_: tuple[FloatArray, ...]  # of features, scores and attributes

    def __init__(
        self,
        n_latent: int = 0,
        *,
        alpha: float = 1.0,
        reg_w: float = 1.0,
        reg_v: float = 0.1,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_latent = n_latent
        self.alpha = alpha
        self.reg_w = reg_w
        self.reg_v = reg_v
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
            What people said about each row, yes or no as 1 and -1; needed to learn only.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        A = _checked_attributes(attributes, X)
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        rows = X.astype(np.float64, copy=False)
        self._means_ = rows.mean(axis=0), Y.mean(axis=0), A.mean(axis=0)
        Z, R, D = (block - mean for block, mean in zip((rows, Y, A), self._means_, strict=True))
        layers = TwoLayers.from_rows(Z, R, D, self.alpha, self.reg_w, self.reg_v)
        self._sweep(layers, X.dtype)
        self._means_ = tuple(mean.astype(X.dtype) for mean in self._means_)
        self.n_attributes_, self._flat_ = A.shape[1], np.ndim(y) == 1
        return self

    def _sweep(self, layers: TwoLayers, dtype: np.dtype[Any]) -> None:
        """Solve for either layer in turn until nothing is gained."""
        n_latent = self.n_latent or (0 if layers.n_attributes else layers.scores.shape[1])
        W = layers.start(n_latent, as_generator(self.random_state))
        W, V = layers.balanced(W, layers.task_weights(W))
        objective = [layers.objective(W, V)]
        for _ in range(self.max_iter):
            W = layers.feature_weights(V)
            W, V = layers.balanced(W, layers.task_weights(W))
            objective.append(layers.objective(W, V))
            if objective[-2] - objective[-1] <= self.tol * objective[-2]:
                break
        else:
            warnings.warn(
                f"max_iter={self.max_iter} sweeps were not enough, the last lowered the "
                f"objective from {objective[-2]:g} to {objective[-1]:g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.feature_weights_, self.task_weights_ = W.astype(dtype), V.astype(dtype)
        self.objective_, self.n_iter_ = np.array(objective), len(objective) - 1

    def predict(self, X: Any) -> FloatArray:
        """Return scores.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        scores : array of shape (N,) or (N, m)
        """
        scores = self._attribute_scores(X) @ self.task_weights_ + self._means_[1]
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
        return self._attribute_scores(X)[:, : self.n_attributes_] + self._means_[2]

    def _attribute_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        scores: FloatArray = (X - self._means_[0]) @ self.feature_weights_
        return scores


def _checked_attributes(attributes: Any, X: FloatArray) -> FloatArray:
    """Return the attributes (N, K), none if there are none."""
    if attributes is None:
        return np.zeros((len(X), 0))
    A: FloatArray = check_array(attributes, dtype=np.float64, input_name="attributes")
    if len(A) != len(X):
        raise ValueError(f"attributes must have one row per row of X, {len(X)}, got {len(A)}")
    return A
