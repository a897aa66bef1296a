"""Classifiers by name: ELMs, subspaces, other classifiers, and methods of other libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from ecselm.estimators import (
    CostSearchCV,
    CSELMClassifier,
    ECSELMClassifier,
    EELMClassifier,
    ELMClassifier,
    KELMClassifier,
    WELMClassifier,
)
from ecselm.metrics import default_metric, get_scorer
from ecselm.paper.baselines import (
    PLSDA,
    BinaryCostClassifier,
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
from ecselm.paper.baselines.discriminants import SmallSampleLDA
from ecselm.paper.methods.method import Grid, Method, Shape
from ecselm.paper.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA

PENALTIES = [2.0**p for p in (-5, 0, 5, 10, 20)]  # section VIII
HUANG = "Huang et al., IEEE TSMC-B 42(2), 2012; paper (4)-(7)"
ZONG = "Zong, Huang and Chen, Neurocomputing 101, 2013; paper (8)-(10)"
ZHU = "Zhu, Qin, Suganthan and Huang, Pattern Recognition 38, 2005"
PAPER = "paper (11)-(34)"


def widths(shape: Shape) -> list[float | str]:
    """Return the grid of kernel widths.

    ``"scale"`` depends on the variance of the inputs; the others suit a variance of 1.
    """
    return ["scale", 0.1 / shape.n_features, 10.0 / shape.n_features]


def kernel_penalties(shape: Shape) -> Grid:
    """Return values of C and widths of the kernel."""
    return {"C": PENALTIES, "gamma": widths(shape)}


def tuned_one_layer(scoring: Any = None) -> Any:
    """Return one layer with equal costs whose threshold is tuned for ``scoring``.

    The log loss depends on no threshold: for it the layer is returned without one.
    """
    layer = ECSELMClassifier(ensemble=None, keep_prior="always", scoring="accuracy")
    return layer if scoring == "neg_log_loss" else CostSearchCV(layer, scoring=scoring)


CLASSIFICATION = partial(Method, task="classification")
UNITS = 100  # of one layer, where neither the paper nor a protocol gives L

ELM_METHODS = (
    CLASSIFICATION(
        "ELM",
        tables="I VI VIII X XII XIV",
        source=HUANG,
        status="exact",
        make=partial(ELMClassifier, n_hidden=UNITS),
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "KELM",
        tables="I VI VIII X XII XIV",
        source=HUANG,
        status="exact",
        make=KELMClassifier,
        grid=kernel_penalties,
    ),
    CLASSIFICATION(
        "W1ELM",
        tables="I X",
        source=ZONG,
        status="exact",
        make=partial(WELMClassifier, n_hidden=UNITS, weighting="w1"),
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "W2ELM",
        tables="I VI VIII X XII XIV",
        source=ZONG,
        status="exact",
        make=partial(WELMClassifier, n_hidden=UNITS, weighting="w2"),
        grid={"C": PENALTIES},
        aliases=("WELM",),
    ),
    CLASSIFICATION(
        "W1KELM",
        source=f"{ZONG}; the kernel form",
        status="exact",
        make=partial(WELMClassifier, weighting="w1", kernel="rbf"),
        grid=kernel_penalties,
    ),
    CLASSIFICATION(
        "W2KELM",
        source=f"{ZONG}; the kernel form",
        status="exact",
        make=partial(WELMClassifier, weighting="w2", kernel="rbf"),
        grid=kernel_penalties,
    ),
    CLASSIFICATION(
        "E-ELM",
        tables="I VI VIII X XII XIV",
        source=ZHU,
        status="exact",
        make=EELMClassifier,
    ),
    CLASSIFICATION(
        "CSELM",
        tables="VI XI",
        source=PAPER,
        status="exact",
        make=partial(CSELMClassifier.paper, n_hidden=UNITS),
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "ECSELM",
        tables="I II III VI VII VIII IX X XI XII XIV",
        source=f"{PAPER}; an ensemble of kernels, costs by class for its decisions",
        status="substitute",
        make=ECSELMClassifier,
        aliases=("ECSELM, ensemble",),
    ),
    CLASSIFICATION(
        "ECSELM, one layer",
        source=f"{PAPER}; costs by class, fitness on validation rows",
        status="substitute",
        make=partial(ECSELMClassifier, ensemble=None),
    ),
    CLASSIFICATION(
        "ECSELM as printed",
        tables="I II III VI VII VIII IX X XI XII XIV",
        source=f"{PAPER}; costs by row, fitness on the training rows",
        status="exact",
        make=ECSELMClassifier.paper,
    ),
    CLASSIFICATION(
        "kernel ECSELM",
        tables="VII",
        source=f"{PAPER}; section V.A names it without formulas",
        status="substitute",
        make=partial(ECSELMClassifier, kernel="rbf"),
        grid=kernel_penalties,
        aliases=("KECSELM",),
    ),
    CLASSIFICATION(
        "one layer with tuned threshold",
        source="ECSELM, one layer, with equal costs, in CostSearchCV",
        make=tuned_one_layer,
    ),
    CLASSIFICATION(
        "ELM, ensemble",
        source=f"{HUANG}; the mean of kernel machines chosen by leave-one-out",
        make=partial(ELMClassifier, ensemble="auto"),
    ),
    CLASSIFICATION(
        "W1ELM, ensemble",
        source=f"{ZONG}; the mean of kernel machines chosen by leave-one-out",
        make=partial(WELMClassifier, weighting="w1", ensemble="auto"),
    ),
    CLASSIFICATION(
        "KELM, ensemble",
        source=f"{HUANG}; the mean of several, chosen by leave-one-out, all rows as centres",
        make=partial(KELMClassifier, ensemble="auto"),
    ),
)


EQUAL_COSTS = "equal costs"
LU_AND_TAN = "after the abstracts of Lu and Tan, CVPR 2010 and IEEE TIFS 8(3), 2013"


def component_counts(shape: Shape) -> list[int]:
    """Return numbers of directions, all of them among these.

    Examples
    --------
    >>> component_counts(Shape(n_samples=100, n_features=24, n_classes=3))
    [2, 10, 20, 24]
    """
    most = min(shape.n_samples - 1, shape.n_features)
    tried = {shape.n_classes - 1, 10, 20, 50, 100, most}
    return sorted(count for count in tried if 1 <= count <= most)


def components(step: str, shape: Shape) -> Grid:
    """Return numbers of directions of a step."""
    return {f"{step}__n_components": component_counts(shape)}


def discriminants(step: str, shape: Shape) -> Grid:
    """Return numbers of discriminants, at most one less than classes,."""
    most = min(shape.n_classes - 1, shape.n_features)
    return {f"{step}__n_components": sorted({max(1, most // 4), max(1, most // 2), most})}


def shrunken_lda() -> LinearDiscriminantAnalysis:
    """Return LDA that works with fewer rows than features."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def with_neighbour(kind: Callable[[], Any]) -> Pipeline:
    """Return a nearest neighbour after a transformer of this kind."""
    return make_pipeline(kind(), KNeighborsClassifier(1))


