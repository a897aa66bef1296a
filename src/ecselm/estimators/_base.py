"""What all estimators of the family share: validate, draw, solve, score."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._random import as_generator
from ecselm._sklearn import HasMethods, Interval, StrOptions, check_weights, fit_context
from ecselm._threads import one_blas_thread, row_blocks, share_out
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import Costs, CostTerms, SampleCosts, expected_costs, min_cost_decision
from ecselm.estimators._calibration import score_slope, softmax_probabilities
from ecselm.estimators._layers import LayerRecipe, seeded_clone
from ecselm.estimators._training import KernelLearner, LayerLearner, Rows
from ecselm.layers import (
    ACTIVATIONS,
    DRAWS,
    KERNELS,
    SCALES,
    KernelMap,
    draw_weights,
    limit_rows,
    measure_scale,
    resolve_gamma,
)
from ecselm.linalg import Solution

RIDGE: dict[str, list[Any]] = {"C": [Interval(Real, 0, None, closed="neither")]}
LAYER: dict[str, list[Any]] = {
    "n_hidden": [Interval(Integral, 1, None, closed="left")],
    "activation": [StrOptions(set(ACTIVATIONS)), callable],
    "draw": [StrOptions(set(DRAWS))],
    "scale": [StrOptions(set(SCALES)), None],
    "hidden_layer": [HasMethods(["fit", "transform"]), None],
    "random_state": ["random_state", np.random.Generator],
}
KERNEL: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNELS)), callable],
    "scale": [StrOptions(set(SCALES)), None],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "max_samples": [Interval(Integral, 1, None, closed="left"), None],
}
KERNEL_OR_LAYER: dict[str, list[Any]] = {
    **LAYER,
    **KERNEL,
    "kernel": [*KERNEL["kernel"], None],
    "scale": [StrOptions({"auto", *SCALES}), None],
}


AUTO = "auto"  # layers of several kinds where costs are searched by class, else radbas


def class_codes(y: Any, weight: FloatArray | None = None) -> tuple[AnyArray, IntArray]:
    """Return the classes (k,) in sorted order, and the position (N,) of every label.

    Rows of positive weight must have two classes or more, and be as many as all classes.

    Examples
    --------
    >>> class_codes(["well", "ill", "well"])
    (array(['ill', 'well'], dtype='<U4'), array([1, 0, 1]))
    """
    y = np.asarray(y)
    if y.dtype.kind not in "biuU":  # numbers that count and words are always classes
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    used = codes if weight is None else codes[weight > 0]
    seen = classes[np.unique(used)]
    if len(seen) < 2:
        raise ValueError(
            "y must have at least two classes among the rows of positive weight, got one "
            f"class only: {seen.tolist()}"
        )
    if len(used) < len(classes):
        raise ValueError(
            "there must be at least as many samples of positive weight as the "
            f"{len(classes)} classes of y, got {len(used)}"
        )
    return classes, codes


class ELMBase(BaseEstimator):
    """Base of the ELM estimators: a map from x to H, and output weights beta on it.

    A subclass states the targets and costs. One whose parameter ``kernel`` is not
    None takes kernel values in the place of hidden units.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    n_hidden: int
    C: float
    activation: str | Callable[[FloatArray], FloatArray]
    draw: str
    scale: str | None
    hidden_layer: Any
    random_state: int | np.random.RandomState | np.random.Generator | None
    kernel: str | Callable[[Matrix, Matrix], FloatArray] | None = None
    gamma: float | str
    degree: float
    coef0: float
    max_samples: int | None
    layer_: Any
    beta_: FloatArray
    _learner_: LayerLearner | None
    _cost_kind_: tuple[str, int]

    def _validated(self, X: Any, *, reset: bool, **options: Any) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=False if self.kernel == "precomputed" else "csr",
            dtype=[np.float64, np.float32],
            order="C",
            **options,
        )

    def _learner(self, rows: Rows, n_classes: int) -> KernelLearner | LayerLearner:
        """Return what solves for these rows."""
        if self.kernel is None:
            recipe = self._recipe(rows.X)
            return LayerLearner.from_batch(recipe, rows, n_classes, self._sample_rng())
        return KernelLearner(
            self._kernel_map(self.kernel, rows.X, rows.weight),
            rows,
            rows.counts(n_classes),
            rows.masses(),
        )

    def _kernel_map(
        self,
        kernel: str | Callable[[Matrix, Matrix], FloatArray],
        X: Matrix,
        weight: FloatArray | None,
    ) -> KernelMap:
        limit_rows(X.shape[0], self.max_samples)
        kind = None if self.scale == "auto" else self.scale
        if kind is not None and kernel == "precomputed":
            raise ValueError(f"scale must be None with kernel='precomputed', got {kind!r}")
        scale = None if kind is None else measure_scale(X, kind, weight)
        X = X.copy() if scale is None else scale(X)
        gamma = resolve_gamma("scale" if self.gamma == "search" else self.gamma, X, weight)
        return KernelMap(kernel, X, gamma, self.degree, self.coef0, X.dtype, scale)

    def _extended_learner(self, rows: Rows, n_classes: int) -> LayerLearner:
        """Return what solves for these rows and all before them."""
        if not hasattr(self, "layer_"):
            recipe = self._recipe(rows.X)
            return LayerLearner.from_first_chunk(recipe, rows, n_classes, self._sample_rng())
        learner = self._learner_
        if learner is None:
            raise ValueError(
                "partial_fit must begin the stream here: a model loaded from a file has no sums "
                "to go on with, and fit keeps them only for models with a hidden layer and, "
                "where weights differ by class, up to 8 MiB of them"
            )
        if self._cost_kind_ != (rows.terms.kind, rows.terms.n_groups):
            raise ValueError(
                "partial_fit must be given costs of the same kind with every chunk, got costs "
                f"by {rows.terms.kind} after costs by {self._cost_kind_[0]}"
            )
        return learner.extended(rows)

    def _sample_rng(self) -> np.random.Generator | None:
        """Return a generator if a sample of the training rows must be kept."""
        return None

    def _recipe(self, X: Matrix, rng: np.random.Generator | None = None) -> LayerRecipe:
        """Draw the layer's weights."""
        rng = as_generator(self.random_state) if rng is None else rng
        if self.hidden_layer is not None:
            transformer = seeded_clone(self.hidden_layer, rng)
            return LayerRecipe(None, self.activation, None, transformer, X.dtype)
        activation = "radbas" if self.activation == AUTO else self.activation
        drawn = draw_weights(self.draw, X.shape[1], self.n_hidden, rng)
        scale = "standard" if self.scale == "auto" else self.scale
        return LayerRecipe(drawn, activation, scale, None, X.dtype)

    def _keep(self, learner: KernelLearner | LayerLearner, terms: CostTerms) -> None:
        """Store the map, and what a later ``partial_fit`` needs where that is small."""
        self.layer_ = learner.layer
        self._cost_kind_ = terms.kind, terms.n_groups
        self._learner_ = None
        if isinstance(learner, LayerLearner) and learner.extensible:
            self._learner_ = learner

    def _scores(self, X: Any) -> FloatArray:
        """Return ``H(x) beta`` (18), block by block."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        scores = np.empty((X.shape[0], self.beta_.shape[1]), dtype=self.beta_.dtype)

        def fill(blocks: list[slice]) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                for rows in blocks:
                    scores[rows] = self.layer_(X[rows]) @ self.beta_

        blocks = row_blocks(X.shape[0], self.layer_.n_hidden)
        share_out(fill, blocks, threads=self.layer_.concurrent)
        if not np.isfinite(scores).all():
            raise ValueError(
                "X must give finite scores, got infinite or NaN ones: some rows lie too far "
                "from those the model was trained on"
            )
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the estimator as it was when ``method`` raises."""

    @wraps(method)
    def guarded(self: ELMBase, *arguments: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *arguments, **options)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded


def has_hidden_layer(estimator: ELMBase) -> bool:
    """Tell whether sequential learning is possible; with a kernel it is not."""
    if estimator.kernel is not None:
        raise AttributeError(
            f"partial_fit needs a hidden layer, got kernel={estimator.kernel!r}; use "
            "hidden_layer=Nystroem() to approximate the kernel"
        )
    return True


def class_targets(n_classes: int) -> FloatArray:
    """Return the target of every class: +1 in its own column, -1 in the others.

    Two classes share one column, since the other is its negative.
    """
    T = 2.0 * np.eye(n_classes) - 1.0
    return T[:, 1:] if n_classes == 2 else T


class ELMClassifierBase(ClassifierMixin, ELMBase):
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

        The solution is that of all rows so far; classes are weighted by all of them.

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
        the leave-one-out residuals of the training rows.

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


class ELMRegressorBase(MultiOutputMixin, RegressorMixin, ELMBase):
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


class CostDecisionBase(ELMClassifierBase):
    """Classifiers that decide by score, or by probabilities and costs."""

    cost_matrix_: Any
    _probabilities_: Any  # LogisticCalibration, or None to decide by score

    def _decides_by_score(self) -> bool:
        """Tell how the fitted model decides, whatever the parameter says now."""
        check_is_fitted(self)
        return self._probabilities_ is None

    def decision_function(self, X: Any) -> FloatArray:
        """Return what speaks for each class; the largest is always the predicted class.

        With ``decision="argmax"`` the scores z = H(x) beta (18); with ``"min_cost"``
        the negative of what predicting the class is expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        if self._decides_by_score():
            return super().decision_function(X)
        costs = expected_costs(self.predict_proba(X), self.cost_matrix_)
        return costs[:, 0] - costs[:, 1] if len(self.classes_) == 2 else -costs

    def predict(self, X: Any) -> AnyArray:
        """Return the class of the largest score (19), or of the least expected cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        labels : array of shape (N,)
        """
        if self._decides_by_score():
            return super().predict(X)
        winners = min_cost_decision(self.predict_proba(X), self.cost_matrix_)
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities.

        With ``decision="argmax"`` their largest is always the predicted class; with
        ``"min_cost"`` they are calibrated, by a logistic law fitted to leave-one-out
        scores of training rows (at most 4096 of them in
        :class:`CSELMClassifier`), and the prediction is the class they expect to cost
        least.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        if self._decides_by_score():
            return super().predict_proba(X)
        scores = self._scores(X)
        columns = scores[:, 1:] if len(self.classes_) == 2 else scores
        return self._probabilities_(columns.astype(np.float64))
