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
from ecselm.estimators._cost_search import SearchProgress
from ecselm.fitness import CostObjective
from tests.conftest import targets
from tests.estimators.literal import (
    Splitter,
    drawn_layer,
    literal_search,
    printed_alpha,
    printed_beta,
    scaled_inputs,
)
from tests.estimators.plain import one_machine

SMALL = {"n_hidden": 12, "population_size": 5, "max_epochs": 2, "random_state": 0}
QUICK = {**SMALL, "fitness": "train"}
LEVELS = [
    {"cost_level": "class"},
    {"cost_level": "matrix"},
    {"cost_level": "sample"},
    {"cost_level": "matrix", "decision": "min_cost"},
]
LEVEL = pytest.mark.parametrize("level", LEVELS, ids=["class", "matrix", "sample", "min_cost"])
MACHINES = [{"n_hidden": 12}, {"n_hidden": 90}, {"kernel": "rbf", "gamma": 0.2}]
MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])


def made(k, n=60, seed=0):
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
        **machine, **level, C=2.0, population_size=7, max_epochs=12, random_state=3
    ).fit(X, y)
    B, search = literal_costs(model, X, y)
    history = model.history_
    assert_allclose(model.cost_vector_, B, rtol=1e-12)
    assert_allclose(history["best"], 1 - search.best, rtol=1e-12)
    assert_allclose(history["mean"], 1 - search.mean, rtol=1e-12)
    assert_allclose(history["std"], search.std, rtol=1e-9, atol=1e-12)
    assert history["mean"].nunique() > 5, "a search that never moves shows nothing"
    assert_allclose(model.best_score_, 1 - search.best[-1], rtol=1e-12)
    assert (model.C_, model.n_evaluations_, model.prior_scores_) == (2.0, 7 * 13, {})


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
        "scoring": "accuracy",
        "ensemble": None,
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


def features_and_solver(model, X):
    return model.layer_(X), printed_beta if model.kernel is None else printed_alpha


@LEVEL
@MACHINE
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    ("weighted", "stated"), [(False, False), (True, True)], ids=["plain", "weights and unit"]
)
def test_equation_15_holds_for_the_attributes(level, machine, k, weighted, stated, rng):
    X, y = made(k)
    known = {"fixed_costs": {0: 7.0}, "cost_intervals": {1: (3.0, 30.0)}} if stated else {}
    weight = rng.uniform(0.3, 3.0, len(y)) if weighted else None
    model = one_machine(**{**QUICK, **machine, **level, **known}, C=2.0)
    model.fit(X, y, sample_weight=weight)
    w, B = np.ones(len(y)) if weight is None else weight, model.cost_vector_
    F, solve = features_and_solver(model, X)
    assert_allclose(model.beta_, solve(F, targets(y), w * B, model.C_), rtol=1e-7, atol=1e-9)
    decides = model.decision == "min_cost"
    if decides:
        assert_array_equal(B, np.ones(len(y)))
    elif not stated:
        assert_allclose(np.average(B, weights=w), 1.0, rtol=1e-12)
    if decides or not stated:
        assert model.C_ == 2.0
    else:  # the unit is kept, and C makes up for it
        assert_allclose(model.C_ * np.average(B, weights=w), 2.0, rtol=1e-12)


@LEVEL
@pytest.mark.parametrize("k", [2, 4])
def test_costs_by_row_class_and_confusion_are_one_thing(level, k):
    X, y = made(k)
    model = one_machine(**SMALL, **level).fit(X, y)
    assert model.cost_vector_.shape == (len(y),)
    assert (model.class_costs_.shape, model.cost_matrix_.shape) == ((k,), (k, k))
    assert_array_equal(np.diag(model.cost_matrix_), np.zeros(k))
    assert_allclose(model.cost_matrix_.sum(axis=1) / (k - 1), model.class_costs_, rtol=1e-12)
    if model.decision == "argmax":
        by_class = [model.cost_vector_[y == c].mean() for c in range(k)]
        assert_allclose(model.class_costs_, by_class, rtol=1e-12)
    if model.cost_level in {"class", "matrix"} and model.decision == "argmax":
        assert_allclose(model.cost_vector_, model.class_costs_[y], rtol=1e-12)


