"""The extreme learning machines among the methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ecselm._typing import FloatArray
from ecselm.costs import class_weights
from ecselm.estimators import (
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.paper.methods.method import Grid, Method, Shape

PENALTIES = [2.0**p for p in (-5, 0, 5, 10, 20)]  # section VIII
HUANG = "Huang et al., IEEE TSMC-B 42(2), 2012; paper (4)-(7)"
ZONG = "Zong, Huang and Chen, Neurocomputing 101, 2013; paper (8)-(10)"
ZHU = "Zhu, Qin, Suganthan and Huang, Pattern Recognition 38, 2005"
PAPER = "paper (11)-(34)"


def widths(shape: Shape) -> list[float | str]:
    """Return widths of a kernel to choose from.

    ``"scale"`` minds the variance of the inputs; the others suit a variance of 1.
    """
    return ["scale", 0.1 / shape.n_features, 10.0 / shape.n_features]


def kernel_penalties(shape: Shape) -> Grid:
    """Return values of C and widths of the kernel to choose from."""
    return {"C": PENALTIES, "gamma": widths(shape)}


@dataclass(frozen=True, slots=True)
class LevelWeights:
    """The weights W1 or W2 of scores, cut into levels in the place of classes.

    Examples
    --------
    >>> import numpy as np
    >>> LevelWeights("w1", (5.0,))(np.array([1.0, 2.0, 9.0]))
    array([0.5, 0.5, 1. ])
    """

    weighting: str
    edges: tuple[float, ...] | None  # None: five levels of equal width

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return one weight per score."""
        y = np.asarray(y, dtype=np.float64)
        edges = np.linspace(y.min(), y.max(), 6)[1:-1] if self.edges is None else self.edges
        present, level = np.unique(np.searchsorted(edges, y), return_inverse=True)
        return class_weights(self.weighting, np.bincount(level), present)[level]


def weighted_scores(weighting: str, edges: tuple[float, ...] | None = None) -> CSELMRegressor:
    """Return a machine for scores whose rare levels count more."""
    return CSELMRegressor(cost=LevelWeights(weighting, edges))


CLASSIFICATION = partial(Method, task="classification")
REGRESSION = partial(Method, task="regression")

METHODS = (
    CLASSIFICATION(
        "ELM",
        tables="I VI VIII X XII XIV",
        source=HUANG,
        status="exact",
        make=ELMClassifier,
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
        make=partial(WELMClassifier, weighting="w1"),
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "W2ELM",
        tables="I VI VIII X XII XIV",
        source=ZONG,
        status="exact",
        make=partial(WELMClassifier, weighting="w2"),
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
        make=CSELMClassifier,
        grid={"C": PENALTIES},
    ),
    CLASSIFICATION(
        "ECSELM",
        tables="I II III VI VII VIII IX X XI XII XIV",
        source=f"{PAPER}; costs by class, judged on held-out rows",
        status="substitute",
        make=ECSELMClassifier,
    ),
    CLASSIFICATION(
        "ECSELM as printed",
        tables="I II III VI VII VIII IX X XI XII XIV",
        source=f"{PAPER}; costs by row, judged on the training rows",
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
    REGRESSION(
        "ELM",
        tables="IV V",
        source=HUANG,
        status="exact",
        make=ELMRegressor,
        grid={"C": PENALTIES},
    ),
    REGRESSION(
        "KELM",
        tables="IV V",
        source=HUANG,
        status="exact",
        make=KELMRegressor,
        grid=kernel_penalties,
    ),
    REGRESSION(
        "W1ELM",
        tables="IV V",
        source=f"{ZONG}; levels of the score in the place of classes",
        status="substitute",
        make=partial(weighted_scores, "w1"),
        grid={"C": PENALTIES},
    ),
    REGRESSION(
        "W2ELM",
        tables="IV V",
        source=f"{ZONG}; levels of the score in the place of classes",
        status="substitute",
        make=partial(weighted_scores, "w2"),
        grid={"C": PENALTIES},
        aliases=("WELM",),
    ),
    REGRESSION("E-ELM", tables="IV V", source=ZHU, status="exact", make=EELMRegressor),
    REGRESSION(
        "ECSELM",
        tables="IV V",
        source=f"{PAPER}; judged on held-out rows",
        status="substitute",
        make=ECSELMRegressor,
        grid={"C": PENALTIES},
    ),
    REGRESSION(
        "ECSELM as printed",
        tables="IV V",
        source=f"{PAPER}; costs by row, judged on the training rows",
        status="exact",
        make=ECSELMRegressor.paper,
    ),
)
