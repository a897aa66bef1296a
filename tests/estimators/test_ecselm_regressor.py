"""ECSELM for real targets against Algorithms 1 and 2 as printed, and in its own cases."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm import CSELMRegressor, ECSELMRegressor, ELMRegressor, KELMRegressor
from ecselm.fitness import CostObjective
from tests.estimators.literal import (
    drawn_layer,
    literal_search,
    printed_alpha,
    printed_beta,
    scaled_inputs,
)

SMALL = {"n_hidden": 12, "population_size": 5, "max_epochs": 2, "random_state": 0}
QUICK = {**SMALL, "fitness": "train"}
MACHINES = [{"n_hidden": 12}, {"n_hidden": 90}, {"kernel": "rbf", "gamma": 0.2}]
MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])
LEVEL = pytest.mark.parametrize("level", ["class", "sample"])
TARGETS = pytest.mark.parametrize("m", [None, 2], ids=["one target", "two targets"])


def made(m=None, n=60):
    """Return rows with one target or two of different scales."""
    X, y = make_friedman1(n, noise=1.0, random_state=0)
    X = 2 * X[:, :5] - 1
    return X, y if m is None else np.column_stack([y, 100 * X[:, 4] ** 2])


def columns(y):
    return y.reshape(len(y), -1)


def literal_levels(y, n_levels=5):
    """Return the level of every row, cut by cut."""
    position = columns(y)
    if position.shape[1] > 1:
        low, high = position.min(axis=0), position.max(axis=0)
        position = ((position - low) / (high - low)).mean(axis=1, keepdims=True)
    position = position[:, 0]
    cuts = [
        position.min() + i * (position.max() - position.min()) / n_levels
        for i in range(1, n_levels)
    ]
    return np.array([sum(p > cut for cut in cuts) for p in position])


def literal_costs(model, X, y):
    """Return B (N,) and the search that found it, by Algorithm 1 with the model's settings."""
    rng = np.random.default_rng(model.random_state)
    T = columns(y)
    if model.kernel is None:
        F, solve = drawn_layer(X, model.n_hidden, rng), printed_beta
    else:
        F, solve = rbf_kernel(scaled_inputs(X), gamma=model.gamma), printed_alpha
    _, search_rng = rng.spawn(2)
    by_row = model.cost_level == "sample"
    groups = np.arange(len(y)) if by_row else literal_levels(y, model.n_levels)
    low, high = model.cost_bounds
    log = not by_row and low > 0

    def costs(point):
        return (np.exp(point) if log else point)[groups]

    def error(point):
        return np.abs(T - F @ solve(F, T, costs(point), model.C)).mean()  # (21)

    D = len(y) if by_row else model.n_levels
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


@TARGETS
@MACHINE
@pytest.mark.parametrize(
    "level",
    [
        {"cost_level": "sample"},
        {"cost_level": "sample", "cost_bounds": (0.001, 1.0)},
        {"cost_level": "class"},
        {"cost_level": "class", "cost_bounds": (0.05, 20.0), "n_levels": 3},
    ],
    ids=["sample signed", "sample", "levels signed", "levels log"],
)
def test_paper_equals_algorithms_1_and_2_draw_by_draw(machine, level, m):
    X, y = made(m)
    model = ECSELMRegressor.paper(
        **machine, **level, C=2.0, population_size=7, max_epochs=12, random_state=3
    ).fit(X, y)
    B, search = literal_costs(model, X, y)
    history = model.history_
    assert_allclose(model.cost_vector_, B, rtol=1e-9)
    # Saddle points near a singular one lose digits in either form.
    signed = model.cost_bounds[0] < 0
    assert_allclose(history["best"], -search.best, rtol=1e-6 if signed else 1e-9)
    assert_allclose(history["mean"], -search.mean, rtol=1e-4 if signed else 1e-9)
    assert_allclose(model.best_score_, -search.best[-1], rtol=1e-6 if signed else 1e-9)
    assert history["mean"].nunique() > 5, "a search that never moves shows nothing"
    assert (model.C_, model.n_evaluations_, model.prior_scores_) == (2.0, 7 * 13, {})


def test_paper_is_what_its_docstring_says():
    model = ECSELMRegressor.paper()
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
        "normalize": False,
        "optimizer": "bsa",
    }.items() <= model.get_params().items()
    assert ECSELMRegressor.paper(C=8.0).get_params() == {**model.get_params(), "C": 8.0}


