"""What all learners on pairs share: quadratic forms, validation, similarity, threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ecselm._sklearn import fit_context
from ecselm._threads import BLOCK_ENTRIES, one_blas_thread, row_blocks, share_out
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.estimators._base import all_or_nothing
from ecselm.estimators._layers import check_magnitude


def rows_times(X: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``X A`` (P, r).

    Examples
    --------
    >>> import numpy as np
    >>> rows_times(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return _by_rows(lambda rows: X[rows] @ A, X, (len(X), A.shape[1]))


def quadratic(D: FloatArray, M: FloatArray) -> FloatArray:
    """Return ``D_t' M D_t`` (P,) of every row.

    Examples
    --------
    >>> import numpy as np
    >>> quadratic(np.array([[1.0, 2.0]]), np.diag([3.0, 1.0]))
    array([7.])
    """
    return _by_rows(lambda rows: np.einsum("ij,ij->i", D[rows] @ M, D[rows]), D, (len(D),))


def cross_sum(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return ``A'B`` (r, d), the sum over rows of their outer products.

    Examples
    --------
    >>> import numpy as np
    >>> cross_sum(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return _summed(lambda rows: A[rows].T @ B[rows], B)


def outer_sum(D: FloatArray, w: FloatArray | None = None) -> FloatArray:
    """Return ``sum_t w_t D_t D_t'`` (d, d), exactly symmetric.

    Weights of either sign go under a root, for a symmetric product takes half the flops;
    rows of weight 0 take none.

    Examples
    --------
    >>> import numpy as np
    >>> outer_sum(np.eye(2), np.array([2.0, -1.0]))
    array([[ 2.,  0.],
           [ 0., -1.]])
    """
    if w is None:
        return _squares(D)
    total = np.zeros((D.shape[1], D.shape[1]))
    for sign, chosen in ((1.0, w > 0.0), (-1.0, w < 0.0)):
        if chosen.any():
            total += sign * _squares(D[chosen] * np.sqrt(np.abs(w[chosen]))[:, np.newaxis])
    return total


def _squares(D: FloatArray) -> FloatArray:
    return _summed(lambda rows: D[rows].T @ D[rows], D)


def _by_rows(
    part: Callable[[slice], FloatArray], X: FloatArray, shape: tuple[int, ...]
) -> FloatArray:
    """Return ``part`` of blocks of rows of ``X``, concatenated."""
    if X.size <= BLOCK_ENTRIES:
        return part(slice(None))
    whole = np.empty(shape)

    def fill(lane: list[slice]) -> None:
        for rows in lane:
            whole[rows] = part(rows)

    share_out(fill, row_blocks(len(X), X.shape[1]))
    return whole


def _summed(part: Callable[[slice], FloatArray], X: FloatArray) -> FloatArray:
    """Return the sum of ``part`` over blocks of rows of ``X``."""
    if X.size <= BLOCK_ENTRIES:
        return part(slice(None))

    def total(lane: list[slice]) -> FloatArray:
        found = part(lane[0])
        for rows in lane[1:]:
            found += part(rows)
        return found

    lanes = share_out(total, row_blocks(len(X), X.shape[1]))
    for other in lanes[1:]:
        lanes[0] += other
    return lanes[0]


def in_callers_order(values: AnyArray, order: IntArray) -> AnyArray:
    """Return values by pair, of which the t-th belongs to pair ``order[t]``, in its order.

    Examples
    --------
    >>> import numpy as np
    >>> in_callers_order(np.array([5.0, 6.0, 7.0]), np.array([2, 0, 1]))
    array([6., 7., 5.])
    """
    ordered = np.empty_like(values)
    ordered[order] = values
    return ordered


def differences(pairs: FloatArray) -> FloatArray:
    """Return ``x - z`` (P, d) of every pair."""
    return pairs[:, 0] - pairs[:, 1]


def positive_part(M: FloatArray) -> FloatArray:
    """Return the nearest positive semidefinite matrix to a symmetric ``M``.

    Examples
    --------
    >>> import numpy as np
    >>> positive_part(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, V = eigh(M)
    kept = values > 0.0
    if kept.all():
        return M
    V = V[:, kept]
    return outer_sum((V * np.sqrt(values[kept])).T)


def with_ridge(M: FloatArray, relative: float) -> FloatArray:
    """Return ``M + relative tr(M)/d I``."""
    d = len(M)
    return M + (relative * np.trace(M) / d) * np.eye(d)


def unit_rows(X: FloatArray) -> FloatArray:
    """Return rows of length 1; a row of zeros stays."""
    norms = np.sqrt(np.einsum("...i,...i->...", X, X))[..., np.newaxis]
    return X / np.where(norms > 0.0, norms, 1.0)


def cosines(pairs: FloatArray) -> FloatArray:
    """Return ``x'z / (|x| |z|)`` (P,), 0 beside a vector of zeros."""
    U = unit_rows(pairs)
    return np.einsum("ij,ij->i", U[:, 0], U[:, 1])


@dataclass(frozen=True, slots=True, eq=False)  # scikit-learn hashes what it is given
class Mahalanobis:
    """The distance ``sqrt((x - z)' M (x - z))`` of two vectors, as scikit-learn's neighbours ask.

    Examples
    --------
    >>> import numpy as np
    >>> Mahalanobis(np.diag([4.0, 1.0]))([1.0, 0.0], [0.0, 0.0])
    2.0
    """

    matrix: FloatArray  # (d, d), positive semidefinite

    def __call__(self, x: FloatArray, z: FloatArray) -> float:
        """Return the distance between ``x`` and ``z``, both (d,)."""
        D = np.subtract(x, z)
        return float(np.sqrt(max(float(D @ self.matrix @ D), 0.0)))


@dataclass(frozen=True, slots=True)
class NegativeForm:
    """Similarity ``b - (x - z)' M (x - z)`` of pairs."""

    matrix: FloatArray
    offset: float = 0.0

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d)."""
        return self.offset - quadratic(differences(pairs), self.matrix)


@dataclass(frozen=True, slots=True)
class ProjectedCosine:
    """Cosine of ``A x`` and ``A z`` of pairs."""

    projection: FloatArray  # (r, d)

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return the cosine (P,) of pairs (P, 2, d)."""
        rows = pairs.reshape(-1, pairs.shape[2])
        return cosines(rows_times(rows, self.projection.T).reshape(len(pairs), 2, -1))


