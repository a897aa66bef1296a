"""Learn when one kind of mistake is worse than another and nobody can say by how much."""

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
