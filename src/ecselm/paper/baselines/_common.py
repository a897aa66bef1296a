"""Labels, kernels and pairwise votes that the baselines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._sklearn import check_weights
from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.estimators._base import KERNEL as ELM_KERNEL
from ecselm.estimators._base import class_codes
from ecselm.estimators._layers import check_magnitude
from ecselm.layers import KernelMap, limit_rows, resolve_gamma

KERNEL: dict[str, list[Any]] = {name: rule for name, rule in ELM_KERNEL.items() if name != "scale"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """N rows, the position of their class in ``classes``, and their weights, if any."""

    X: Matrix  # (N, n)
    y: IntArray  # (N,), in 0..k-1
    classes: AnyArray  # (k,), sorted
    weight: FloatArray | None = None  # (N,), >= 0

    @property
    def n_classes(self) -> int:
        """Return k."""
        return len(self.classes)

    @property
    def one_hot(self) -> FloatArray:
        """Return the indicators (N, k) of the classes."""
        return np.eye(self.n_classes)[self.y]

    def counts(self) -> FloatArray:
        """Return the number of rows of every class."""
        return np.bincount(self.y, minlength=self.n_classes).astype(np.float64)


def read_labels(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, sparse: bool = True
) -> Labelled:
    """Return the checked arguments of ``fit``; ``estimator`` gets its number of features."""
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        order="C",
    )
    weight = check_weights(sample_weight, X)
    classes, codes = class_codes(y, weight)
    return Labelled(X, codes, classes, weight)


def read_rows(estimator: Any, X: Any, *, sparse: bool = True) -> Matrix:
    """Return rows to predict, checked against those of ``fit``."""
    return validate_data(
        estimator,
        X,
        reset=False,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        order="C",
    )


def margins(scores: FloatArray) -> FloatArray:
    """Return scores (N, k) as scikit-learn's ``decision_function`` gives them.

    Two classes become one column, positive where it speaks for the second.
    """
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class KernelMachine(ClassifierMixin, BaseEstimator):
    """Base of the kernel classifiers: scores are ``K(x, rows) dual_coef_ + intercept_``."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    kernel: str | Callable[[Matrix, Matrix], FloatArray]
    gamma: float | str
    degree: float
    coef0: float
    max_samples: int | None
    classes_: AnyArray
    kernel_: KernelMap
    dual_coef_: FloatArray
    intercept_: FloatArray

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> Labelled:
        """Return the training rows, and refuse more of them than a kernel matrix may have."""
        given = read_labels(self, X, y, sample_weight, sparse=self.kernel != "precomputed")
        limit_rows(given.X.shape[0], self.max_samples)
        check_magnitude(given.X)
        return given

    def _map(self, given: Labelled) -> KernelMap:
        """Return the kernel with the training rows, in double precision.

        Kernel values of rows far from the origin differ by little.
        """
        X = given.X.astype(np.float64)
        gamma = resolve_gamma(self.gamma, X, given.weight)
        return KernelMap(self.kernel, X, gamma, self.degree, self.coef0, X.dtype)

    def _keep(
        self, given: Labelled, kernel: KernelMap, coef: FloatArray, intercept: FloatArray
    ) -> None:
        """Store the fitted map."""
        self.classes_ = given.classes
        self.kernel_ = kernel
        self.dual_coef_, self.intercept_ = coef, np.asarray(intercept)

    def _mapped(self, X: Any, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K(x, rows) A + b`` in the precision of X, some rows at a time."""
        X = read_rows(self, X, sparse=self.kernel != "precomputed")
        mapped = [
            self.kernel_(X[rows].astype(np.float64, copy=False)) @ A
            for rows in row_blocks(X.shape[0], len(A))
        ]
        return (np.vstack(mapped) + b).astype(X.dtype, copy=False)

    def _outputs(self, X: Any) -> FloatArray:
        """Return ``K(x, rows) dual_coef_ + intercept_``."""
        check_is_fitted(self)
        return self._mapped(X, self.dual_coef_, self.intercept_)

    def _scores(self, X: Any) -> FloatArray:
        """Return one score per class (N, k)."""
        return self._outputs(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class; the largest is the predicted class.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        return margins(self._scores(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        winners = self._scores(X).argmax(axis=1)
        return self.classes_[winners]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


@dataclass(frozen=True, slots=True)
class KernelFeatures:
    """``K = Z Z'``: weights W of the features are coefficients ``back W`` of the rows.

    ``tr(A'KA)`` becomes ``||W||^2``, which gradients descend far sooner. Directions that
    are rounding errors, and negative ones, are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> features = KernelFeatures.from_kernel(np.array([[4.0, 0.0], [0.0, 0.0]]))
    >>> np.abs(features.Z), np.abs(features.back)
    (array([[2.], [0.]]), array([[0.5], [0. ]]))
    """

    Z: FloatArray  # (N, r)
    back: FloatArray  # (N, r)

    @classmethod
    def from_kernel(cls, K: FloatArray, size: float = 0.0) -> KernelFeatures:
        """Split a symmetric kernel matrix (N, N) by its spectrum.

        ``size`` is the largest number that K was computed from, where it is centred: its
        rounding error is as large as theirs.
        """
        eps = float(np.finfo(np.float64).eps)
        values, vectors = eigh(K)
        kept = values > len(K) * eps * max(float(values[-1]), size)
        root = np.sqrt(values[kept])
        return cls(vectors[:, kept] * root, vectors[:, kept] / root)


def class_pairs(n_classes: int) -> Iterator[tuple[int, int]]:
    """Give the pairs i < j of classes, in the order of the columns of :func:`voted`."""
    first, second = np.triu_indices(n_classes, 1)
    yield from zip(first.tolist(), second.tolist(), strict=True)


def pair_rows(y: IntArray, pair: tuple[int, int], weight: FloatArray | None = None) -> IntArray:
    """Return the positions of the rows of both classes that have a positive weight."""
    member = (y == pair[0]) | (y == pair[1])
    return np.flatnonzero(member if weight is None else member & (weight > 0))


def voted(D: FloatArray, n_classes: int) -> FloatArray:
    """Return the votes (N, k) of pairwise scores ``D`` (N, k(k-1)/2).

    A positive score of the pair (i, j) is a vote for j. Equal votes are ordered by
    the sum of the scores, squashed to less than half a vote.

    Examples
    --------
    >>> import numpy as np
    >>> voted(np.array([[-1.0, -1.0, 2.0]]), 3).argmax(axis=1)
    array([0])
    """
    first, second = np.triu_indices(n_classes, 1)
    votes, sums = np.zeros((n_classes, len(D))), np.zeros((n_classes, len(D)))
    np.add.at(votes, second, D.T > 0)
    np.add.at(votes, first, D.T <= 0)
    np.add.at(sums, second, D.T)
    np.subtract.at(sums, first, D.T)
    return (votes + sums / (3.0 * (np.abs(sums) + 1.0))).T.astype(D.dtype)
