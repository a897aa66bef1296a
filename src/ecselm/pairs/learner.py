"""What all learners on pairs share: validate, learn a similarity, find a threshold."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ecselm._sklearn import fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm.elm.family import all_or_nothing
from ecselm.pairs.forms import Mahalanobis
from ecselm.pairs.threshold import best_threshold


class Similarity(Protocol):
    """A learned number per pair, larger for pairs that are more alike."""

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d)."""
        ...


class MatrixSimilarity(Similarity, Protocol):
    """A similarity that falls with a Mahalanobis distance."""

    @property
    def matrix(self) -> FloatArray:
        """Return M (d, d)."""
        ...


def checked_pairs(pairs: Any, n_features: int | None = None) -> FloatArray:
    """Return pairs as finite float64 of shape (P, 2, d), or raise."""
    given: FloatArray = check_array(pairs, allow_nd=True, dtype=np.float64, input_name="pairs")
    if given.ndim != 3 or given.shape[1] != 2 or given.shape[2] == 0:
        raise ValueError(f"pairs must have the shape (n_pairs, 2, n_features), got {given.shape}")
    if n_features is not None and given.shape[2] != n_features:
        raise ValueError(f"pairs must have the {n_features} features of fit, got {given.shape[2]}")
    return given


def checked_labels(y: Any, pairs: FloatArray) -> tuple[AnyArray, BoolArray]:
    """Return the two labels in order and, per pair, whether it has the greater: the same."""
    check_consistent_length(pairs, y)
    check_classification_targets(y)
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(f"y must hold one label per pair, got {type_of_target(y)!r}")
    y = column_or_1d(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(
            f"y must hold two labels, the greater for pairs that are the same, got {len(classes)}"
        )
    return classes, codes == 1


def in_one_order(pairs: FloatArray, same: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return pairs sorted, and the two vectors of every pair sorted.

    What is learned from them depends then neither on the order of the pairs nor on
    that in a pair, not even by rounding.
    """
    D = pairs[:, 0] - pairs[:, 1]
    first = np.argmax(D != 0.0, axis=1)
    turned = D[np.arange(len(D)), first] > 0.0
    pairs = np.where(turned[:, np.newaxis, np.newaxis], pairs[:, ::-1], pairs)
    order = np.lexsort(np.vstack([pairs.reshape(len(pairs), -1).T[::-1], same]))
    return np.ascontiguousarray(pairs[order]), same[order]


class PairLearner(ClassifierMixin, BaseEstimator):
    """Base of the learners: a similarity of two vectors and a threshold on it.

    A subclass gives ``_learn(pairs, same)``, which returns the similarity.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    classes_: AnyArray
    n_features_in_: int
    similarity_: Similarity
    threshold_: float

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, pairs: Any, y: Any) -> Self:
        """Learn a similarity and, on the same pairs, the threshold of :meth:`predict`.

        Parameters
        ----------
        pairs : array of shape (P, 2, d)
        y : array of shape (P,)
            Two labels of any kind; the greater is that of pairs which are the same.

        Returns
        -------
        self
        """
        given = checked_pairs(pairs)
        classes, same = checked_labels(y, given)
        given, same = in_one_order(given, same)
        with one_blas_thread():  # products over all pairs share their rows out themselves
            self.similarity_ = self._learn(given, same)
            self.threshold_ = best_threshold(self.similarity_(given), same)
        self.classes_, self.n_features_in_ = classes, given.shape[2]
        return self

    def score_pairs(self, pairs: Any) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d); larger is more alike."""
        check_is_fitted(self)
        return self.similarity_(checked_pairs(pairs, self.n_features_in_))

    def decision_function(self, pairs: Any) -> FloatArray:
        """Return the similarity (P,) less the threshold: above 0 means the same."""
        return self.score_pairs(pairs) - self.threshold_

    def predict(self, pairs: Any) -> AnyArray:
        """Return the label (P,) of every pair."""
        return self.classes_[(self.decision_function(pairs) > 0.0).astype(np.intp)]

    def _learn(self, pairs: FloatArray, same: BoolArray) -> Similarity:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


class MetricLearner(PairLearner):
    """Base of those whose similarity falls with a Mahalanobis distance."""

    similarity_: MatrixSimilarity

    def get_metric(self) -> Mahalanobis:
        """Return the distance of two vectors; its ``matrix`` is M (d, d)."""
        check_is_fitted(self)
        return Mahalanobis(self.similarity_.matrix)
