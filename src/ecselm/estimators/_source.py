"""Rows to train on: the data, models behind a layer or kernel, and where sums come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ecselm._memory import memory_limit
from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.estimators._ensemble import KernelSums
from ecselm.estimators._layers import LayerRecipe, finite
from ecselm.estimators._scoring import ValidationRows
from ecselm.fitness import (
    CostedRows,
    CostEncoding,
    Engine,
    LeaveOneOutEngine,
    Split,
    TrainingKernel,
    kernel_engine,
    layer_engine,
)
from ecselm.fitness.folds import Groups, fitness_splits, row_hashes
from ecselm.fitness.systems import KernelSystem, System, layer_system
from ecselm.layers import HiddenLayer, KernelMap


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Rows of positive weight: inputs, labels or targets, and the strata of the folds."""

    X: Any  # (N, n)
    y: AnyArray  # as the user gave it
    codes: IntArray  # (N,) classes, or levels of the target
    T: FloatArray | None  # (N, m), None for estimators that have no targets of (15)
    weight: FloatArray | None
    groups: Groups | None = None

    @classmethod
    def of_positive_weight(
        cls,
        X: Any,
        y: AnyArray,
        codes: IntArray,
        T: FloatArray | None,
        weight: FloatArray | None,
        groups: Groups | None,
    ) -> tuple[TrainingData, IntArray]:
        """Return the rows of positive weight, and their positions."""
        T = None if T is None else T.astype(np.float64)
        used = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
        kept = None if weight is None else weight[used].astype(np.float64)
        if len(used) == len(codes):
            return cls(X, y, codes, T, kept, groups), used
        own = None if groups is None else groups.taken(used)
        T = None if T is None else T[used]
        return cls(safe_indexing(X, used), y[used], codes[used], T, kept, own), used

    def __len__(self) -> int:
        return len(self.codes)

    def row_ids(self, positions: IntArray) -> AnyArray:
        """Return the hash or group of some of the rows: equal ones count as one row."""
        if self.groups is not None:
            return self.groups.codes[positions]
        return row_hashes(comparable(self.X))[positions]

    def validation(self, positions: IntArray) -> ValidationRows:
        """Return some of the rows as a fitness needs them."""
        weight = None if self.weight is None else self.weight[positions]
        T = None if self.T is None else self.T[positions]
        return ValidationRows(safe_indexing(self.X, positions), self.y[positions], T, weight)

    def identity(self) -> dict[str, Any]:
        """Return the data that a search depends on, by name."""
        groups = None if self.groups is None else self.groups.codes
        X = comparable(self.X)
        return {"X": X, "y": self.y, "sample_weight": self.weight, "groups": groups}


