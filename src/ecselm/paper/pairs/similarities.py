"""The five similarities of a pair (paper, section V.B)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm.estimators._base import all_or_nothing
from ecselm.paper.pairs._base import (
    checked_labels,
    checked_pairs,
    cosines,
    differences,
    finite_scores,
    positive_part,
    quadratic,
    unit_rows,
)
from ecselm.paper.pairs.kissme import precision
from ecselm.paper.pairs.subsml import SubSML, SubspaceSimilarity

NAMES = ("correlation", "euclidean", "cosine", "mahalanobis", "bilinear")


@dataclass(frozen=True, slots=True)
class FiveSimilarities:
    """The learned map from a pair to five numbers."""

    components: PCA | None
    learned: SubspaceSimilarity

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarities (P, 5) of pairs (P, 2, d)."""
        X = reduced(self.components, pairs)
        Z = self.learned.space(X)
        inner = np.einsum("ij,ij->i", Z[:, 0] @ self.learned.bilinear, Z[:, 1])
        columns = [
            cosines(X - X.mean(axis=2, keepdims=True)),
            np.linalg.norm(differences(unit_rows(X)), axis=1),
            cosines(Z),
            quadratic(differences(Z), self.learned.distance),
            inner,
        ]
        return np.stack(columns, axis=1)


def reduced(components: PCA | None, pairs: FloatArray) -> FloatArray:
    """Return pairs of principal components, or the pairs as they are."""
    if components is None:
        return pairs
    rows = components.transform(pairs.reshape(-1, pairs.shape[2]))
    return np.ascontiguousarray(rows).reshape(len(pairs), 2, -1)


class PairSimilarities(TransformerMixin, BaseEstimator):
    """Turn a pair into five similarities, for a classifier of two classes.

    The paper names them without saying in which space, with which sign or with which
    matrices. Here they are, with ``x~`` and the matrices M and G of :class:`SubSML`:

    1. the correlation of x and z over their principal components,
    2. the distance of x and z, both of length 1,
    3. the cosine of ``x~`` and ``z~``,
    4. ``(x~ - z~)'M(x~ - z~)``, without a root as M may be indefinite,
    5. ``x~'G z~``.

    What was learned from a pair flatters it, so :meth:`fit_transform` gives every training
    pair the similarities learned without its fold, and only pairs that come later those
    learned from all. The five are in different units: standardise them.

    Parameters
    ----------
    pca_dim : int or None, default=300
        Principal components of the training vectors, at most as many as there are; None
        takes the features as they are.
    gamma, beta : float, default=10.0
        As in :class:`SubSML`.
    psd : bool, default=False
        Replace G by the nearest positive semidefinite matrix, as the paper's words say
        and the authors of Sub-SML do not.
    mahalanobis : {"learned", "covariance"}, default="learned"
        M of Sub-SML, or the inverse of the mean of ``(x~ - z~)(x~ - z~)'`` over like pairs.
    cv : int, splitter or iterable, default=9
        Folds of :meth:`fit_transform`; LFW has ten, of which nine train.

    Attributes
    ----------
    similarities_ : FiveSimilarities
    classes_ : array of shape (2,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecselm.paper.pairs import PairSimilarities
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((200, 1, 3)), np.arange(200) % 2
    >>> z = y[:, None, None] * x + 0.3 * rng.standard_normal(x.shape)
    >>> pairs = np.concatenate([x, z], axis=1)
    >>> model = make_pipeline(PairSimilarities(cv=3), StandardScaler(), LogisticRegression())
    >>> bool(model.fit(pairs, y).score(pairs, y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "pca_dim": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [Interval(Real, 0, None, closed="right")],
        "beta": [Interval(Real, 0, None, closed="right")],
        "psd": ["boolean"],
        "mahalanobis": [StrOptions({"learned", "covariance"})],
        "cv": ["cv_object"],
    }

    classes_: AnyArray
    n_features_in_: int
    similarities_: FiveSimilarities

    def __init__(
        self,
        pca_dim: int | None = 300,
        gamma: float = 10.0,
        beta: float = 10.0,
        *,
        psd: bool = False,
        mahalanobis: str = "learned",
        cv: Any = 9,
    ) -> None:
        self.pca_dim = pca_dim
        self.gamma = gamma
        self.beta = beta
        self.psd = psd
        self.mahalanobis = mahalanobis
        self.cv = cv

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, pairs: Any, y: Any) -> Self:
        """Learn the similarities from all pairs (P, 2, d) with two labels ``y`` (P,)."""
        given = checked_pairs(pairs)
        classes, same = checked_labels(y, given)
        self.similarities_ = self._learn(given, same)
        self.classes_, self.n_features_in_ = classes, given.shape[2]
        return self

    def transform(self, pairs: Any) -> FloatArray:
        """Return the similarities (P, 5) of pairs that :meth:`fit` has not seen."""
        check_is_fitted(self)
        given = checked_pairs(pairs, self.n_features_in_)
        with np.errstate(all="ignore"):  # refused below
            return finite_scores(self.similarities_(given))

    def fit_transform(self, pairs: Any, y: Any, groups: Any = None) -> FloatArray:
        """Fit on all pairs, and return the out-of-fold similarities of each.

        Parameters
        ----------
        pairs : array of shape (P, 2, d)
        y : array of shape (P,)
        groups : array of shape (P,), default=None
            Passed to ``cv``: pairs of one group stay in one fold.

        Returns
        -------
        array of shape (P, 5)
        """
        given = checked_pairs(pairs)
        _, same = checked_labels(y, given)
        folds = self._folds(given, same, groups)
        self.fit(pairs, y)
        values = np.empty((len(given), len(NAMES)))
        for train, test in folds:
            values[test] = self._learn(given[train], same[train])(given[test])
        return values

    def _folds(self, pairs: FloatArray, same: BoolArray, groups: Any) -> list[Any]:
        """Return the folds; raise ValueError for an invalid ``cv``."""
        try:
            folds = list(check_cv(self.cv, same, classifier=True).split(pairs, same, groups))
        except ValueError as error:
            raise ValueError(
                f"cv must cut these pairs into folds, got {self.cv!r}: {error}"
            ) from None
        tested = np.sort(np.concatenate([test for _, test in folds]))
        if not np.array_equal(tested, np.arange(len(pairs))):
            raise ValueError(f"cv must test every pair once, got {self.cv!r}")
        return folds

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the five similarities."""
        return np.array(NAMES, dtype=object)

    def _learn(self, pairs: FloatArray, same: BoolArray) -> FiveSimilarities:
        rows, components = pairs.reshape(-1, pairs.shape[2]), None
        if self.pca_dim is not None:
            components = PCA(min(self.pca_dim, *rows.shape), svd_solver="full").fit(rows)
        X = reduced(components, pairs)
        fitted = SubSML(self.gamma, self.beta).fit(X, same)
        learned = cast("SubspaceSimilarity", fitted.similarity_)
        M, G = learned.distance, learned.bilinear
        if self.mahalanobis == "covariance":
            M = precision(differences(learned.space(X))[same], 1e-6)
        if self.psd:
            G = positive_part(G)
        return FiveSimilarities(components, SubspaceSimilarity(learned.space, M, G))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