SUBSPACE_METHODS = (
    CLASSIFICATION(
        "PCA-NN",
        tables="II X",
        source="Turk and Pentland, 1991",
        make=partial(with_neighbour, PCA),
        grid=partial(components, "pca"),
        aliases=("PCA",),
    ),
    CLASSIFICATION(
        "CSPCA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSPCA),
        grid=partial(components, "cspca"),
        aliases=("CSPCA",),
        twin="PCA-NN",
        twin_if=EQUAL_COSTS,
    ),
    CLASSIFICATION(
        "LDA-NN",
        tables="II X",
        source="Belhumeur, Hespanha and Kriegman, IEEE TPAMI 19(7), 1997",
        make=partial(with_neighbour, shrunken_lda),
        grid=partial(discriminants, "lineardiscriminantanalysis"),
    ),
    CLASSIFICATION(
        "CSLDA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSLDA),
        grid=partial(discriminants, "cslda"),
        aliases=("CSLDA",),
        twin="LDA-NN without shrinkage",
        twin_if=EQUAL_COSTS,
    ),
    CLASSIFICATION(
        "LPP-NN",
        tables="II X",
        source="He and Niyogi, NIPS 2003",
        status="exact",
        make=partial(with_neighbour, LPP),
        grid=partial(components, "lpp"),
        aliases=("LPP",),
    ),
    CLASSIFICATION(
        "CSLPP-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSLPP),
        grid=partial(components, "cslpp"),
        aliases=("CSLPP",),
        twin="LPP-NN",
        twin_if=EQUAL_COSTS,
    ),
    CLASSIFICATION(
        "MFA-NN",
        source="Yan et al., IEEE TPAMI 29(1), 2007",
        status="exact",
        make=partial(with_neighbour, MFA),
        grid=partial(components, "mfa"),
        aliases=("MFA",),
    ),
    CLASSIFICATION(
        "CSMFA-NN",
        tables="II VI VIII X XII XIV",
        source=LU_AND_TAN,
        status="substitute",
        make=partial(with_neighbour, CSMFA),
        grid=partial(components, "csmfa"),
        aliases=("CSMFA",),
        twin="MFA-NN",
        twin_if=EQUAL_COSTS,
    ),
)


