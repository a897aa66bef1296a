"""Predictors for services: what a fitted model computes, without what checks and plans it.

A call of ``predict`` of an estimator validates its input, limits BLAS and divides rows into blocks;
for a single row that takes longer than the products. A prepared model has folded scales and
widths into its matrices and goes straight to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators._array_api import check_numpy_model
from ecselm.estimators._base import ELMBase, ELMClassifierBase
from ecselm.estimators._calibration import (
    Calibration,
    LogisticCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.estimators._layers import DenseScale
from ecselm.layers import ACTIVATIONS, InputScale, KernelMap, LayerUnion, RandomLayer, RankScale
from ecselm.layers.scaling import FARTHEST

Map = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A fitted model, ready to answer single rows and batches.

    Made by :func:`prepare`. It takes dense rows of numbers alone, keeps no state between calls,
    and may be called from several threads.

    Attributes
    ----------
    classes_ : array of shape (k,) or None
        None for a regressor.
    n_features_in_ : int
    """

    classes_: AnyArray | None
    n_features_in_: int
    parts: Sequence[Map]  # from rows to units, some after the other
    beta: FloatArray  # (L, m)
    probabilities: Map | None
    deciding: Map | None  # probabilities that costs decide on; None where scores decide
    costs: FloatArray | None
    is_flat: bool  # one target, given as a vector

    def scores(self, X: Any) -> FloatArray:
        """Return ``H(x) beta`` (N, m) of rows (N, n) or of one row (n,)."""
        X = np.asarray(X)
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        if X.ndim == 1:
            X = X[np.newaxis]
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have rows of {self.n_features_in_} numbers, got the shape {X.shape}"
            )
        if len(X) == 1:
            Z = self._block(X)
        else:
            Z = np.empty((len(X), self.beta.shape[1]))
            for rows in row_blocks(len(X), len(self.beta)):
                Z[rows] = self._block(X[rows])
        if not np.isfinite(Z).all():
            raise ValueError("X must give finite scores, got infinite or NaN ones")
        return Z.astype(self.beta.dtype, copy=False)

    def _block(self, X: FloatArray) -> FloatArray:
        # One product of all units, as that of the model: terms that cancel are rounded alike.
        units = [part(X) for part in self.parts]
        H = units[0] if len(units) == 1 else np.concatenate(units, axis=1)
        return H @ self.beta

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities (N, k) of rows (N, n) or of one row (n,)."""
        if self.probabilities is None:
            raise AttributeError("predict_proba is there for classifiers, got a regressor")
        return self.probabilities(self._columns(self.scores(X)))

    def decision_function(self, X: Any) -> FloatArray:
        """Return what speaks for each class, as that of the model does."""
        if self.classes_ is None:
            raise AttributeError("decision_function is there for classifiers, got a regressor")
        values = self._values(self.scores(X))
        if len(self.classes_) > 2:
            return values
        return values[:, 1] if self.costs is None else values[:, 1] - values[:, 0]

    def predict(self, X: Any) -> AnyArray:
        """Return the answers (N,) to rows (N, n) or to one row (n,); targets of a regressor."""
        Z = self.scores(X)
        if self.classes_ is None:
            return Z[:, 0] if self.is_flat else Z
        return self.classes_[self._values(Z).argmax(axis=1)]

    def _values(self, Z: FloatArray) -> FloatArray:
        if self.deciding is None or self.costs is None:
            return Z
        return -(self.deciding(self._columns(Z)) @ self.costs)

    @staticmethod
    def _columns(Z: FloatArray) -> FloatArray:
        return (Z[:, 1:] if Z.shape[1] == 2 else Z).astype(np.float64, copy=False)


def prepare(model: Any) -> PreparedModel:
    """Return a fitted model prepared to answer with little time for each call.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package with a hidden layer, a kernel or an ensemble. Of a
        pipeline, prepare the last step and give it transformed rows.

    Returns
    -------
    prepared : PreparedModel
        It answers as the model does, up to rounding, without costs by row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import ECSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> prepared = prepare(ECSELMClassifier(random_state=0).fit(X, y))
    >>> prepared.predict(X[0]).tolist(), prepared.predict_proba(X[:2]).shape
    ([0], (2, 3))
    """
    if not isinstance(model, ELMBase):
        raise ValueError(  # noqa: TRY004  as for any value
            "model must be an estimator of this package with a hidden layer or kernel, got "
            f"{type(model).__name__}: of a pipeline, prepare the last step"
        )
    check_is_fitted(model)
    check_numpy_model(model, "prepare")
    layer, beta = model.layer_, model.beta_
    parts = [_units(part) for part in (layer.parts if isinstance(layer, LayerUnion) else [layer])]
    if isinstance(layer, LayerUnion) and layer.with_one:
        parts.append(lambda X: np.ones((len(X), 1)))
    common = (model.n_features_in_, parts, beta)
    if not isinstance(model, ELMClassifierBase):
        is_flat = getattr(model, "_target_ndim_", 1) == 1
        return PreparedModel(None, *common, None, None, None, is_flat)
    costs, weighted = model._decision_costs_, model._weighted_probabilities_
    probabilities = _calibrated(model._probabilities_)
    deciding = probabilities if weighted is None else _calibrated(weighted)
    return PreparedModel(
        *(model.classes_, *common, probabilities),
        *(None if costs is None else deciding, costs, True),
    )


def _units(layer: Any) -> Map:
    """Return the map from rows to the units of one layer."""
    if isinstance(layer, RandomLayer) and isinstance(layer.activation, str):
        return _random(layer, ACTIVATIONS[layer.activation])
    if isinstance(layer, KernelMap) and isinstance(layer.rows, np.ndarray):
        if layer.kernel == "rbf":
            return _rbf(layer)
        if layer.kernel == "laplacian":
            return _laplacian(layer)
    return lambda X: np.asarray(layer(X))  # transformers and functions of the user


def _random(layer: RandomLayer, activation: Map) -> Map:
    weights, biases, center = layer.weights, layer.biases, layer.center

    def units(X: FloatArray) -> FloatArray:
        X = X.astype(weights.dtype, copy=False)
        A = (X if center is None else X - center) @ weights
        A += biases
        with np.errstate(over="ignore", invalid="ignore"):  # scores are refused
            return activation(A)

    return units


def _rbf(layer: KernelMap) -> Map:
    """Return the map ``exp(-gamma |x - y|^2)``, in the steps of the kernel's own."""
    scale, gamma = _scale(layer.scale), layer.gamma
    Y = layer.rows.astype(np.float64, copy=False)
    doubled, norms = np.ascontiguousarray(-2.0 * Y).T, np.einsum("ij,ij->i", Y, Y)

    def units(X: FloatArray) -> FloatArray:
        A = scale(X).astype(np.float64, copy=False)
        D = A @ doubled
        D += np.einsum("ij,ij->i", A, A)[:, np.newaxis]
        D += norms
        np.maximum(D, 0.0, out=D)
        D *= -gamma
        return np.exp(D, out=D)

    return units


