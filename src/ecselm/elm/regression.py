"""The regressors' common part: one or many real targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import check_weights, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import FloatArray, Matrix
from ecselm.costs import SampleCosts
from ecselm.elm.family import ELMFamily, all_or_nothing, has_hidden_layer
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.elm.rows import Rows


class ELMRegression(MultiOutputMixin, RegressorMixin, ELMFamily):
    """Learn and predict real targets; subclasses say what each row's error costs."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the map from x to H and solve for the output weights.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None
            Multiplies B; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        return self._fit_targets(X, y, sample_weight)

    @available_if(has_hidden_layer)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn one more chunk of rows (OS-ELM), exactly.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,) or (N, m)
        sample_weight : array of shape (N,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit_targets(X, y, sample_weight)

    def _row_costs(self, y: FloatArray, stated: Any) -> SampleCosts:
        """Return the cost of every row's error: here 1."""
        return SampleCosts(np.ones(len(y)))

    @all_or_nothing
    @one_blas_thread()
    def _fit_targets(self, X: Any, y: Any, sample_weight: Any, stated: Any = None) -> Self:
        X, y = self._validated(X, reset=True, y=y, multi_output=True, y_numeric=True)
        rows = self._target_rows(X, y, check_weights(sample_weight, X), stated)
        rows.check_some_cost()
        self._learn(self._learner(rows, 1), rows, y.ndim)
        self.cost_vector_ = rows.terms.factors[:, 0]
        return self

    @all_or_nothing
    @one_blas_thread()
    def _partial_fit_targets(self, X: Any, y: Any, sample_weight: Any, stated: Any = None) -> Self:
        first = not hasattr(self, "beta_")
        X, y = self._validated(X, reset=first, y=y, multi_output=True, y_numeric=True)
        if not first:
            self._check_same_targets(y)
            X = X.astype(self.beta_.dtype, copy=False)
        weight = check_weights(sample_weight, X, may_be_zero=True)
        rows = self._target_rows(X, y, weight, stated)
        self._learn(self._extended_learner(rows, 1), rows, y.ndim)
        self.__dict__.pop("cost_vector_", None)  # that of an earlier fit
        return self

    def _target_rows(
        self, X: Matrix, y: FloatArray, weight: FloatArray | None, stated: Any
    ) -> Rows:
        T = y.reshape(len(y), -1).astype(X.dtype)
        codes = np.zeros(len(y), dtype=np.intp)
        return Rows(X, T, codes, self._row_costs(y, stated).terms(codes), weight)

    def _learn(
        self,
        learner: KernelLearner | LayerLearner,
        rows: Rows,
        target_ndim: int,
    ) -> None:
        solution = learner.solve(np.ones(1), self.C)
        self.beta_ = solution.beta.astype(rows.T.dtype)
        self.solver_ = solution.path
        self._target_ndim_ = target_ndim
        self._keep(learner, rows.terms)

    def _check_same_targets(self, y: FloatArray) -> None:
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        if n_outputs != self.beta_.shape[1]:
            raise ValueError(
                f"y must have {self.beta_.shape[1]} outputs as in the first call of "
                f"partial_fit, got {n_outputs}"
            )

    def predict(self, X: Any) -> FloatArray:
        """Return H(x) beta (18).

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        targets : array of shape (N,) or (N, m), as ``y`` was
        """
        scores = self._scores(X)
        return scores[:, 0] if self._target_ndim_ == 1 else scores
