"""Decisions of least expected cost, against a search over all predictions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import expected_costs, min_cost_decision

KS = pytest.mark.parametrize("k", [2, 3, 6])


def posteriors(rng, k, N=50):
    return rng.dirichlet(np.ones(k), N)


def printed(probabilities, cost_of_row):
    """Return the expected costs, and the first prediction of least cost, row by row."""
    N, k = probabilities.shape
    expected = np.zeros((N, k))
    for i in range(N):
        for predicted in range(k):
            for true in range(k):
                expected[i, predicted] += probabilities[i, true] * cost_of_row(i)[true, predicted]
    return expected, [min(range(k), key=list(row).__getitem__) for row in expected]


@KS
def test_one_matrix_for_all_rows_is_decided_as_by_brute_force(rng, k):
    P, cost = posteriors(rng, k), rng.uniform(0.0, 9.0, (k, k))
    expected, decided = printed(P, lambda i: cost)
    assert_allclose(expected_costs(P, cost), expected, rtol=1e-12)
    assert_array_equal(min_cost_decision(P, cost), decided)


@KS
def test_one_matrix_per_row_is_decided_as_by_brute_force(rng, k):
    P, cost = posteriors(rng, k), rng.uniform(0.0, 9.0, (50, k, k))
    expected, decided = printed(P, lambda i: cost[i])
    assert_allclose(expected_costs(P, cost), expected, rtol=1e-12)
    assert_array_equal(min_cost_decision(P, cost), decided)


@KS
def test_the_same_matrix_in_every_row_equals_one_matrix(rng, k):
    P, cost = posteriors(rng, k), rng.uniform(0.0, 9.0, (k, k))
    repeated = np.tile(cost, (50, 1, 1))
    assert_allclose(expected_costs(P, repeated), expected_costs(P, cost), rtol=1e-12)
    assert_array_equal(min_cost_decision(P, repeated), min_cost_decision(P, cost))


@KS
def test_as_many_rows_as_classes_are_no_matter(rng, k):
    P, cost = posteriors(rng, k, N=k), rng.uniform(0.0, 9.0, (k, k, k))
    assert_array_equal(min_cost_decision(P, cost), printed(P, lambda i: cost[i])[1])


@KS
def test_what_a_row_of_the_matrix_costs_at_least_changes_no_decision(rng, k):
    P, cost = posteriors(rng, k), rng.uniform(0.0, 9.0, (k, k))
    shifted = 3.0 * (cost + rng.uniform(-5.0, 5.0, (k, 1)))
    assert_array_equal(min_cost_decision(P, shifted), min_cost_decision(P, cost))


@KS
def test_zero_one_costs_decide_for_the_likeliest_class(rng, k):
    P = posteriors(rng, k)
    assert_array_equal(min_cost_decision(P, 1.0 - np.eye(k)), P.argmax(axis=1))


def test_two_classes_are_decided_at_the_threshold_of_their_costs():
    positive = np.array([0.0, 0.19, 0.21, 1.0])
    P = np.column_stack([1.0 - positive, positive])
    cost = np.array([[0.0, 1.0], [4.0, 0.0]])  # threshold 1 / (1 + 4)
    assert_array_equal(min_cost_decision(P, cost), [0, 0, 1, 1])


def test_equal_expected_costs_go_to_the_first_class():
    assert_array_equal(min_cost_decision(np.full((1, 3), 1 / 3), 1.0 - np.eye(3)), [0])


def test_lists_are_read_as_arrays():
    assert_array_equal(min_cost_decision([[0.8, 0.2]], [[0, 1], [5, 0]]), [1])


@pytest.mark.parametrize("shape", [(2,), (3, 3), (2, 3), (4, 2, 2), (5, 2, 3), (5, 2)])
def test_a_cost_of_the_wrong_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"cost must .*\(2, 2\) or \(5, 2, 2\), got "):
        min_cost_decision(np.full((5, 2), 0.5), np.ones(shape))
