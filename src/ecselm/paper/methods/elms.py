"""ELMs of other authors that the paper's introduction and conclusion name, by name."""

from __future__ import annotations

from functools import partial

from ecselm.paper.elms import (
    BoostingWELMClassifier,
    HELMClassifier,
    KernelOSELMClassifier,
    MLELMClassifier,
    ParsimoniousELMClassifier,
    ParsimoniousELMRegressor,
    SparseBayesianELMClassifier,
    SparseBayesianELMRegressor,
    TwinELMClassifier,
    TwinELMRegressor,
)
from ecselm.paper.methods.classification import CLASSIFICATION, PENALTIES, kernel_penalties
from ecselm.paper.methods.method import Method

REGRESSION = partial(Method, task="regression")
WANG = "after the title of Wang, Er and Han, IEEE TNNLS 25(10), 2014; orthogonal least squares"
LUO = "after Luo, Vong and Wong, IEEE TNNLS 25(4), 2014; Tipping's machine on hidden units"
NING = "after the abstract of Ning et al., IEEE TNNLS 26(9), 2015"
SHARES = [1e-2, 1e-3, 1e-4]  # of the squares of the targets that a unit must explain
LEVELS = [0.05, 0.25]


METHODS = (
    CLASSIFICATION(
        "Boosting WELM",
        source="after the abstract of Li et al., Neurocomputing 128, 2014",
        status="substitute",
        make=BoostingWELMClassifier,
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "Kernel OS-ELM",
        source="kernel recursive least squares, Engel, Mannor and Meir, IEEE TSP 52(8), 2004",
        status="exact",
        make=KernelOSELMClassifier,
        grid=kernel_penalties,
    ),
    CLASSIFICATION(
        "Parsimonious ELM",
        source=WANG,
        status="substitute",
        make=ParsimoniousELMClassifier,
        grid={"C": PENALTIES, "tol": SHARES},
    ),
    CLASSIFICATION(
        "Sparse Bayesian ELM",
        source=LUO,
        status="substitute",
        make=SparseBayesianELMClassifier,
        grid={"n_hidden": [50, 100, 200]},
        aliases=("SBELM",),
    ),
    CLASSIFICATION(
        "Twin ELM",
        source=f"{NING}; the middle of the expectiles of each score",
        status="substitute",
        make=TwinELMClassifier,
        grid={"C": PENALTIES, "tau": LEVELS},
    ),
    CLASSIFICATION(
        "ML-ELM",
        source="after Kasun, Zhou, Huang and Vong, IEEE Intelligent Systems 28(6), 2013",
        status="substitute",
        make=MLELMClassifier,
        grid={"C": PENALTIES, "encoder_units": [(50,), (100,), (100, 100)]},
    ),
    CLASSIFICATION(
        "H-ELM",
        source="Tang, Deng and Huang, IEEE TNNLS 27(4), 2016, and the authors' code",
        status="substitute",
        make=HELMClassifier,
        grid={"C": PENALTIES, "encoder_units": [(50,), (100,), (100, 100)]},
    ),
    REGRESSION(
        "Parsimonious ELM",
        source=WANG,
        status="substitute",
        make=ParsimoniousELMRegressor,
        grid={"C": PENALTIES, "tol": SHARES},
    ),
    REGRESSION(
        "Sparse Bayesian ELM",
        source=LUO,
        status="substitute",
        make=SparseBayesianELMRegressor,
        grid={"n_hidden": [50, 100, 200]},
        aliases=("SBELM",),
    ),
    REGRESSION(
        "Twin ELM",
        source=NING,
        status="substitute",
        make=TwinELMRegressor,
        grid={"C": PENALTIES, "tau": LEVELS},
    ),
)