def test_rows_of_no_weight_have_the_mean_cost_of_their_class(rng):
    X, y = made(4)
    weight = np.where(rng.random(len(y)) < 0.3, 0.0, 1.0)
    model = one_machine(**SMALL, cost_level="sample").fit(X, y, sample_weight=weight)
    for c in range(4):
        learned = model.cost_vector_[(y == c) & (weight > 0)].mean()
        assert_allclose(model.cost_vector_[(y == c) & (weight == 0)], learned, rtol=1e-12)


@LEVEL
@pytest.mark.parametrize("k", [2, 4])
def test_equal_costs_are_plain_elm(level, k):
    X, y = made(k)
    model = one_machine(**SMALL, **level, cost_bounds=(1, 1)).fit(X, y)
    plain = ELMClassifier(12, random_state=0).fit(X, y)
    assert_array_equal(model.cost_vector_, np.ones(len(y)))
    assert_allclose(model.beta_, plain.beta_, rtol=1e-8, atol=1e-8)
    kernel = one_machine(**SMALL, **level, cost_bounds=(1, 1), kernel="rbf").fit(X, y)
    assert_allclose(kernel.beta_, KELMClassifier().fit(X, y).beta_, rtol=1e-8, atol=1e-8)


@LEVEL
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train", 3])
@pytest.mark.parametrize("k", [2, 10])
def test_one_candidate_without_epochs_works(level, fitness, k):
    X, y = made(k, n=100)
    one = {**SMALL, "population_size": 1, "max_epochs": 0}
    model = one_machine(**one, **level, fitness=fitness).fit(X, y)
    assert model.n_evaluations_ == len(model.history_) == 1
    assert set(model.predict(X)) <= set(y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@LEVEL
@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train", 10])
@pytest.mark.parametrize("scoring", [None, "gmean"])
def test_a_class_of_one_row_is_no_obstacle(level, fitness, scoring):
    X, y = made(2)
    y[0], y[1:3] = 2, 3  # and one of two rows, missing from most folds
    model = one_machine(**SMALL, **level, fitness=fitness, scoring=scoring).fit(X, y)
    assert np.isfinite(model.beta_).all()
    assert (model.class_costs_ > 0).all()


def test_a_class_that_no_candidate_was_trained_on_has_the_mean_cost():
    X, y = made(4)
    without = Splitter(lambda X, y: [(np.flatnonzero(y < 3), np.flatnonzero(y >= 2))])
    model = one_machine(**SMALL, cost_level="sample", fitness=without).fit(X, y)
    assert_allclose(model.cost_vector_[y == 3], model.cost_vector_[y < 3].mean(), rtol=1e-12)


def test_costs_that_cancel_leave_C_alone():
    X, y = made(2)
    model = ECSELMClassifier.paper(cost_level="class", optimizer=Fixed([-1, 1]), max_epochs=0)
    model.set_params(n_hidden=12, population_size=1).fit(X, y)
    assert_array_equal(model.class_costs_, [-1, 1])
    assert model.C_ == 32.0


@pytest.mark.parametrize("level", ["class", "matrix", "sample"])
def test_the_unit_of_stated_costs_does_not_matter(level):
    X, y = made(4)
    cost = np.arange(1.0, 17).reshape(4, 4) * (1 - np.eye(4))
    first = one_machine(**SMALL, cost_level=level, cost=cost).fit(X, y)
    other = one_machine(**SMALL, cost_level=level, cost=1024 * cost).fit(X, y)
    assert_allclose(other.cost_vector_, first.cost_vector_, rtol=1e-9)
    assert_allclose(other.beta_, first.beta_, rtol=1e-7, atol=1e-9)


KNOWN = {
    2: [
        {"fixed_costs": {0: 2.0}, "cost_order": [(1, 0)]},
        {"fixed_costs": {(1, 0): 5.0}, "cost_intervals": {(0, 1): (1.0, 3.0)}},
        {"cost_intervals": {0: (0.5, 0.6)}, "cost_bounds": (0.1, 0.9)},
        {"cost_order": [(1, 0)]},
    ],
    4: [
        {"fixed_costs": {0: 2.0}, "cost_intervals": {1: (3, 5)}, "cost_order": [(2, 1), (3, 2)]},
        {"cost_order": [(3, 2), (2, 1), (1, 0)], "cost_bounds": (0.5, 8)},
        {"cost_order": [(1, 0), (1, 3)]},
    ],
}
CONFUSIONS = [
    {"fixed_costs": {(0, 1): 2.0}, "cost_order": [((1, 0), (0, 1)), ((3, 0), (1, 0))]},
    {"cost_intervals": {(2, 3): (4, 9), 0: (1, 2)}, "cost_order": [(1, (2, 3)), ((3, 0), 0)]},
]


def confusions(model, key):
    """Return the costs that a class or a pair stands for."""
    k = len(model.classes_)
    if isinstance(key, tuple):
        return [model.cost_matrix_[key]]
    return [model.cost_matrix_[key, j] for j in range(k) if j != key]


def check_nothing_is_contradicted(model):
    for key, cost in (model.fixed_costs or {}).items():
        assert_allclose(confusions(model, key), cost, rtol=1e-14)
    for key, (low, high) in (model.cost_intervals or {}).items():
        assert min(confusions(model, key)) >= low * (1 - 1e-12)
        assert max(confusions(model, key)) <= high * (1 + 1e-12)
    for dearer, cheaper in model.cost_order or []:
        ratio = min(confusions(model, dearer)) / max(confusions(model, cheaper))
        assert ratio >= 1.01 * (1 - 1e-12)
    if model.cost_bounds is not None:
        costs = model.cost_matrix_[~np.eye(len(model.classes_), dtype=bool)]
        assert costs.min() >= model.cost_bounds[0] * (1 - 1e-12)
        assert costs.max() <= model.cost_bounds[1] * (1 + 1e-12)


@pytest.mark.parametrize("level", [LEVELS[0], LEVELS[1], LEVELS[3]], ids=str)
@pytest.mark.parametrize(
    ("k", "known"), [(k, known) for k, cases in KNOWN.items() for known in cases], ids=str
)
@pytest.mark.parametrize("normalize", [True, False])
def test_what_is_known_of_classes_is_never_contradicted(level, k, known, normalize):
    X, y = made(k)
    for seed in range(2):
        settings = {**QUICK, **level, **known, "normalize": normalize, "random_state": seed}
        check_nothing_is_contradicted(one_machine(**settings).fit(X, y))


@pytest.mark.parametrize("level", [LEVELS[1], LEVELS[3]], ids=str)
@pytest.mark.parametrize("known", CONFUSIONS, ids=str)
def test_what_is_known_of_confusions_is_never_contradicted(level, known):
    X, y = made(4)
    for seed in range(3):
        settings = {**QUICK, **level, **known, "random_state": seed}
        check_nothing_is_contradicted(one_machine(**settings).fit(X, y))


def test_what_is_known_of_classes_holds_for_their_rows():
    X, y = made(4)
    known = {"fixed_costs": {0: 0.5}, "cost_intervals": {1: (0.6, 0.7)}}
    model = one_machine(**SMALL, cost_level="sample", cost_bounds=(0.1, 2), **known).fit(X, y)
    assert_array_equal(model.cost_vector_[y == 0], 0.5)
    assert model.cost_vector_[y == 1].min() >= 0.6
    assert model.cost_vector_[y == 1].max() <= 0.7
    assert model.cost_vector_.min() >= 0.1
    assert model.cost_vector_.max() <= 2.0


CONTRADICTIONS = [
    ({"cost_order": [(0, 1), (1, 0)]}, "cost_order must not run in a circle"),
    ({"cost_order": [(0, 0)]}, "cost_order must not put a cost above itself"),
    ({"fixed_costs": {0: 1.0, 1: 2.0}, "cost_order": [(0, 1)]}, "must not contradict each other"),
    ({"fixed_costs": {0: 1.0}, "cost_intervals": {0: (2, 3)}}, "must state each cost once"),
    ({"fixed_costs": {0: 9.0}, "cost_bounds": (0.1, 1)}, "must not contradict each other"),
    ({"fixed_costs": {0: -1.0}}, r"fixed_costs\[0\] must"),
    ({"fixed_costs": {"x": 1.0}}, "fixed_costs must name classes of y"),
    ({"fixed_costs": {(0, 1): 1.0}}, "cost_level='matrix'"),
    ({"fixed_costs": {0: 9.0, 1: 9.0}, "cost": {0: 5, 1: 1}}, "cost must not contradict"),
    ({"cost_bounds": (2, 1)}, "cost_bounds must be a pair"),
    ({"cost_bounds": (-1, 1)}, "normalize must be False"),
    ({"cost_bounds": (0, 1)}, "normalize must be False"),
    ({"cost_bounds": (0, 1), "cost_level": "matrix"}, "cost_bounds must be > 0"),
    ({"cost_order": [(0, 1)], "cost_level": "sample"}, "cost_order must be left out"),
    ({"decision": "min_cost"}, "decision='min_cost' must go with cost_level='matrix'"),
    ({"priors": ("ones", "w3")}, "priors must be among"),
    ({"gamma": "search"}, "gamma='search' must have a kernel"),
    ({"C": "search", "C_bounds": (0, 1)}, "C_bounds must be a pair"),
    ({"kernel": "rbf", "gamma": "search", "gamma_bounds": (2, 1)}, "gamma_bounds must be a pair"),
    ({"cost": {0: -1}}, "cost must not make a mistake cheaper"),
]


@pytest.mark.parametrize(("settings", "message"), CONTRADICTIONS, ids=str)
def test_contradictions_are_refused_before_any_work(settings, message, monkeypatch):
    X, y = made(4)
    model = one_machine(**QUICK).fit(X, y)
    model.set_params(**settings)
    before = dict(vars(model))

    def working(*_):
        raise AssertionError("work was begun")

    monkeypatch.setattr("ecselm.estimators.ecselm.one_model", working)
    monkeypatch.setattr(CostObjective, "__call__", working)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before
    model.predict(X)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("machine", [{"n_hidden": 12}, {"kernel": "rbf"}], ids=str)
def test_least_expected_cost_decides(k, machine):
    X, y = made(k, n=120)
    settings = {**SMALL, **LEVELS[3], **machine, "scoring": "balanced_accuracy"}
    model = one_machine(**settings).fit(X[:60], y[:60])
    expected = model.predict_proba(X) @ model.cost_matrix_
    assert_array_equal(model.predict(X), expected.argmin(axis=1))
    z = model.decision_function(X)
    assert_array_equal(model.predict(X), (z > 0) if k == 2 else z.argmax(axis=1))


def test_a_dear_confusion_is_avoided_more_than_by_the_class_level():
    cost = np.array([[0, 30, 1], [30, 0, 1], [1, 1, 0]])
    dear = {}
    for level in (LEVELS[0], LEVELS[3]):
        counts = np.zeros((3, 3))
        for seed in range(4):
            centers = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
            X, y = make_blobs([400] * 3, centers=centers, random_state=seed)
            model = one_machine(
                15,
                **level,
                cost=cost,
                scoring="mean_cost",
                population_size=15,
                max_epochs=10,
                random_state=seed,
            ).fit(X[:240], y[:240])
            counts += confusion_matrix(y[240:], model.predict(X[240:]))
        dear[level["cost_level"]] = counts[0, 1] + counts[1, 0]
    assert dear["matrix"] < dear["class"]  # by a factor of 3 when this was written


@LEVEL
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_C_and_width_are_searched_within_their_bounds(level, kernel):
    X, y = made(4)
    width = {} if kernel is None else {"gamma": "search", "gamma_bounds": (0.05, 0.5)}
    settings = {**SMALL, **level, "kernel": kernel}
    fixed = one_machine(**settings, gamma=0.2 if kernel else "scale").fit(X, y)
    model = one_machine(**settings, C="search", C_bounds=(0.5, 64), **width).fit(X, y)
    assert 0.5 <= model.C_ <= 64
    if kernel is None:
        assert model.gamma_ is None
    else:
        assert 0.05 <= model.gamma_ <= 0.5
        assert model.layer_.gamma == model.gamma_
    F, solve = features_and_solver(model, X)
    expected = solve(F, targets(y), model.cost_vector_, model.C_)
    assert_allclose(model.beta_, expected, rtol=1e-6, atol=1e-8)
    assert set(model.prior_scores_) == set(fixed.prior_scores_)


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_searching_C_is_never_worse_on_the_fitness_than_its_default(kernel, seed):
    X, y = made(4, seed=seed)
    settings = {**SMALL, "kernel": kernel, "random_state": seed}
    default = one_machine(**settings).fit(X, y)
    searched = one_machine(**settings, C="search").fit(X, y)
    for name, score in default.prior_scores_.items():
        assert searched.prior_scores_[name] >= score - 1e-9  # C takes a logarithm and back
    assert searched.best_score_ >= max(default.prior_scores_.values()) - 1e-9


FORMS = {
    "default": one_machine(15, population_size=10, max_epochs=5),
    "loo": one_machine(15, fitness="loo", population_size=10, max_epochs=5),
    "sample": one_machine(15, cost_level="sample", population_size=10, max_epochs=5),
    "min_cost": one_machine(15, **LEVELS[3], population_size=10, max_epochs=5),
    "paper": ECSELMClassifier.paper(n_hidden=15, population_size=20, max_epochs=10),
}


@pytest.mark.parametrize("form", FORMS)
def test_random_labels_stay_at_chance_on_rows_held_out(form, rng):
    n, n_right = 0, 0
    for seed in range(5):
        X, y = rng.standard_normal((400, 4)), rng.integers(0, 2, 400)
        model = clone(FORMS[form]).set_params(random_state=seed).fit(X[:100], y[:100])
        n, n_right = n + 300, n_right + (model.predict(X[100:]) == y[100:]).sum()
    low, high = binom.interval(1 - 1e-4, n, 0.5)
    assert low <= n_right <= high


def test_no_argument_takes_validation_rows():
    for kind in (ECSELMClassifier, ECSELMRegressor):
        names = {*inspect.signature(kind).parameters, *inspect.signature(kind.fit).parameters}
        suspicious = {n for n in names for word in ("val", "test", "eval") if word in n.lower()}
        # A share, and bounds of costs.
        assert suspicious <= {"validation_fraction", "cost_intervals"}
        assert [n for n in inspect.signature(kind.fit).parameters if n[0] in "Xy"] == ["X", "y"]


@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train"])
@LEVEL
def test_rows_outside_cannot_change_the_fit(level, fitness, rng):
    X, y = made(4)
    outside = 1e3 * rng.standard_normal((40, X.shape[1]))
    weight = np.append(np.ones(len(y)), np.zeros(40))
    alone = one_machine(**SMALL, **level, fitness=fitness).fit(X, y)
    beside = one_machine(**SMALL, **level, fitness=fitness)
    beside.fit(np.vstack([X, outside]), np.append(y, rng.integers(0, 4, 40)), sample_weight=weight)
    assert_array_equal(beside.cost_vector_[: len(y)], alone.cost_vector_)
    assert_array_equal(alone.predict_proba(outside), beside.predict_proba(outside))
    assert alone.best_score_ == beside.best_score_


def test_a_singular_candidate_never_wins():
    X, y = np.eye(8), np.arange(8) % 2  # I/C + diag(B) K is 0 where B = -1/C
    singular, sound = np.full(8, -1.0), np.full(8, 0.5)
    partly = np.where(np.arange(8) == 3, -1.0, 0.5)
    settings = {"kernel": "precomputed", "scale": None, "C": 1.0, "max_epochs": 1}
    model = ECSELMClassifier.paper(
        **settings, population_size=3, optimizer=Fixed(singular, partly, sound)
    ).fit(X, y)
    assert_array_equal(model.cost_vector_, sound)
    assert model.solver_ == "dual-cholesky"
    before = dict(vars(model))
    model.set_params(optimizer=Fixed(singular, partly), population_size=2)
    with pytest.raises(ValueError, match="must meet a candidate with a finite fitness"):
        model.fit(X, y)
    assert vars(model) == {**before, "optimizer": model.optimizer, "population_size": 2}


@MACHINE
@pytest.mark.parametrize("level", ["class", "sample"])
def test_negative_costs_say_that_the_system_is_indefinite(machine, level):
    X, y = made(2)
    point = np.array([-0.5, 1.0]) if level == "class" else np.where(y == 0, -0.5, 1.0)
    model = ECSELMClassifier.paper(
        **machine, cost_level=level, population_size=1, max_epochs=0, optimizer=Fixed(point)
    ).fit(X, y)
    path = "primal" if machine == MACHINES[0] else "dual"
    assert model.solver_ == f"{path}-indefinite"
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("fitness", ["cv", "holdout", "loo", "train"])
@pytest.mark.parametrize("level", [LEVELS[0], LEVELS[1], LEVELS[3]], ids=str)
@pytest.mark.parametrize("machine", [{}, {"kernel": "rbf"}], ids=["layer", "kernel"])
def test_weight_two_equals_a_row_twice(fitness, level, machine):
    X, y = made(4)
    twice = np.arange(0, len(y), 3)
    weight = np.ones(len(y))
    weight[twice] = 2.0
    every, cost = np.append(np.arange(len(y)), twice), np.linspace(1, 3, len(y))
    model = one_machine(**SMALL, **level, **machine, fitness=fitness, scoring="gmean", C=1.0)
    weighted = clone(model).fit(X, y, sample_weight=weight, sample_cost=cost)
    repeated = clone(model).fit(X[every], y[every], sample_cost=cost[every])
    assert_allclose(weighted.history_["best"], repeated.history_["best"], rtol=1e-9)
    assert_allclose(weighted.class_costs_, repeated.class_costs_, rtol=1e-9)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6, atol=1e-7)


