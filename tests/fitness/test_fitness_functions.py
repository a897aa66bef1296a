"""Fitness against its definition, row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, mean_squared_error

from ecselm.fitness import ConfusionFitness, ErrorFitness, RowCostFitness, TieBreakingFitness
from ecselm.fitness.confusion import smoothed_confusion, smoothed_decisions
from ecselm.fitness.objective import TIE_BREAK
from ecselm.metrics.confusion import accuracy, balanced_accuracy
from tests.fitness.test_confusion import KS, WEIGHTED, N, P, scored

pytestmark = pytest.mark.usefixtures("either_path")

SMOOTHING = pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])


def decided(Z):
    return (Z[:, 0] > 0).astype(int) if Z.shape[1] == 1 else Z.argmax(axis=1)


@KS
@WEIGHTED
@SMOOTHING
def test_counts_are_judged_in_part_counted_and_in_part_smoothed(rng, k, weighted, smoothing):
    Z, y, weight = scored(rng, k, weighted)
    fitness = ConfusionFitness(y, k, weight, balanced_accuracy, smoothing)(Z)
    counted = [balanced_accuracy_score(y, decided(z), sample_weight=weight) for z in Z]
    smoothed = balanced_accuracy(smoothed_confusion(Z, y, k, weight))
    expected = (1.0 - smoothing) * np.array(counted) + smoothing * smoothed
    assert_allclose(fitness, expected, rtol=1e-12)


@KS
@WEIGHTED
@SMOOTHING
def test_costs_by_row_are_those_of_every_decision(rng, k, weighted, smoothing):
    Z, y, weight = scored(rng, k, weighted)
    costs = rng.uniform(0.0, 9.0, (N, k))
    fitness = RowCostFitness(y, costs, weight, smoothing)(Z)
    shares = smoothed_decisions(Z, y, weight)
    w = np.ones(N) if weight is None else weight
    for p in range(P):
        total = 0.0
        for i, j in enumerate(decided(Z[p])):
            spread = sum(shares[p, i, c] * costs[i, c] for c in range(k))
            total += w[i] * ((1.0 - smoothing) * costs[i, j] + smoothing * spread)
        assert fitness[p] == pytest.approx(-total / w.sum(), rel=1e-12)


@KS
@SMOOTHING
def test_costs_of_one_for_every_mistake_are_the_error(rng, k, smoothing):
    Z, y, weight = scored(rng, k, True)
    costs = (y[:, np.newaxis] != np.arange(k)).astype(float)
    by_row = RowCostFitness(y, costs, weight, smoothing)(Z)
    assert_allclose(
        by_row, ConfusionFitness(y, k, weight, accuracy, smoothing)(Z) - 1.0, atol=1e-12
    )


@WEIGHTED
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize(
    ("size", "error"), [(np.abs, mean_absolute_error), (np.square, mean_squared_error)]
)
def test_errors_are_those_of_scikit_learn(rng, weighted, m, size, error):
    T, Z = rng.standard_normal((N, m)), rng.standard_normal((P, N, m))
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    expected = [-error(T, z, sample_weight=weight) for z in Z]
    assert_allclose(ErrorFitness(T, weight, size)(Z), expected, rtol=1e-12)


@KS
@SMOOTHING
@pytest.mark.parametrize("kind", ["counts", "rows"])
def test_a_weight_of_two_is_a_row_twice(rng, k, smoothing, kind):
    Z, y, _ = scored(rng, k, False)
    twice = np.append(np.arange(N), [0, 3, 7])
    costs, weight = rng.uniform(0.0, 9.0, (N, k)), np.bincount(twice).astype(float)
    if kind == "counts":
        heavy = ConfusionFitness(y, k, weight, accuracy, smoothing)
        repeated = ConfusionFitness(y[twice], k, None, accuracy, smoothing)
    else:
        heavy = RowCostFitness(y, costs, weight, smoothing)
        repeated = RowCostFitness(y[twice], costs[twice], None, smoothing)
    assert_allclose(repeated(Z[:, twice]), heavy(Z), rtol=1e-11)


@WEIGHTED
def test_ties_are_broken_by_the_squared_error_in_units_of_the_targets(rng, weighted):
    T, Z = 5.0 + 2.0 * rng.standard_normal((N, 1)), rng.standard_normal((P, N, 1))
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    flat = TieBreakingFitness(lambda Z: np.full(len(Z), 0.75), T, weight)
    errors = np.array([mean_squared_error(T, z, sample_weight=weight) for z in Z])
    assert_allclose(flat(Z), 0.75 - TIE_BREAK * errors / T.var(), rtol=1e-12)


def test_targets_without_spread_and_without_error_change_nothing():
    flat = TieBreakingFitness(lambda Z: np.full(len(Z), 0.75), np.ones((4, 1)), None)
    assert flat(np.ones((1, 4, 1)))[0] == 0.75
