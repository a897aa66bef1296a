"""Regressors of attractiveness scores by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from ecselm._typing import FloatArray
from ecselm.costs import class_weights
from ecselm.estimators import (
    CSELMRegressor,
    ECSELMRegressor,
    EELMRegressor,
    ELMRegressor,
    KELMRegressor,
)
from ecselm.paper.baselines import DFATRegressor
from ecselm.paper.methods.classification import HUANG, PAPER, PENALTIES, ZHU, ZONG, kernel_penalties
from ecselm.paper.methods.method import Method


@dataclass(frozen=True, slots=True)
class LevelWeights:
    """The weights W1 or W2 of scores, binned into levels in the place of classes.

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
    """Return an ELM for scores whose rare levels have greater weights."""
    return CSELMRegressor(cost=LevelWeights(weighting, edges))


REGRESSION = partial(Method, task="regression")
NGUYEN = "after the abstracts of Nguyen et al., ACM MM 2012 and ACM TOMCCAP 2013"
RIDGE, NO_ATTRIBUTES = "Ridge with another penalty", "no attributes"
RIDGES = [1.0, 10.0, 100.0, 1000.0, 10000.0]


METHODS = (
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
        source=f"{PAPER}; fitness on validation rows",
        status="substitute",
        make=ECSELMRegressor,
        grid={"C": PENALTIES},
    ),
    REGRESSION(
        "ECSELM as printed",
        tables="IV V",
        source=f"{PAPER}; costs by row, fitness on the training rows",
        status="exact",
        make=ECSELMRegressor.paper,
    ),
    REGRESSION("NN", tables="IV", source="scikit-learn", make=partial(KNeighborsRegressor, 1)),
    REGRESSION(
        "Ridge",
        tables="IV",
        source="scikit-learn",
        make=Ridge,
        grid={"alpha": RIDGES},
        aliases=("Ridge Regression",),
    ),
    REGRESSION(
        "Neural Network",
        tables="IV",
        source="scikit-learn",
        make=partial(MLPRegressor, max_iter=1000),
        grid={"alpha": [1e-4, 1e-2, 1.0, 100.0]},
        aliases=("MLP",),
    ),
    REGRESSION(
        "DFAT",
        tables="IV V",
        source=NGUYEN,
        status="substitute",
        make=DFATRegressor,
        grid={"reg_w": RIDGES},
        twin=RIDGE,
        twin_if=NO_ATTRIBUTES,
    ),
    REGRESSION(
        "LDFAT",
        tables="IV V",
        source=NGUYEN,
        status="substitute",
        make=partial(DFATRegressor, 10),
        grid={"reg_w": RIDGES, "n_latent": [5, 10, 20]},
        twin=RIDGE,
        twin_if=NO_ATTRIBUTES,
    ),
)