def test_costs_by_row_are_routed_through_pipeline_grid_and_cross_validation(rng):
    X, y = made(4, n=120)
    cost = rng.uniform(0, 5, (120, 4)) * (1 - np.eye(4))[y]
    settings = {**SMALL, "scoring": "mean_cost", "smoothing": 0.0}
    folds = StratifiedKFold(3)

    def by_hand(train, test, **changed):
        scaler = StandardScaler().fit(X[train])
        model = one_machine(**settings, **changed)
        model.fit(scaler.transform(X[train]), y[train], sample_cost=cost[train])
        return model.score(scaler.transform(X[test]), y[test]), model

    with sklearn.config_context(enable_metadata_routing=True):
        model = one_machine(**settings).set_fit_request(sample_cost=True)
        piped = make_pipeline(StandardScaler(), model)
        piped.fit(X, y, sample_cost=cost)
        everything = np.arange(120)
        alone = by_hand(everything, everything)[1]
        assert_array_equal(piped[-1].cost_vector_, alone.cost_vector_)
        assert "cost" in piped[-1].prior_scores_
        found = cross_validate(piped, X, y, cv=folds, params={"sample_cost": cost})
        expected = [by_hand(*split)[0] for split in folds.split(X, y)]
        assert_allclose(found["test_score"], expected)
        grid = {"ecselmclassifier__C": [0.01, 10.0]}
        search = GridSearchCV(piped, grid, cv=folds, error_score="raise")
        search.fit(X, y, sample_cost=cost)
        expected = [
            np.mean([by_hand(*split, C=C)[0] for split in folds.split(X, y)]) for C in (0.01, 10.0)
        ]
        assert_allclose(search.cv_results_["mean_test_score"], expected)


