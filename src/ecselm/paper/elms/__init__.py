"""The systems of other authors that the paper's introduction and conclusion name."""

from ecselm.paper.elms.boosting import BoostingWELMClassifier
from ecselm.paper.elms.kernel_sequential import KernelOSELMClassifier
from ecselm.paper.elms.multilayer import HELMClassifier, MLELMClassifier
from ecselm.paper.elms.parsimonious import ParsimoniousELMClassifier, ParsimoniousELMRegressor
from ecselm.paper.elms.sparse_bayesian import (
    SparseBayesianELMClassifier,
    SparseBayesianELMRegressor,
)
from ecselm.paper.elms.twin import TwinELMClassifier, TwinELMRegressor

__all__ = [
    "BoostingWELMClassifier",
    "HELMClassifier",
    "KernelOSELMClassifier",
    "MLELMClassifier",
    "ParsimoniousELMClassifier",
    "ParsimoniousELMRegressor",
    "SparseBayesianELMClassifier",
    "SparseBayesianELMRegressor",
    "TwinELMClassifier",
    "TwinELMRegressor",
]
