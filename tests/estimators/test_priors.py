"""Costs to begin with: their formulas, and that the search never does worse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from ecselm.costs import ClassCosts, ClassWeights, ExampleCosts, PairCosts, SampleCosts
from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel
from ecselm.estimators._priors import LEAST_SHARE, prior_costs, row_costs, stated_costs
from tests.estimators.plain import one_machine

Y = np.repeat([0, 1, 2], [6, 3, 1])
COUNTS = np.bincount(Y).astype(float)
CLASSES = np.array(["a", "b", "c"])
NAMES = ("ones", "w1", "w2", "cost")
COST = np.array([[0.0, 2.0, 4.0], [1.0, 0.0, 5.0], [8.0, 2.0, 0.0]])
SETTINGS = {"n_hidden": 12, "population_size": 5, "max_epochs": 2, "random_state": 0}


def by_row(y, k):
    """Return costs (N, k) that differ from row to row."""
    costs = np.random.default_rng(0).uniform(1, 9, (len(y), k))
    costs[np.arange(len(y)), y] = 0.0
    return costs


@pytest.fixture
def rows():
    return make_classification(
        80,
        5,
        n_informative=5,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        weights=[0.6, 0.3],
        flip_y=0.1,
        random_state=0,
    )


def test_priors_are_equations_9_and_10():
    priors = prior_costs(NAMES, ClassLevel(3), COUNTS, CLASSES, normalize=False)
    assert_array_equal(priors["ones"], [1, 1, 1])
    assert_allclose(priors["w1"], [1 / 6, 1 / 3, 1])
    assert_allclose(priors["w2"], [0.618 / 6, 1 / 3, 1])  # only the first is above the mean
    assert "cost" not in priors


def test_normalised_priors_have_the_mean_one_over_the_rows():
    priors = prior_costs(NAMES, ClassLevel(3), COUNTS, CLASSES, normalize=True)
    plain = prior_costs(NAMES, ClassLevel(3), COUNTS, CLASSES, normalize=False)
    for name, costs in priors.items():
        assert_allclose(costs[Y].mean(), 1.0)
        assert_allclose(costs / costs[0], plain[name] / plain[name][0])


def test_priors_of_confusions_and_rows_are_those_of_their_classes():
    by_class = prior_costs(NAMES, ClassLevel(3), COUNTS, CLASSES, normalize=True)
    matrix = prior_costs(NAMES, MatrixLevel(3), COUNTS, CLASSES, normalize=True)
    sample = prior_costs(NAMES, SampleLevel(Y), COUNTS, CLASSES, normalize=True)
    for name, costs in by_class.items():
        assert_array_equal(matrix[name], np.repeat(costs, 2))
        assert_array_equal(sample[name], costs[Y])


def test_a_class_that_never_occurs_is_as_the_rarest():
    counts = np.array([60.0, 0.0, 20.0])
    for normalize in (False, True):
        priors = prior_costs(NAMES, ClassLevel(3), counts, CLASSES, normalize)
        assert_array_equal(priors["w1"][1], priors["w1"][2])
        assert_array_equal(priors["w2"][1], priors["w2"][2])


def test_an_unknown_prior_is_refused():
    with pytest.raises(ValueError, match=r"priors must be among .* got 'balanced'"):
        prior_costs(("ones", "balanced"), ClassLevel(3), COUNTS, CLASSES, normalize=True)


def test_costs_by_class_become_means_confusions_or_rows():
    costs = ClassCosts(COST, "classes")
    means = COST.sum(axis=1) / 2
    assert_allclose(stated_costs(costs, ClassLevel(3), Y, 3), means)
    off = ~np.eye(3, dtype=bool)
    assert_allclose(stated_costs(costs, MatrixLevel(3), Y, 3), COST[off])
    assert_allclose(stated_costs(costs, SampleLevel(Y), Y, 3), means[Y])


def test_costs_by_row_and_class_become_means_over_the_rows():
    M = by_row(Y, 3)
    costs = ExampleCosts(M, "classes")
    means = np.array([M[c == Y].mean(axis=0) for c in range(3)])
    assert_allclose(stated_costs(costs, ClassLevel(3), Y, 3), means.sum(axis=1) / 2)
    off = ~np.eye(3, dtype=bool)
    assert_allclose(stated_costs(costs, MatrixLevel(3), Y, 3), means[off])
    assert_allclose(stated_costs(costs, SampleLevel(Y), Y, 3), M.sum(axis=1) / 2)


@pytest.mark.parametrize("kind", ["vector", "pairs"])
def test_one_cost_per_row_is_the_cost_of_any_mistake_on_it(kind):
    b = np.arange(1.0, 11)
    costs = SampleCosts(b) if kind == "vector" else PairCosts(b, 3)
    wrong = np.arange(3) != Y[:, np.newaxis]
    assert_array_equal(row_costs(costs, Y, 3), b[:, np.newaxis] * wrong)
    assert_allclose(stated_costs(costs, SampleLevel(Y), Y, 3), b)
    means = [b[c == Y].mean() for c in range(3)]
    assert_allclose(stated_costs(costs, ClassLevel(3), Y, 3), means)
    assert_allclose(stated_costs(costs, MatrixLevel(3), Y, 3), np.repeat(means, 2))


def test_means_of_costs_count_a_row_by_its_weight():
    b = np.arange(1.0, 11)
    twice = np.append(np.arange(10), [0, 4, 4])
    weight = np.bincount(twice).astype(float)
    for level in (ClassLevel(3), MatrixLevel(3)):
        weighted = stated_costs(SampleCosts(b), level, Y, 3, weight)
        repeated = stated_costs(SampleCosts(b[twice]), level, Y[twice], 3)
        assert_allclose(weighted, repeated, rtol=1e-12)


def test_costs_of_nothing_become_the_least_share_of_the_dearest():
    costs = SampleCosts(np.where(Y == 1, 0.0, 4.0))
    assert_allclose(stated_costs(costs, ClassLevel(3), Y, 3), [4, 4 * LEAST_SHARE, 4])
    assert stated_costs(costs, SampleLevel(Y), Y, 3).min() == 4 * LEAST_SHARE


def test_weights_of_classes_are_no_costs_of_rows():
    with pytest.raises(TypeError, match="costs must be by class or by row, got ClassWeights"):
        row_costs(ClassWeights("w1"), Y, 3)


@pytest.mark.parametrize("level", ["class", "matrix", "sample", "min_cost"])
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train", 3])
@pytest.mark.parametrize("scoring", [None, "mean_cost", "jaccard_macro"])
def test_result_is_never_worse_than_the_priors(rows, level, fitness, scoring):
    decides = {"cost_level": "matrix", "decision": "min_cost"}
    settings = decides if level == "min_cost" else {"cost_level": level}
    model = one_machine(**SETTINGS, **settings, fitness=fitness, scoring=scoring, cost=COST).fit(
        *rows
    )
    check_search(model, NAMES)


@pytest.mark.parametrize("optimizer", ["bsa", "de", "cma", "random", "sobol"])
@pytest.mark.parametrize("level", ["class", "sample"])
@pytest.mark.parametrize("size", [4, 7])
def test_no_optimiser_does_worse_than_the_priors(rows, optimizer, level, size):
    if optimizer == "cma":
        pytest.importorskip("cmaes")
    settings = {**SETTINGS, "optimizer": optimizer, "cost_level": level, "population_size": size}
    check_search(one_machine(**settings, cost=COST).fit(*rows), NAMES)


def check_search(model, names):
    history = model.history_
    assert set(model.prior_scores_) == set(names)
    assert model.best_score_ >= max(model.prior_scores_.values())
    assert list(history.columns) == ["generation", "evaluations", "best", "mean", "std"]
    assert history["generation"].tolist() == list(range(model.max_epochs + 1))
    assert (np.diff(history["best"]) >= 0).all()
    assert (history["best"] >= history["mean"] - 1e-12).all()
    assert (history["std"] >= 0).all()
    steps = model.population_size * np.arange(1, model.max_epochs + 2)
    assert_array_equal(history["evaluations"], steps)
    assert model.n_evaluations_ == model.population_size * (model.max_epochs + 1)
    last = history["best"].iloc[-1]
    assert model.best_score_ == max(last, *model.prior_scores_.values())


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("C", [32.0, "search"])
def test_a_population_too_small_for_the_priors_does_no_worse_than_any(rows, size, C):
    for seed in range(5):
        settings = {**SETTINGS, "population_size": size, "max_epochs": 1, "random_state": seed}
        check_search(one_machine(**settings, C=C, cost=COST).fit(*rows), NAMES)


def test_a_population_of_priors_alone_is_the_best_of_them(rows):
    model = one_machine(**{**SETTINGS, "population_size": 4, "max_epochs": 0}, cost=COST)
    model.fit(*rows)
    assert model.best_score_ == max(model.prior_scores_.values())
    assert_allclose(model.history_["mean"], np.mean(list(model.prior_scores_.values())))


def test_prior_scores_are_the_fitness_of_those_costs(rows):
    X, y = rows
    settings = {**SETTINGS, "population_size": 1, "max_epochs": 0}
    every = one_machine(**settings, cost=COST).fit(X, y)
    counts = np.bincount(y)
    expected = {
        "ones": np.ones(3),
        "w1": 1 / counts,
        "w2": np.where(counts > len(y) / 3, 0.618, 1) / counts,
        "cost": COST.sum(axis=1),
    }
    for name, costs in expected.items():
        ratio = 1e-9 * costs.max()
        pinned = {c: (b - ratio, b + ratio) for c, b in enumerate(costs)}
        alone = one_machine(**settings, cost_intervals=pinned, priors=()).fit(X, y)
        assert_allclose(every.prior_scores_[name], alone.best_score_, rtol=1e-6)


def test_priors_that_contradict_what_is_known_are_left_out(rows):
    model = one_machine(**SETTINGS, cost_order=[(0, 1), (1, 2)]).fit(*rows)
    assert model.prior_scores_ == {}  # the others weigh rare classes more
    model = one_machine(**SETTINGS, cost_order=[(2, 1), (1, 0)]).fit(*rows)
    assert set(model.prior_scores_) == {"w1", "w2"}


def test_without_normalising_priors_count_as_they_are(rows):
    settings = {**SETTINGS, "normalize": False, "cost_bounds": (0.5, 2.0)}
    model = one_machine(**settings).fit(*rows)
    assert set(model.prior_scores_) == {"ones"}  # 1/n lies below the bounds
    scaled = one_machine(**{**settings, "normalize": True}).fit(*rows)
    assert "ones" in scaled.prior_scores_


@pytest.mark.parametrize("k", [2, 3])
def test_stated_costs_of_rows_are_a_prior_at_every_level(rows, k):
    X, y = rows
    y = np.minimum(y, k - 1)
    for costs in (np.linspace(1, 2, len(y)), by_row(y, k), np.ones((len(y),) * 2) - np.eye(len(y))):
        for level in ("class", "matrix", "sample"):
            model = one_machine(**SETTINGS, cost_level=level).fit(X, y, sample_cost=costs)
            check_search(model, NAMES)


def test_costs_of_rows_within_bounds_are_taken_as_they_are(rows):
    X, y = rows
    costs = np.linspace(0.5, 1.0, len(y))
    settings = {**SETTINGS, "cost_level": "sample", "cost_bounds": (0.01, 1), "normalize": False}
    settings |= {"priors": ("cost",), "population_size": 1, "max_epochs": 0}
    model = one_machine(**settings).fit(X, y, sample_cost=costs)
    assert_array_equal(model.cost_vector_, costs)
