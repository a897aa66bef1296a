"""The kernel ELM of rows that arrive in chunks: kernel recursive least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._sklearn import StrOptions, check_weights, fit_context
from ecselm._threads import blas_threads, row_blocks
from ecselm._typing import AnyArray, FloatArray, Matrix
from ecselm.estimators._base import all_or_nothing, class_targets, stream_codes
from ecselm.layers import KERNELS, KernelMap, limit_rows, resolve_gamma
from ecselm.linalg import factor_shifted
from ecselm.paper.baselines._common import KERNEL, read_rows
from ecselm.paper.elms._base import (
    NOT_NEGATIVE,
    POSITIVE,
    ScoreClassifier,
    class_scores,
    labelled_rows,
)

BLOCK = 256  # rows that are compared with the dictionary at once
ROUNDING = 1e-12  # of a row's squared length, below which it depends on others

Kernel = Callable[[Matrix, Matrix], FloatArray]


@dataclass(frozen=True, slots=True)
class ExactRecursion:
    """All rows so far, with the Cholesky factor of ``K + diag(1/(C B))``.

    The recursion of kernel least squares adds a row x with target t by ``z = Q h``,
    ``r = 1/(C B) + k(x, x) - z'h``, ``e = t - h'a``, where ``h = k(rows, x)`` and Q is the
    inverse of that matrix. Its factor ``Q^-1 = L L'`` grows by the rows ``[h'L^-T, sqrt(r)]``
    instead, which is the same step and loses no digits; a chunk of rows is one block.
    """

    rows: Matrix  # (N, n)
    lower: FloatArray  # (N, N)
    half: FloatArray  # (N, m), L^-1 T
    C: float

    def extended(self, kernel: Kernel, X: Matrix, T: FloatArray, B: FloatArray) -> ExactRecursion:
        """Return the recursion after the rows X."""
        Z = solve_triangular(self.lower, kernel(self.rows, X), lower=True)
        S = kernel(X, X) - Z.T @ Z
        S.flat[:: len(S) + 1] += 1.0 / (self.C * B)
        corner = cholesky(S, lower=True)
        half = solve_triangular(corner, T - Z.T @ self.half, lower=True)
        N, added = len(self.lower), len(S)
        lower = np.zeros((N + added, N + added))
        lower[:N, :N], lower[N:, :N], lower[N:, N:] = self.lower, Z.T, corner
        half = np.vstack([self.half, half])
        return ExactRecursion(stacked(self.rows, X), lower, half, self.C)

    def coefficients(self) -> FloatArray:
        """Return ``(K + diag(1/(C B)))^-1 T``, the weights of the rows."""
        return solve_triangular(self.lower, self.half, lower=True, trans="T")


@dataclass(frozen=True, slots=True)
class DictionaryRecursion:
    """The rows that were new (a dictionary D), and the sums of all rows on their span.

    With ``K_DD = L L'``, a row has the coordinates ``z = L^-1 k(D, x)`` on the span of the
    dictionary, and the part ``delta = k(x, x) - z'z`` of its squared length outside of it. It
    joins the dictionary if delta is larger than ``novelty``, which adds a coordinate that all
    rows before it lack. The sums ``Z'BZ`` and ``Z'BT`` are all that (15) needs.
    """

    rows: Matrix  # (D, n)
    lower: FloatArray  # (D, D)
    gram: FloatArray  # (D, D)
    moment: FloatArray  # (D, m)
    C: float
    novelty: float

    def extended(
        self, kernel: Kernel, X: Matrix, T: FloatArray, B: FloatArray
    ) -> DictionaryRecursion:
        """Return the recursion after the rows X, taken in their order."""
        state = self
        for start in range(0, X.shape[0], BLOCK):
            part = slice(start, start + BLOCK)
            state = state._block(kernel, X[part], T[part], B[part])
        return state

    def _block(
        self, kernel: Kernel, X: Matrix, T: FloatArray, B: FloatArray
    ) -> DictionaryRecursion:
        n, D = X.shape[0], len(self.lower)
        K = kernel(X, X)
        Z = np.zeros((D + n, n))  # coordinates, with room for all rows to join
        Z[:D] = solve_triangular(self.lower, kernel(self.rows, X), lower=True) if D else 0.0
        left = K.diagonal() - np.einsum("ij,ij->j", Z[:D], Z[:D])
        least = np.maximum(self.novelty, ROUNDING * np.abs(K.diagonal()))
        joined: list[int] = []
        first = 0
        while (new := np.flatnonzero(left[first:] > least[first:])).size:
            i = first + int(new[0])
            at = D + len(joined)
            # The next row of the Cholesky factor, for the rows from i on; those before lack it.
            Z[at, i:] = (K[i, i:] - Z[:at, i] @ Z[:at, i:]) / np.sqrt(left[i])
            left[i:] -= Z[at, i:] ** 2
            joined.append(i)
            first = i + 1
        size = D + len(joined)
        Z = Z[:size]
        lower = np.zeros((size, size))
        lower[:D, :D], lower[D:] = self.lower, Z[:, joined].T
        gram, moment = (Z * B) @ Z.T, (Z * B) @ T
        gram[:D, :D] += self.gram
        moment[:D] += self.moment
        rows = stacked(self.rows, X[joined]) if joined else self.rows
        return DictionaryRecursion(rows, lower, gram, moment, self.C, self.novelty)

    def coefficients(self) -> FloatArray:
        """Return the weights of the dictionary's rows: ``L^-T (I/C + Z'BZ)^-1 Z'BT``."""
        if not len(self.gram):
            return self.moment  # no row has any length
        weights = factor_shifted(self.gram, 1.0 / self.C).solve(self.moment)
        return solve_triangular(self.lower, weights, lower=True, trans="T")