@LEVEL
@MACHINE
@TARGETS
@pytest.mark.parametrize(
    ("weighted", "stated"), [(False, False), (True, True)], ids=["plain", "weights and unit"]
)
def test_equation_15_holds_for_the_attributes(level, machine, m, weighted, stated, rng):
    X, y = made(m)
    known = {"fixed_costs": {2: 7.0}, "cost_intervals": {1: (3.0, 30.0)}} if stated else {}
    weight = rng.uniform(0.3, 3.0, len(y)) if weighted else None
    model = ECSELMRegressor(**{**QUICK, **machine, **known}, cost_level=level, C=2.0)
    model.fit(X, y, sample_weight=weight)
    w, B = np.ones(len(y)) if weight is None else weight, model.cost_vector_
    F, solve = model.layer_(X), printed_beta if model.kernel is None else printed_alpha
    assert_allclose(model.beta_, solve(F, columns(y), w * B, model.C_), rtol=1e-7, atol=1e-8)
    assert_allclose(model.predict(X), (F @ model.beta_).reshape(y.shape), rtol=1e-9)
    mean = np.average(B, weights=w)
    assert_allclose([model.C_ * mean, mean], [2.0, mean if stated else 1.0], rtol=1e-12)


@TARGETS
@pytest.mark.parametrize("n_levels", [1, 2, 5, 9])
def test_levels_cut_the_range_into_equal_widths(m, n_levels):
    X, y = made(m)
    model = ECSELMRegressor(**SMALL, n_levels=n_levels).fit(X, y)
    assert model.class_costs_.shape == (n_levels,)
    assert_array_equal(model.cost_vector_, model.class_costs_[literal_levels(y, n_levels)])
    if m is None:
        edges = np.linspace(y.min(), y.max(), n_levels + 1)[1:-1]
        assert_allclose(model.level_edges_, edges)
    else:
        assert not hasattr(model, "level_edges_")


def test_a_target_on_an_edge_belongs_to_the_level_below():
    X, _ = made()
    y = np.arange(60.0) % 6  # the edges are 1, 2, 3 and 4
    model = ECSELMRegressor(**QUICK).fit(X, y)
    assert_array_equal(model.cost_vector_, model.class_costs_[[0, 0, 1, 2, 3, 4]][y.astype(int)])
    assert_array_equal(literal_levels(y), np.maximum(y - 1, 0))


def test_edges_of_an_earlier_fit_are_forgotten():
    model = ECSELMRegressor(**SMALL).fit(*made())
    assert not hasattr(model.fit(*made(2)), "level_edges_")


@LEVEL
def test_costs_of_rows_are_averaged_over_levels(level):
    X, y = made()
    model = ECSELMRegressor(**SMALL, cost_level=level).fit(X, y)
    levels = literal_levels(y)
    expected = [model.cost_vector_[levels == c].mean() for c in range(5)]
    assert_allclose(model.class_costs_, expected, rtol=1e-12)


@LEVEL
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train"])
def test_levels_may_be_empty(level, fitness):
    X, y = made()
    y = np.exp(y / 2)  # most rows lie in the first level
    assert 0 in np.bincount(literal_levels(y), minlength=5)
    settings = {**SMALL, "cost_level": level, "fitness": fitness, "cost_bounds": (1e-3, 1e3)}
    model = ECSELMRegressor(**settings).fit(X, y)
    assert set(model.prior_scores_) == {"ones", "w1", "w2"}
    assert np.isfinite(model.beta_).all()


@LEVEL
def test_a_constant_target_is_one_level(level):
    X, y = made()
    settings = {**SMALL, "n_hidden": 90, "cost_level": level, "C": 1e6}
    model = ECSELMRegressor(**settings).fit(X, np.full(len(y), 3.0))
    assert_array_equal(model.level_edges_, 3.0)
    assert_allclose(model.predict(X), 3.0, atol=1e-2)


@LEVEL
@TARGETS
def test_equal_costs_are_plain_elm(level, m):
    X, y = made(m)
    settings = {**SMALL, "cost_level": level, "cost_bounds": (1, 1)}
    model = ECSELMRegressor(**settings).fit(X, y)
    plain = ELMRegressor(12, random_state=0).fit(X, y)
    assert_allclose(model.beta_, plain.beta_, rtol=1e-8, atol=1e-8)
    kernel = ECSELMRegressor(**settings, kernel="rbf").fit(X, y)
    assert_allclose(kernel.beta_, KELMRegressor().fit(X, y).beta_, rtol=1e-8, atol=1e-8)