@pytest.mark.parametrize(
    "model",
    [
        one_machine(30),
        one_machine(30, fitness="loo"),
        one_machine(kernel="rbf", gamma="search", C="search", priors=("ones",), fitness=2),
        ECSELMClassifier.paper(n_hidden=30),
        one_machine(**LEVELS[3]),
    ],
    ids=["class", "loo", "kernel", "paper", "min_cost"],
)
def test_threads_change_not_one_bit(model):
    X, y = made(4, n=150)
    three_chunks, fits = {"population_size": 33, "max_epochs": 1, "random_state": 0}, []
    for n_jobs in (1, 2):
        for limit in (1, 2):
            with threadpool_limits(limit, user_api="blas"):
                fits.append(clone(model).set_params(**three_chunks, n_jobs=n_jobs).fit(X, y))
    for other in fits[1:]:
        assert_array_equal(other.cost_vector_, fits[0].cost_vector_)
        assert_array_equal(other.beta_, fits[0].beta_)
        assert_array_equal(other.history_["mean"], fits[0].history_["mean"])


@LEVEL
def test_same_seed_gives_the_same_costs_and_another_others(level):
    X, y = made(4)
    first, same = (one_machine(**SMALL, **level).fit(X, y) for _ in range(2))
    assert_array_equal(first.cost_matrix_, same.cost_matrix_)
    other = one_machine(**{**SMALL, **level, "random_state": 1}).fit(X, y)
    assert not np.array_equal(first.cost_matrix_, other.cost_matrix_)
    generator = np.random.default_rng(0)
    given = one_machine(**{**SMALL, **level, "random_state": generator}).fit(X, y)
    assert_array_equal(given.cost_matrix_, first.cost_matrix_)


