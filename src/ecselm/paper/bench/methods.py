"""The methods of the bench, the cheap ones first, and their grids.

At most 36 candidates each, the more regular ones first: ties go to the earlier. Inputs have
a mean of 0 and a variance of 1, which the widths of kernels assume.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import Any, Literal

from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from ecselm.paper.methods import Shape, find_method

Candidate = Mapping[str, Any]
Grid = Callable[[Shape], list[Candidate]]
Kind = Literal["chosen", "itself", "threshold"]

PENALTIES = [2.0**p for p in (-6, -2, 2, 6, 10, 14)]
WIDTHS = (25, 50, 100, 200, 400, 800)
SVC_PENALTIES = [2.0**p for p in (-4, -1, 2, 5, 8, 11)]
LINEAR_PENALTIES = [2.0**p for p in range(-10, 14, 2)]
BANDS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # gamma, over the number of features
ONE: list[Candidate] = [{}]


def cross_product(**values: Any) -> list[Candidate]:
    """Return all combinations, the first parameter changing last.

    Examples
    --------
    >>> cross_product(C=[1, 2], gamma=[3, 4])[:2]
    [{'C': 1, 'gamma': 3}, {'C': 1, 'gamma': 4}]
    """
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def layers(shape: Shape) -> list[Candidate]:
    """Return penalties and hidden units, no more of these than rows."""
    return cross_product(C=PENALTIES, n_hidden=sorted({min(n, shape.n_samples) for n in WIDTHS}))


def bands(shape: Shape) -> list[float]:
    """Return values of gamma for inputs of variance 1."""
    return [band / shape.n_features for band in BANDS]


def kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and widths of a kernel."""
    return cross_product(C=PENALTIES, gamma=bands(shape))


def svc_kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and widths of a kernel for a support vector machine."""
    return cross_product(C=SVC_PENALTIES, gamma=bands(shape))


def klr_kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and every other width of a kernel for logistic regression."""
    return cross_product(alpha=[1e-2, 1e-3, 1e-4, 1e-5], gamma=bands(shape)[1::2])


def linear(shape: Shape) -> list[Candidate]:  # noqa: ARG001  grids are called alike
    """Return penalties of a linear model."""
    return cross_product(C=LINEAR_PENALTIES)


