"""The ELM family as scikit-learn estimators."""

from ecselm.elm.cselm import CSELMClassifier
from ecselm.elm.cselm_regressor import CSELMRegressor
from ecselm.elm.elm import ELMClassifier, ELMRegressor
from ecselm.elm.kelm import KELMClassifier, KELMRegressor
from ecselm.elm.welm import WELMClassifier

__all__ = [
    "CSELMClassifier",
    "CSELMRegressor",
    "ELMClassifier",
    "ELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "WELMClassifier",
]
