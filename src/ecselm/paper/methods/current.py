"""What people use today where classes are unequal or mistakes cost more.

All but two need the extra ``compare``.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import SVC

from ecselm.metrics import get_scorer
from ecselm.paper.baselines import BinaryCostClassifier
from ecselm.paper.methods.classifiers import LINEAR_PENALTIES, kernel_svm_grid
from ecselm.paper.methods.method import Method

TODAY = partial(Method, task="classification")
COMPARE = partial(TODAY, extra="compare")


def imported(module: str, name: str, **params: Any) -> Any:
    """Return an estimator of a package that may be missing."""
    return getattr(import_module(module), name)(**params)


def lightgbm(**params: Any) -> Any:
    """Return boosted trees, quiet, with classes balanced unless told otherwise."""
    return imported("lightgbm", "LGBMClassifier", verbosity=-1, class_weight="balanced", **params)


def tuned_lightgbm(
    cost: Any = None, cv: Any = 5, scoring: Any = None
) -> TunedThresholdClassifierCV:
    """Return boosted trees whose threshold is tuned, for two classes.

    For ``scoring``; without it for the least mean cost, or without costs for the balanced
    accuracy.
    """
    if scoring is None:
        scoring = "balanced_accuracy" if cost is None else "mean_cost"
    costs = {"cost": cost} if scoring == "mean_cost" and cost is not None else {}
    return TunedThresholdClassifierCV(lightgbm(), scoring=get_scorer(scoring, **costs), cv=cv)


def empulse(name: str, cost: Any = None, **params: Any) -> BinaryCostClassifier:
    """Return a model of empulse that takes costs as the package does, for two classes."""
    return BinaryCostClassifier(imported("empulse.models", name, **params), cost=cost)


def boosted(cost: Any = None) -> BinaryCostClassifier:
    """Return empulse's cost-sensitive boosting of LightGBM's trees, for two classes."""
    trees = imported("lightgbm", "LGBMClassifier", verbosity=-1)
    return empulse("CSBoostClassifier", cost, estimator=trees)


def thresholded(cost: Any = None) -> BinaryCostClassifier:
    """Return empulse's threshold for calibrated probabilities, for two classes."""
    model = LogisticRegression(max_iter=1000)
    return empulse("CSThresholdClassifier", cost, estimator=model)


METHODS = (
    TODAY(
        "balanced SVC",
        source="scikit-learn",
        make=partial(SVC, class_weight="balanced"),
        grid=kernel_svm_grid,
    ),
    TODAY(
        "balanced logistic regression",
        source="scikit-learn",
        make=partial(LogisticRegression, class_weight="balanced", max_iter=1000),
        grid={"C": LINEAR_PENALTIES},
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
        "LightGBM with tuned threshold",
        source="LightGBM and scikit-learn's TunedThresholdClassifierCV; two classes",
        make=tuned_lightgbm,
    ),
    COMPARE(
        "CSLogit",
        source="empulse; two classes",
        make=partial(empulse, "CSLogitClassifier"),
    ),
    COMPARE("CSBoost", source="empulse on LightGBM; two classes", make=boosted),
    COMPARE(
        "CSTree",
        source="empulse; two classes",
        make=partial(empulse, "CSTreeClassifier"),
    ),
    COMPARE(
        "CSThreshold",
        source="empulse on logistic regression; two classes",
        make=thresholded,
    ),
)
