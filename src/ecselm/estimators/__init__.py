"""The ELM family as scikit-learn estimators."""

from ecselm.estimators._cost_search import NoFiniteFitnessError
from ecselm.estimators._prior_test import FewCasesWarning
from ecselm.estimators.cost_decision import CostDecisionClassifier
from ecselm.estimators.cost_search import CostSearchCV
from ecselm.estimators.cselm import CSELMClassifier, CSELMRegressor
from ecselm.estimators.ecselm import ECSELMClassifier
from ecselm.estimators.ecselm_regressor import ECSELMRegressor
from ecselm.estimators.eelm import EELMClassifier, EELMRegressor
from ecselm.estimators.elm import (
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)

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
    "FewCasesWarning",
    "KELMClassifier",
    "KELMRegressor",
    "NoFiniteFitnessError",
    "WELMClassifier",
]
