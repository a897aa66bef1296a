"""Which rows judge a candidate: what each ``fitness`` means, against machines trained literally."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.fitness.folds import N_FOLDS, fitness_splits, training_rows, validation_rows
from tests.conftest import targets
from tests.estimators.literal import Splitter, out_of_fold, printed_alpha, printed_beta
from tests.estimators.plain import one_machine

SETTINGS = {"n_hidden": 10, "population_size": 4, "max_epochs": 1, "random_state": 0, "C": 2.0}
EXACT = {**SETTINGS, "smoothing": 0.0}
MACHINES = [{}, {"n_hidden": 70}, {"kernel": "rbf", "gamma": 0.2}]
MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])
CLASSES = pytest.mark.parametrize("k", [2, 3])
KINDS = ["train", "holdout", "cv", 3, "loo"]


def made(k, n=50):
    return make_classification(
        n,
        5,
        n_informative=5,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=k,
    )


def splits_of(fitness, X, y, seed=0):
    return fitness_splits(fitness, X, y, y, 0.25, np.random.default_rng(seed))


EVERY_ROW = Splitter(lambda X, y: [(np.arange(len(y)), np.arange(len(y)))])


def test_train_judges_by_the_training_rows():
    (split,) = splits_of("train", *made(3))
    assert_array_equal(split.train, np.arange(50))
    assert_array_equal(split.test, np.arange(50))


def test_loo_has_no_splits():
    assert splits_of("loo", *made(3)) is None
    assert_array_equal(validation_rows(None, 4), np.arange(4))
    assert_array_equal(training_rows(None, 4), np.arange(4))


@pytest.mark.parametrize(("fitness", "n_folds"), [("cv", N_FOLDS), (3, 3), (np.int64(4), 4)])
def test_folds_judge_every_row_once_by_machines_trained_without_it(fitness, n_folds):
    X, y = made(3)
    splits = splits_of(fitness, X, y)
    assert len(splits) == n_folds
    assert_array_equal(np.sort(validation_rows(splits, 50)), np.arange(50))
    assert_array_equal(training_rows(splits, 50), np.arange(50))
    for split in splits:
        assert_array_equal(np.sort(np.append(split.train, split.test)), np.arange(50))
        by_class = np.bincount(y[split.test], minlength=3)
        assert np.abs(by_class - np.bincount(y) / n_folds).max() <= 1


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.6])
def test_holdout_sets_a_share_of_every_class_aside(fraction):
    X, y = made(3, n=90)
    (split,) = fitness_splits("holdout", X, y, y, fraction, np.random.default_rng(0))
    assert not set(split.train) & set(split.test)
    assert_array_equal(np.sort(np.append(split.train, split.test)), np.arange(90))
    assert_array_equal(np.bincount(y[split.test]), np.round(fraction * np.bincount(y)))


@pytest.mark.parametrize("fitness", ["cv", "holdout", 2])
def test_equal_rows_never_stand_on_both_sides(fitness):
    X, y = made(2)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    for split in splits_of(fitness, X, y):
        assert not set(split.train % 50) & set(split.test % 50)


def test_a_splitter_is_shown_what_the_person_gave():
    X, y = made(3)
    words = np.array(["ill", "so so", "well"])[y]
    seen = []

    def make(X, y):
        seen.append((X, y))
        return [([0, 1, 2], [3, 4])]

    (split,) = fitness_splits(Splitter(make), X, y, words, 0.25, np.random.default_rng(0))
    assert seen[0][0] is X
    assert seen[0][1] is words
    assert_array_equal(split.train, [0, 1, 2])
    assert_array_equal(validation_rows([split, split], 50), [3, 4, 3, 4])
    assert_array_equal(training_rows([split, split], 50), [0, 1, 2])


@pytest.mark.parametrize("pairs", [[], [([], [1])], [([0, 1], [2]), ([1], [])]], ids=str)
def test_splits_without_rows_on_both_sides_are_refused(pairs):
    with pytest.raises(ValueError, match="fitness must make splits with rows on both sides"):
        splits_of(Splitter(lambda X, y: pairs), *made(2))


@pytest.mark.parametrize("fitness", ["oof", "hold-out", 1, 0.5, None])
def test_other_values_are_refused(fitness):
    with pytest.raises(ValueError, match="The 'fitness' parameter"):
        one_machine(fitness=fitness).fit(*made(2))


def test_a_splitter_that_needs_groups_says_so():
    with pytest.raises(ValueError, match="groups"):
        one_machine(fitness=GroupKFold(3)).fit(*made(2))


def same_search(first, other):
    assert_allclose(other.history_["best"], first.history_["best"], rtol=1e-9)
    assert_allclose(other.history_["mean"], first.history_["mean"], rtol=1e-9)
    assert_allclose(other.cost_vector_, first.cost_vector_, rtol=1e-9)


def literal_score(model, X, y, splits):
    """Return the accuracy of machines trained without the rows they predict."""
    F, solve = model.layer_(X), printed_beta if model.kernel is None else printed_alpha
    Z, places = out_of_fold(F, targets(y), model.cost_vector_, model.C_, splits, solve)
    return accuracy_score(y[places], Z.argmax(axis=1))


@MACHINE
@CLASSES
@pytest.mark.parametrize("level", ["class", "matrix", "sample"])
@pytest.mark.parametrize(
    "fitness",
    [
        StratifiedKFold(4, shuffle=True, random_state=1),
        ShuffleSplit(5, test_size=0.2, random_state=0),
        EVERY_ROW,
    ],
    ids=lambda splitter: type(splitter).__name__,
)
def test_fitness_is_that_of_machines_trained_literally(machine, k, level, fitness):
    X, y = made(k)
    model = one_machine(**{**EXACT, **machine}, cost_level=level, fitness=fitness).fit(X, y)
    assert_allclose(model.best_score_, literal_score(model, X, y, fitness.split(X, y)), rtol=1e-12)


@MACHINE
@CLASSES
@pytest.mark.parametrize("level", ["class", "matrix", "sample"])
@pytest.mark.parametrize("weighted", [False, True])
def test_loo_equals_refits_without_each_row(machine, k, level, weighted):
    X, y = made(k, n=25)
    # Whole weights would stand for rows of which one is left out, not for the row.
    weight = np.random.default_rng(0).uniform(0.2, 1.0, 25) if weighted else None
    settings = {**SETTINGS, **machine, "cost_level": level}
    closed = one_machine(**settings, fitness="loo").fit(X, y, sample_weight=weight)
    refitted = one_machine(**settings, fitness=LeaveOneOut()).fit(X, y, sample_weight=weight)
    same_search(closed, refitted)
    if not weighted:
        exact = one_machine(**{**EXACT, **machine}, cost_level=level, fitness="loo").fit(X, y)
        literal = literal_score(exact, X, y, LeaveOneOut().split(X))
        assert_allclose(exact.best_score_, literal, rtol=1e-12)


@MACHINE
@pytest.mark.parametrize("level", ["class", "sample"])
def test_loo_equals_refits_for_negative_costs(machine, level):
    X, y = made(2, n=30)
    settings = {**SETTINGS, **machine, "cost_level": level, "scoring": "neg_log_loss"}
    closed = ECSELMClassifier.paper(**settings, fitness="loo").fit(X, y)
    refitted = ECSELMClassifier.paper(**settings, fitness=LeaveOneOut()).fit(X, y)
    assert_allclose(closed.history_["best"], refitted.history_["best"], rtol=1e-6)


def test_loo_leaves_one_of_several_equal_rows_out():
    X, y = made(3, n=30)
    twice = np.append(np.arange(30), np.arange(0, 30, 2))
    weight = np.bincount(twice).astype(float)
    closed = one_machine(**SETTINGS, fitness="loo").fit(X, y, sample_weight=weight)
    refitted = one_machine(**SETTINGS, fitness=LeaveOneOut()).fit(X[twice], y[twice])
    assert_allclose(closed.history_["best"], refitted.history_["best"], rtol=1e-9)


@CLASSES
def test_names_and_splitters_of_the_same_rows_are_the_same(k):
    X, y = made(k)
    train = one_machine(**SETTINGS, fitness="train").fit(X, y)
    same_search(train, one_machine(**SETTINGS, fitness=EVERY_ROW).fit(X, y))
    five = one_machine(**SETTINGS, fitness=5).fit(X, y)
    same_search(five, one_machine(**SETTINGS).fit(X, y))
    with pytest.raises(AssertionError):
        same_search(five, train)


@pytest.mark.parametrize("fitness", ["cv", "holdout", 3])
def test_folds_come_from_the_first_of_two_streams_after_the_layer(fitness):
    X, y = made(3)
    rng = np.random.default_rng(0)
    model = one_machine(**SETTINGS, draw="normal", fitness=fitness).fit(X, y)
    rng.standard_normal((5, 10)), rng.standard_normal(10)  # the layer
    splits = fitness_splits(fitness, X, y, y, 0.25, rng.spawn(2)[0])
    dealt = Splitter(lambda X, y: [(split.train, split.test) for split in splits])
    same_search(model, one_machine(**SETTINGS, draw="normal", fitness=dealt).fit(X, y))


@CLASSES
@pytest.mark.parametrize("machine", MACHINES, ids=["primal", "dual", "kernel"])
def test_rows_held_out_get_the_mean_cost_of_their_class(k, machine):
    X, y = made(k)
    held_out = np.arange(50) % 4 == 0
    fitness = PredefinedSplit(np.where(held_out, 0, -1))
    settings = {**SETTINGS, **machine, "cost_level": "sample", "priors": (), "fitness": fitness}
    model = one_machine(**settings).fit(X, y)
    for c in range(k):
        trained = model.cost_vector_[(y == c) & ~held_out]
        assert len(np.unique(trained)) > 1
        assert_allclose(model.cost_vector_[(y == c) & held_out], trained.mean(), rtol=1e-12)
    F, solve = model.layer_(X), printed_beta if model.kernel is None else printed_alpha
    beta = solve(F, targets(y), model.cost_vector_, model.C_)
    assert_allclose(model.beta_, beta, rtol=1e-7, atol=1e-9)


def test_holdout_leaves_a_quarter_of_the_rows_with_the_mean_cost_of_their_class():
    X, y = made(2, n=80)
    settings = {**SETTINGS, "cost_level": "sample", "priors": ()}
    model = one_machine(**settings, fitness="holdout").fit(X, y)
    n_mean = sum(
        np.isclose(model.cost_vector_[y == c], model.class_costs_[c]).sum() for c in (0, 1)
    )
    assert n_mean == 20


@pytest.mark.parametrize("fitness", ["train", "cv", "loo"])
def test_rows_that_were_trained_on_keep_their_own_costs(fitness):
    X, y = made(2)
    model = one_machine(**SETTINGS, cost_level="sample", priors=(), fitness=fitness).fit(X, y)
    assert len(np.unique(model.cost_vector_)) > 40


@MACHINE
@pytest.mark.parametrize("level", ["class", "sample"])
@pytest.mark.parametrize("m", [1, 2])
def test_regressors_are_judged_by_rows_they_were_not_trained_on(machine, level, m):
    X, y = make_friedman1(30, random_state=0)
    X = X[:, :5] - X[:, :5].mean(axis=0)
    T = np.column_stack([y, X[:, 0] ** 2])[:, :m]
    y = T[:, 0] if m == 1 else T
    folds = KFold(4, shuffle=True, random_state=0)
    settings = {**SETTINGS, **machine, "cost_level": level}
    model = ECSELMRegressor(**settings, fitness=folds).fit(X, y)
    F, solve = model.layer_(X), printed_beta if model.kernel is None else printed_alpha
    Z, places = out_of_fold(F, T, model.cost_vector_, model.C_, folds.split(X), solve)
    assert_allclose(model.best_score_, -mean_absolute_error(T[places], Z), rtol=1e-8)
    closed = ECSELMRegressor(**settings, fitness="loo").fit(X, y)
    refitted = ECSELMRegressor(**settings, fitness=LeaveOneOut()).fit(X, y)
    same_search(closed, refitted)


@pytest.mark.parametrize("fitness", KINDS)
@pytest.mark.parametrize("level", ["class", "sample"])
def test_a_weight_of_zero_is_absence(fitness, level):
    X, y = made(3)
    weight = np.where(np.arange(50) % 5 == 0, 0.0, 1.0)
    kept = weight > 0
    settings = {**SETTINGS, "cost_level": level, "fitness": fitness}
    weighted = one_machine(**settings).fit(X, y, sample_weight=weight)
    alone = one_machine(**settings).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_array_equal(weighted.cost_vector_[kept], alone.cost_vector_)
    assert_array_equal(weighted.beta_, alone.beta_)
    assert weighted.best_score_ == alone.best_score_
