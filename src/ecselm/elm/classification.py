"""The classifiers' common part: targets, decisions and probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import check_weights, fit_context
from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import Costs, SampleCosts
from ecselm.elm.calibration import score_slope, softmax_probabilities
from ecselm.elm.family import ELMFamily, all_or_nothing, has_hidden_layer
from ecselm.elm.labels import class_codes
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.elm.rows import Rows
from ecselm.solvers import Solution


def class_targets(n_classes: int) -> FloatArray:
    """Return the target of every class: +1 in its own column, -1 elsewhere.

    Two classes share one column, since the other is its negative.
    """
    T = 2.0 * np.eye(n_classes) - 1.0
    return T[:, 1:] if n_classes == 2 else T


class ELMClassification(ClassifierMixin, ELMFamily):
    """Learn, decide and give probabilities; subclasses say what mistakes cost."""

    classes_: AnyArray
    cost_vector_: FloatArray

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the map from x to H and solve for the output weights.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)
        sample_weight : array of shape (N,), default=None
            Multiplies B; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        return self._fit_labels(X, y, sample_weight)

    @available_if(has_hidden_layer)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more chunk of rows (OS-ELM), exactly.

        The solution is that of all rows so far; classes are weighed by all of them.

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
        return self._partial_fit_labels(X, y, classes, sample_weight)

    def _read_costs(self, y: IntArray, classes: AnyArray, **stated: Any) -> Costs:
        """Return the costs of rows of the classes ``y``: here every row costs 1."""
        return SampleCosts(np.ones(len(y)))

    def _coefficients(
        self, costs: Costs, learner: KernelLearner | LayerLearner, classes: AnyArray
    ) -> FloatArray:
        """Return the coefficients of the cost groups."""
        return costs.coefficients(learner.counts, np.ones(len(classes)))

    @all_or_nothing
    @one_blas_thread()
    def _fit_labels(self, X: Any, y: Any, sample_weight: Any, **stated: Any) -> Self:
        X, codes, classes, weight = self._checked_labels(X, y, sample_weight)
        costs = self._read_costs(codes, classes, **stated)
        rows = labelled_rows(X, codes, costs, weight, len(classes))
        rows.check_some_cost()
        self._learn(self._learner(rows, len(classes)), rows, costs, classes)
        self.cost_vector_ = rows.terms.vector(self._group_costs_)
        return self

    def _checked_labels(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Matrix, IntArray, AnyArray, FloatArray | None]:
        """Return rows, class codes, classes and weights, fit to learn from."""
        X, y = self._validated(X, reset=True, y=y)
        weight = check_weights(sample_weight, X)
        classes, codes = class_codes(y, weight)
        return X, codes, classes, weight

    @all_or_nothing
    @one_blas_thread()
    def _partial_fit_labels(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, **stated: Any
    ) -> Self:
        first = not hasattr(self, "classes_")
        known = _stream_classes(classes, None if first else self.classes_)
        X, y = self._validated(X, reset=first, y=y)
        X = X if first else X.astype(self.beta_.dtype, copy=False)
        codes = stream_codes(y, known)
        costs = self._read_costs(codes, known, **stated)
        if costs.terms(codes).kind == "pair":
            raise ValueError(
                "sample_cost must have one cost per row or per row and class in partial_fit, "
                "got one per pair of rows, whose sums run over rows not seen yet"
            )
        weight = check_weights(sample_weight, X, may_be_zero=True)
        rows = labelled_rows(X, codes, costs, weight, len(known))
        self._learn(self._extended_learner(rows, len(known)), rows, costs, known)
        self.__dict__.pop("cost_vector_", None)  # that of an earlier fit
        return self

    def _learn(
        self,
        learner: KernelLearner | LayerLearner,
        rows: Rows,
        costs: Costs,
        classes: AnyArray,
    ) -> None:
        coefficients = self._coefficients(costs, learner, classes)
        solution = learner.solve(coefficients, self.C)
        beta = solution.beta.astype(rows.T.dtype)
        self.classes_ = classes
        self.beta_ = np.hstack([-beta, beta]) if len(classes) == 2 else beta
        self.solver_ = solution.path
        self._keep(learner, rows.terms)
        self._group_costs_ = coefficients
        self._calibrate(learner, solution)

    def _calibrate(self, learner: KernelLearner | LayerLearner, solution: Solution) -> None:
        n_rows = float(learner.counts.sum())
        total_weight = float(self._group_costs_ @ learner.masses)
        self._slope_ = score_slope(solution, n_rows, total_weight, len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores z = H(x) beta (18).

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest score (19).

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        winners = self._scores(X).argmax(axis=1)  # (19)
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, whose largest is always the predicted class.

        ``softmax(a z)`` with one slope a for all classes, found in closed form from
        the residuals of the training rows as they would be left out.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        return softmax_probabilities(self._scores(X), self._slope_)


def labelled_rows(
    X: Matrix, y: IntArray, costs: Costs, weight: FloatArray | None, n_classes: int
) -> Rows:
    """Return rows of the classes ``y`` with their targets."""
    T = class_targets(n_classes).astype(X.dtype)[y]
    return Rows(X, T, y, costs.terms(y), weight)


def _stream_classes(classes: Any, known: AnyArray | None) -> AnyArray:
    """Return the classes of a stream, which its first chunk must state."""
    if classes is None and known is None:
        raise ValueError("classes must be given to the first call of partial_fit, got None")
    if classes is None and known is not None:
        return known
    stated = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(stated, known):
        raise ValueError(
            f"classes must be the same in every call of partial_fit, {known.tolist()}, "
            f"got {stated.tolist()}"
        )
    if len(stated) < 2:
        raise ValueError(f"classes must hold at least two classes, got {stated.tolist()}")
    return stated


def stream_codes(y: AnyArray, classes: AnyArray) -> IntArray:
    """Return the positions of labels among the classes, which must hold them all."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"y must hold only the classes given to the first call of partial_fit, "
            f"{classes.tolist()}, got {unknown.tolist()}"
        )
    return np.searchsorted(classes, y)
