"""The regressors of the tables about attractiveness scores."""

from __future__ import annotations

from functools import partial

from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from ecselm.paper.baselines import DFATRegressor
from ecselm.paper.methods.method import Method

SCORES = partial(Method, task="regression")
NGUYEN = "after the abstracts of Nguyen et al., ACM MM 2012 and ACM TOMCCAP 2013"
RIDGES = [1.0, 10.0, 100.0, 1000.0, 10000.0]


METHODS = (
    SCORES("NN", tables="IV", source="scikit-learn", make=partial(KNeighborsRegressor, 1)),
    SCORES(
        "Ridge",
        tables="IV",
        source="scikit-learn",
        make=Ridge,
        grid={"alpha": RIDGES},
        aliases=("Ridge Regression",),
    ),
    SCORES(
        "Neural Network",
        tables="IV",
        source="scikit-learn",
        make=partial(MLPRegressor, max_iter=1000),
        grid={"alpha": [1e-4, 1e-2, 1.0, 100.0]},
        aliases=("MLP",),
    ),
    SCORES(
        "DFAT",
        tables="IV V",
        source=NGUYEN,
        status="substitute",
        make=DFATRegressor,
        grid={"reg_w": RIDGES},
    ),
    SCORES(
        "LDFAT",
        tables="IV V",
        source=NGUYEN,
        status="substitute",
        make=partial(DFATRegressor, 10),
        grid={"reg_w": RIDGES, "n_latent": [5, 10, 20]},
    ),
)