def best_threshold(scores: FloatArray, same: BoolArray) -> float:
    """Return the threshold of most right predictions.

    It lies midway between two neighbouring scores, or beyond all of them if one prediction
    is best for all. Among equals the middle one is taken.

    Examples
    --------
    >>> import numpy as np
    >>> best_threshold(np.array([0.0, 1.0, 3.0]), np.array([False, False, True]))
    2.0
    """
    values, codes = np.unique(scores, return_inverse=True)
    n = len(values)
    alike = np.bincount(codes[same], minlength=n)
    others = np.bincount(codes[~same], minlength=n)
    below = np.concatenate([[0], np.cumsum(others - alike)])  # right predictions gained so far
    best = np.flatnonzero(below == below.max())
    place = int(best[(len(best) - 1) // 2])
    beyond = (values[-1] - values[0]) or max(abs(values[0]), 1.0)
    edges = np.concatenate([[values[0] - beyond], values, [values[-1] + beyond]])
    return float(edges[place] + 0.5 * (edges[place + 1] - edges[place]))


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
    """Return pairs as finite float64 of shape (P, 2, d), or raise.

    Without ``n_features`` they are pairs to learn from, whose squares are to be finite.
    """
    given: FloatArray = check_array(pairs, allow_nd=True, dtype=np.float64, input_name="pairs")
    if given.ndim != 3 or given.shape[1] != 2 or given.shape[2] == 0:
        raise ValueError(f"pairs must have the shape (n_pairs, 2, n_features), got {given.shape}")
    if n_features is None:
        check_magnitude(given, "pairs")
    elif given.shape[2] != n_features:
        raise ValueError(f"pairs must have the {n_features} features of fit, got {given.shape[2]}")
    return given


def finite_scores(scores: FloatArray) -> FloatArray:
    """Return the scores of pairs, or raise ValueError if some are not finite."""
    if not np.isfinite(scores).all():
        raise ValueError(
            "pairs must give finite scores, got infinite or NaN ones: their values are too large, "
            "too small or too unequal"
        )
    return scores


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


def in_one_order(pairs: FloatArray, same: BoolArray) -> tuple[FloatArray, BoolArray, IntArray]:
    """Return pairs sorted, the two vectors of every pair sorted, and where each pair was.

    What is learned from them depends then neither on the order of the pairs nor on
    that in a pair, not even by rounding.
    """
    D = pairs[:, 0] - pairs[:, 1]
    first = np.argmax(D != 0.0, axis=1)
    turned = D[np.arange(len(D)), first] > 0.0
    pairs = np.where(turned[:, np.newaxis, np.newaxis], pairs[:, ::-1], pairs)
    order = np.lexsort(np.vstack([pairs.reshape(len(pairs), -1).T[::-1], same]))
    return np.ascontiguousarray(pairs[order]), same[order], order


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
        given, same, order = in_one_order(given, same)
        with one_blas_thread():  # products over all pairs share their rows out themselves
            self.similarity_ = self._learn(given, same)
            self.threshold_ = best_threshold(finite_scores(self.similarity_(given)), same)
        self._number_pairs(order)
        self.classes_, self.n_features_in_ = classes, given.shape[2]
        return self

    def score_pairs(self, pairs: Any) -> FloatArray:
        """Return the similarity (P,) of pairs (P, 2, d); larger is more alike."""
        check_is_fitted(self)
        given = checked_pairs(pairs, self.n_features_in_)
        with np.errstate(all="ignore"):  # refused below
            return finite_scores(self.similarity_(given))

    def decision_function(self, pairs: Any) -> FloatArray:
        """Return the similarity (P,) less the threshold: above 0 means the same."""
        return self.score_pairs(pairs) - self.threshold_

    def predict(self, pairs: Any) -> AnyArray:
        """Return the label (P,) of every pair."""
        return self.classes_[(self.decision_function(pairs) > 0.0).astype(np.intp)]

    def _learn(self, pairs: FloatArray, same: BoolArray) -> Similarity:
        raise NotImplementedError

    def _number_pairs(self, order: IntArray) -> None:
        """Bring what is stored by pair into the caller's order; pair t was the ``order[t]``-th."""

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
