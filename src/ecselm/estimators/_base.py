"""What all estimators of the family share: validate, draw, solve, score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.linalg import LinAlgError
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._memory import free_memory, memory_limit, refuse_beyond
from ecselm._random import as_generator
from ecselm._sklearn import (
    HasMethods,
    Interval,
    Method,
    StrOptions,
    array_namespace,
    available_if,
    check_weights,
    fit_context,
    to_numpy,
)
from ecselm._threads import one_blas_thread, row_blocks, share_out
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs import Costs, CostTerms, expected_costs, min_cost_decision
from ecselm.costs.weights import SampleCosts
from ecselm.estimators._array_api import (
    NamespaceLearner,
    NamespaceRows,
    all_finite,
    argmax_of,
    check_numpy_model,
    check_same_namespace,
    checked_namespace,
    converted,
    expected_costs_of,
    labels_of,
    move_fitted,
    namespace_learner,
    probabilities,
    scores_of,
    unsupported,
)
from ecselm.estimators._calibration import (
    Calibration,
    LooScores,
    ScoreCalibration,
    fit_calibration,
    loo_rows,
)
from ecselm.estimators._ensemble import (
    INPUTS_TRIED,
    N_MEMBERS,
    PENALTIES,
    Ensemble,
    EnsembleRows,
    EnsembleSpec,
    Member,
    fit_ensemble,
    least_ensemble_bytes,
)
from ecselm.estimators._layers import LayerRecipe, check_magnitude, layer_width, seeded_clone
from ecselm.estimators._policy import ROW_COSTS, CostDecisionMixin, Decisions
from ecselm.estimators._steps import Steps
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
from ecselm.search.interrupts import keeping_best

AUTO = "auto"
OVERFLOWN = "array must not contain infs or NaNs"  # as SciPy says of sums that went too far
PLAIN_C = 32.0  # of one layer or kernel for C="auto"
RIDGE: dict[str, list[Any]] = {
    "C": [Interval(Real, 0, None, closed="neither"), StrOptions({AUTO})],
    "ensemble": [
        StrOptions({AUTO}),
        Interval(Integral, 1, None, closed="left"),
        list,
        tuple,
        None,
    ],
}
LAYER: dict[str, list[Any]] = {
    "n_hidden": [Interval(Integral, 1, None, closed="left"), StrOptions({AUTO})],
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
    classes, codes = _distinct(y)
    used = codes if weight is None else codes[weight > 0]
    seen = classes[np.bincount(used, minlength=len(classes)) > 0]
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


def _distinct(y: AnyArray) -> tuple[AnyArray, IntArray]:
    """Return the different labels in order, and the position of each label among them.

    Integers of a small range are counted: sorting them takes ten times as long.
    """
    if y.dtype.kind in "iu" and y.ndim == 1 and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < len(y) and high <= np.iinfo(np.intp).max:
            shifted = y.astype(np.intp) - low
            counted = np.bincount(shifted) > 0
            classes = (np.flatnonzero(counted) + low).astype(y.dtype)
            return classes, (np.cumsum(counted) - 1)[shifted]
    return np.unique(y, return_inverse=True)


DOC_LINK = "https://ecselm.github.io/ecselm/api/{place}.{name}.html"


def doc_link_parts(estimator: Any) -> dict[str, str]:
    """Return the public place and the name of a class, for the link to its documentation."""
    place = type(estimator).__module__.rpartition(".")[0]  # modules are no public places
    name = type(estimator).__name__
    return {"place": "ecselm" if place == "ecselm.estimators" else place, "name": name}


class ELMBase(BaseEstimator):
    """Base of the ELM estimators: a map from x to H, and output weights beta on it.

    A subclass states the targets and costs. One whose parameter ``kernel`` is not
    None takes kernel values in the place of hidden units.
    """

    _doc_link_module = "ecselm"
    _doc_link_template = DOC_LINK
    _doc_link_url_param_generator = doc_link_parts
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _computes_in_namespaces: ClassVar[bool] = False  # other than NumPy's

    n_hidden: int | str
    C: float | str
    ensemble: Any = None
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
    _members_: tuple[Member, ...] | None

    def _validated(self, X: Any, *, reset: bool, **options: Any) -> Any:
        space = None if array_namespace(X) is None else checked_namespace(self, X)
        if "y" in options:
            options["y"] = to_numpy(options["y"])
        if options.get("y_numeric"):
            check_targets(options["y"])
        checked = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=False if self.kernel == "precomputed" else "csr",
            dtype=[np.float64, np.float32] if space is None else space.float_types,
            order="C",
            **options,
        )
        if space is None:
            return checked
        if "y" in options:
            return NamespaceRows(checked[0], space), checked[1]
        return NamespaceRows(checked, space)

    def _learner(
        self, rows: Rows, n_classes: int
    ) -> KernelLearner | LayerLearner | NamespaceLearner:
        """Return what solves for these rows."""
        if isinstance(rows.X, NamespaceRows):
            return namespace_learner(self, rows, n_classes)
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
        kind = self._kernel_scale(kernel)
        scale = None if kind is None else measure_scale(X, kind, weight)
        X = X.copy() if scale is None else scale(X)
        check_magnitude(X)
        gamma = resolve_gamma("scale" if self.gamma == "search" else self.gamma, X, weight)
        return KernelMap(kernel, X, gamma, self.degree, self.coef0, X.dtype, scale)

    def _kernel_scale(self, kernel: str | Callable[[Matrix, Matrix], FloatArray]) -> str | None:
        kind = None if self.scale == "auto" else self.scale
        if kind is not None and kernel == "precomputed":
            raise ValueError(f"scale must be None with kernel='precomputed', got {kind!r}")
        return kind

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

    def _check_stream(self, X: Any) -> None:
        """Refuse a stream in another namespace: sums of groups are NumPy's."""
        if (space := checked_namespace(self, X)) is not None:
            raise ValueError(f"X must be an array of NumPy in partial_fit, got one of {space}")
        check_numpy_model(self, "partial_fit")

    def _sample_rng(self) -> np.random.Generator | None:
        """Return a generator if a sample of the training rows must be kept."""
        return None

    @property
    def _penalty(self) -> float:
        """Return the C of one layer or kernel."""
        return PLAIN_C if isinstance(self.C, str) else self.C

    def _fitted_ensemble(self, rows: EnsembleRows, memory: int | None = None) -> Ensemble:
        """Choose the members of the ensemble and average them."""
        rng = as_generator(getattr(self, "random_state", 0))  # kernels draw nothing
        penalties = PENALTIES if isinstance(self.C, str) else (float(self.C),)
        n_hidden = len(rows) if self._is_kernel_machine() else self.n_hidden
        limit = memory_limit(None) if memory is None else memory
        spec = self._ensemble_spec()
        with Steps() as steps:
            return fit_ensemble(rows, spec, n_hidden, penalties, rng, limit, steps=steps)

    def _is_kernel_machine(self) -> bool:
        return not hasattr(self, "n_hidden")

    def _ensemble_spec(self) -> EnsembleSpec:
        """Read ``ensemble``, or refuse it beside a layer or kernel of the user's."""
        if getattr(self, "hidden_layer", None) is not None:
            raise ValueError(
                f"hidden_layer must be None with an ensemble, got {self.hidden_layer!r}"
            )
        given = self.kernel is not None and not self._is_kernel_machine()
        if given or self.kernel == "precomputed" or callable(self.kernel):
            raise ValueError(
                f"kernel must not be given with an ensemble, got {self.kernel!r}: ensemble "
                "may be a list of layers"
            )
        own = self.scale in {AUTO, "standard"} or self._is_kernel_machine()
        return EnsembleSpec.of(self.ensemble, INPUTS_TRIED if own else (self.scale, "ranks"))

    def _keep_ensemble(self, found: Ensemble) -> None:
        """Store the map to the units of all members."""
        self.layer_, self._members_ = found.layer, found.members
        self.solver_ = f"ensemble of {len(found.members)}"
        self._learner_ = None

    @property
    def members_(self) -> Any:
        """Return a frame of the members of the ensemble: layer, C and squared error."""
        import pandas as pd  # noqa: PLC0415  half a second that only this property needs

        check_is_fitted(self)
        if getattr(self, "_members_", None) is None:
            raise AttributeError("members_ is there only for an ensemble, got ensemble=None")
        frame = pd.DataFrame(self._members_, columns=list(Member._fields))
        kept = pd.Series([one.inputs for one in self._members_ or ()], dtype=object)  # None stays
        return frame.assign(inputs=kept)

    def _recipe(
        self, X: Matrix, rng: np.random.Generator | None = None, n_rows: int | None = None
    ) -> LayerRecipe:
        """Draw the layer's weights, for as many rows as X has if ``n_rows`` is None."""
        rng = as_generator(self.random_state) if rng is None else rng
        if self.hidden_layer is not None:
            transformer = seeded_clone(self.hidden_layer, rng)
            return LayerRecipe(None, self.activation, None, transformer, X.dtype)
        activation = "radbas" if self.activation == AUTO else self.activation
        width = layer_width(self.n_hidden, X.shape[0] if n_rows is None else n_rows)
        drawn = draw_weights(self.draw, X.shape[1], width, rng)
        scale = "standard" if self.scale == "auto" else self.scale
        return LayerRecipe(drawn, activation, scale, None, X.dtype)

    def _keep(
        self, learner: KernelLearner | LayerLearner | NamespaceLearner, terms: CostTerms
    ) -> None:
        """Store the map, and what a later ``partial_fit`` needs where that is small."""
        self.layer_ = learner.layer
        self._cost_kind_ = terms.kind, terms.n_groups
        self._learner_ = self._members_ = None
        if isinstance(learner, LayerLearner) and learner.extensible:
            self._learner_ = learner

    def _move_to(self, X: Any) -> None:
        """Move fitted arrays to the namespace of the rows, if that is not NumPy's."""
        if isinstance(X, NamespaceRows):
            _check_solution(self)
            move_fitted(self, X.space.moved)

    def _scores(self, X: Any, method: str = "predict") -> FloatArray:
        """Return ``H(x) beta`` (18) for the stated public method."""
        check_is_fitted(self)
        check_same_namespace(self, X, method)
        X = self._validated(X, reset=False)
        if isinstance(X, NamespaceRows):
            scores = scores_of(self.layer_, self.beta_, X, self.beta_.dtype)
        else:
            scores = self._numpy_scores(X)
        if not all_finite(scores):
            raise ValueError(
                "X must give finite scores, got infinite or NaN ones: some rows lie too far "
                "from those the model was trained on"
            )
        return scores

    def _numpy_scores(self, X: Matrix) -> FloatArray:
        """Return the scores block by block."""
        scores = np.empty((X.shape[0], self.beta_.shape[1]), dtype=self.beta_.dtype)

        def fill(blocks: list[slice]) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # refused by the caller
                for rows in blocks:
                    scores[rows] = self.layer_(X[rows]) @ self.beta_

        blocks = row_blocks(X.shape[0], self.layer_.n_hidden)
        share_out(fill, blocks, threads=self.layer_.concurrent)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.array_api_support = self._computes_in_namespaces and unsupported(self) is None
        return tags

    def __sklearn_array_api_convert__(self, converter: Callable[[Any], Any]) -> Any:
        """Return a copy with converted arrays, when scikit-learn moves an estimator."""
        return converted(self, converter)