def trees(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return numbers and sizes of boosted trees, LightGBM's defaults among them."""
    paces = [(0.1, 50), (0.1, 100), (0.05, 200)]
    sizes = [(4, 20), (8, 10), (16, 5), (31, 20)]
    return [
        {
            "learning_rate": rate,
            "n_estimators": number,
            "num_leaves": leaves,
            "min_child_samples": least,
        }
        for (rate, number), (leaves, least) in product(paces, sizes)
    ]


def forests(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return leaves and features of balanced forests."""
    return cross_product(min_samples_leaf=[3, 1], max_features=["sqrt", None])


def few_trees(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return six numbers and sizes of boosted trees, LightGBM's defaults among them."""
    paces = [(0.05, 100), (0.1, 100)]
    sizes = [(4, 20), (8, 10), (31, 20)]
    return [
        {
            "learning_rate": rate,
            "n_estimators": number,
            "num_leaves": leaves,
            "min_child_samples": least,
        }
        for (rate, number), (leaves, least) in product(paces, sizes)
    ]


def few_histogram_trees(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return four paces and sizes of boosted trees, scikit-learn's defaults among them."""
    return [
        {"learning_rate": rate, "max_leaf_nodes": leaves, "min_samples_leaf": least}
        for rate, leaves, least in ((0.05, 4, 20), (0.1, 8, 10), (0.05, 31, 20), (0.1, 31, 20))
    ]


def unbalanced_forests(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return three leaves and features of forests, scikit-learn's defaults among them."""
    return [
        {"min_samples_leaf": 5, "max_features": "sqrt"},
        {"min_samples_leaf": 1, "max_features": "sqrt"},
        {"min_samples_leaf": 1, "max_features": 0.5},
    ]


def few_svc_kernels(shape: Shape) -> list[Candidate]:
    """Return thirty penalties and widths: the largest penalty takes longest and adds little."""
    return cross_product(C=SVC_PENALTIES[:-1], gamma=bands(shape))


def undersampled(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return depths and paces of boosted trees; stumps alone cannot be fitted everywhere."""
    return [
        {"estimator": DecisionTreeClassifier(max_depth=depth), "learning_rate": rate}
        for depth, rate in ((1, 0.1), (3, 0.1), (3, 1.0), (6, 0.1))
    ]


def ensembles(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return how many stumps each of ten ensembles boosts."""
    return [{"estimator": AdaBoostClassifier(n_estimators=n)} for n in (10, 20, 50)]


def evolved(shape: Shape) -> list[Candidate]:
    """Return hidden units of an ELM whose search is its tuning."""
    return cross_product(n_hidden=sorted({min(n, shape.n_samples // 2) for n in (10, 20, 40)}))


def single_trees(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return depths and leaves of a tree."""
    return cross_product(max_depth=[2, 4, 8], min_samples_leaf=[20, 5])


def neighbours(shape: Shape) -> list[Candidate]:
    """Return numbers of neighbours."""
    return cross_product(n_neighbors=[n for n in (21, 11, 7, 5, 3, 1) if n < shape.n_samples // 2])


def nothing(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return the only candidate of a method without parameters to tune."""
    return ONE


@dataclass(frozen=True, slots=True)
class BenchMethod:
    """A method of the bench.

    Parameters
    ----------
    name : str
        Name in the results, and unless ``tuned_as`` is given in the registry of methods.
    grid : callable
        Return the candidates for the shape of the training rows.
    kind : {"chosen", "itself", "threshold"}
        Whether a candidate is chosen by cross-validation; or the method tunes itself for the
        target; or a threshold is tuned for the chosen candidate.
    binary : bool, default=False
        Whether it is for two classes only.
    costs_only : bool, default=False
        Whether it is for data with known costs only.
    params : mapping
        Parameters that are set rather than tuned.
    tuned_as : str, default=""
        The method of the registry that is tuned in its place; empty is its own name.
    revision : int, default=0
        Raised when its candidates change, so that earlier results are not reused.
    optional : bool, default=False
        Whether it is left out where its package is missing, unless it is named.
    """

    name: str
    grid: Grid = nothing
    kind: Kind = "chosen"
    binary: bool = False
    costs_only: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    tuned_as: str = ""
    revision: int = 0
    optional: bool = False


SINGLE = {"n_jobs": 1}
SHORT = {"population_size": 20, "max_epochs": 15}
BENCH_METHODS = (
    BenchMethod("ECSELM", kind="itself"),
    BenchMethod("balanced logistic regression", linear),
    BenchMethod("ELM", layers),
    BenchMethod("W1ELM", layers),
    BenchMethod("W2ELM", layers),
    BenchMethod("RUSBoost", undersampled, revision=1),
    BenchMethod("LightGBM", trees, params=SINGLE),
    BenchMethod("KELM", kernels),
    BenchMethod("W1KELM", kernels),
    BenchMethod("W2KELM", kernels),
    BenchMethod("balanced SVC", svc_kernels),
    BenchMethod("E-ELM", evolved, params=SHORT),
    BenchMethod(
        "LightGBM with tuned threshold",
        trees,
        "threshold",
        binary=True,
        params=SINGLE,
        tuned_as="LightGBM",
    ),
    BenchMethod("BalancedRandomForest", forests, params=SINGLE),
    BenchMethod("EasyEnsemble", ensembles, params=SINGLE),
    BenchMethod("CSELM", layers, costs_only=True),
    BenchMethod("CSLDA-NN", nothing, costs_only=True),
    BenchMethod("mckNN", neighbours, costs_only=True),
    BenchMethod("CSThreshold", linear, binary=True, costs_only=True),
    BenchMethod("CSLogit", linear, binary=True, costs_only=True),
    BenchMethod("CSTree", single_trees, binary=True, costs_only=True),
    BenchMethod("CSBoost", trees, binary=True, costs_only=True, params=SINGLE),
    BenchMethod("mcKLR", klr_kernels, costs_only=True),
)
UCI_METHODS = (
    BenchMethod("ECSELM", kind="itself"),
    BenchMethod("logistic regression", linear),
    BenchMethod("LightGBM defaults", params=SINGLE),
    BenchMethod("HistGradientBoosting"),
    BenchMethod("ELM", layers),
    BenchMethod("W1ELM", layers),
    BenchMethod("KELM", kernels),
    BenchMethod("W1KELM", kernels),
    BenchMethod("SVC", few_svc_kernels),
    BenchMethod("LightGBM tuned", few_trees, params=SINGLE),
    BenchMethod("random forest", unbalanced_forests, params=SINGLE),
    BenchMethod("HistGradientBoosting tuned", few_histogram_trees),
    BenchMethod("XGBoost", params=SINGLE, optional=True),
    BenchMethod("CatBoost", params={"thread_count": 1}, revision=1, optional=True),
)
ONE_LAYER = "ECSELM, one layer"
EQUAL = {"keep_prior": "always", "scoring": "accuracy"}  # the costs that the accuracy implies
VARIANTS = (  # of one machine, to tell which part of it helps
    BenchMethod("one layer, equal costs", params=EQUAL, tuned_as=ONE_LAYER),
    BenchMethod(
        "one layer, implied costs",
        kind="itself",
        params={"keep_prior": "always"},
        tuned_as=ONE_LAYER,
    ),
    BenchMethod(
        "one layer, learned costs", kind="itself", params={"keep_prior": False}, tuned_as=ONE_LAYER
    ),
    BenchMethod("one layer, tested costs", kind="itself", tuned_as=ONE_LAYER),
    BenchMethod("one layer, threshold", kind="itself", tuned_as="one layer with tuned threshold"),
    BenchMethod("ensemble, equal costs", params=EQUAL, tuned_as="ECSELM"),
    BenchMethod(
        "ensemble, implied costs",
        kind="itself",
        params={"keep_prior": "always"},
        tuned_as="ECSELM",
    ),
    BenchMethod(
        "ensemble, learned costs", kind="itself", params={"keep_prior": False}, tuned_as="ECSELM"
    ),
    BenchMethod("ECSELM", kind="itself"),
    BenchMethod("ECSELM as printed"),
)
UCI_QUICK_METHODS = ("ECSELM", "logistic regression", "LightGBM defaults", "ELM", "KELM", "SVC")
QUICK_METHODS = ("ECSELM", "balanced logistic regression", "ELM", "W2ELM", "KELM", "balanced SVC")
MAX_NAMED = 5


def find_bench_methods(
    names: Sequence[str] | None, among: tuple[BenchMethod, ...] = BENCH_METHODS
) -> tuple[BenchMethod, ...]:
    """Return methods of a suite by name, in the order in which they are run; None is all.

    Examples
    --------
    >>> [method.name for method in find_bench_methods(("KELM", "ecselm"))]
    ['ECSELM', 'KELM']
    >>> find_bench_methods(("LightGBN",))
    Traceback (most recent call last):
        ...
    ValueError: methods must be of the bench, such as LightGBM; got 'LightGBN'
    """
    if names is None:
        return among
    known = {method.name.lower(): method for method in among}
    for name in names:
        if name.lower() not in known:
            close = get_close_matches(name.lower(), known, n=MAX_NAMED)
            similar = ", ".join(known[key].name for key in close or list(known)[:MAX_NAMED])
            raise ValueError(f"methods must be of the bench, such as {similar}; got {name!r}")
    selected = {name.lower() for name in names}
    return tuple(method for key, method in known.items() if key in selected)


def left_out(methods: Sequence[BenchMethod]) -> tuple[str, ...]:
    """Return the names of optional methods whose packages are missing."""
    missing = []
    for method in methods:
        if method.optional:
            try:
                check_extras([method])
            except ImportError:
                missing.append(method.name)
    return tuple(missing)


def check_extras(methods: Sequence[BenchMethod]) -> None:
    """Raise an error for a missing extra or an unknown parameter of a method, before any work."""
    for method in methods:
        find_method(method.tuned_as or method.name, "classification").estimator(method.params)
