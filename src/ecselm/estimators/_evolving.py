"""Estimators whose costs are searched: the part that classifiers and regressors share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ecselm._sklearn import Interval, StrOptions
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.costs.levels import CostLevel
from ecselm.costs.parse import numbers
from ecselm.estimators._base import KERNEL, RIDGE, ELMFamily
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.estimators._cost_search import CostLearning, LearnedCosts, SearchPlan
from ecselm.estimators._evolution import thread_number
from ecselm.estimators._machine import EngineNeeds, KernelMachine, LayerMachine, Machine
from ecselm.estimators._priors import PowerPath
from ecselm.estimators._scoring import JudgedRows
from ecselm.estimators._training import finite
from ecselm.fitness import CostedRows, Engine, Judge, Span, Split
from ecselm.fitness.folds import Groups, fitness_splits, judged_rows, trained_rows
from ecselm.fitness.hashing import row_keys
from ecselm.layers import KernelMap

SEARCHED: dict[str, list[Any]] = {
    "C": [*RIDGE["C"], StrOptions({"search"})],
    "C_bounds": ["array-like"],
    "gamma": [StrOptions({"scale", "auto", "search"}), Interval(Real, 0, None, closed="neither")],
    "gamma_bounds": ["array-like"],
    "kernel": [*KERNEL["kernel"], None],
    "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
}
WITH_WIDTH = ("rbf", "laplacian", "polynomial")
PRINTED: dict[str, Any] = {
    "activation": "radbas",
    "draw": "uniform",
    "scale": "minmax",
    "cost_level": "sample",
    "cost_bounds": (-1.0, 1.0),
    "priors": (),
    "normalize": False,
    "fitness": "train",
    "smoothing": 0.0,
    "optimizer": "bsa",
    "population_size": 100,
    "max_epochs": 100,
}


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows of positive weight: inputs, targets, and the classes folds are dealt by."""

    X: Matrix
    y: AnyArray  # as the person gave it
    codes: IntArray  # (N,) classes, or levels of the target
    T: FloatArray  # (N, m)
    weight: FloatArray | None
    groups: Groups | None = None

    @classmethod
    def of_weight(
        cls,
        X: Matrix,
        y: AnyArray,
        codes: IntArray,
        T: FloatArray,
        weight: FloatArray | None,
        groups: Groups | None,
    ) -> tuple[TrainingRows, IntArray]:
        """Return the rows of positive weight, and their positions."""
        used = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
        if len(used) == len(codes):
            full = None if weight is None else weight.astype(np.float64)
            return cls(X, y, codes, T.astype(np.float64), full, groups), used
        kept = weight[used].astype(np.float64) if weight is not None else None
        own = None if groups is None else groups.taken(used)
        return cls(X[used], y[used], codes[used], T[used].astype(np.float64), kept, own), used

    def keys(self, positions: IntArray) -> AnyArray:
        """Return a key for each of some rows, the same for those that count as one."""
        return (row_keys(self.X) if self.groups is None else self.groups.codes)[positions]

    def judged(self, positions: IntArray) -> JudgedRows:
        """Return some of the rows as a judge sees them."""
        weight = None if self.weight is None else self.weight[positions]
        return JudgedRows(self.X[positions], self.y[positions], self.T[positions], weight)


