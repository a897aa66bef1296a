"""Fits and predictions on arrays of other namespaces than NumPy's, where scikit-learn dispatches.

What is as large as the rows of X, and every product and system of equations, is computed in the
namespace and on the device of X: the scale of the inputs, H or the kernel matrix, its sums, their
factor, scores, probabilities and decisions. What is one number per row or per unit goes through
NumPy: labels, weights and costs are read, the layer is drawn and the calibration is fitted there,
by the code of NumPy's path, so that both paths are one model up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ecselm._sklearn import array_namespace, move_to, to_numpy
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.estimators._calibration import (
    Calibration,
    LogisticCalibration,
    LooScores,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.estimators._layers import check_magnitude, finite
from ecselm.estimators._training import CalibrationSample, Rows
from ecselm.layers import InputScale, KernelMap, RandomLayer, ScaleSum, limit_rows
from ecselm.layers.namespaces import layer_values, moments, moved_layer, row_slices, scaled
from ecselm.layers.random import SATURATION_ROWS
from ecselm.linalg.namespaces import (
    Solution,
    leverages,
    solve_dual,
    solve_primal,
    weighted_sums,
)

Array = Any  # of a namespace other than NumPy's


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace, and the device on which its arrays are."""

    xp: Any
    device: Any

    def __str__(self) -> str:
        return f"{self.xp.__name__.rpartition('.')[2]} on {self.device}"

    @classmethod
    def of(cls, array: Any) -> Namespace | None:
        """Return that of an array, None for NumPy's and for what is no array."""
        found = array_namespace(array)
        return None if found is None else cls(*found)

    @classmethod
    def known(cls, array: Any) -> Namespace:
        """Return that of an array which is not NumPy's."""
        found = cls.of(array)
        if found is None:
            raise ValueError(
                "array_api_dispatch must be True for arrays of other namespaces than NumPy's, "
                f"got False with one of {type(array).__module__}"
            )
        return found

    @property
    def wide(self) -> Any:
        """Return the float type of most digits."""
        floats = self.xp.__array_namespace_info__().dtypes(kind="real floating", device=self.device)
        return floats.get("float64", self.xp.float32)

    @property
    def float_types(self) -> list[Any]:
        """Return the float types that rows may have."""
        return list(dict.fromkeys([self.wide, self.xp.float32]))

    def moved(self, values: Any) -> Array:
        """Return a copy of an array of NumPy here, or an array of any other namespace."""
        if isinstance(values, np.ndarray):
            has_room = values.dtype != np.float64 or self.wide != self.xp.float32
            values = np.array(values, dtype=None if has_room else np.float32, order="C")
        return move_to(values, xp=self.xp, device=self.device)