@LEVEL
def test_learned_costs_given_to_cselm_are_the_same_machine(level):
    X, y = made()
    model = ECSELMRegressor(**SMALL, cost_level=level).fit(X, y)
    given = CSELMRegressor(12, cost=model.cost_vector_, random_state=0).fit(X, y)
    assert_allclose(given.beta_, model.beta_, rtol=1e-8, atol=1e-8)


@LEVEL
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train", 3])
def test_one_candidate_without_epochs_works(level, fitness):
    X, y = made()
    one = {**SMALL, "population_size": 1, "max_epochs": 0, "cost_level": level}
    model = ECSELMRegressor(**one, fitness=fitness).fit(X, y)
    assert model.n_evaluations_ == len(model.history_) == 1


@LEVEL
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train", 3])
@pytest.mark.parametrize("scoring", [None, "r2", "cumulative_score"])
def test_result_is_never_worse_than_the_priors(level, fitness, scoring, rng):
    X, y = made()
    model = ECSELMRegressor(**SMALL, cost_level=level, fitness=fitness, scoring=scoring)
    model.fit(X, y, sample_cost=rng.uniform(0, 2, len(y)))
    history = model.history_
    assert set(model.prior_scores_) == {"ones", "w1", "w2", "cost"}
    assert (np.diff(history["best"]) >= 0).all()
    assert model.best_score_ == max(history["best"].iloc[-1], *model.prior_scores_.values())
    assert model.n_evaluations_ == 5 * 3


@pytest.mark.parametrize("optimizer", ["bsa", "de", "cma", "random", "sobol"])
@LEVEL
def test_no_optimiser_does_worse_than_the_priors(optimizer, level):
    if optimizer == "cma":
        pytest.importorskip("cmaes")
    model = ECSELMRegressor(**SMALL, optimizer=optimizer, cost_level=level).fit(*made())
    assert model.best_score_ >= max(model.prior_scores_.values())


@LEVEL
def test_stated_costs_are_means_over_levels_or_those_of_the_rows(level, rng):
    X, y = made()
    costs, levels = rng.uniform(0.5, 1.0, len(y)), literal_levels(y)
    settings = {**SMALL, "cost_level": level, "cost_bounds": (0.5, 1.0), "normalize": False}
    settings |= {"priors": ("cost",), "population_size": 1, "max_epochs": 0}
    model = ECSELMRegressor(**settings).fit(X, y, sample_cost=costs)
    means = np.array([costs[levels == c].mean() for c in range(5)])
    assert_allclose(model.cost_vector_, costs if level == "sample" else means[levels], rtol=1e-12)


@LEVEL
def test_the_unit_of_stated_costs_does_not_matter(level, rng):
    X, y = made()
    costs = rng.uniform(0.5, 5.0, len(y))
    first = ECSELMRegressor(**SMALL, cost_level=level).fit(X, y, sample_cost=costs)
    other = ECSELMRegressor(**SMALL, cost_level=level).fit(X, y, sample_cost=1024 * costs)
    assert_allclose(other.cost_vector_, first.cost_vector_, rtol=1e-9)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones(61), r"sample_cost must have the shape \(60,\), one cost per row, got \(61,\)"),
        (np.ones((60, 2)), r"sample_cost must have the shape \(60,\)"),
        (np.zeros(60), "sample_cost must not be 0 for every row"),
        (-np.ones(60), "sample_cost must be >= 0"),
        (np.full(60, np.nan), "sample_cost must be finite"),
    ],
    ids=["long", "wide", "nothing", "negative", "nan"],
)
def test_costs_that_are_none_of_the_rows_are_refused(costs, message):
    for priors in (("ones", "cost"), ("ones",)):
        with pytest.raises(ValueError, match=message):
            ECSELMRegressor(**SMALL, priors=priors).fit(*made(), sample_cost=costs)