def all_or_nothing(method: Method) -> Method:
    """Leave the estimator as it was when ``method`` raises, or what it stores is not finite.

    Overflow is refused here in one sentence, instead of a warning of NumPy at every step.
    """

    @wraps(method)
    def guarded(self: ELMBase, *arguments: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            with np.errstate(all="ignore"):
                result = method(self, *arguments, **options)
            _check_solution(self)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, LinAlgError) or str(error) == OVERFLOWN:
                raise ValueError(
                    f"X and y must give equations that can be solved, got this: {error}; their "
                    "values are too large, too small or too unequal"
                ) from error
            raise
        return result

    return cast("Method", guarded)


def _check_solution(estimator: BaseEstimator) -> None:
    """Raise ValueError if coefficients are not finite."""
    for name in ("beta_", "dual_coef_", "intercept_"):
        stored = getattr(estimator, name, None)
        if isinstance(stored, np.ndarray) and not np.isfinite(stored).all():
            raise ValueError(
                f"X and y must give finite coefficients, got NaN or infinite ones in {name}: "
                "their values are too large, too small or too unequal"
            )


def check_targets(y: Any) -> None:
    """Raise ValueError if the targets of a regression are not numbers.

    scikit-learn converts texts of digits, and leaves ``None`` for the solver to find.

    Examples
    --------
    >>> check_targets([1.5, 2.0])
    >>> check_targets(["high", "low"])
    Traceback (most recent call last):
        ...
    ValueError: y must be numbers, got 'high'
    """
    if y is None or hasattr(y, "tocsr"):
        return  # refused by scikit-learn
    try:
        targets = np.asarray(y)
    except ValueError:
        return  # ragged, as above
    if targets.dtype.kind in "biuf":
        return
    for value in targets.ravel().tolist():
        if not isinstance(value, Real | Decimal):
            # In scikit-learn's words, which its checks look for.
            reason = ": Complex data not supported" if isinstance(value, complex) else ""
            raise ValueError(f"y must be numbers, got {value!r:.40}{reason}")  # noqa: TRY004
    if targets.dtype.kind != "O":
        raise ValueError(f"y must be numbers, got an array of {targets.dtype}")