def _laplacian(layer: KernelMap) -> Map:
    scale, gamma, Y = _scale(layer.scale), layer.gamma, layer.rows

    def units(X: FloatArray) -> FloatArray:
        D = cdist(scale(X), Y, "cityblock")
        D *= -gamma
        return np.exp(D, out=D)

    return units


def _scale(scale: Any) -> Map:
    """Return the scale of the inputs of a kernel."""
    scale = scale.scale if isinstance(scale, DenseScale) else scale
    if scale is None:
        return lambda X: X
    if isinstance(scale, InputScale):
        center, width = scale.center, scale.width
        return lambda X: (X - center) / width
    if isinstance(scale, RankScale):
        knots, levels = scale.knots, scale.levels
        return lambda X: scale(X) if len(X) > 1 else _ranks(X, knots, levels)
    return lambda X: np.asarray(scale(X))


def _ranks(X: FloatArray, knots: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the normal scores of one row (1, n), of all inputs at once.

    The level of a value is the mean of those from below and from above, which differ where knots
    are equal.
    """
    x, last = X[0], len(levels) - 1
    columns = np.arange(len(x))
    below = (knots <= x).sum(axis=0) - 1  # the last knot up to x
    above = (knots < x).sum(axis=0)  # the first knot from x on
    sides = []
    for left, right in ((below, below + 1), (above - 1, above)):
        i, j = np.clip(left, 0, last), np.clip(right, 0, last)
        low, high = knots[i, columns], knots[j, columns]
        gap = np.where(high > low, high - low, 1.0)
        share = np.clip((x - low) / gap, 0.0, 1.0)
        share[(high == low) & (left == above - 1) & (x >= high)] = 1.0
        sides.append(levels[i] + share * (levels[j] - levels[i]))
    return np.clip(ndtri((sides[0] + sides[1]) / 2.0), -FARTHEST, FARTHEST)[np.newaxis]


def _calibrated(calibration: Calibration) -> Map:
    """Return the map from scores to probabilities, without the checks of a general softmax."""
    if isinstance(calibration, LogisticCalibration | VectorCalibration):
        slope: Any = calibration.slope if isinstance(calibration, LogisticCalibration) else None
        slopes = calibration.slopes if isinstance(calibration, VectorCalibration) else slope
        offsets = calibration.offsets
        return lambda Z: _softmax(slopes * _both(Z) + offsets)
    if isinstance(calibration, ScoreCalibration) and np.ptp(calibration.log_weights) > 0:
        slope, logs = calibration.slope, calibration.log_weights
        return lambda Z: _softmax(slope * _both(Z) - logs)
    if isinstance(calibration, ScoreCalibration):
        return _of_scores(calibration)
    return calibration


def _of_scores(calibration: ScoreCalibration) -> Map:
    """Return probabilities that are largest where scores are, even where these nearly tie."""

    def probabilities(Z: FloatArray) -> FloatArray:
        both = _both(Z)
        P = _softmax(calibration.slope * both)
        agrees = (P.argmax(axis=1) == both.argmax(axis=1)).all()
        return P if agrees else calibration(Z)

    return probabilities


def _both(Z: FloatArray) -> FloatArray:
    return np.concatenate([-Z, Z], axis=1) if Z.shape[1] == 1 else Z


def _softmax(A: FloatArray) -> FloatArray:
    A -= A.max(axis=1, keepdims=True)
    np.exp(A, out=A)
    A /= A.sum(axis=1, keepdims=True)
    return A