@dataclass(frozen=True, slots=True)
class NamespaceRows:
    """Rows of X in another namespace, behind what code of NumPy asks of a matrix."""

    values: Array  # (N, n)
    space: Namespace

    @property
    def shape(self) -> tuple[int, int]:
        """Return N and n."""
        n_rows, n_features = self.values.shape
        return n_rows, n_features

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Return the type of NumPy that has as many digits."""
        single = self.values.dtype == self.space.xp.float32
        return np.dtype(np.float32 if single else np.float64)

    def __getitem__(self, index: IntArray) -> NamespaceRows:
        places = self.space.moved(index)
        return replace(self, values=self.space.xp.take(self.values, places, axis=0))

    def few(self) -> FloatArray:
        """Return an even sample of the rows in NumPy."""
        step = max(1, self.shape[0] // SATURATION_ROWS)
        return np.array(to_numpy(self.values[::step, :]))

    def scaled(self, scale: InputScale | None) -> NamespaceRows:
        """Return scaled copies of the rows."""
        xp = self.space.xp
        if scale is None:
            return replace(self, values=xp.asarray(self.values, copy=True))
        ends = InputScale(self.space.moved(scale.center), self.space.moved(scale.width))
        return replace(self, values=scaled(ends, self.values, xp))

    def largest(self) -> float:
        """Return the largest magnitude."""
        return float(self.space.xp.max(self.space.xp.abs(self.values)))

    def sums(self, weight: FloatArray | None) -> ScaleSum:
        """Return what a scale and the width of a kernel need to know of the rows."""
        N, xp = self.shape[0], self.space.xp
        share = np.full(N, 1.0 / N) if weight is None else weight / weight.sum(dtype=np.float64)
        mean, variance = moments(
            self.values, xp.astype(self.space.moved(share), self.space.wide), xp
        )
        used = self if weight is None else self[np.flatnonzero(weight > 0)]
        low, high = xp.min(used.values, axis=0), xp.max(used.values, axis=0)
        mean, variance, low, high = map(_float64, (mean, variance, low, high))
        return ScaleSum(1.0, mean, variance, low, high, float(np.finfo(self.dtype).eps))


def _float64(values: Array) -> FloatArray:
    return np.asarray(to_numpy(values), dtype=np.float64)


def unsupported(estimator: Any) -> str | None:
    """Say why an estimator computes with NumPy alone, None if it does not."""
    name = type(estimator).__name__
    if not estimator._computes_in_namespaces:
        return f"{name} computes with NumPy alone"
    kernel = estimator.kernel
    for parameter, holds, wanted in (
        ("ensemble", estimator.ensemble is None, "None"),
        ("hidden_layer", getattr(estimator, "hidden_layer", None) is None, "None"),
        ("C", estimator.C is not None, "a number or 'auto'"),
        ("activation", isinstance(getattr(estimator, "activation", ""), str), "a name"),
        ("kernel", kernel is None or isinstance(kernel, str), "a name"),
    ):
        if not holds:
            value = getattr(estimator, parameter)
            return (
                f"{parameter} must be {wanted}, got {value!r}: with it {name} computes with NumPy"
            )
    return None


def checked_namespace(estimator: Any, X: Any) -> Namespace | None:
    """Return the namespace that ``X`` is to be computed in, or refuse it before any work."""
    space = Namespace.of(X)
    if space is not None and (reason := unsupported(estimator)) is not None:
        raise ValueError(
            f"X must be an array of NumPy here, got one of {space} under array_api_dispatch: "
            f"{reason}"
        )
    return space


def check_same_namespace(estimator: Any, X: Any, method: str) -> None:
    """Refuse rows of another namespace or device than those of ``fit``."""
    beta, given = estimator.beta_, Namespace.of(X)
    known = None if isinstance(beta, np.ndarray) else Namespace.known(beta)
    if known != given:
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(), {known or 'NumPy'}, got "
            f"{given or 'NumPy'}"
        )


def check_numpy_model(estimator: Any, purpose: str) -> None:
    """Refuse what needs arrays of NumPy for a model whose arrays are of another namespace."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator  # of a pipeline
    beta = getattr(last, "beta_", None)
    if beta is not None and not isinstance(beta, np.ndarray):
        raise ValueError(
            f"the model must hold arrays of NumPy for {purpose}, got one fitted to arrays of "
            f"{type(beta).__module__.partition('.')[0]}"
        )


def namespace_learner(estimator: Any, rows: Rows, n_classes: int) -> NamespaceLearner:
    """Return what solves for rows of another namespace: the layer of NumPy's path, moved."""
    X, weight, kernel = rows.X, rows.weight, estimator.kernel
    if kernel is None:
        recipe = estimator._recipe(X)
        is_scaled = recipe.scale is not None
        drawn = recipe.scaled(
            X.sums(weight).scale(recipe.scale) if is_scaled else InputScale.identity(X.shape[1])
        )
        drawn.warn_if_saturated(X.few())
        return NamespaceLearner.of(estimator, drawn, recipe.source, rows, n_classes)
    limit_rows(len(rows), estimator.max_samples)
    kind, gamma = estimator._kernel_scale(kernel), estimator.gamma
    scale = None if kind is None else X.sums(weight).scale(kind)
    X = X.scaled(scale)
    check_magnitude(np.array([X.largest()]))
    if gamma == "scale":
        gamma = X.sums(weight).gamma(InputScale.identity(X.shape[1]))
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]
    shape = (float(gamma), estimator.degree, estimator.coef0, X.dtype)
    layer = KernelMap(kernel, X.values, *shape, scale)
    return NamespaceLearner.of(estimator, layer, ("kernel", kernel), rows, n_classes)


