"""What all estimators of the family share: validate, draw, solve, score."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ecselm._random import as_generator
from ecselm._sklearn import HasMethods, Interval, StrOptions
from ecselm._threads import row_blocks, share_out
from ecselm._typing import FloatArray, Matrix
from ecselm.costs import CostTerms
from ecselm.elm.layers import LayerRecipe, seeded_clone
from ecselm.elm.learners import KernelLearner, LayerLearner
from ecselm.elm.rows import Rows
from ecselm.hidden import (
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


class ELMFamily(BaseEstimator):
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
    def guarded(self: ELMFamily, *arguments: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *arguments, **options)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded


def has_hidden_layer(estimator: ELMFamily) -> bool:
    """Tell whether sequential learning is possible; with a kernel it is not."""
    if estimator.kernel is not None:
        raise AttributeError(
            f"partial_fit needs a hidden layer, got kernel={estimator.kernel!r}; use "
            "hidden_layer=Nystroem() to approximate the kernel"
        )
    return True
