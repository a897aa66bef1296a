"""ECSELM against Algorithms 1 and 2 as printed, and in the cases it must bear."""

import inspect

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics import confusion_matrix
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm import ECSELMClassifier, ECSELMRegressor, ELMClassifier, KELMClassifier
from ecselm.elm.evolution import SearchProgress
from ecselm.elm.evolving import EvolvingMachine
from ecselm.objectives import CostObjective
from tests.conftest import targets
from tests.elm.literal import (
    drawn_layer,
    literal_search,
    printed_alpha,
    printed_beta,
    scaled_inputs,
)

SMALL = {"n_hidden": 12, "population_size": 6, "max_epochs": 3, "random_state": 0}
LEVELS = [
    {"cost_level": "class"},
    {"cost_level": "matrix"},
    {"cost_level": "sample"},
    {"cost_level": "matrix", "decision": "min_cost"},
]
LEVEL = pytest.mark.parametrize("level", LEVELS, ids=["class", "matrix", "sample", "min_cost"])
MACHINES = [{"n_hidden": 12}, {"n_hidden": 150}, {"kernel": "rbf", "gamma": 0.2}]
MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])


def made(k, n=90, seed=0):
    """Return rows of k unequal classes that overlap."""
    weights = [0.5] + [0.5 / (k - 1)] * (k - 1)
    return make_classification(
        n,
        5,
        n_informative=5,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        weights=weights,
        flip_y=0.1,
        random_state=seed + k,
    )


class Fixed:
    """An optimiser that asks for the same points again and again."""

    def __init__(self, *points):
        self.points, self.generation, self._best = np.array(points, float), 0, None

    def __call__(self, space, size, rng, *, initial=None):
        assert space.contains(self.points)
        return Fixed(*self.points)

    def ask(self):
        return self.points.copy()

    def tell(self, fitness):
        i = int(np.argmin(fitness))
        if self._best is None or fitness[i] < self._best[1]:
            self._best = self.points[i].copy(), float(fitness[i])
        self.generation += 1

    @property
    def best(self):
        return self._best


# Algorithm 1 with Algorithm 2, as printed


def literal_costs(model, X, y):
    """Return B (N,) and the search that found it, by Algorithm 1 with the model's settings."""
    rng = np.random.default_rng(model.random_state)
    C, T, N = model.C, targets(y), len(y)
    if model.kernel is None:
        F, solve = drawn_layer(X, model.n_hidden, rng), printed_beta
    else:
        F, solve = rbf_kernel(scaled_inputs(X), gamma=model.gamma), printed_alpha
    _, search_rng = rng.spawn(2)
    groups = np.arange(N) if model.cost_level == "sample" else y
    low, high = model.cost_bounds
    log = model.cost_level == "class" and low > 0

    def costs(point):
        return (np.exp(point) if log else point)[groups]

    def error(point):
        Z = F @ solve(F, T, costs(point), C)
        return np.mean(Z.argmax(axis=1) != y)  # (21)

    D = groups.max() + 1
    bounds = np.log([low, high]) if log else (low, high)
    search = literal_search(
        error,
        np.full(D, bounds[0]),
        np.full(D, bounds[1]),
        model.population_size,
        model.max_epochs,
        search_rng,
    )
    return costs(search.point), search


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])
@pytest.mark.parametrize(
    "level",
    [
        {"cost_level": "sample"},
        {"cost_level": "sample", "cost_bounds": (0.001, 1.0)},
        {"cost_level": "class"},
        {"cost_level": "class", "cost_bounds": (0.05, 20.0)},
    ],
    ids=["sample signed", "sample", "class signed", "class log"],
)
def test_paper_equals_algorithms_1_and_2_draw_by_draw(machine, level, k):
    X, y = made(k)
    model = ECSELMClassifier.paper(
        **machine, **level, C=2.0, population_size=7, max_epochs=15, random_state=3
    ).fit(X, y)
    B, search = literal_costs(model, X, y)
    history = model.history_
    assert_allclose(model.cost_vector_, B, rtol=1e-12)
    assert_allclose(history["best"], 1 - search.best, rtol=1e-12)
    assert_allclose(history["mean"], 1 - search.mean, rtol=1e-12)
    assert_allclose(history["spread"], search.spread, rtol=1e-9, atol=1e-12)
    assert history["mean"].nunique() > 5, "a search that never moves shows nothing"
    assert_allclose(model.best_score_, 1 - search.best[-1], rtol=1e-12)
    assert (model.C_, model.n_evaluations_, model.prior_scores_) == (2.0, 7 * 16, {})


def test_paper_is_what_its_docstring_says():
    model = ECSELMClassifier.paper()
    assert {
        "activation": "radbas",
        "draw": "uniform",
        "scale": "minmax",
        "cost_level": "sample",
        "cost_bounds": (-1.0, 1.0),
        "population_size": 100,
        "max_epochs": 100,
        "priors": (),
        "fitness": "train",
        "scoring": None,
        "smoothing": 0.0,
        "normalize": False,
        "optimizer": "bsa",
        "decision": "argmax",
        "fixed_costs": None,
    }.items() <= model.get_params().items()
    assert ECSELMClassifier.paper(C=8.0, max_epochs=3).get_params() == {
        **model.get_params(),
        "C": 8.0,
        "max_epochs": 3,
    }