@dataclass(frozen=True, slots=True)
class NamespaceLearner:
    """Rows behind a hidden layer or a kernel, whose arrays are in their namespace."""

    layer: RandomLayer | KernelMap
    source: tuple[str, Any]  # the parameter to be blamed if H overflows, and its value
    known: Rows  # of which X are NamespaceRows
    counts: FloatArray  # (k,) weighted class counts
    masses: FloatArray  # (g,) weighted factors of the cost groups
    sample: Rows | None

    @classmethod
    def of(
        cls,
        estimator: Any,
        layer: RandomLayer | KernelMap,
        source: tuple[str, Any],
        rows: Rows,
        n_classes: int,
    ) -> NamespaceLearner:
        """Move the layer to the rows, and draw the sample that LayerLearner draws."""
        moved, rng = moved_layer(layer, rows.X.space.moved), estimator._sample_rng()
        sample = None if rng is None else CalibrationSample.from_rows(rows, rng).rows
        return cls(moved, source, rows, rows.counts(n_classes), rows.masses(), sample)

    @property
    def _space(self) -> Namespace:
        space: Namespace = self.known.X.space
        return space

    def solve(self, coefficients: FloatArray, C: float) -> Solution:
        """Return beta of (5) or (15), or alpha of (7)."""
        space, rows = self._space, self.known
        xp, N, L = space.xp, len(rows), self.layer.n_hidden
        T, w = space.moved(rows.T), rows.weights(coefficients)
        B = None if w is None else space.moved(w)
        if isinstance(self.layer, KernelMap):
            K = self._values(slice(0, N))
            self._check_finite(K)
            found = solve_dual(K, T, B, C, xp)
        elif N < L:
            H = xp.astype(self._values(slice(0, N)), space.wide)
            K = H @ H.T
            self._check_finite(K)
            found = solve_dual(K, T, B, C, xp)
            found = replace(found, beta=H.T @ found.beta)
        else:
            G, M = weighted_sums(self._parts(T, B), space.wide, xp)
            self._check_finite(G)
            found = solve_primal(G, M, C, float(np.finfo(rows.X.dtype).eps), xp)
        return found

    def _check_finite(self, products: Array) -> None:
        xp = self._space.xp
        finite(np.asarray(float(xp.sum(xp.abs(products)))), *self.source)

    def _values(self, rows: slice) -> Array:
        space = self._space
        return layer_values(self.layer, self.known.X.values[rows, :], space.xp, space.wide)

    def _parts(self, T: Array, B: Array | None) -> Iterator[tuple[Array, Array, Array | None]]:
        for rows in row_slices(len(self.known), self.layer.n_hidden):
            yield self._values(rows), T[rows, :], None if B is None else B[rows]

    def loo(self, solution: Solution, coefficients: FloatArray) -> LooScores:
        """Return leave-one-out scores as ``loo_rows`` does: of all rows, or of the sample."""
        space = self._space
        rows = self.known if solution.is_dual or self.sample is None else self.sample
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight.astype(np.float64)
        B = rows.terms.vector(coefficients).astype(np.float64)
        Z, H = scores_of(self.layer, solution.beta, rows.X, space.wide), None
        if not solution.is_dual:
            H = layer_values(self.layer, rows.X.values, space.xp, space.wide)
            H = space.xp.astype(H, space.wide)
        total, counts = space.moved(weight * B), space.moved(weight)
        h = leverages(solution, H, total, counts, space.xp)[:, None]
        T = space.xp.astype(space.moved(rows.T), Z.dtype)
        scores = to_numpy(Z - (h / (1.0 - h)) * (T - Z)).astype(np.float64)
        return LooScores(scores, rows.y, weight, B)


