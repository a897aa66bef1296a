"""The belief is the density times the likelihood of the answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.costs import CostConstraints
from ecselm.elicitation.belief import Belief, Evidence, Likelihood, conflict, conflicts

ONE = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
THREE = CostConstraints(["a", "b", "c"], intervals={"b": (1, 100), "c": (1, 100)})


def entry(i, j, k=3):
    counts = np.zeros((k, k))
    counts[i, j] = 1.0
    return counts


def evidence(left, right, low, high, k=3):
    return Evidence(entry(*left, k), entry(*right, k), low, high)


def test_one_cost_with_errors_has_the_weights_of_the_formula():
    belief = Belief.prior(ONE.region, 0.1, np.random.default_rng(0))
    one = evidence((0, 1), (1, 0), 10.0, np.inf, k=2)
    after = belief.updated(one, ONE.region, np.random.default_rng(1))
    # Half of the logarithm lies above 10: it has the weight .9, the other half .1 / 2.
    assert_allclose(after.weights[after.t[:, 0] > 10].sum(), 0.9 / 0.95, atol=1e-3)


def test_one_cost_without_errors_is_uniform_in_the_region_that_is_left():
    belief = Belief.prior(ONE.region, 0.0, np.random.default_rng(0))
    one = evidence((0, 1), (1, 0), 5.0, 20.0, k=2)
    left = ONE.with_sentences("ill->well = 5..20").region
    after = belief.updated(one, left, np.random.default_rng(1))
    assert_allclose(np.log(after.t).mean(), np.log(10), rtol=1e-6)
    assert 5 <= after.t.min() <= after.t.max() <= 20


@pytest.mark.parametrize("error_rate", [0.0, 0.2])
def test_the_sampler_agrees_with_weighting_a_large_sample(error_rate):
    given = [
        evidence((1, 0), (0, 1), 5.0, np.inf),
        evidence((2, 0), (1, 0), 0.5, 3.0),
        evidence((2, 1), (0, 1), 0.0, 40.0),
    ]
    region = THREE.region
    belief = Belief.prior(region, error_rate, np.random.default_rng(0))
    for step, one in enumerate(given):
        belief = belief.updated(one, region, np.random.default_rng([1, step]))
    drawn = np.exp(np.random.default_rng(2).uniform(0, np.log(100), (200_000, 2)))
    weights = np.ones(len(drawn))
    for one in given:
        matrices = region.matrices(drawn)
        ratio = (matrices * one.left).sum(axis=(1, 2)) / (matrices * one.right).sum(axis=(1, 2))
        right = (ratio >= one.low) & (ratio <= one.high)
        weights *= np.where(right, 1 - error_rate, error_rate / 2)
    weights /= weights.sum()
    logs = np.log(drawn)
    expected = weights @ logs
    std = np.sqrt(weights @ (logs - expected) ** 2)
    found = np.log(belief.t)
    # 512 matrices, not all independent: a fifth of a standard deviation.
    assert_allclose(found.mean(axis=0), expected, atol=0.2 * std.max())
    assert_allclose(found.std(axis=0), std, rtol=0.2)


def test_a_stated_density_counts_before_any_answer():
    high = CostConstraints(
        ["ill", "well"], intervals={"ill": (1, 100)}, density=lambda M: M[:, 0, 1]
    )
    belief = Belief.prior(high.region, 0.0, np.random.default_rng(0))
    drawn = np.random.default_rng(1).triangular(1, 100, 100, 100_000)  # density ~ t, nearly
    assert_allclose(belief.weights @ belief.t[:, 0], drawn.mean(), rtol=0.02)


def test_the_likelihood_is_a_density_of_constraints():
    given = (evidence((0, 1), (1, 0), 10.0, np.inf, k=2),)
    density = Likelihood(given, 0.1, ((0, 1),))
    constraints = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)}, density=density)
    assert_allclose((constraints.sample(20_000, 0)[:, 0, 1] > 10).mean(), 0.9 / 0.95, atol=0.02)


def test_the_narrowest_interval_holds_its_share():
    belief = Belief(ONE.region, np.ones((5, 1)), np.array([0.1, 0.3, 0.3, 0.2, 0.1]))
    assert belief.interval(np.array([0.0, 5.0, 6.0, 7.0, 20.0]), 0.8) == (5.0, 7.0)
    assert belief.interval(np.array([0.0, 5.0, 6.0, 7.0, 20.0]), 1.0) == (0.0, 20.0)


def test_a_circle_of_answers_is_found_without_those_that_can_be_spared():
    given = [
        evidence((1, 0), (0, 1), 2.0, np.inf),  # b > 2 a: beside the point
        evidence((1, 0), (2, 0), 2.0, np.inf),  # b > 2 c
        evidence((2, 0), (1, 0), 1.0, np.inf),  # c > b
    ]
    assert conflict(THREE.region, given) == [1, 2]
    assert conflict(THREE.region, given[:2]) == []


def test_every_contradiction_is_listed_once():
    given = [
        evidence((1, 0), (0, 1), 10.0, np.inf),
        evidence((1, 0), (0, 1), 0.0, 5.0),
        evidence((2, 0), (0, 1), 10.0, 20.0),
        evidence((2, 0), (1, 0), 0.0, 0.05),
        evidence((2, 0), (0, 1), 30.0, np.inf),
    ]
    assert conflicts(THREE.region, given) == [[0, 1], [2, 3], [2, 4]]


def test_answers_about_known_costs_can_be_right_or_wrong():
    exact = CostConstraints(["a", "b"], fixed={("a", "b"): 3, ("b", "a"): 1}).region
    assert conflict(exact, [evidence((0, 1), (1, 0), 2.0, np.inf, k=2)]) == []
    assert conflict(exact, [evidence((0, 1), (1, 0), 4.0, np.inf, k=2)]) == [0]