def comparable(X: Any) -> Any:
    """Return any inputs as a sparse matrix, or an array (N, n) whose rows can be hashed."""
    if sparse.issparse(X):
        return X
    rows = np.asarray(X)
    if rows.ndim == 1 or rows.dtype.kind not in "biuf":  # words, dates
        rows = rows.astype(object)
    return rows.reshape(len(rows), -1)


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Sizes that decide which engine evaluates the candidates of a search."""

    memory: int  # bytes
    n_candidates: int  # in a generation
    strengths: tuple[float, float]  # the smallest and the greatest C B of any candidate
    searches_gamma: bool = False

    @classmethod
    def of_search(
        cls, stated: Any, encoding: CostEncoding, n_candidates: int, weight: FloatArray | None
    ) -> EngineLimits:
        """Return the limits of a search, for a ``memory_limit`` as stated."""
        light, heavy = (1.0, 1.0) if weight is None else (weight.min(), weight.max())
        gamma = encoding.gamma is not None and encoding.gamma.is_searched
        least, most = encoding.strengths
        strengths = least * float(light), most * float(heavy)
        return cls(memory_limit(stated), n_candidates, strengths, gamma)


@dataclass(frozen=True, slots=True)
class LayerModel:
    """Training rows behind a hidden layer, computed once."""

    layer: Any
    H: FloatArray  # (N, L), float64: candidates differ by little

    @classmethod
    def on_rows(cls, layer: Any, X: Matrix, name: str, value: Any) -> LayerModel:
        """Compute H, or refuse the parameter ``name`` that let it overflow."""
        with np.errstate(over="ignore", invalid="ignore"):  # refused by the next line
            H = layer(X)
        return cls(layer, finite(H, name, value).astype(np.float64, copy=False))

    def engine(self, rows: CostedRows, splits: list[Split] | None, limits: EngineLimits) -> Engine:
        """Return the engine that scores candidates; without splits, by leave-one-out."""
        if splits is None:
            return self.loo_engine(rows)
        return layer_engine(
            self.H,
            rows,
            splits,
            memory=limits.memory,
            strengths=limits.strengths,
            n_candidates=limits.n_candidates,
        )

    def loo_engine(self, rows: CostedRows) -> LeaveOneOutEngine:
        """Return the engine that scores every row by leave-one-out."""
        return LeaveOneOutEngine.from_layer(self.H, rows)

    def system(self, rows: CostedRows) -> System:
        """Return the system that solves (15) for any costs."""
        return layer_system(self.H, rows)

    @property
    def features(self) -> FloatArray:
        """Return H."""
        return self.H


@dataclass(frozen=True, slots=True)
class KernelModel:
    """Training rows behind a kernel, for one width or any."""

    kernel: TrainingKernel

    @classmethod
    def from_map(cls, layer: KernelMap) -> KernelModel:
        """Evaluate the kernel between the training rows, or refuse one that overflows."""
        model = cls(TrainingKernel.from_map(layer))
        finite(model.kernel.K, "kernel", layer.kernel)
        return model

    @property
    def layer(self) -> KernelMap:
        """Return the map from x to kernel values."""
        return self.kernel.map

    def engine(self, rows: CostedRows, splits: list[Split] | None, limits: EngineLimits) -> Engine:
        """Return the engine that scores candidates; without splits, by leave-one-out."""
        if splits is None:
            return self.loo_engine(rows)
        return kernel_engine(self.kernel, rows, splits, searched=limits.searches_gamma)

    def loo_engine(self, rows: CostedRows) -> LeaveOneOutEngine:
        """Return the engine that scores every row by leave-one-out."""
        return LeaveOneOutEngine.from_kernel(self.kernel, rows)

    def system(self, rows: CostedRows) -> System:
        """Return the system that solves (15) for any costs."""
        return KernelSystem(self.kernel.K, rows)

    @property
    def features(self) -> FloatArray:
        """Return the kernel values between the training rows."""
        return self.kernel.K

    def with_gamma(self, gamma: float | None) -> KernelModel:
        """Return the model of another kernel width."""
        if gamma is None or gamma == self.layer.gamma:
            return self
        return KernelModel(TrainingKernel.from_map(replace(self.layer, gamma=gamma)))


Model = LayerModel | KernelModel


class SumsSource(Protocol):
    """What a cost search needs of the rows, wherever they are.

    The rows in memory are all rows, or a sample that candidates are validated on. They
    are validated by the estimator, which hands them back as ``data``. Layers are scaled
    by all rows, and models are trained on all rows.
    """

    @property
    def X(self) -> Any:
        """Return the inputs of the rows in memory."""

    @property
    def y(self) -> Any:
        """Return their labels or targets."""

    @property
    def sample_weight(self) -> Any:
        """Return their weights, or None."""

    def splits(
        self, data: TrainingData, fitness: Any, fraction: float, rng: np.random.Generator
    ) -> list[Split] | None:
        """Return the splits of the rows in memory, None for leave-one-out."""

    def layer(self, recipe: LayerRecipe, data: TrainingData) -> HiddenLayer:
        """Return the layer of a recipe, scaled by all rows."""

    def kernel_sums(self, by_class: FloatArray) -> KernelSums | None:
        """Return what sums behind kernels for costs (k,); None if all rows are in memory."""

    def model(self, layer: HiddenLayer, data: TrainingData, name: str, value: Any) -> LayerModel:
        """Return the model behind a layer; a layer that overflows is blamed on a parameter."""

    def identity(self) -> dict[str, Any]:
        """Return what identifies the rows beyond those in memory, for a checkpoint."""


@dataclass(frozen=True, slots=True)
class MemorySource:
    """All rows, in memory."""

    X: Any
    y: Any
    sample_weight: Any = None

    def splits(
        self, data: TrainingData, fitness: Any, fraction: float, rng: np.random.Generator
    ) -> list[Split] | None:
        """Return the splits, None for leave-one-out."""
        return fitness_splits(fitness, data.X, data.codes, data.y, fraction, rng, data.groups)

    def layer(self, recipe: LayerRecipe, data: TrainingData) -> HiddenLayer:
        """Return the layer of a recipe."""
        return recipe.make(data.X, data.weight)

    def kernel_sums(self, by_class: FloatArray) -> KernelSums | None:
        """Return None: all rows are in memory."""
        return None

    def model(self, layer: HiddenLayer, data: TrainingData, name: str, value: Any) -> LayerModel:
        """Return the model behind a layer."""
        return LayerModel.on_rows(layer, data.X, name, value)

    def identity(self) -> dict[str, Any]:
        """Return nothing: all rows are in memory."""
        return {}
