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
from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray
from ecselm.baselines.row_layers import LINKS, RowLayers, descend
from ecselm.baselines.two_layers import FittedLayers, TwoLayers, alternate
from ecselm.elm.family import all_or_nothing


class DFATRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Scores by way of attributes, some labelled by people and some latent (DFAT, LDFAT).

    Two layers, from features to attributes and from attributes to scores, are learned
    together: minimise over W and V

    ``|Y - XWV|^2 + alpha |A - XW_m|^2 + reg_w |W|^2 + reg_v |V|^2``,

    where X, Y and A are centred and W_m are the columns of W for the attributes A that
    are given; ``n_latent`` more columns are held to nothing. DFAT has none of these, LDFAT
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
    that are linear in x, so that attributes act as a learned regulariser. Intercepts are not
    penalised, which is what centring comes to where no label is missing. With metadata
    routing, ``set_fit_request(attributes=True)``.

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
            What people said about each row, yes or no as 1 and -1, and NaN where nobody
            said anything; needed to learn only.

        Returns
        -------
        self
        """
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
