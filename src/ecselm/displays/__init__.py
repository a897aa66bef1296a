"""Pictures of costs, searches and results, in the manner of the displays of scikit-learn."""

from ecselm.displays.convergence import ConvergenceDisplay
from ecselm.displays.cost_matrix import CostMatrixDisplay
from ecselm.displays.cumulative_score import CumulativeScoreDisplay
from ecselm.displays.sensitivity import SensitivityDisplay

__all__ = [
    "ConvergenceDisplay",
    "CostMatrixDisplay",
    "CumulativeScoreDisplay",
    "SensitivityDisplay",
]
