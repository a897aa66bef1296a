"""The ELM family as scikit-learn estimators."""

from ecselm.elm.cost_search import CostSearchCV
from ecselm.elm.cselm import CSELMClassifier
from ecselm.elm.cselm_regressor import CSELMRegressor
from ecselm.elm.ecselm import ECSELMClassifier
from ecselm.elm.ecselm_regressor import ECSELMRegressor
from ecselm.elm.eelm import EELMClassifier, EELMRegressor
from ecselm.elm.elm import ELMClassifier, ELMRegressor
from ecselm.elm.kelm import KELMClassifier, KELMRegressor
from ecselm.elm.verdict import FewCasesWarning
from ecselm.elm.welm import WELMClassifier

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
    "FewCasesWarning",
    "KELMClassifier",
    "KELMRegressor",
    "WELMClassifier",
]
