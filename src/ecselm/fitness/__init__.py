"""How good costs are: from points in a box to losses (paper, eqs. 20-21)."""

from ecselm.fitness.encoding import Candidates, CostEncoding, Span
from ecselm.fitness.engine_selection import layer_engine
from ecselm.fitness.engines import (
    Engine,
    ExpectedCostEngine,
    LeaveOneOutEngine,
    RememberedScores,
    kernel_engine,
)
from ecselm.fitness.folds import Split, deal, every_row, folds, holdout
from ecselm.fitness.objective import (
    CostObjective,
    CountJudge,
    ErrorJudge,
    Judge,
    RowCostJudge,
    Shrinkage,
    TieBreakingJudge,
)
from ecselm.fitness.systems import CostedRows, TrainingKernel

__all__ = [
    "Candidates",
    "CostEncoding",
    "CostObjective",
    "CostedRows",
    "CountJudge",
    "Engine",
    "ErrorJudge",
    "ExpectedCostEngine",
    "Judge",
    "LeaveOneOutEngine",
    "RememberedScores",
    "RowCostJudge",
    "Shrinkage",
    "Span",
    "Split",
    "TieBreakingJudge",
    "TrainingKernel",
    "deal",
    "every_row",
    "folds",
    "holdout",
    "kernel_engine",
    "layer_engine",
]
