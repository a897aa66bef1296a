"""The classifiers and regressors that the paper compares with."""

from ecselm.paper.baselines.binary_cost import BinaryCostClassifier
from ecselm.paper.baselines.cisvm import CISVMClassifier
from ecselm.paper.baselines.csor import CSORClassifier
from ecselm.paper.baselines.dfat import DFATRegressor
from ecselm.paper.baselines.discriminants import PLSDA, KernelLDA, KernelPLSDA
from ecselm.paper.baselines.lssvm import LSSVMClassifier
from ecselm.paper.baselines.mcklr import MCKLRClassifier
from ecselm.paper.baselines.mcknn import MCKNNClassifier
from ecselm.paper.baselines.mcsvm import MCSVMClassifier
from ecselm.paper.baselines.nearest_subspace import NearestSubspaceClassifier

__all__ = [
    "PLSDA",
    "BinaryCostClassifier",
    "CISVMClassifier",
    "CSORClassifier",
    "DFATRegressor",
    "KernelLDA",
    "KernelPLSDA",
    "LSSVMClassifier",
    "MCKLRClassifier",
    "MCKNNClassifier",
    "MCSVMClassifier",
    "NearestSubspaceClassifier",
]
