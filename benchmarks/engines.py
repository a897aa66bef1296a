"""Our objectives of a problem, on the compiled path and on that of LAPACK alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.problems import Problem
from ecselm import _native as compiled
from ecselm.costs.constraints import CostRegion
from ecselm.costs.levels import ClassLevel, SampleLevel
from ecselm.fitness import (
    ConfusionFitness,
    CostedRows,
    CostEncoding,
    CostObjective,
    Engine,
    ErrorFitness,
    Fitness,
    Span,
    TieBreakingFitness,
    TrainingKernel,
    kernel_engine,
    layer_engine,
)
from ecselm.metrics.confusion import accuracy

COMPILED, LAPACK = "compiled", "LAPACK"
BOUNDS = (1e-3, 1.0)  # of all costs


def missing_path(path: str) -> str | None:
    """Say why a path cannot be taken, or return None."""
    return None if path == LAPACK or compiled.is_available() else "not available"


def path_taken(path: str) -> AbstractContextManager[Any]:
    """Build engines by one path within a ``with``."""
    return compiled.disabled() if path == LAPACK else nullcontext()


def open_paths() -> list[str]:
    """Return the paths that can be taken here."""
    return [path for path in (COMPILED, LAPACK) if not missing_path(path)]


@dataclass(frozen=True, slots=True)
class PathObjective:
    """An objective that is built and evaluated by one path."""

    objective: CostObjective
    path: str

    @property
    def encoding(self) -> CostEncoding:
        """Return the code of the points."""
        return self.objective.encoding

    def forget(self) -> None:
        """Let the engine begin anew."""
        self.objective.forget()

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the losses (P,) of points (P, D)."""
        with path_taken(self.path):
            return self.objective(points)


def make_objective(
    problem: Problem, level: str, splits: str, judge: str, path: str
) -> PathObjective:
    """Return what maps points to losses: costs of the ``level``, judged on the ``splits``."""
    costs = ClassLevel(problem.shape.n_classes) if level == "class" else SampleLevel(problem.y)
    low, high = (np.full(costs.n_entries, bound) for bound in BOUNDS)
    encoding = CostEncoding(
        costs, CostRegion(low, high), Span.fixed(problem.shape.C), log=level == "class"
    )
    rows = CostedRows.at_level(costs, problem.T, problem.y, problem.shape.n_classes, None)
    with path_taken(path):
        engine = _engine(problem, rows, splits)
    objective = CostObjective(encoding, engine, _judge(problem, splits, judge))
    return PathObjective(objective, path)


def _engine(problem: Problem, rows: CostedRows, splits: str) -> Engine:
    features = problem.features
    if isinstance(features, TrainingKernel):
        return kernel_engine(features, rows, problem.splits[splits])
    return layer_engine(features, rows, problem.splits[splits])


def _judge(problem: Problem, splits: str, judge: str) -> Fitness:
    judged, k = problem.judged(splits), problem.shape.n_classes
    squares = ErrorFitness(problem.T[judged], None, np.square)
    counts = ConfusionFitness(problem.y[judged], k, None, accuracy, smoothing=0.0)
    ties = TieBreakingFitness(counts, problem.T[judged], None)
    return {"errors": counts, "squares": squares, "errors, ties by squares": ties}[judge]
