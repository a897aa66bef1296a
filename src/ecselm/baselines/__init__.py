"""The classifiers and regressors that the paper compares with."""

from ecselm.baselines.binary_cost import BinaryCostClassifier
from ecselm.baselines.cisvm import CISVMClassifier
from ecselm.baselines.csor import CSORClassifier
from ecselm.baselines.dfat import DFATRegressor
from ecselm.baselines.kernel_lda import KernelLDA
from ecselm.baselines.kernel_plsda import KernelPLSDA
from ecselm.baselines.lssvm import LSSVMClassifier
from ecselm.baselines.mcklr import MCKLRClassifier
from ecselm.baselines.mcknn import MCKNNClassifier
from ecselm.baselines.mcsvm import MCSVMClassifier
from ecselm.baselines.nearest_subspace import NearestSubspaceClassifier
from ecselm.baselines.plsda import PLSDA

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
