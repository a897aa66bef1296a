"""Costs learned for decisions on probabilities, against decisions made row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, log_loss

from ecselm import ECSELMClassifier
from ecselm.estimators._decision import N_FOLDS, DecisionEngine, _folds
from ecselm.fitness import Candidates
from ecselm.metrics import mean_cost

TINY = {"population_size": 6, "max_epochs": 2, "random_state": 0}
COST = np.array([[0.0, 1.0, 6.0], [2.0, 0.0, 2.0], [9.0, 3.0, 0.0]])
K = pytest.mark.parametrize("k", [2, 3])


def made(k=2, n=200):
    return make_classification(
        n,
        4,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        weights=[0.8] if k == 2 else [0.6, 0.3],
        flip_y=0.1,
        class_sep=0.7,
        random_state=k,
    )


def probabilities(rng, n=30, k=3):
    return rng.dirichlet(np.ones(k), n)


def candidates(rng, n=5, k=3):
    return Candidates(rng.uniform(0.2, 4.0, (n, k)), np.ones(n))


# The engine


@K
def test_scores_are_negative_expected_costs_in_units_of_the_mean(rng, k):
    P, tried = probabilities(rng, k=k), candidates(rng, k=k)
    pattern = rng.uniform(0.5, 2.0, (k, k)) * (1 - np.eye(k))
    found = DecisionEngine(P, pattern).scores(tried)
    for one, b in zip(found, tried.costs, strict=True):
        M = np.array([[b[i] * pattern[i, j] for j in range(k)] for i in range(k)])
        for z, p in zip(one, P, strict=True):
            expected = [-sum(p[i] * M[i, j] for i in range(k)) / M.mean() for j in range(k)]
            assert_allclose(z, expected, rtol=1e-12)


def test_equal_costs_predict_the_largest_probability(rng):
    P = probabilities(rng)
    engine = DecisionEngine(P, 1.0 - np.eye(3))
    Z = engine.scores(Candidates(np.ones((1, 3)), np.ones(1)))[0]
    assert_array_equal(Z.argmax(axis=1), P.argmax(axis=1))


def test_the_unit_of_costs_does_not_matter(rng):
    engine, tried = DecisionEngine(probabilities(rng), 1.0 - np.eye(3)), candidates(rng)
    larger = Candidates(1e3 * tried.costs, tried.C)
    assert_allclose(engine.scores(larger), engine.scores(tried), rtol=1e-12)


def test_matrices_of_candidates_need_no_pattern(rng):
    matrices = rng.uniform(0.5, 2.0, (4, 3, 3)) * (1 - np.eye(3))
    tried = Candidates(matrices.sum(axis=2), np.ones(4), None, matrices)
    engine = DecisionEngine(probabilities(rng), COST)
    assert_array_equal(engine.matrices(tried), matrices)


def test_some_of_the_rows_have_their_scores(rng):
    engine, tried = DecisionEngine(probabilities(rng), COST), candidates(rng)
    some = rng.random(30) < 0.4
    assert_array_equal(engine.taken(some).scores(tried), engine.scores(tried)[:, some])


def test_pattern_is_what_confusions_cost_beside_the_mean_of_their_class():
    X, y = made(3)
    model = ECSELMClassifier(**TINY, cost=COST, keep_prior=False).fit(X, y)
    pattern = COST / (COST.sum(axis=1, keepdims=True) / 2)
    means = model.cost_matrix_.sum(axis=1, keepdims=True) / 2
    assert_allclose(model.cost_matrix_ / means, pattern, rtol=1e-9)
    assert_allclose(model.class_costs_, means[:, 0], rtol=1e-9)


def test_pattern_is_even_where_stated_costs_are_not_counted():
    X, y = made(3)
    model = ECSELMClassifier(**TINY, cost=COST, keep_prior=False, scoring="gmean").fit(X, y)
    off = ~np.eye(3, dtype=bool)
    by_class = np.repeat(model.class_costs_[:, np.newaxis], 3, axis=1)
    assert_allclose(model.cost_matrix_[off], by_class[off], rtol=1e-9)


# Folds of the prior test


def test_folds_keep_equal_rows_together_and_divide_every_class(rng):
    y = np.repeat([0, 1, 2], [60, 30, 9])
    ids = np.concatenate([np.repeat(np.arange(30), 2), np.arange(30, 69)])
    folds = _folds(y, ids, rng)
    assert set(folds) == set(range(N_FOLDS))
    for one in np.unique(ids):
        assert len(np.unique(folds[ids == one])) == 1
    for c, per_fold in [(0, 20), (1, 10), (2, 3)]:
        assert_array_equal(np.bincount(folds[y == c]), [per_fold] * N_FOLDS)


def test_a_group_of_several_classes_has_one_fold(rng):
    y, ids = np.arange(40) % 2, np.arange(40) // 4
    folds = _folds(y, ids, rng)
    assert all(len(np.unique(folds[ids == one])) == 1 for one in range(10))


# The estimator


@K
@pytest.mark.parametrize("keep", [False, "always"])
def test_predictions_are_the_least_expected_cost(k, keep):
    X, y = made(k)
    model = ECSELMClassifier(**TINY, keep_prior=keep).fit(X, y)
    expected = model.predict_proba(X) @ model.cost_matrix_
    assert_array_equal(model.predict(X), expected.argmin(axis=1))


def test_best_score_is_that_of_left_out_rows_under_the_costs_kept():
    """Without smoothing and shrinkage the fitness is the metric itself."""
    X, y = made(3)
    seen = []

    def recall(model, X, y):
        seen.append(balanced_accuracy_score(y, model.predict(X)))
        return seen[-1]

    exact = {"smoothing": 0.0, "shrinkage": 0.0}
    model = ECSELMClassifier(**TINY, **exact, scoring=recall, keep_prior=False).fit(X, y)
    assert model.best_score_ == pytest.approx(max(seen), abs=1e-12)


@K
def test_prior_that_is_kept_without_costs_is_w1(k):
    X, y = made(k)
    model = ECSELMClassifier(**TINY, keep_prior="always").fit(X, y)
    assert model.keeps_prior_
    w1 = len(y) / (k * np.bincount(y))
    assert_allclose(model.class_costs_, w1, rtol=1e-9)
    assert_allclose(model.cost_vector_, w1[y], rtol=1e-9)
    assert_allclose(model.cost_matrix_, w1[:, np.newaxis] * (1 - np.eye(k)), rtol=1e-9)
    assert model.n_evaluations_ == 0
    assert np.isnan([model.gain_, model.gain_std_error_]).all()


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_stated_costs_that_are_kept_are_shown_as_stated(unit):
    X, y = made(3)
    model = ECSELMClassifier(**TINY, cost=unit * COST, keep_prior="always").fit(X, y)
    assert_array_equal(model.cost_matrix_, unit * COST)
    assert_allclose(model.class_costs_, unit * COST.sum(axis=1) / 2, rtol=1e-12)


def test_stated_costs_decide_what_they_cost_least():
    X, y = made(3, n=600)
    cost = {0: 1.0, 1: 1.0, 2: 20.0}
    stated = ECSELMClassifier(**TINY, cost=cost).fit(X[:400], y[:400])
    plain = ECSELMClassifier(**TINY, scoring="accuracy").fit(X[:400], y[:400])
    paid = [mean_cost(y[400:], one.predict(X[400:]), cost=cost) for one in (stated, plain)]
    assert paid[0] < 0.9 * paid[1]


def test_learned_costs_are_in_the_unit_of_stated_ones():
    X, y = made(3)
    one, other = (
        ECSELMClassifier(**TINY, cost=unit * COST, keep_prior=False).fit(X, y)
        for unit in (1.0, 100.0)
    )
    assert_allclose(other.cost_matrix_, 100.0 * one.cost_matrix_, rtol=1e-6)
    assert_allclose(one.class_costs_.mean(), (COST.sum(axis=1) / 2).mean(), rtol=1e-9)


@pytest.mark.parametrize("keep", [False, True, "always"])
def test_order_is_obeyed(keep):
    X, y = made(3)
    model = ECSELMClassifier(**TINY, cost_order=[(0, 1), (1, 2)], keep_prior=keep).fit(X, y)
    costs = model.class_costs_
    assert (costs[:-1] >= 1.01 * costs[1:] * (1 - 1e-9)).all()


def test_fixed_costs_and_intervals_are_obeyed():
    X, y = made(3)
    known = {"fixed_costs": {0: 2.0}, "cost_intervals": {1: (3.0, 4.0)}}
    model = ECSELMClassifier(**TINY, **known, keep_prior=False).fit(X, y)
    assert model.class_costs_[0] == pytest.approx(2.0, rel=1e-9)
    assert 3.0 - 1e-9 <= model.class_costs_[1] <= 4.0 + 1e-9


def test_intervals_of_confusions_are_obeyed():
    X, y = made(3)
    known = {"fixed_costs": {(0, 1): 1.0}, "cost_intervals": {(2, 0): (5.0, 6.0)}}
    model = ECSELMClassifier(**TINY, cost_level="matrix", **known, keep_prior=False).fit(X, y)
    assert model.cost_matrix_[0, 1] == pytest.approx(1.0, rel=1e-9)
    assert 5.0 - 1e-9 <= model.cost_matrix_[2, 0] <= 6.0 + 1e-9


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc"])
def test_a_metric_of_probabilities_searches_no_costs(scoring):
    X, y = made()
    model = ECSELMClassifier(**TINY, scoring=scoring).fit(X, y)
    assert model.keeps_prior_
    assert model.n_evaluations_ == 0
    if scoring == "neg_log_loss":  # of rows left out, which are harder than those learned
        assert model.best_score_ < -log_loss(y, model.predict_proba(X))


def test_random_labels_seldom_change_the_costs(rng):
    kept = []
    for seed in range(5):
        X, y = rng.standard_normal((120, 3)), rng.permutation(np.repeat([0, 1], [80, 40]))
        model = ECSELMClassifier(population_size=6, max_epochs=2, random_state=seed)
        kept.append(model.set_params(scoring="accuracy").fit(X, y).keeps_prior_)
    assert sum(kept) >= 4


def test_without_keep_prior_the_prior_is_never_kept():
    X, y = made()
    model = ECSELMClassifier(**TINY, keep_prior=False).fit(X, y)
    assert model.keeps_prior_ is False
    assert model.n_evaluations_ > 0


def test_prior_test_is_the_gain_of_costs_on_rows_they_were_not_searched_on():
    X, y = made(n=400)
    model = ECSELMClassifier(**TINY).fit(X, y)
    assert np.isfinite([model.gain_, model.gain_std_error_]).all()
    assert model.gain_std_error_ > 0
    if model.keeps_prior_:
        assert model.best_score_ == model.prior_scores_["prior"]
    else:
        assert model.gain_ > model.gain_std_error_


def test_costs_change_no_probabilities():
    X, y = made(3)
    one, other = (
        ECSELMClassifier(**{**TINY, "max_epochs": epochs}, keep_prior=False).fit(X, y)
        for epochs in (0, 4)
    )
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_resumed_search_ends_with_the_same_costs(tmp_path):
    X, y = made(3)
    path = tmp_path / "search.npz"
    whole = ECSELMClassifier(**{**TINY, "max_epochs": 3}).fit(X, y)
    ECSELMClassifier(**{**TINY, "max_epochs": 1}, checkpoint=path).fit(X, y)
    resumed = ECSELMClassifier(**{**TINY, "max_epochs": 3}, checkpoint=path).fit(X, y)
    assert_array_equal(resumed.cost_matrix_, whole.cost_matrix_)
    assert_array_equal(resumed.beta_, whole.beta_)
    assert resumed.history_.equals(whole.history_)
    assert resumed.gain_ == whole.gain_


def test_dear_rows_draw_decisions_to_their_side(rng):
    """Costs by row: only on one side are rows of class 1 expensive to miss."""
    X = rng.standard_normal((500, 2))
    y = (rng.random(500) < 0.3).astype(int)
    costs = np.where((y == 1) & (X[:, 0] > 0), 20.0, 1.0)
    model = ECSELMClassifier(**TINY, keep_prior="always").fit(X, y, sample_cost=costs)
    found = model.predict(X)
    assert found[X[:, 0] > 0.5].mean() > 0.8
    assert found[X[:, 0] < -0.5].mean() < 0.2
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)