@dataclass(frozen=True, slots=True)
class CostProblem:
    """What there is to be known before costs are searched."""

    rows: TrainingRows
    level: CostLevel
    classes: AnyArray
    priors: dict[str, FloatArray]  # entries (E,) by name
    judge: Callable[[IntArray], Judge]  # of rows at these positions
    extra: dict[str, Any]  # what else the search depends on
    path: PowerPath | None = None
    shares: FloatArray | None = None  # (N,), how dear rows are among their class

    def costed(self) -> CostedRows:
        """Return the rows by groups of equal cost; what rows differ by weighs them."""
        rows, k = self.rows, len(self.classes)
        return CostedRows.at_level(self.level, rows.T, rows.codes, k, rows.weight, self.shares)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a search leaves to the final solution."""

    learned: LearnedCosts
    machine: Machine
    rows: CostedRows


def _never(estimator: Any) -> bool:
    raise AttributeError(
        f"partial_fit is not offered by {type(estimator).__name__}: costs are searched on all "
        "rows at once; give the costs it has learned to WELMClassifier or CSELMClassifier"
    )


class EvolvingMachine(CostLearning, ELMFamily):
    """Search the costs of a machine; subclasses say what is judged, and how."""

    fitness: Any
    validation_fraction: float
    C_bounds: Any
    gamma_bounds: Any
    memory_limit: int | float | str | None

    @available_if(_never)
    def partial_fit(self, X: Any, y: Any) -> Any:
        """Is not offered."""

    def _settle(
        self,
        problem: CostProblem,
        engine: Callable[..., Engine] | None = None,
        decides: bool = False,
    ) -> Settlement:
        """Search the costs; ``engine`` makes one that decides otherwise than by score."""
        rng, seed = self._stream()
        rows, costed = problem.rows, problem.costed()
        kernel = None if self.kernel is None else self._kernel_map(self.kernel, rows.X, rows.weight)
        spans = self._spans(None if kernel is None else kernel.gamma)
        plan = self._planned(problem, costed, *spans, decides=decides)
        needs = self._needs(plan, rows)
        machine = self._layer(rows, rng) if kernel is None else self._kernel(kernel)
        folds_rng, search_rng = rng.spawn(2)
        splits = self._splits(rows, folds_rng)
        checkpoint = self._resumed(plan, problem, splits, seed)  # refused before sums are made
        positions = judged_rows(splits, len(costed))
        learned = self._search(
            plan,
            (engine or _plain_engine)(machine, costed, splits, spans, needs),
            problem.judge(positions),
            search_rng,
            checkpoint,
            rows.keys(positions),
            thread_number(self.n_jobs),
        ).completed(trained_rows(splits, len(costed)), rows.codes)
        self.C_, self.gamma_ = learned.C, learned.gamma
        return Settlement(learned, machine.with_width(learned.gamma), costed)

    def _planned(
        self,
        problem: CostProblem,
        costed: CostedRows,
        C: Span,
        gamma: Span | None = None,
        *,
        decides: bool = False,
    ) -> SearchPlan:
        given = problem.level, problem.classes, problem.priors, costed.masses()
        return self._plan(*given, C, gamma, decides=decides, path=problem.path)

    def _needs(self, plan: SearchPlan, rows: TrainingRows) -> EngineNeeds:
        return EngineNeeds.of_search(
            self.memory_limit, plan.encoding, self.population_size, rows.weight
        )

    def _splits(self, rows: TrainingRows, rng: np.random.Generator) -> list[Split] | None:
        return fitness_splits(
            self.fitness, rows.X, rows.codes, rows.y, self.validation_fraction, rng, rows.groups
        )

    def _resumed(
        self, plan: SearchPlan, problem: CostProblem, splits: list[Split] | None, seed: int
    ) -> Checkpoint | None:
        rows = problem.rows
        data = {"X": rows.X, "y": rows.y, "sample_weight": rows.weight, "splits": splits}
        data["groups"] = None if rows.groups is None else rows.groups.codes
        return self._checkpoint(plan, {**problem.extra, **data}, seed)

    def _kernel(self, kernel: KernelMap) -> KernelMachine:
        machine = KernelMachine.from_map(kernel)
        finite(machine.kernel.K, "kernel", self.kernel)
        return machine

    def _layer(self, rows: TrainingRows, rng: np.random.Generator) -> LayerMachine:
        recipe = self._recipe(rows.X, rng)
        return LayerMachine.on_rows(recipe.make(rows.X, rows.weight), rows.X, *recipe.source)

    def _spans(self, width: float | None) -> tuple[Span, Span | None]:
        """Return where C and the width of the kernel are searched."""
        C = _span(self.C, self.C_bounds, "C_bounds", 32.0)
        if width is None:
            if self.gamma == "search":
                raise ValueError("gamma='search' must have a kernel to search for, got kernel=None")
            return C, None
        if self.gamma == "search" and self.kernel not in WITH_WIDTH:
            raise ValueError(
                f"gamma='search' must go with a kernel that has a width, {WITH_WIDTH}, got "
                f"kernel={self.kernel!r}"
            )
        return C, _span(self.gamma, self.gamma_bounds, "gamma_bounds", width)


def _plain_engine(
    machine: Machine,
    rows: CostedRows,
    splits: list[Split] | None,
    spans: Any,  # noqa: ARG001
    needs: EngineNeeds,
) -> Engine:
    return machine.engine(rows, splits, needs)


def _span(value: float | str, bounds: Any, name: str, start: float) -> Span:
    if value != "search":
        # A width by name, such as "scale", has been resolved to its start.
        return Span.fixed(start if isinstance(value, str) else float(value))
    pair = numbers(bounds, name)
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1]:
        raise ValueError(f"{name} must be a pair (low, high) with 0 < low <= high, got {bounds!r}")
    return Span(float(pair[0]), float(pair[1]), float(np.clip(start, *pair)))
