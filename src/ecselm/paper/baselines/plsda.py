"""Partial least squares discriminant analysis."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import margins, read_labels, read_rows


class PLSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Partial least squares on class indicators, and the largest of them.

    scikit-learn's :class:`~sklearn.cross_decomposition.PLSRegression` from X to 0/1
    indicators of the classes, ``argmax`` of what it predicts.

    Parameters
    ----------
    n_components : int, default=5
        Number of components, or as many as X has directions in which rows differ: beyond
        these there is noise.
    scale : bool, default=True
        Scale the columns of X and the indicators to unit variance first.
    discriminant : {"argmax", "lda"}, default="argmax"
        The largest indicator, which neglects small classes, or linear discriminant
        analysis of the scores.

    Attributes
    ----------
    classes_ : array of shape (k,)
    pls_ : PLSRegression
    lda_ : LinearDiscriminantAnalysis or None
    n_features_in_ : int

    Notes
    -----
    The paper does not state the number of components: choose it by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ecselm.paper.baselines import PLSDA
    >>> X, y = load_wine(return_X_y=True)
    >>> model = PLSDA(n_components=3).fit(X, y)
    >>> model.transform(X).shape, bool(model.score(X, y) > 0.95)
    ((178, 3), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "discriminant": [StrOptions({"argmax", "lda"})],
    }

    def __init__(
        self, n_components: int = 5, *, scale: bool = True, discriminant: str = "argmax"
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.discriminant = discriminant

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Regress the class indicators on X.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = read_labels(self, X, y, sparse=False)
        most = min(self.n_components, _rank(given.X))
        self.pls_ = PLSRegression(most, scale=self.scale).fit(given.X, given.one_hot)
        self.lda_ = None
        if self.discriminant == "lda":
            self.lda_ = LinearDiscriminantAnalysis().fit(self.pls_.transform(given.X), given.y)
        self.classes_ = given.classes
        self._n_features_out = most
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the scores of rows on the components.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        T : array of shape (N, A)
        """
        check_is_fitted(self)
        return self.pls_.transform(read_rows(self, X, sparse=False))

    def decision_function(self, X: Any) -> FloatArray:
        """Return what speaks for each class; the largest is the predicted class.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
        """
        check_is_fitted(self)
        if self.lda_ is not None:
            return self.lda_.decision_function(self.transform(X))
        X = read_rows(self, X, sparse=False)
        return margins(self.pls_.predict(X).reshape(len(X), -1))

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        scores = self.decision_function(X)
        winners = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return self.classes_[winners]


def _rank(X: FloatArray) -> int:
    """Return the number of directions in which rows differ, columns scaled alike."""
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    spread = np.linalg.norm(Z, axis=0)
    noise = np.finfo(X.dtype).eps * np.sqrt(len(X)) * np.abs(X).max(axis=0)
    if not (spread > noise).any():
        raise ValueError("X must have rows that differ from each other, got copies of one")
    Z = Z[:, spread > noise] / spread[spread > noise]
    s = np.linalg.svd(Z, compute_uv=False)
    return int((s > s[0] * max(Z.shape) * np.finfo(X.dtype).eps).sum())
