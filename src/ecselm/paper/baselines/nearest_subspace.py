"""The nearest subspace: a row belongs to the class that can best rebuild it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import svd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.baselines._common import margins, read_labels, read_rows


def class_basis(X: FloatArray, most: int, energy: float = 1.0) -> FloatArray:
    """Return an orthonormal basis (d, r) of the main part of the span of rows.

    It has the fewest directions with a share ``energy`` of the squared lengths of the rows,
    and at most ``most``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.diag([3.0, 1.0, 0.0])
    >>> class_basis(X, 2).shape, class_basis(X, 2, energy=0.9).shape
    ((3, 2), (3, 1))
    """
    _, s, Vt = svd(X, full_matrices=False)
    rounding = s[0] * max(X.shape) * np.finfo(X.dtype).eps
    rank = int((s > rounding).sum())
    if energy < 1.0 and rank:
        shares = np.cumsum(s[:rank].astype(np.float64) ** 2)
        rank = int(np.searchsorted(shares, energy * shares[-1])) + 1
    return np.ascontiguousarray(Vt[: min(rank, most)].T)


def subspace_residuals(X: FloatArray, U: FloatArray) -> FloatArray:
    """Return ``|x - U U'x|`` for every row, for orthonormal U (d, r)."""
    return np.linalg.norm(X - (X @ U) @ U.T, axis=1)


class NearestSubspaceClassifier(ClassifierMixin, BaseEstimator):
    """Nearest subspace: the class whose training rows rebuild a row with the least error.

    The rows of class k span a space with orthonormal basis ``U_k``; a row x goes to the
    class of least ``e_k(x) = |x - U_k U_k' x|``, where x is measured from the class's mean.
    Without centring and with all directions this is linear regression on the rows of each
    class.

    Parameters
    ----------
    n_components : float, int or None, default=0.8
        Directions per class. A float below 1 takes as many as have this share of the squared
        lengths of the class's rows, an int at most so many, None all that the rows span.
        Always fewer than there are features, else every row would be rebuilt without error.
    center : bool, default=True
        Take each class's mean as its origin. False takes 0, which says little of rows that
        were standardised: 0 is then the mean of all classes.
    normalize : bool, default=True
        Scale every row to length 1 first.

    Attributes
    ----------
    classes_ : array of shape (k,)
    bases_ : list of k arrays of shape (d, r_k)
    means_ : array of shape (k, d)
        Origins, 0 unless ``center``.
    n_features_in_ : int

    Notes
    -----
    The paper quotes this method without a definition: means and shares are our reading. The
    figure it quotes for AR may be that of linear regression classification,
    ``n_components=None, center=False``, which suits few rows of many features. With as many
    rows as features such spans rebuild everything: of standardised wine they know .57, the
    defaults 1.00, a nearest neighbour .97.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ecselm.paper.baselines import NearestSubspaceClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NearestSubspaceClassifier(n_components=10).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "center": ["boolean"],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_components: float | None = 0.8,
        *,
        center: bool = True,
        normalize: bool = True,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.normalize = normalize

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Self:
        """Find a basis of every class.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = read_labels(self, X, y, sparse=False)
        if given.X.shape[1] < 2 and not self.center:
            raise ValueError("X must have at least 2 features with center=False, got n_features=1")
        X = self._scaled(given.X)
        members = [X[given.y == code] for code in range(given.n_classes)]
        origins = [rows.mean(axis=0) if self.center else np.zeros_like(X[0]) for rows in members]
        most, energy, n = X.shape[1] - 1, 1.0, self.n_components
        if isinstance(n, Integral):
            most = min(int(n), most)
        elif n is not None:
            energy = float(n)
        self.classes_, self.means_ = given.classes, np.array(origins)
        self.bases_ = [
            class_basis(rows - origin, most, energy)
            for rows, origin in zip(members, origins, strict=True)
        ]
        return self

    def residuals(self, X: Any) -> FloatArray:
        """Return the residual of each row in the subspace of each class.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        residuals : array of shape (N, k)
        """
        check_is_fitted(self)
        X = self._scaled(read_rows(self, X, sparse=False))
        with np.errstate(all="ignore"):  # refused below
            columns = [
                subspace_residuals(X - origin, U)
                for origin, U in zip(self.means_, self.bases_, strict=True)
            ]
        residuals = np.column_stack(columns)
        if not np.isfinite(residuals).all():
            raise ValueError("X must have finite squares, got values that are too large")
        return residuals

    def decision_function(self, X: Any) -> FloatArray:
        """Return the residuals, negated; the largest is the predicted class.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        return margins(-self.residuals(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class of least residual.

        Parameters
        ----------
        X : array or dataframe of shape (N, d)

        Returns
        -------
        labels : array of shape (N,)
        """
        nearest = self.residuals(X).argmin(axis=1)
        return self.classes_[nearest]

    def _scaled(self, X: FloatArray) -> FloatArray:
        if not self.normalize:
            return X
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(X, axis=1, keepdims=True)
            if not np.isfinite(lengths).all():  # of rows whose squares are not finite
                X = X / np.where(np.isfinite(lengths), 1.0, np.abs(X).max(axis=1, keepdims=True))
                lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(lengths > 0, lengths, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.center  # in the plane: lines through 0
        return tags
