"""How good costs are: from points in a box to losses (paper, eqs. 20-21)."""

from ecselm.fitness.encoding import Candidates, CostEncoding, Span
from ecselm.fitness.engines import (
    Engine,
    ExpectedCostEngine,
    LeaveOneOutEngine,
    RememberedScores,
    kernel_engine,
    layer_engine,
)
from ecselm.fitness.folds import Split, assign_folds, every_row, fold_splits, holdout
from ecselm.fitness.objective import (
    ConfusionFitness,
    CostObjective,
    ErrorFitness,
    Fitness,
    RowCostFitness,
    Shrinkage,
    TieBreakingFitness,
)
from ecselm.fitness.systems import CostedRows, TrainingKernel

__all__ = [
    "Candidates",
    "ConfusionFitness",
    "CostEncoding",
    "CostObjective",
    "CostedRows",
    "Engine",
    "ErrorFitness",
    "ExpectedCostEngine",
    "Fitness",
    "LeaveOneOutEngine",
    "RememberedScores",
    "RowCostFitness",
    "Shrinkage",
    "Span",
    "Split",
    "TieBreakingFitness",
    "TrainingKernel",
    "assign_folds",
    "every_row",
    "fold_splits",
    "holdout",
    "kernel_engine",
    "layer_engine",
]