@pytest.mark.parametrize(
    "known",
    [
        {"fixed_costs": {0: 2.0}, "cost_intervals": {1: (3, 5)}, "cost_order": [(2, 1), (4, 2)]},
        {"cost_order": [(4, 3), (3, 2), (2, 1), (1, 0)]},
        {"cost_order": [(0, 4)], "cost_bounds": (0.5, 2.0)},
    ],
    ids=str,
)
@pytest.mark.parametrize("normalize", [True, False])
def test_what_is_known_of_levels_is_never_contradicted(known, normalize):
    X, y = made()
    for seed in range(3):
        settings = {**QUICK, **known, "random_state": seed, "normalize": normalize}
        costs = ECSELMRegressor(**settings).fit(X, y).class_costs_
        for level, cost in known.get("fixed_costs", {}).items():
            assert costs[level] == cost
        for level, (low, high) in known.get("cost_intervals", {}).items():
            assert low * (1 - 1e-12) <= costs[level] <= high * (1 + 1e-12)
        for dearer, cheaper in known["cost_order"]:
            assert costs[dearer] >= 1.01 * costs[cheaper] * (1 - 1e-12)
        low, high = known.get("cost_bounds", (0, np.inf))
        assert low * (1 - 1e-12) <= costs.min() <= costs.max() <= high * (1 + 1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cost_order": [(0, 1), (1, 0)]}, "cost_order must not run in a circle"),
        ({"fixed_costs": {5: 1.0}}, "fixed_costs must name classes of y"),
        ({"fixed_costs": {0: 1.0, 1: 2.0}, "cost_order": [(0, 1)]}, "must not contradict"),
        ({"cost_bounds": (-1, 1)}, "normalize must be False"),
        ({"gamma": "search"}, "gamma='search' must have a kernel"),
        ({"priors": ("w3",)}, "priors must be among"),
    ],
    ids=str,
)
def test_contradictions_are_refused_before_any_work(settings, message, monkeypatch):
    X, y = made()
    model = ECSELMRegressor(**QUICK).fit(X, y)
    model.set_params(**settings)
    before = dict(vars(model))

    def working(*_):
        raise AssertionError("work was begun")

    monkeypatch.setattr("ecselm.estimators.ecselm_regressor.one_model", working)
    monkeypatch.setattr(CostObjective, "__call__", working)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


@LEVEL
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_C_and_width_are_searched_within_their_bounds(level, kernel):
    X, y = made()
    width = {} if kernel is None else {"gamma": "search", "gamma_bounds": (0.05, 0.5)}
    settings = {**SMALL, "cost_level": level, "kernel": kernel}
    model = ECSELMRegressor(**settings, C="search", C_bounds=(0.5, 64), **width).fit(X, y)
    assert 0.5 <= model.C_ <= 64
    assert model.gamma_ is None if kernel is None else 0.05 <= model.gamma_ <= 0.5
    default = ECSELMRegressor(**settings).fit(X, y)
    searched = ECSELMRegressor(**settings, C="search").fit(X, y)
    for name, score in default.prior_scores_.items():
        assert searched.prior_scores_[name] >= score - 1e-9  # C takes a logarithm and back


@pytest.mark.parametrize(
    "model",
    [
        ECSELMRegressor(15, population_size=10, max_epochs=5),
        ECSELMRegressor(15, population_size=10, max_epochs=5, fitness="loo"),
        ECSELMRegressor(15, population_size=10, max_epochs=5, cost_level="sample"),
        ECSELMRegressor.paper(n_hidden=15, population_size=20, max_epochs=10),
    ],
    ids=["default", "loo", "sample", "paper"],
)
def test_noise_cannot_be_predicted_on_rows_held_out(model, rng):
    for seed in range(4):
        X, y = rng.standard_normal((300, 4)), rng.standard_normal(300)
        fitted = clone(model).set_params(random_state=seed).fit(X[:100], y[:100])
        assert fitted.score(X[100:], y[100:]) < 0.02