def has_hidden_layer(estimator: ELMBase) -> bool:
    """Tell whether sequential learning is possible; with kernels and ensembles it is not."""
    if estimator.ensemble is not None:
        raise AttributeError(
            f"partial_fit needs one hidden layer, got ensemble={estimator.ensemble!r}: members "
            "are chosen on all rows at once"
        )
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
    T = np.full((n_classes, n_classes), -1.0)
    np.fill_diagonal(T, 1.0)
    return T[:, 1:] if n_classes == 2 else T


class ELMClassifierBase(CostDecisionMixin, ClassifierMixin, ELMBase):
    """Learn, decide and give probabilities; subclasses say what mistakes cost.

    A fitted classifier decides by the largest score (19), or by the least expected cost, for
    which ``_decision_costs_`` are the costs of every confusion. Where costs came by row, the
    probabilities that decide are ``_weighted_probabilities_``, of rows weighted by their cost
    relative to their class, since costs of new rows are not known.
    """

    classes_: AnyArray
    cost_vector_: FloatArray
    _probabilities_: Calibration
    _decision_costs_: FloatArray | None
    _weighted_probabilities_: Calibration | None

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
        self, costs: Costs, counts: FloatArray, masses: FloatArray, classes: AnyArray
    ) -> FloatArray:
        """Return the coefficients of the cost groups, for the weighted sizes of both."""
        return costs.coefficients(counts, np.ones(len(classes)))

    def _costs_of_decisions(self, costs: Costs, coefficients: FloatArray) -> FloatArray | None:
        """Return the costs (k, k) that decide, None for the largest score.

        An ensemble decides by the class weights it is trained with.
        """
        if self.ensemble is None:
            return None
        k = len(self.classes_)
        by_class = coefficients if len(coefficients) == k else np.ones(k)
        return by_class[:, np.newaxis] * (1.0 - np.eye(k))

    def _sample_rng(self) -> np.random.Generator | None:
        """Return the generator of the sample of rows that probabilities are calibrated on."""
        return as_generator(getattr(self, "random_state", None)).spawn(1)[0]

    @keeping_best()
    @all_or_nothing
    @one_blas_thread()
    def _fit_labels(self, X: Any, y: Any, sample_weight: Any, **stated: Any) -> Self:
        X, codes, classes, weight = self._checked_labels(X, y, sample_weight)
        stated = {name: to_numpy(value) for name, value in stated.items()}
        costs = self._read_costs(codes, classes, **stated)
        rows = labelled_rows(X, codes, costs, weight, len(classes))
        rows.check_some_cost()
        if self.ensemble is None:
            self._learn(self._learner(rows, len(classes)), rows, costs, classes)
        else:
            self._learn_ensemble(rows, costs, classes)
        self.cost_vector_ = rows.terms.vector(self._group_costs_)
        self._move_to(X)
        return self

    def _checked_labels(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Matrix, IntArray, AnyArray, FloatArray | None]:
        """Return rows, class codes, classes and weights, fit to learn from."""
        X, y = self._validated(X, reset=True, y=y)
        weight = check_weights(to_numpy(sample_weight), X)
        classes, codes = class_codes(y, weight)
        self._check_memory(len(codes), len(classes))
        return X, codes, classes, weight

    def _check_memory(self, n_rows: int, n_classes: int) -> None:
        """Refuse, before any work, a fit whose smallest form takes more than the memory allowed.

        A stated ``memory_limit`` holds; the default of it is a part of the free memory, for
        speed, so that without one all of the free memory counts.
        """
        stated = getattr(self, "memory_limit", None)
        refuse_beyond(
            least_bytes(n_rows, n_classes, is_ensemble=self._has_members()),
            free_memory() if stated is None else memory_limit(stated),
            f"{n_rows} rows of {n_classes} classes",
        )

    def _has_members(self) -> bool:
        """Tell whether an ensemble is fitted."""
        return self.ensemble is not None

    @all_or_nothing
    @one_blas_thread()
    def _partial_fit_labels(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, **stated: Any
    ) -> Self:
        self._check_stream(X)
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
        learner: KernelLearner | LayerLearner | NamespaceLearner,
        rows: Rows,
        costs: Costs,
        classes: AnyArray,
    ) -> None:
        coefficients = self._coefficients(costs, learner.counts, learner.masses, classes)
        solution: Any = learner.solve(coefficients, self._penalty)
        self.classes_, self._group_costs_ = classes, coefficients
        self._store_beta(to_numpy(solution.beta), rows.T.dtype)
        self.solver_ = solution.path
        self._keep(learner, rows.terms)
        self._decision_costs_ = self._costs_of_decisions(costs, coefficients)
        if isinstance(learner, NamespaceLearner):
            self._calibrate(learner.loo(solution, coefficients))
        else:
            self._calibrate(loo_rows(learner, solution, coefficients))

    def _learn_ensemble(self, rows: Rows, costs: Costs, classes: AnyArray) -> None:
        """Fit the ensemble to rows whose costs are weights, and calibrate it."""
        coefficients = self._coefficients(costs, rows.counts(len(classes)), rows.masses(), classes)
        self.classes_, self._group_costs_ = classes, coefficients
        B = rows.terms.vector(coefficients).astype(np.float64)
        weight = None if rows.weight is None else rows.weight.astype(np.float64)
        total = B if weight is None else B * weight
        used: slice | IntArray = slice(None) if (total > 0).all() else np.flatnonzero(total > 0)
        weight = None if weight is None else weight[used]
        known = EnsembleRows(
            rows.X[used],
            rows.T[used].astype(np.float64, copy=False),
            total[used] / np.average(B[used], weights=weight),
            rows.y[used],
            weight,
        )
        found = self._fitted_ensemble(known)
        self._store_beta(found.beta, rows.T.dtype)
        self._keep_ensemble(found)
        self._decision_costs_ = self._costs_of_decisions(costs, coefficients)
        self._calibrate(found.loo(known, B[used]))

    def _store_beta(self, beta: FloatArray, dtype: Any) -> None:
        """Keep the output weights, with a column for each of two classes that share one."""
        beta = beta.astype(dtype)
        self.beta_ = np.hstack([-beta, beta]) if len(self.classes_) == 2 else beta

    def _calibrate(self, loo: LooScores) -> None:
        """Fit probabilities of the training population to leave-one-out scores.

        They undo the costs of rows in training. Where these are equal and the largest score
        decides, the largest probability is always where the largest score is.
        """
        k, self._weighted_probabilities_ = len(self.classes_), None
        if self._decision_costs_ is None and loo.has_equal_costs:
            self._probabilities_ = ScoreCalibration.from_loo(loo, k)
        else:
            self._probabilities_ = fit_calibration(loo, k)

    def decision_function(self, X: Any) -> FloatArray:
        """Return what speaks for each class; the largest is always the predicted class.

        The scores z = H(x) beta (18) where the largest decides, otherwise the negative of
        what predicting the class is expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        scores : array of shape (N,) for two classes, else (N, k)
            For two classes, positive speaks for ``classes_[1]``.
        """
        scores = self._scores(X, "decision_function")
        is_binary = scores.shape[1] == 2
        if self._decision_costs_ is not None:
            scores = -self._expected(self._deciding(scores), self._decision_costs_)
            return scores[:, 1] - scores[:, 0] if is_binary else scores
        return scores[:, 1] if is_binary else scores

    def predict(
        self,
        X: Any,
        *,
        sample_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
    ) -> AnyArray:
        """Return the class of the largest score (19), or of the least expected cost.

        Costs of the rows, where they are known, decide in the place of all others. They go
        through metadata routing: ``model.set_predict_request(sample_cost=True)``.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        sample_cost : array of shape (N, k, k) or (N,), default=None
            Costs of each row, with the true classes as rows of a matrix and the predicted ones
            as columns; or the cost of any mistake on the row.
        tp_cost, tn_cost, fp_cost, fn_cost : float or array of shape (N,), default=None
            Costs by row of two classes, by outcome; ``classes_[1]`` is positive. Mistakes that
            are not stated cost 1, correct predictions 0.

        Returns
        -------
        labels : array of shape (N,)
        """
        check_is_fitted(self)
        given = map(to_numpy, (sample_cost, tp_cost, tn_cost, fp_cost, fn_cost))
        by_row = self._row_matrices(X, dict(zip(ROW_COSTS, given, strict=True)))
        return labels_of(self.classes_, self._decided(X, by_row)[1])

    def _decided(self, X: Any, by_row: FloatArray | None) -> tuple[FloatArray, IntArray]:
        scores = self._scores(X)
        if not isinstance(scores, np.ndarray):
            return self._namespace_decided(scores, by_row)
        if by_row is not None:
            P = self._calibrated(scores)
            return P, min_cost_decision(P, by_row)
        if self._decision_costs_ is None:
            return self._calibrated(scores), scores.argmax(axis=1)  # (19)
        P = self._deciding(scores)
        return P, min_cost_decision(P, self._decision_costs_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return estimates of P(class | x) in the population of the training rows.

        They are calibrated on leave-one-out scores of training rows (at most 2048 behind one
        hidden layer), and do not depend on costs: weights that rows had in training are
        undone. ``predict`` applies costs to them.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        probabilities : array of shape (N, k)
        """
        return self._calibrated(self._scores(X, "predict_proba"))

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        return self._applied(self._probabilities_, scores)

    def _applied(self, calibration: Calibration, scores: FloatArray) -> FloatArray:
        """Return probabilities; calibrations take one column of scores for two classes."""
        columns = scores[:, 1:] if scores.shape[1] == 2 else scores
        if isinstance(scores, np.ndarray):
            return calibration(columns.astype(np.float64))
        return probabilities(calibration, columns)

    def _deciding(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities that costs decide on."""
        weighted = self._weighted_probabilities_
        return self._calibrated(scores) if weighted is None else self._applied(weighted, scores)

    def _namespace_decided(self, scores: Any, by_row: FloatArray | None) -> tuple[Any, Any]:
        if by_row is not None or self._decision_costs_ is not None:
            P = self._calibrated(scores) if by_row is not None else self._deciding(scores)
            costs = self._decision_costs_ if by_row is None else by_row
            return P, argmax_of(-self._expected(P, costs))
        return self._calibrated(scores), argmax_of(scores)  # (19)

    def _expected(self, P: Any, costs: Any) -> Any:
        """Return what each prediction (N, k) is expected to cost."""
        return (
            expected_costs(P, costs) if isinstance(P, np.ndarray) else expected_costs_of(P, costs)
        )

    def _decisions(self, X: Any, by_row: FloatArray | None = None) -> Decisions:
        check_numpy_model(self, "predict_set, settled, regret and expected_cost")
        return super()._decisions(X, by_row)


def least_bytes(n_rows: int, n_classes: int, *, is_ensemble: bool) -> int:
    """Return the memory that a fit of classes takes at least, beside the inputs.

    Targets of all rows, twice, ``16 N m``; costs of every confusion as they are stated, learned,
    decided by and kept, ``40 k^2``; and the smallest ensemble.

    Examples
    --------
    >>> least_bytes(20_000, 10, is_ensemble=True) < 2**23
    True
    >>> least_bytes(20_000, 10_000, is_ensemble=False) // 2**30
    6
    """
    m = 1 if n_classes == 2 else n_classes
    targets, costs = 16 * n_rows * m, 40 * n_classes**2
    return targets + costs + (least_ensemble_bytes(n_rows, m, N_MEMBERS) if is_ensemble else 0)


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

    @keeping_best()
    @all_or_nothing
    @one_blas_thread()
    def _fit_targets(self, X: Any, y: Any, sample_weight: Any, stated: Any = None) -> Self:
        X, y = self._validated(X, reset=True, y=y, multi_output=True, y_numeric=True)
        rows = self._target_rows(X, y, check_weights(to_numpy(sample_weight), X), to_numpy(stated))
        rows.check_some_cost()
        if self.ensemble is None:
            self._learn(self._learner(rows, 1), rows, y.ndim)
        else:
            self._learn_ensemble(rows, y.ndim)
        self.cost_vector_ = rows.terms.factors[:, 0]
        self._move_to(X)
        return self

    def _learn_ensemble(self, rows: Rows, target_ndim: int) -> None:
        """Fit the ensemble to centred targets; the last unit, always 1, gives the mean back."""
        B = rows.terms.factors[:, 0].astype(np.float64)
        weight = None if rows.weight is None else rows.weight.astype(np.float64)
        total = B if weight is None else B * weight
        used = np.flatnonzero(total > 0)
        weight = None if weight is None else weight[used]
        T = rows.T[used].astype(np.float64)
        centre = np.average(T, axis=0, weights=total[used])
        found = self._fitted_ensemble(
            EnsembleRows(
                rows.X[used],
                T - centre,
                total[used] / np.average(B[used], weights=weight),
                rows.y[used],
                weight,
            )
        )
        self._keep_ensemble(replace(found, layer=replace(found.layer, with_one=True)))
        self.beta_ = np.vstack([found.beta, centre]).astype(rows.T.dtype)
        self._target_ndim_ = target_ndim

    @all_or_nothing
    @one_blas_thread()
    def _partial_fit_targets(self, X: Any, y: Any, sample_weight: Any, stated: Any = None) -> Self:
        self._check_stream(X)
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
        learner: KernelLearner | LayerLearner | NamespaceLearner,
        rows: Rows,
        target_ndim: int,
    ) -> None:
        solution = learner.solve(np.ones(1), self._penalty)
        self.beta_ = to_numpy(solution.beta).astype(rows.T.dtype)
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