ZHANG_AND_ZHOU = "Zhang and Zhou, IEEE TPAMI 32(10), 2010"
SCIKIT_LEARN = "scikit-learn"
LINEAR_PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0]


def pairwise_lda() -> OneVsOneClassifier:
    """Return discriminants that vote by pairs of classes (section VI)."""
    return OneVsOneClassifier(SmallSampleLDA())


def after_pca(kind: Any) -> Pipeline:
    """Return a classifier of this kind on principal components.

    Those of the last thousandth of the variance are dropped: with features that depend on
    each other they are rounding errors, which discriminants would divide by.
    """
    return make_pipeline(PCA(0.999, svd_solver="full"), kind())


def kernel_svm_grid(shape: Shape) -> Grid:
    """Return penalties and widths."""
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": widths(shape)}


def pca_svm_grid(shape: Shape) -> Grid:
    """Return components and penalties."""
    return {**components("pca", shape), "svc__C": [0.1, 1.0, 10.0]}


def subspace_grid(shape: Shape) -> Grid:
    """Return dimensions of the classes' subspaces, some by the share of their energy."""
    most = shape.n_features - 1
    counts = sorted({n for n in (1, 2, 4, 8, 16, most) if 1 <= n <= most})
    return {
        "n_components": [0.8, 0.95, *counts],
        "center": [False, True],
    }


def plsda_grid(shape: Shape) -> Grid:
    """Return numbers of components, up to 15 or one less than classes."""
    most = min(max(15, shape.n_classes - 1), shape.n_features, shape.n_samples)
    return {"n_components": sorted({n for n in (1, 2, 3, 5, 8, 11, most) if n <= most})}


def kernel_plsda_grid(shape: Shape) -> Grid:
    """Return numbers of components and widths."""
    counts = sorted({1, 2, 3, 5, 8, 11, 15, max(15, shape.n_classes - 1)})
    return {"n_components": counts, "gamma": widths(shape)}


def kernel_lda_grid(shape: Shape) -> Grid:
    """Return ridges and widths."""
    return {"reg": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0], "gamma": widths(shape)}


def mcsvm_grid(shape: Shape) -> Grid:
    """Return penalties and widths."""
    return {"alpha": [2.0**p for p in (-12, -10, -8, -6, -4)], "gamma": widths(shape)}


def mcklr_grid(shape: Shape) -> Grid:
    """Return penalties and widths."""
    return {"alpha": [1e-5, 1e-4, 1e-3, 1e-2], "gamma": widths(shape)}


def csor_grid(shape: Shape) -> Grid:
    """Return machines for the thresholds."""
    return {"estimator": [SVC(C=C, gamma=g) for C in (0.1, 1.0, 10.0) for g in widths(shape)]}


