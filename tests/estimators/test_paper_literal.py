"""``paper(literal=True)`` against Algorithm 2 letter by letter."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.estimators._cost_search import OPTIMIZERS
from ecselm.search.space import crossover_mask
from tests.conftest import targets
from tests.estimators.literal import drawn_layer, printed_beta

SMALL = {"n_hidden": 12, "C": 2.0, "population_size": 7, "max_epochs": 12, "random_state": 3}


def printed_search(error, D, size, epochs, rng):
    """Algorithm 2 with step 2.1 in the loop and (30) for every entry; return B and all minima."""
    low, high = -1.0, 1.0

    def uniform():
        return low + rng.random((size, D)) * (high - low)

    P = uniform()  # (23)
    uniform()  # the memory that the published algorithm draws once; overwritten below
    F = np.array([error(row) for row in P])  # (24)
    minima = [F.min()]
    for _ in range(epochs):
        Q = uniform()  # (25), step 2.1
        if rng.random() < rng.random():  # (26)
            Q = P.copy()
        Q = Q[rng.permutation(size)]  # (27)
        amplitude = 3.0 * rng.standard_normal()
        if rng.random() < rng.random():  # (28)
            mask = crossover_mask((size, D), rng)
        else:
            mask = np.zeros((size, D), dtype=bool)
            mask[np.arange(size), rng.integers(D, size=size)] = True
        V = P + amplitude * mask * (Q - P)  # (29)
        first, second, redrawn = rng.random(V.shape), rng.random(V.shape), rng.random(V.shape)
        trial = redrawn * (high - low) + low  # (30): "otherwise", whatever V is
        trial[(first < second) & (low > V)] = low
        trial[(first < second) & (high < V)] = high
        G = np.array([error(row) for row in trial])  # (31)
        wins = G < F
        P[wins], F[wins] = trial[wins], G[wins]  # (32)
        minima.append(F.min())  # (33)
    return P[np.argmin(F)], minima  # (34)


def searched(model, X, T, error_of):
    rng = np.random.default_rng(model.random_state)
    H = drawn_layer(X, model.n_hidden, rng)
    _, search_rng = rng.spawn(2)

    def error(B):
        return error_of(H @ printed_beta(H, T, B, model.C))

    return printed_search(error, len(X), model.population_size, model.max_epochs, search_rng)


def test_classifier_equals_algorithm_2_letter_by_letter():
    X, y = make_classification(60, 5, n_informative=5, n_redundant=0, flip_y=0.2, random_state=2)
    model = ECSELMClassifier.paper(literal=True, **SMALL).fit(X, y)
    B, minima = searched(model, X, targets(y), lambda Z: np.mean(Z.argmax(axis=1) != y))
    assert_allclose(model.cost_vector_, B, rtol=1e-12)
    assert_allclose(model.history_["best"], 1 - np.array(minima), rtol=1e-12)
    assert len(set(minima)) > 1, "a search that never improves shows nothing"


def test_regressor_equals_algorithm_2_letter_by_letter(rng):
    X = rng.normal(size=(60, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = ECSELMRegressor.paper(literal=True, **SMALL).fit(X, y)
    B, minima = searched(model, X, y[:, np.newaxis], lambda Z: np.abs(y - Z[:, 0]).mean())
    assert_allclose(model.cost_vector_, B, rtol=1e-9)
    assert_allclose(model.history_["best"], -np.array(minima), rtol=1e-6)


@pytest.mark.parametrize("kind", [ECSELMClassifier, ECSELMRegressor])
def test_the_letter_changes_the_search_alone(kind):
    published, literal = kind.paper(C=8.0).get_params(), kind.paper(literal=True, C=8.0)
    changed = {name for name, value in literal.get_params().items() if value != published[name]}
    assert changed == {"optimizer"}
    assert published["optimizer"] == "bsa"
    copy = pickle.loads(pickle.dumps(clone(literal)))
    assert copy.optimizer == "bsa_literal"
    assert OPTIMIZERS[copy.optimizer].keywords == {"redraw_memory": True, "literal_bounds": True}


def test_the_letter_and_the_published_search_find_other_costs():
    X, y = make_classification(60, 5, n_informative=5, n_redundant=0, flip_y=0.2, random_state=2)
    found = [ECSELMClassifier.paper(literal=letter, **SMALL).fit(X, y) for letter in (False, True)]
    assert not np.array_equal(found[0].cost_vector_, found[1].cost_vector_)
