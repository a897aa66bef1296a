"""How good costs are: from points in a box to losses (paper, eqs. 20-21)."""

from ecselm.objectives.choice import layer_engine
from ecselm.objectives.dealing import deal
from ecselm.objectives.encoding import Candidates, CostEncoding, Span
from ecselm.objectives.engines import Engine, ExpectedCostEngine, RememberedScores
from ecselm.objectives.folds import Split, every_row, folds, holdout
from ecselm.objectives.judges import CountJudge, ErrorJudge, Judge, RowCostJudge, TieBreakingJudge
from ecselm.objectives.kernel_engine import kernel_engine
from ecselm.objectives.left_out_engine import LeaveOneOutEngine
from ecselm.objectives.objective import CostObjective
from ecselm.objectives.shrinkage import Shrinkage
from ecselm.objectives.systems import CostedRows, TrainingKernel

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
