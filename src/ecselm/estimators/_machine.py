"""The model that a cost search trains repeatedly: a layer or a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._memory import memory_limit
from ecselm._typing import FloatArray, Matrix
from ecselm.estimators._training import finite
from ecselm.fitness import (
    Candidates,
    CostedRows,
    CostEncoding,
    Engine,
    LeaveOneOutEngine,
    Split,
    TrainingKernel,
    kernel_engine,
    layer_engine,
)
from ecselm.fitness.systems import KernelSystem, System, layer_system
from ecselm.layers import KernelMap
from ecselm.linalg import Solution


@dataclass(frozen=True, slots=True)
class EngineNeeds:
    """What an engine has to reckon with."""

    memory: int  # bytes
    n_candidates: int  # in a generation
    strengths: tuple[float, float]  # the least and the greatest C B of any candidate
    searches_width: bool = False

    @classmethod
    def of_search(
        cls, stated: Any, encoding: CostEncoding, n_candidates: int, weight: FloatArray | None
    ) -> EngineNeeds:
        """Return what a search needs, for a ``memory_limit`` as stated."""
        light, heavy = (1.0, 1.0) if weight is None else (weight.min(), weight.max())
        width = encoding.gamma is not None and encoding.gamma.is_searched
        least, most = encoding.strengths
        strengths = least * float(light), most * float(heavy)
        return cls(memory_limit(stated), n_candidates, strengths, width)


@dataclass(frozen=True, slots=True)
class LayerMachine:
    """Training rows behind a hidden layer, computed once."""

    layer: Any
    H: FloatArray  # (N, L), float64: a search compares what differs by little

    @classmethod
    def on_rows(cls, layer: Any, X: Matrix, name: str, value: Any) -> LayerMachine:
        """Compute H, or refuse the parameter ``name`` that let it overflow."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused here
            H = layer(X)
        return cls(layer, finite(H, name, value).astype(np.float64, copy=False))

    def engine(self, rows: CostedRows, splits: list[Split] | None, needs: EngineNeeds) -> Engine:
        """Return what scores candidates; without splits, by leaving one out."""
        if splits is None:
            return left_out_engine(self, rows)
        return layer_engine(
            self.H,
            rows,
            splits,
            memory=needs.memory,
            strengths=needs.strengths,
            n_candidates=needs.n_candidates,
        )

    def system(self, rows: CostedRows) -> System:
        """Return what solves (15) for any costs."""
        return layer_system(self.H, rows)

    def solution(self, rows: CostedRows, costs: FloatArray, C: float) -> Solution:
        """Return beta of (15)."""
        return self.system(rows).solution(costs, C)

    def fitted(self, beta: FloatArray) -> FloatArray:
        """Return the scores of the training rows."""
        return self.H @ beta

    def with_width(self, gamma: float | None) -> LayerMachine:
        """Return itself: a layer has no width."""
        return self


@dataclass(frozen=True, slots=True)
class KernelMachine:
    """Training rows behind a kernel, for one width or any."""

    kernel: TrainingKernel

    @classmethod
    def from_map(cls, layer: KernelMap) -> KernelMachine:
        """Evaluate the kernel between the training rows."""
        return cls(TrainingKernel.from_map(layer))

    @property
    def layer(self) -> KernelMap:
        """Return the map from x to kernel values."""
        return self.kernel.map

    def engine(self, rows: CostedRows, splits: list[Split] | None, needs: EngineNeeds) -> Engine:
        """Return what scores candidates; without splits, by leaving one out."""
        if splits is None:
            return left_out_engine(self, rows)
        return kernel_engine(self.kernel, rows, splits, searched=needs.searches_width)

    def solution(self, rows: CostedRows, costs: FloatArray, C: float) -> Solution:
        """Return alpha of (15)."""
        return KernelSystem(self.kernel.K, rows).solution(costs, C)

    def fitted(self, beta: FloatArray) -> FloatArray:
        """Return the scores of the training rows."""
        return self.kernel.K @ beta

    def with_width(self, gamma: float | None) -> KernelMachine:
        """Return the machine of another width."""
        if gamma is None or gamma == self.layer.gamma:
            return self
        return KernelMachine.from_map(replace(self.layer, gamma=gamma))


Machine = LayerMachine | KernelMachine


def left_out_engine(machine: Machine, rows: CostedRows) -> LeaveOneOutEngine:
    """Return what scores rows as if each had been left out."""
    if isinstance(machine, KernelMachine):
        return LeaveOneOutEngine.from_kernel(machine.kernel, rows)
    return LeaveOneOutEngine.from_layer(machine.H, rows)


def left_out(machine: Machine, rows: CostedRows, costs: FloatArray, C: float) -> FloatArray:
    """Return the scores (N, m) of the training rows as if each had been left out."""
    one = Candidates(costs[np.newaxis], np.array([C]))
    return left_out_engine(machine, rows).scores(one)[0]