@LEVEL
@pytest.mark.parametrize("C", [32.0, "search"])
def test_warm_start_is_never_worse_than_before(level, C):
    X, y = made(4)
    model = one_machine(**SMALL, **level, C=C, warm_start=True)
    scores = [model.fit(X, y).best_score_ for _ in range(3)]
    assert (np.diff(scores) >= -1e-9).all()  # costs take a logarithm and back
    assert model.prior_scores_["previous"] >= scores[1] - 1e-9
    with pytest.raises(ValueError, match="warm_start must go on with"):
        model.fit(X[y < 3], y[y < 3])
    assert model.best_score_ == scores[-1]


def test_without_warm_start_the_previous_fit_is_forgotten():
    X, y = made(4)
    model = one_machine(**SMALL).fit(X, y)
    assert "previous" not in model.fit(X[y < 3], y[y < 3]).prior_scores_


def test_patience_stops():
    X, y = made(2)
    settings = {**SMALL, "max_epochs": 500, "cost_bounds": (1, 1), "patience": 4}
    assert len(one_machine(**settings).fit(X, y).history_) == 5


def test_time_stops_after_a_whole_generation():
    X, y = made(2)
    model = one_machine(**{**SMALL, "max_epochs": 10**6}, max_time=1e-9).fit(X, y)
    assert (len(model.history_), model.n_evaluations_) == (1, 5)