def scores_of(layer: RandomLayer | KernelMap, beta: Array, X: NamespaceRows, dtype: Any) -> Array:
    """Return ``H(x) beta`` (18), block by block."""
    xp, wide, weights = X.space.xp, X.space.wide, X.space.xp.astype(beta, dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # of a namespace that NumPy computes
        blocks = [
            xp.astype(layer_values(layer, X.values[rows, :], xp, wide), dtype) @ weights
            for rows in row_slices(X.shape[0], layer.n_hidden)
        ]
    return xp.concat(blocks, axis=0)


def all_finite(values: Any) -> bool:
    """Tell whether an array of any namespace holds finite numbers only."""
    space = Namespace.of(values)
    if space is None:
        return bool(np.isfinite(values).all())
    return bool(space.xp.all(space.xp.isfinite(values)))


def move_fitted(estimator: Any, move: Callable[[AnyArray], Array]) -> None:
    """Replace fitted arrays of numbers by what ``move`` makes of them; labels may be texts."""
    for name, value in list(vars(estimator).items()):
        is_text = isinstance(value, np.ndarray) and value.dtype.kind not in "biuf"
        if name.endswith("_") and hasattr(value, "__dlpack__") and not is_text:
            setattr(estimator, name, move(value))


def converted(estimator: Any, move: Callable[[AnyArray], Array]) -> Any:
    """Return a fitted estimator with ``move`` of its arrays, as scikit-learn asks for it."""
    if (reason := unsupported(estimator)) is not None:
        raise ValueError(f"a model must compute in other namespaces to be moved to one: {reason}")
    made = clone(estimator)
    vars(made).update({k: v for k, v in vars(estimator).items() if k.endswith("_")})
    move_fitted(made, move)
    if hasattr(made, "layer_"):
        made.layer_, made._learner_ = moved_layer(made.layer_, move), None
    return made


def probabilities(calibration: Calibration, scores: Array) -> Array:
    """Return the probabilities (N, k) that a calibration gives scores (N, m)."""
    space = Namespace.known(scores)
    xp, scores = space.xp, space.xp.astype(scores, space.wide)
    if isinstance(calibration, MonotoneCalibration):
        knots, values = space.moved(calibration.knots), space.moved(calibration.values)
        P = _interpolated(scores[:, 0], knots, values, xp)
        return xp.stack([1.0 - P, P], axis=1)
    Z = xp.concat([-scores, scores], axis=1) if scores.shape[1] == 1 else scores
    if isinstance(calibration, LogisticCalibration):
        return _softmax(calibration.slope * Z + space.moved(calibration.offsets), xp)
    if isinstance(calibration, VectorCalibration):
        slopes, offsets = map(space.moved, (calibration.slopes, calibration.offsets))
        return _softmax(slopes * Z + offsets, xp)
    if not isinstance(calibration, ScoreCalibration):
        raise TypeError(f"calibration must be one of this package, got {calibration!r}")
    P = _softmax(calibration.slope * Z - space.moved(calibration.log_weights), xp)
    return P if np.ptp(calibration.log_weights) else _led_by(Z, P, xp)


def _softmax(Z: Array, xp: Any) -> Array:
    E = xp.exp(Z - xp.max(Z, axis=1, keepdims=True))
    return E / xp.sum(E, axis=1, keepdims=True)


def _led_by(Z: Array, P: Array, xp: Any) -> Array:
    """Make the largest probability that of the largest score where rounding made them equal."""
    winners, top = xp.argmax(Z, axis=1), xp.max(P, axis=1, keepdims=True)
    wins = xp.arange(Z.shape[1], device=Z.device)[None, :] == winners[:, None]
    tied = (xp.argmax(P, axis=1) != winners)[:, None]
    return xp.where(wins & tied, xp.nextafter(top, xp.full_like(top, 2.0)), P)


def _interpolated(x: Array, knots: Array, values: Array, xp: Any) -> Array:
    """Return what ``numpy.interp`` does."""
    last = knots.shape[0] - 1
    if last == 0:
        return xp.zeros_like(x) + values
    x = xp.clip(x + 0.0, float(knots[0]), float(knots[last]))
    right = xp.clip(xp.searchsorted(knots, x, side="right"), 1, last)
    low, high = xp.take(knots, right - 1), xp.take(knots, right)
    start, end = xp.take(values, right - 1), xp.take(values, right)
    return start + (end - start) / (high - low) * (x - low)


def expected_costs_of(P: Array, cost: Array) -> Array:
    """Return the expected cost (N, k) of each prediction, by costs (k, k) or (N, k, k)."""
    space = Namespace.known(P)
    cost = space.xp.astype(space.moved(cost), P.dtype)
    return P @ cost if cost.ndim == 2 else (P[:, None, :] @ cost)[:, 0, :]


def labels_of(classes: Any, index: Any) -> Any:
    """Return the labels of classes by position, in NumPy where they are texts."""
    if isinstance(classes, np.ndarray):
        return classes[to_numpy(index)]
    return Namespace.known(classes).xp.take(classes, index, axis=0)


def argmax_of(values: Array) -> Array:
    """Return the column (N,) of the largest value of every row, the first of equal ones."""
    return Namespace.known(values).xp.argmax(values, axis=1)