@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train"])
@pytest.mark.parametrize("kernel", [None, "rbf"])
@TARGETS
def test_weight_two_equals_a_row_twice(fitness, kernel, m):
    X, y = made(m)
    twice = np.arange(0, len(y), 3)
    weight = np.ones(len(y))
    weight[twice] = 2.0
    every, cost = np.append(np.arange(len(y)), twice), np.linspace(1, 3, len(y))
    model = ECSELMRegressor(**SMALL, fitness=fitness, kernel=kernel, C=1.0)
    weighted = clone(model).fit(X, y, sample_weight=weight, sample_cost=cost)
    repeated = clone(model).fit(X[every], y[every], sample_cost=cost[every])
    assert_allclose(weighted.history_["best"], repeated.history_["best"], rtol=1e-8)
    assert_allclose(weighted.class_costs_, repeated.class_costs_, rtol=1e-8)
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train"])
@LEVEL
@TARGETS
def test_a_weight_of_zero_is_absence(fitness, level, m, rng):
    X, y = made(m)
    weight = np.append(np.ones(len(y)), np.zeros(20))
    outside = 1e3 * rng.standard_normal((20, X.shape[1]))
    far = 1e3 * rng.standard_normal((20, *y.shape[1:]))
    model = ECSELMRegressor(**SMALL, fitness=fitness, cost_level=level)
    beside = clone(model).fit(
        np.vstack([X, outside]), np.concatenate([y, far]), sample_weight=weight
    )
    alone = clone(model).fit(X, y, sample_weight=np.ones(len(y)))
    assert_array_equal(beside.cost_vector_[: len(y)], alone.cost_vector_)
    assert_array_equal(beside.beta_, alone.beta_)
    assert beside.best_score_ == alone.best_score_


def test_costs_by_row_are_routed_through_pipeline_grid_and_cross_validation(rng):
    X, y = made(n=90)
    cost = rng.uniform(0.1, 5, 90)
    folds = KFold(3)

    def by_hand(train, test, **changed):
        scaler = StandardScaler().fit(X[train])
        model = ECSELMRegressor(**SMALL, **changed)
        model.fit(scaler.transform(X[train]), y[train], sample_cost=cost[train])
        return model.score(scaler.transform(X[test]), y[test])

    with sklearn.config_context(enable_metadata_routing=True):
        model = ECSELMRegressor(**SMALL).set_fit_request(sample_cost=True)
        piped = make_pipeline(StandardScaler(), model)
        assert "cost" in piped.fit(X, y, sample_cost=cost)[-1].prior_scores_
        found = cross_validate(piped, X, y, cv=folds, params={"sample_cost": cost})
        assert_allclose(found["test_score"], [by_hand(*split) for split in folds.split(X)])
        grid = {"ecselmregressor__C": [0.01, 10.0]}
        search = GridSearchCV(piped, grid, cv=folds, error_score="raise")
        search.fit(X, y, sample_cost=cost)
        expected = [np.mean([by_hand(*s, C=C) for s in folds.split(X)]) for C in (0.01, 10.0)]
        assert_allclose(search.cv_results_["mean_test_score"], expected)


@pytest.mark.parametrize(
    "model",
    [
        ECSELMRegressor(30),
        ECSELMRegressor(kernel="rbf", gamma="search", priors=("ones",), fitness=2),
        ECSELMRegressor.paper(n_hidden=30),
    ],
    ids=["levels", "kernel", "paper"],
)
def test_threads_change_not_one_bit(model):
    X, y = made(n=150)
    three_chunks, fits = {"population_size": 33, "max_epochs": 1, "random_state": 0}, []
    for n_jobs in (1, 2):
        for limit in (1, 2):
            with threadpool_limits(limit, user_api="blas"):
                fits.append(clone(model).set_params(**three_chunks, n_jobs=n_jobs).fit(X, y))
    for other in fits[1:]:
        assert_array_equal(other.cost_vector_, fits[0].cost_vector_)
        assert_array_equal(other.beta_, fits[0].beta_)


@LEVEL
def test_warm_start_is_never_worse_than_before(level):
    X, y = made()
    model = ECSELMRegressor(**SMALL, cost_level=level, warm_start=True)
    scores = [model.fit(X, y).best_score_ for _ in range(4)]
    assert (np.diff(scores) >= -1e-9).all()  # costs take a logarithm and back
    assert "previous" in model.prior_scores_
    model.set_params(n_levels=4)
    if level == "class":
        with pytest.raises(ValueError, match="warm_start must go on with 4 costs, got a model"):
            model.fit(X, y)
    else:
        with pytest.raises(ValueError, match="warm_start must go on with 50 costs, got a model"):
            model.fit(X[:50], y[:50])


def test_patience_time_and_callbacks_stop():
    X, y = made()
    long = {**SMALL, "max_epochs": 500}
    assert len(ECSELMRegressor(**long, cost_bounds=(1, 1), patience=3).fit(X, y).history_) == 4
    assert len(ECSELMRegressor(**long, max_time=1e-9).fit(X, y).history_) == 1
    stopping = ECSELMRegressor(**long, callbacks=lambda progress: progress.generation == 2)
    assert len(stopping.fit(X, y).history_) == 3
