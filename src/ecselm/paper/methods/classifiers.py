"""The other classifiers of the tables."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from ecselm.paper.baselines import (
    PLSDA,
    CISVMClassifier,
    CSORClassifier,
    KernelLDA,
    KernelPLSDA,
    LSSVMClassifier,
    MCKLRClassifier,
    MCKNNClassifier,
    MCSVMClassifier,
    NearestSubspaceClassifier,
)
from ecselm.paper.methods.machines import widths
from ecselm.paper.methods.method import Grid, Method, Shape
from ecselm.paper.methods.subspaces import components

CLASSIFIER = partial(Method, task="classification")
ZHANG_AND_ZHOU = "Zhang and Zhou, IEEE TPAMI 32(10), 2010"
SCIKIT_LEARN = "scikit-learn"
LINEAR_PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0]


def pairwise_lda() -> OneVsOneClassifier:
    """Return discriminants that vote by pairs of classes (section VI)."""
    return OneVsOneClassifier(LinearDiscriminantAnalysis())


def after_pca(kind: Any) -> Pipeline:
    """Return a classifier of this kind on principal components."""
    return make_pipeline(PCA(), kind())


def kernel_svm_grid(shape: Shape) -> Grid:
    """Return penalties and widths to choose from."""
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": widths(shape)}


def pca_svm_grid(shape: Shape) -> Grid:
    """Return components and penalties to choose from."""
    return {**components("pca", shape), "svc__C": [0.1, 1.0, 10.0]}


def subspace_grid(shape: Shape) -> Grid:
    """Return dimensions of the classes' subspaces to choose from."""
    most = shape.n_features - 1
    return {
        "n_components": sorted({n for n in (1, 2, 4, 8, 16, most) if 1 <= n <= most}),
        "center": [False, True],
    }


def plsda_grid(shape: Shape) -> Grid:
    """Return numbers of components, up to 15, to choose from."""
    most = min(15, shape.n_features, shape.n_samples)
    return {"n_components": sorted({n for n in (1, 2, 3, 5, 8, 11, most) if n <= most})}


def kernel_plsda_grid(shape: Shape) -> Grid:
    """Return numbers of components and widths to choose from."""
    return {"n_components": [1, 2, 3, 5, 8, 11, 15], "gamma": widths(shape)}


def kernel_lda_grid(shape: Shape) -> Grid:
    """Return ridges and widths to choose from."""
    return {"reg": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0], "gamma": widths(shape)}


def mcsvm_grid(shape: Shape) -> Grid:
    """Return penalties and widths to choose from."""
    return {"alpha": [2.0**p for p in (-12, -10, -8, -6, -4)], "gamma": widths(shape)}


def mcklr_grid(shape: Shape) -> Grid:
    """Return penalties and widths to choose from."""
    return {"alpha": [1e-5, 1e-4, 1e-3, 1e-2], "gamma": widths(shape)}


def csor_grid(shape: Shape) -> Grid:
    """Return machines for the thresholds to choose from."""
    return {"estimator": [SVC(C=C, gamma=g) for C in (0.1, 1.0, 10.0) for g in widths(shape)]}


METHODS = (
    CLASSIFIER(
        "NN",
        tables="VII",
        source=SCIKIT_LEARN,
        make=partial(KNeighborsClassifier, 1),
    ),
    CLASSIFIER(
        "kNN",
        tables="III",
        source=f"{SCIKIT_LEARN}; k = 30 as in section IV",
        make=partial(KNeighborsClassifier, 30),
        grid={"n_neighbors": [5, 11, 21, 30]},
    ),
    CLASSIFIER(
        "NS",
        tables="VII",
        source="the paper names no formula; read as linear regression classification",
        status="substitute",
        make=NearestSubspaceClassifier,
        grid=subspace_grid,
    ),
    CLASSIFIER(
        "SVM",
        tables="III VII XI",
        source=SCIKIT_LEARN,
        make=partial(SVC, kernel="linear"),
        grid={"C": LINEAR_PENALTIES},
    ),
    CLASSIFIER(
        "KSVM",
        tables="XI",
        source=SCIKIT_LEARN,
        make=SVC,
        grid=kernel_svm_grid,
    ),
    CLASSIFIER(
        "LSSVM",
        tables="III",
        source="Suykens and Vandewalle, Neural Processing Letters 9, 1999",
        status="exact",
        make=LSSVMClassifier,
        grid=kernel_svm_grid,
    ),
    CLASSIFIER(
        "LDA",
        tables="XI",
        source=f"{SCIKIT_LEARN}; pairs of classes vote, as in section VI",
        make=pairwise_lda,
        grid={"estimator__solver": ["lsqr"], "estimator__shrinkage": [None, "auto", 0.5]},
    ),
    CLASSIFIER(
        "PCA-LDA",
        tables="XI",
        source=SCIKIT_LEARN,
        make=partial(after_pca, pairwise_lda),
        grid=partial(components, "pca"),
    ),
    CLASSIFIER(
        "PCA-SVM",
        tables="XI",
        source=SCIKIT_LEARN,
        make=partial(after_pca, partial(SVC, kernel="linear")),
        grid=pca_svm_grid,
    ),
    CLASSIFIER(
        "KLDA",
        tables="XI",
        source="Mika et al., 1999; Baudat and Anouar, Neural Computation 12(10), 2000",
        status="exact",
        make=KernelLDA,
        grid=kernel_lda_grid,
    ),
    CLASSIFIER(
        "PLS-DA",
        tables="XI",
        source=f"{SCIKIT_LEARN}'s PLSRegression on class indicators",
        make=PLSDA,
        grid=plsda_grid,
    ),
    CLASSIFIER(
        "KPLS-DA",
        tables="XI",
        source="Rosipal and Trejo, JMLR 2, 2001",
        status="exact",
        make=KernelPLSDA,
        grid=kernel_plsda_grid,
    ),
    CLASSIFIER(
        "CISVM",
        tables="III VII XI",
        source="after the abstract of Liu and Zhou, KDD 2010",
        status="substitute",
        make=CISVMClassifier,
        grid=kernel_svm_grid,
    ),
    CLASSIFIER(
        "CSOR",
        tables="III",
        source="after the abstract of Yan, Neurocomputing 129, 2014; Li and Lin's reduction",
        status="substitute",
        make=CSORClassifier,
        grid=csor_grid,
    ),
    CLASSIFIER(
        "mckNN",
        tables="VII",
        source=ZHANG_AND_ZHOU,
        status="exact",
        make=MCKNNClassifier,
        grid={"n_neighbors": [1, 3, 5, 7, 11]},
    ),
    CLASSIFIER(
        "mcSVM",
        tables="VII",
        source="Lee, Lin and Wahba, JASA 99, 2004",
        status="exact",
        make=MCSVMClassifier,
        grid=mcsvm_grid,
    ),
    CLASSIFIER(
        "mcKLR",
        tables="VII",
        source=f"after the abstract of {ZHANG_AND_ZHOU}",
        status="substitute",
        make=MCKLRClassifier,
        grid=mcklr_grid,
    ),
)
