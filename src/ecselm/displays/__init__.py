"""Plots of costs, searches and results, with the interface of scikit-learn's displays."""

from ecselm.displays.convergence import ConvergenceDisplay
from ecselm.displays.cost_matrix import CostMatrixDisplay
from ecselm.displays.cumulative_score import CumulativeScoreDisplay
from ecselm.displays.decision_curve import DecisionCurveDisplay
from ecselm.displays.front import FrontDisplay
from ecselm.displays.importance import ImportanceDisplay
from ecselm.displays.sensitivity import SensitivityDisplay

__all__ = [
    "ConvergenceDisplay",
    "CostMatrixDisplay",
    "CumulativeScoreDisplay",
    "DecisionCurveDisplay",
    "FrontDisplay",
    "ImportanceDisplay",
    "SensitivityDisplay",
]
