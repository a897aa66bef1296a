"""The methods of the bench, the cheap ones first, and what each may choose from.

At most 36 candidates each, the more regular ones first: ties go to the earlier. Inputs have
a mean of 0 and a variance of 1, which the widths of kernels suppose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def crossed(**values: Any) -> list[Candidate]:
    """Return all combinations, the first parameter changing last.

    Examples
    --------
    >>> crossed(C=[1, 2], gamma=[3, 4])[:2]
    [{'C': 1, 'gamma': 3}, {'C': 1, 'gamma': 4}]
    """
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def layers(shape: Shape) -> list[Candidate]:
    """Return penalties and hidden units, no more of these than rows."""
    return crossed(C=PENALTIES, n_hidden=sorted({min(n, shape.n_samples) for n in WIDTHS}))


def bands(shape: Shape) -> list[float]:
    """Return values of gamma for inputs of variance 1."""
    return [band / shape.n_features for band in BANDS]


def kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and widths of a kernel."""
    return crossed(C=PENALTIES, gamma=bands(shape))


def svc_kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and widths of a kernel for a support vector machine."""
    return crossed(C=SVC_PENALTIES, gamma=bands(shape))


def klr_kernels(shape: Shape) -> list[Candidate]:
    """Return penalties and every other width of a kernel for logistic regression."""
    return crossed(alpha=[1e-2, 1e-3, 1e-4, 1e-5], gamma=bands(shape)[1::2])


def linear(shape: Shape) -> list[Candidate]:  # noqa: ARG001  grids are called alike
    """Return penalties of a linear model."""
    return crossed(C=LINEAR_PENALTIES)


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
    return crossed(min_samples_leaf=[3, 1], max_features=["sqrt", None])


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
    """Return hidden units of a machine whose search is its tuning."""
    return crossed(n_hidden=sorted({min(n, shape.n_samples // 2) for n in (10, 20, 40)}))


def single_trees(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return depths and leaves of a tree."""
    return crossed(max_depth=[2, 4, 8], min_samples_leaf=[20, 5])


def neighbours(shape: Shape) -> list[Candidate]:
    """Return numbers of neighbours."""
    return crossed(n_neighbors=[n for n in (21, 11, 7, 5, 3, 1) if n < shape.n_samples // 2])


def one(shape: Shape) -> list[Candidate]:  # noqa: ARG001
    """Return the only candidate of a method with nothing to choose."""
    return ONE


@dataclass(frozen=True, slots=True)
class Contestant:
    """A method of the bench.

    Parameters
    ----------
    method : str
        Of the registry.
    grid : callable
        Of the sizes of the training rows; returns its candidates.
    kind : {"chosen", "itself", "threshold"}
        Whether a candidate is chosen by cross-validation; or the method tunes itself for a
        target, which it is told; or a threshold is tuned for the chosen candidate.
    binary : bool, default=False
        Whether it knows two classes only.
    costs_only : bool, default=False
        Whether it has something to say only where costs are stated.
    params : mapping
        What is given rather than chosen.
    chosen_as : str, default=""
        The method whose choice of a candidate it takes over; empty is its own.
    revision : int, default=0
        Raised when its candidates change, so that earlier results are not taken for its own.
    """

    method: str
    grid: Grid = one
    kind: Kind = "chosen"
    binary: bool = False
    costs_only: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    chosen_as: str = ""
    revision: int = 0


SINGLE = {"n_jobs": 1}
SHORT = {"population_size": 20, "max_epochs": 15}
CONTESTANTS = (
    Contestant("ECSELM", kind="itself"),
    Contestant("balanced logistic regression", linear),
    Contestant("ELM", layers),
    Contestant("W1ELM", layers),
    Contestant("W2ELM", layers),
    Contestant("RUSBoost", undersampled, revision=1),
    Contestant("LightGBM", trees, params=SINGLE),
    Contestant("KELM", kernels),
    Contestant("W1KELM", kernels),
    Contestant("W2KELM", kernels),
    Contestant("balanced SVC", svc_kernels),
    Contestant("E-ELM", evolved, params=SHORT),
    Contestant(
        "LightGBM with tuned threshold",
        trees,
        "threshold",
        binary=True,
        params=SINGLE,
        chosen_as="LightGBM",
    ),
    Contestant("BalancedRandomForest", forests, params=SINGLE),
    Contestant("EasyEnsemble", ensembles, params=SINGLE),
    Contestant("CSELM", layers, costs_only=True),
    Contestant("CSLDA-NN", one, costs_only=True),
    Contestant("mckNN", neighbours, costs_only=True),
    Contestant("CSThreshold", linear, binary=True, costs_only=True),
    Contestant("CSLogit", linear, binary=True, costs_only=True),
    Contestant("CSTree", single_trees, binary=True, costs_only=True),
    Contestant("CSBoost", trees, binary=True, costs_only=True, params=SINGLE),
    Contestant("mcKLR", klr_kernels, costs_only=True),
)
QUICK_METHODS = ("ECSELM", "balanced logistic regression", "ELM", "W2ELM", "KELM", "balanced SVC")
MOST_NAMED = 5


def find_contestants(names: tuple[str, ...] | None) -> tuple[Contestant, ...]:
    """Return contestants by name, in the order in which they are run; None is all.

    Examples
    --------
    >>> [found.method for found in find_contestants(("KELM", "ecselm"))]
    ['ECSELM', 'KELM']
    >>> find_contestants(("LightGBN",))
    Traceback (most recent call last):
        ...
    ValueError: methods must be of the bench, such as LightGBM; got 'LightGBN'
    """
    if names is None:
        return CONTESTANTS
    known = {one.method.lower(): one for one in CONTESTANTS}
    for name in names:
        if name.lower() not in known:
            close = get_close_matches(name.lower(), known, n=MOST_NAMED)
            told = ", ".join(known[key].method for key in close or list(known)[:MOST_NAMED])
            raise ValueError(f"methods must be of the bench, such as {told}; got {name!r}")
    asked = {name.lower() for name in names}
    return tuple(one for key, one in known.items() if key in asked)


def check_extras(contestants: tuple[Contestant, ...]) -> None:
    """Refuse methods of packages that are missing, before any work."""
    for one in contestants:
        find_method(one.method, "classification").estimator({})