OTHER_METHODS = (
    CLASSIFICATION(
        "NN",
        tables="VII",
        source=SCIKIT_LEARN,
        make=partial(KNeighborsClassifier, 1),
    ),
    CLASSIFICATION(
        "kNN",
        tables="III",
        source=f"{SCIKIT_LEARN}; k = 30 as in section IV",
        make=partial(KNeighborsClassifier, 30),
        grid={"n_neighbors": [5, 11, 21, 30]},
    ),
    CLASSIFICATION(
        "NS",
        tables="VII",
        source="the paper names no formula; classes' means, and directions by their energy",
        status="substitute",
        make=NearestSubspaceClassifier,
        grid=subspace_grid,
    ),
    CLASSIFICATION(
        "SVM",
        tables="III VII XI",
        source=SCIKIT_LEARN,
        make=partial(SVC, kernel="linear"),
        grid={"C": LINEAR_PENALTIES},
    ),
    CLASSIFICATION(
        "KSVM",
        tables="XI",
        source=SCIKIT_LEARN,
        make=SVC,
        grid=kernel_svm_grid,
        aliases=("SVC",),
    ),
    CLASSIFICATION(
        "LSSVM",
        tables="III",
        source="Suykens and Vandewalle, Neural Processing Letters 9, 1999",
        status="exact",
        make=LSSVMClassifier,
        grid=kernel_svm_grid,
    ),
    CLASSIFICATION(
        "LDA",
        tables="XI",
        source=f"{SCIKIT_LEARN}; pairs of classes vote, as in section VI; shrunk where singular",
        make=pairwise_lda,
        grid={"estimator__solver": ["lsqr"], "estimator__shrinkage": [None, "auto", 0.5]},
    ),
    CLASSIFICATION(
        "PCA-LDA",
        tables="XI",
        source=f"{SCIKIT_LEARN}; pairs of classes vote, as in section VI; shrunk where singular",
        make=partial(after_pca, pairwise_lda),
        grid=partial(components, "pca"),
    ),
    CLASSIFICATION(
        "PCA-SVM",
        tables="XI",
        source=SCIKIT_LEARN,
        make=partial(after_pca, partial(SVC, kernel="linear")),
        grid=pca_svm_grid,
    ),
    CLASSIFICATION(
        "KLDA",
        tables="XI",
        source="Mika et al., 1999; Baudat and Anouar, Neural Computation 12(10), 2000",
        status="exact",
        make=KernelLDA,
        grid=kernel_lda_grid,
    ),
    CLASSIFICATION(
        "PLS-DA",
        tables="XI",
        source=f"{SCIKIT_LEARN}'s PLSRegression on class indicators",
        make=PLSDA,
        grid=plsda_grid,
    ),
    CLASSIFICATION(
        "KPLS-DA",
        tables="XI",
        source="Rosipal and Trejo, JMLR 2, 2001",
        status="exact",
        make=KernelPLSDA,
        grid=kernel_plsda_grid,
    ),
    CLASSIFICATION(
        "CISVM",
        tables="III VII XI",
        source="after the abstract of Liu and Zhou, KDD 2010",
        status="substitute",
        make=CISVMClassifier,
        grid=kernel_svm_grid,
    ),
    CLASSIFICATION(
        "CSOR",
        tables="III",
        source="after the abstract of Yan, Neurocomputing 129, 2014; Li and Lin's reduction",
        status="substitute",
        make=CSORClassifier,
        grid=csor_grid,
    ),
    CLASSIFICATION(
        "mckNN",
        tables="VII",
        source=ZHANG_AND_ZHOU,
        status="exact",
        make=MCKNNClassifier,
        grid={"n_neighbors": [1, 3, 5, 7, 11]},
    ),
    CLASSIFICATION(
        "mcSVM",
        tables="VII",
        source="Lee, Lin and Wahba, JASA 99, 2004",
        status="exact",
        make=MCSVMClassifier,
        grid=mcsvm_grid,
    ),
    CLASSIFICATION(
        "mcKLR",
        tables="VII",
        source=f"after the abstract of {ZHANG_AND_ZHOU}",
        status="substitute",
        make=MCKLRClassifier,
        grid=mcklr_grid,
    ),
)


COMPARE = partial(CLASSIFICATION, extra="compare")
COMPARE_AGPL = partial(CLASSIFICATION, extra="compare-agpl")
BOOSTING = partial(CLASSIFICATION, extra="boosting")


def imported(module: str, name: str, **params: Any) -> Any:
    """Return an estimator of a package that may be missing."""
    return getattr(import_module(module), name)(**params)


def lightgbm(**params: Any) -> Any:
    """Return boosted trees, quiet, with classes balanced by default."""
    return imported("lightgbm", "LGBMClassifier", verbosity=-1, class_weight="balanced", **params)


def catboost(thread_count: int = -1, random_state: int = 0) -> Any:
    """Return CatBoost's trees, quiet; only parameters that are given can be set later."""
    return imported(
        "catboost",
        "CatBoostClassifier",
        verbose=False,
        allow_writing_files=False,
        thread_count=thread_count,
        random_state=random_state,
    )


def tuned_lightgbm(
    cost: Any = None, cv: Any = 5, scoring: Any = None
) -> TunedThresholdClassifierCV:
    """Return boosted trees with a tuned threshold, for two classes.

    The threshold is tuned for ``scoring``; None is the mean cost, or without costs the
    balanced accuracy.
    """
    scoring = default_metric(cost) if scoring is None else scoring
    costs = {"cost": cost} if scoring == "mean_cost" and cost is not None else {}
    return TunedThresholdClassifierCV(lightgbm(), scoring=get_scorer(scoring, **costs), cv=cv)


