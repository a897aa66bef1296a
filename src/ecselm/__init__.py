"""Learn when one kind of mistake is worse than another and nobody can say by how much."""

from importlib import import_module
from typing import Any

from ecselm.elm import (
    CostSearchCV,
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "CSELMClassifier",
    "CSELMRegressor",
    "CostSearchCV",
    "ECSELMClassifier",
    "ECSELMRegressor",
    "EELMClassifier",
    "EELMRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "WELMClassifier",
]

_DISPLAYS = (
    "ConvergenceDisplay",
    "CostMatrixDisplay",
    "CriticalDifferenceDisplay",
    "CumulativeScoreDisplay",
    "SensitivityDisplay",
)


def __getattr__(name: str) -> Any:
    """Load a display when it is asked for."""
    if name in _DISPLAYS:
        return getattr(import_module("ecselm.displays"), name)
    raise AttributeError(f"module 'ecselm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_DISPLAYS})
