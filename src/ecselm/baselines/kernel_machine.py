"""The kernel classifiers' common part: rows to kernel values, scores to classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, FloatArray, Matrix
from ecselm.baselines.labels import Labelled, margins, read_labels, read_rows
from ecselm.elm.family import KERNEL as ELM_KERNEL
from ecselm.hidden import KernelMap, limit_rows, resolve_gamma

KERNEL: dict[str, list[Any]] = {name: rule for name, rule in ELM_KERNEL.items() if name != "scale"}


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
        """Return what speaks for each class; the largest is the predicted class.

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