@cache
def _warn_of_licence(package: str, licence: str) -> None:
    """Warn once that a package is under a copyleft licence, which this one is not."""
    warnings.warn(
        f"{package} is licensed under the {licence}, other than ecselm: programs that are given "
        "to others with it, or offer it over a network, have to meet that licence",
        stacklevel=4,
    )


def empulse(name: str, cost: Any = None, **params: Any) -> BinaryCostClassifier:
    """Return a model of empulse that takes costs as this package does, for two classes."""
    _warn_of_licence("empulse", "AGPL-3.0")
    return BinaryCostClassifier(imported("empulse.models", name, **params), cost=cost)


def boosted(cost: Any = None) -> BinaryCostClassifier:
    """Return empulse's cost-sensitive boosting of LightGBM's trees, for two classes."""
    trees = imported("lightgbm", "LGBMClassifier", verbosity=-1)
    return empulse("CSBoostClassifier", cost, estimator=trees)


def thresholded(cost: Any = None) -> BinaryCostClassifier:
    """Return empulse's threshold for calibrated probabilities, for two classes."""
    model = LogisticRegression(max_iter=1000)
    return empulse("CSThresholdClassifier", cost, estimator=model)


LIBRARY_METHODS = (
    CLASSIFICATION(
        "balanced SVC",
        source="scikit-learn",
        make=partial(SVC, class_weight="balanced"),
        grid=kernel_svm_grid,
    ),
    CLASSIFICATION(
        "balanced logistic regression",
        source="scikit-learn",
        make=partial(LogisticRegression, class_weight="balanced", max_iter=1000),
        grid={"C": LINEAR_PENALTIES},
    ),
    CLASSIFICATION(
        "logistic regression",
        source="scikit-learn",
        make=partial(LogisticRegression, max_iter=1000),
        grid={"C": LINEAR_PENALTIES},
    ),
    CLASSIFICATION(
        "random forest",
        source="scikit-learn; 500 trees",
        make=partial(RandomForestClassifier, n_estimators=500),
        grid={"min_samples_leaf": [1, 5]},
    ),
    CLASSIFICATION(
        "HistGradientBoosting",
        source="scikit-learn",
        make=HistGradientBoostingClassifier,
        grid={"max_leaf_nodes": [4, 8, 31]},
        aliases=("HistGradientBoosting tuned",),
    ),
    COMPARE(
        "BalancedRandomForest",
        source="imbalanced-learn",
        make=partial(imported, "imblearn.ensemble", "BalancedRandomForestClassifier"),
    ),
    COMPARE(
        "EasyEnsemble",
        source="imbalanced-learn",
        make=partial(imported, "imblearn.ensemble", "EasyEnsembleClassifier"),
    ),
    COMPARE(
        "RUSBoost",
        source="imbalanced-learn",
        make=partial(imported, "imblearn.ensemble", "RUSBoostClassifier"),
    ),
    COMPARE(
        "LightGBM",
        source="LightGBM, classes balanced",
        make=lightgbm,
        grid={"n_estimators": [50, 100, 200], "num_leaves": [7, 31]},
    ),
    COMPARE(
        "unbalanced LightGBM",
        source="LightGBM, classes as they are",
        make=partial(imported, "lightgbm", "LGBMClassifier", verbosity=-1),
        grid={"n_estimators": [50, 100, 200], "num_leaves": [7, 31]},
        aliases=("LightGBM defaults", "LightGBM tuned"),
    ),
    COMPARE(
        "LightGBM with tuned threshold",
        source="LightGBM and scikit-learn's TunedThresholdClassifierCV; two classes",
        make=tuned_lightgbm,
    ),
    COMPARE_AGPL(
        "CSLogit",
        source="empulse; two classes",
        make=partial(empulse, "CSLogitClassifier"),
    ),
    COMPARE_AGPL("CSBoost", source="empulse on LightGBM; two classes", make=boosted),
    COMPARE_AGPL(
        "CSTree",
        source="empulse; two classes",
        make=partial(empulse, "CSTreeClassifier"),
    ),
    COMPARE_AGPL(
        "CSThreshold",
        source="empulse on logistic regression; two classes",
        make=thresholded,
    ),
    BOOSTING(
        "XGBoost",
        source="XGBoost",
        make=partial(imported, "xgboost", "XGBClassifier", verbosity=0),
    ),
    BOOSTING(
        "CatBoost",
        source="CatBoost",
        make=catboost,
    ),
)


METHODS = (*ELM_METHODS, *SUBSPACE_METHODS, *OTHER_METHODS, *LIBRARY_METHODS)