def test_callbacks_are_told_of_every_generation_and_any_may_stop():
    X, y = made(2)
    told, also = [], []

    def stop(progress):
        told.append(progress)
        return progress.generation == 2

    model = one_machine(**{**SMALL, "max_epochs": 9}, callbacks=[stop, also.append])
    model.fit(X, y)
    assert told == also
    assert all(isinstance(progress, SearchProgress) for progress in told)
    history = model.history_
    assert [p.generation for p in told] == history["generation"].tolist() == [0, 1, 2]
    assert [p.best_score for p in told] == history["best"].tolist()
    assert [p.mean_score for p in told] == history["mean"].tolist()
    assert [p.n_evaluations for p in told] == [5, 10, 15]
    assert {p.max_epochs for p in told} == {9}
    assert (np.diff([p.seconds for p in told]) >= 0).all()
    everything = one_machine(**SMALL, callbacks=lambda progress: None).fit(X, y)
    assert len(everything.history_) == 3


def test_an_error_in_a_callback_leaves_the_model_as_it_was():
    X, y = made(2)
    model = one_machine(**SMALL).fit(X, y)
    before = dict(vars(model))

    def fails(progress):
        raise RuntimeError("no")

    model.callbacks = fails
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X, y)
    assert vars(model) == {**before, "callbacks": fails}


def test_partial_fit_is_not_offered():
    assert not hasattr(one_machine(), "partial_fit")
    with pytest.raises(AttributeError) as refused:
        one_machine().partial_fit(np.eye(2), [0, 1])
    assert "costs are searched on all rows at once" in str(refused.value.__cause__)
