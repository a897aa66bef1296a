"""Cost-sensitive classification and regression when the costs of mistakes are unknown.

Extreme learning machines with known, partly known or learned costs, as scikit-learn
estimators, and decisions by cost around any classifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecselm.estimators import (
        CostDecisionClassifier,
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

__version__ = "1.0.0"

__all__ = [
    "CSELMClassifier",
    "CSELMRegressor",
    "CostDecisionClassifier",
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

_PUBLIC_PACKAGES = (
    *("costs", "dask", "displays", "elicitation", "metrics", "onnx"),
    *("paper", "saving", "search", "streaming", "tables"),
)


def __getattr__(name: str) -> Any:
    """Import estimators and public packages on first access.

    scikit-learn takes a second to import, which ``ecselm --help`` should not wait for.
    """
    if name in __all__:
        return getattr(import_module("ecselm.estimators"), name)
    if name in _PUBLIC_PACKAGES:
        return import_module(f"ecselm.{name}")
    raise AttributeError(f"module 'ecselm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC_PACKAGES})
