"""Learn when one kind of mistake is worse than another and nobody can say by how much."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecselm.estimators import (
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
    "CumulativeScoreDisplay",
    "SensitivityDisplay",
)
_PACKAGES = (
    *("costs", "dask", "displays", "estimators", "fitness", "layers", "linalg", "metrics"),
    *("onnx", "outofcore", "paper", "report", "saving", "search", "streaming", "study", "tables"),
)


def __getattr__(name: str) -> Any:
    """Load a name when it is asked for: scikit-learn takes a second that help need not wait."""
    if name in __all__:
        return getattr(import_module("ecselm.estimators"), name)
    if name in _DISPLAYS:
        return getattr(import_module("ecselm.displays"), name)
    if name in _PACKAGES:
        return import_module(f"ecselm.{name}")
    raise AttributeError(f"module 'ecselm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_DISPLAYS, *_PACKAGES})