def stacked(above: Matrix, below: Matrix) -> Matrix:
    """Return the rows of both."""
    if sparse.issparse(above):
        return sparse.vstack([above, below], format="csr")
    return np.vstack([above, below.toarray() if sparse.issparse(below) else below])


class KernelOSELMClassifier(ScoreClassifier):
    """Kernel online-sequential ELM: the kernel ELM (7), learned chunk by chunk.

    After any division of the rows into chunks the scores are
    ``k(x, rows) (diag(1/(C B)) + K)^-1 T``, the kernel form of (15) with the sample weights
    as B, and (7) without. With ``novelty`` only rows that no combination of earlier ones
    replaces are kept (approximate linear dependency): all others still count, by their
    projection on the span of the kept ones.

    Parameters
    ----------
    C : float, default=32.0
        Larger fits closer.
    novelty : float or None, default=None
        Squared distance in the space of the kernel, from the span of the rows that are kept,
        from which a row is kept as well; 0 keeps all rows that are independent to rounding.
        None keeps all rows and solves exactly.
    kernel : str or callable, default="rbf"
        As in :class:`ecselm.KELMClassifier`, without ``"precomputed"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of rbf, polynomial and laplacian; ``"scale"`` is measured on the first chunk.
    degree : float, default=3
    coef0 : float, default=1
    max_samples : int or None, default=20000
        More kept rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    dictionary_ : array or sparse matrix of shape (D, n)
        The rows that are kept.
    dual_coef_ : array of shape (D, m)
        Their weights; one column for two classes.
    n_samples_seen_ : int
        Rows of positive weight so far.
    n_features_in_ : int

    Notes
    -----
    Kernel recursive least squares (Engel, Mannor and Meir, IEEE TSP 52(8), 2004), which the
    sequential kernel ELM applies to targets of classes. Its update of an inverse matrix is
    replaced by that of a Cholesky factor. A chunk of b rows takes time proportional to
    ``N^2 b`` for N rows so far; with ``novelty`` it is ``D^2 b + D^3`` and the memory that of
    the dictionary. The article has no penalty with a dictionary; here I/C is that of (7).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from ecselm.paper.elms import KernelOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelOSELMClassifier(novelty=0.01, gamma=0.3)
    >>> for rows in np.array_split(np.random.default_rng(0).permutation(150), 5):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    >>> bool(model.score(X, y) > 0.95), len(model.dictionary_) < 75
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        "kernel": [StrOptions(set(KERNELS) - {"precomputed"}), callable],
        "C": POSITIVE,
        "novelty": [*NOT_NEGATIVE, None],
    }

    def __init__(
        self,
        C: float = 32.0,
        *,
        novelty: float | None = None,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
    ) -> None:
        self.C = C
        self.novelty = novelty
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget all rows and learn these.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            The B of (15); a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        given = labelled_rows(self, X, y, sample_weight)
        self._begin(given.X, given.classes, given.weight)
        return self._learn(given.X, given.y, given.weight)

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more chunk of rows.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        classes : array of shape (k,), default=None
            All classes there will ever be; needed in the first call.
        sample_weight : array of shape (N,), default=None

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        known = None if first else self.classes_
        stated = known if classes is None else np.unique(np.asarray(classes))
        if stated is None or len(stated) < 2:
            raise ValueError(
                "classes must hold at least two classes in the first call of partial_fit, got "
                f"{classes!r}"
            )
        if known is not None and not np.array_equal(stated, known):
            raise ValueError(
                f"classes must be the same in every call of partial_fit, {known.tolist()}, "
                f"got {stated.tolist()}"
            )
        X, y = validate_data(
            self,
            X,
            y,
            reset=first,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
        )
        weight = check_weights(sample_weight, X)
        codes = stream_codes(y, stated)
        X = X.astype(np.float64, copy=False)
        if weight is not None:
            used = np.flatnonzero(weight > 0)
            X, codes, weight = X[used], codes[used], weight[used].astype(np.float64)
        if first:
            self._begin(X, stated, weight)
        return self._learn(X, codes, weight)

    def _begin(self, X: Matrix, classes: AnyArray, weight: FloatArray | None) -> None:
        """Set up the kernel of a stream that begins with these rows."""
        n_outputs = class_targets(len(classes)).shape[1]
        gamma = resolve_gamma(self.gamma, X, weight)
        self._kernel_ = (self.kernel, gamma, self.degree, self.coef0)
        none, empty = np.zeros((0, 0)), np.zeros((0, n_outputs))
        self._state_: ExactRecursion | DictionaryRecursion = (
            ExactRecursion(X[:0], none, empty, self.C)
            if self.novelty is None
            else DictionaryRecursion(X[:0], none, none, empty, self.C, self.novelty)
        )
        self.classes_, self.n_samples_seen_ = classes, 0

    def _values(self, X: Matrix, rows: Matrix) -> FloatArray:
        """Return the kernel (M, N) of two blocks of rows."""
        kernel, gamma, degree, coef0 = self._kernel_
        if not (X.shape[0] and rows.shape[0]):
            return np.zeros((X.shape[0], rows.shape[0]))
        return KernelMap(kernel, rows, gamma, degree, coef0)(X)

    def _learn(self, X: Matrix, codes: Any, weight: FloatArray | None) -> Self:
        T = class_targets(len(self.classes_))[codes]
        B = np.ones(len(T)) if weight is None else weight
        known = self._state_.rows.shape[0]
        with blas_threads(known + len(T)):
            if isinstance(self._state_, ExactRecursion):
                limit_rows(known + len(T), self.max_samples)
                self._state_ = self._exact(self._state_, X, T, B)
            else:
                self._state_ = self._state_.extended(self._values, X, T, B)
                limit_rows(self._state_.rows.shape[0], self.max_samples)
            self.dual_coef_ = self._state_.coefficients()
        self.dictionary_ = self._state_.rows
        self.n_samples_seen_ += len(T)
        return self

    def _exact(
        self, state: ExactRecursion, X: Matrix, T: FloatArray, B: FloatArray
    ) -> ExactRecursion:
        try:
            return state.extended(self._values, X, T, B)
        except LinAlgError as error:
            raise ValueError(
                "C must leave K + I/C positive definite to working precision, got "
                f"C={state.C:g}: take a smaller C, or novelty=0 to drop rows that depend on others"
            ) from error

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = read_rows(self, X).astype(np.float64, copy=False)
        rows, coef = self._state_.rows, self.dual_coef_
        blocks = row_blocks(X.shape[0], rows.shape[0])
        return class_scores(np.vstack([self._values(X[b], rows) @ coef for b in blocks]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
