"""Closed forms against models that were really trained without the row."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone

from ecselm import CSELMClassifier, ELMClassifier, KELMClassifier
from ecselm.costs import CostTerms
from ecselm.estimators._calibration import LogisticCalibration, LooScores, loo_rows
from ecselm.estimators._training import (
    SAMPLE_ROWS,
    CalibrationSample,
    KernelLearner,
    LayerLearner,
    Rows,
)


@pytest.fixture
def small(rng):
    X = rng.standard_normal((40, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(40) > 0).astype(int)


def learnt(model, X, y, weight):
    """Return learner and solution as ``fit`` makes them."""
    seen, keep = [], model._keep
    model._keep = lambda learner, terms: seen.append(learner) or keep(learner, terms)
    model.fit(X, y, sample_weight=weight)
    del model._keep
    (learner,) = seen
    return learner, learner.solve(model._group_costs_, model._penalty)


@pytest.mark.parametrize(
    ("model", "twin"),
    [
        (CSELMClassifier(15, scale=None), ELMClassifier(15, scale=None)),
        (CSELMClassifier(90, scale=None), ELMClassifier(90, scale=None)),
        (CSELMClassifier(kernel="rbf", gamma=0.3), KELMClassifier(gamma=0.3)),
    ],
    ids=["primal", "dual", "kernel"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_scores_are_those_of_a_model_without_the_row(small, model, twin, weighted):
    X, y = small
    model.set_params(decision="min_cost", random_state=0)
    if "random_state" in twin.get_params():
        twin.set_params(random_state=0)
    w = np.where(np.arange(40) % 3 == 0, 2.0, 1.0) if weighted else None
    left_out = loo_rows(*learnt(model, X, y, w))
    for i in (0, 1, 17, 39):
        without = np.ones(40) if w is None else w.copy()
        without[i] -= 1.0
        z = twin.fit(X, y, sample_weight=without).decision_function(X[i : i + 1])
        assert_allclose(left_out.scores[i], z, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "model",
    [
        CSELMClassifier.paper(n_hidden=15, scale=None, random_state=0),
        CSELMClassifier.paper(n_hidden=90, scale=None, random_state=0),
        CSELMClassifier.paper(kernel="rbf", gamma=0.3),
    ],
    ids=["primal", "dual", "kernel"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_scores_of_costs_are_those_of_a_model_without_the_row(small, model, weighted):
    X, y = small
    w = np.where(np.arange(40) % 3 == 0, 2.0, 1.0) if weighted else np.ones(40)
    model = clone(model).set_params(cost={1: 6.0})
    learner, _ = learnt(model, X, y, w)
    coefficients = np.array([0.5, 6.0])
    left_out = loo_rows(learner, learner.solve(coefficients, model._penalty), coefficients)
    assert_array_equal(left_out.weight, w)
    assert_array_equal(left_out.y, y)
    for i in (0, 1, 17, 39):
        without = w.copy()
        without[i] -= 1.0
        other = clone(model).set_params(cost=None)
        other.fit(X, y, sample_weight=without, sample_cost=coefficients[y])
        z = other.decision_function(X[i : i + 1])
        assert_allclose(left_out.scores[i], z, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("k", [2, 4])
def test_logistic_calibration_is_the_optimum_of_its_loss(rng, k):
    y = rng.integers(0, k, 300)
    Z = rng.standard_normal((300, 1 if k == 2 else k))
    Z += (2 * y[:, None] - 1) if k == 2 else 1.5 * np.eye(k)[y]
    w = rng.uniform(0.5, 2, 300)
    found = LogisticCalibration.from_loo(LooScores(Z, y, w), k)
    n = np.bincount(y, weights=w)
    own = np.arange(k) == y[:, None]
    targets = np.where(own, (n[y] + 1)[:, None], 1.0 / (k - 1)) / (n[y] + 2)[:, None]
    columns = np.hstack([-Z, Z]) if k == 2 else Z

    def loss(theta):
        return -(w[:, None] * targets * log_softmax(theta[0] * columns + theta[1:], axis=1)).sum()

    best = minimize(loss, np.zeros(1 + k), options={"gtol": 1e-7}).fun
    assert_allclose(loss(np.append(found.slope, found.offsets)), best, rtol=1e-9)


def test_scores_that_speak_against_their_class_leave_only_the_frequencies(rng):
    y = np.repeat([0, 1], [300, 100])
    left_out = LooScores((1.0 - 2.0 * y)[:, None], y, np.ones(400))
    calibration = LogisticCalibration.from_loo(left_out, 2)
    assert_allclose(calibration(np.array([[5.0]])), [[0.75, 0.25]], atol=0.01)


def test_separated_scores_give_a_finite_slope():
    y = np.repeat([0, 1], 50)
    left_out = LooScores((2.0 * y - 1.0)[:, None], y, np.ones(100))
    probabilities = LogisticCalibration.from_loo(left_out, 2)(left_out.scores)
    assert 0.9 < probabilities[-1, 1] < 1.0


def test_sample_is_the_same_for_any_cut_of_the_rows(rng):
    n = 3 * SAMPLE_ROWS
    rows = Rows(
        np.arange(n, dtype=float)[:, None],
        np.zeros((n, 1)),
        np.zeros(n, dtype=int),
        CostTerms(np.zeros((n, 1), dtype=int), np.ones((n, 1)), 1, "sample"),
        None,
    )
    whole = CalibrationSample.from_rows(rows, rng)
    ends = [0, 1, 100, 5000, 5001, n]
    parts = [rows.taken(np.arange(a, b)) for a, b in pairwise(ends)]
    streamed = CalibrationSample.from_rows(parts[0], rng)
    for part in parts[1:]:
        streamed = streamed.extended(part)
    assert len(whole.rows) == SAMPLE_ROWS
    assert_array_equal(streamed.rows.X, whole.rows.X)
    assert abs(whole.rows.X.mean() / n - 0.5) < 0.02


def test_long_streams_are_calibrated_as_the_batch(rng):
    X = rng.standard_normal((9000, 4))
    y = (X[:, 0] + rng.standard_normal(9000) > 1).astype(int)
    model = CSELMClassifier(30, decision="min_cost", scale=None, random_state=0)
    batch = model.fit(X, y).predict_proba(X)
    streamed = CSELMClassifier(30, decision="min_cost", scale=None, random_state=0)
    for rows in np.array_split(np.arange(9000), 7):
        streamed.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert_allclose(streamed.predict_proba(X), batch, rtol=1e-6)


def test_learners_satisfy_what_calibration_expects(small):
    X, y = small
    kinds = [
        (CSELMClassifier(15, decision="min_cost"), LayerLearner),
        (CSELMClassifier(kernel="rbf", decision="min_cost"), KernelLearner),
    ]
    for model, kind in kinds:
        learner, solution = learnt(model, X, y, None)
        assert isinstance(learner, kind)
        assert solution.is_dual == (kind is KernelLearner)
