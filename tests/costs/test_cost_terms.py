"""The cost information vector B against (11) and (12), built sample by sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import CostTerms, class_weights, parse_cost, parse_sample_cost
from ecselm.costs.weights import ClassCosts, ExampleCosts, PairCosts, SampleCosts

AGGREGATES = pytest.mark.parametrize("aggregate", ["samples", "classes"])
WEIGHTINGS = pytest.mark.parametrize("weighting", [None, "w1", "w2", "balanced", {1: 3.0}])
KS = pytest.mark.parametrize("k", [2, 4], ids=["two classes", "four classes"])


def labels(rng, k, N=23):
    """Return classes of unequal size, every one of them there."""
    shares = np.arange(1.0, k + 1)
    return rng.permutation(np.r_[np.arange(k), rng.choice(k, N - k, p=shares / shares.sum())])


def matrix_of(rng, k):
    return rng.uniform(0.5, 9.0, (k, k)) * (1.0 - np.eye(k))


def counts_and_weights(y, k, weighting):
    n = np.bincount(y, minlength=k).astype(float)
    return n, class_weights(weighting, n, np.arange(k))


def vector_of(costs, y, k, weighting):
    return costs.terms(y).vector(costs.coefficients(*counts_and_weights(y, k, weighting)))


def printed_vector(M, W):
    """Return ``B_i = sum_j (WM)_ij`` of (12) for square M and W (N, N)."""
    N = len(M)
    B = np.zeros(N)
    for i in range(N):
        for j in range(N):
            B[i] += sum(W[i, r] * M[r, j] for r in range(N))
    return B


def weight_matrix(y, k, weighting):
    return np.diag(counts_and_weights(y, k, weighting)[1][y])


@KS
@WEIGHTINGS
def test_class_costs_give_equation_12_summed_over_samples(rng, k, weighting):
    y, cost = labels(rng, k), matrix_of(rng, k)
    M = np.array([[cost[y[i], y[j]] for j in range(len(y))] for i in range(len(y))])  # (11)
    B = printed_vector(M, weight_matrix(y, k, weighting))
    assert_allclose(vector_of(ClassCosts(cost), y, k, weighting), B, rtol=1e-12)


@KS
@WEIGHTINGS
def test_class_costs_give_equation_12_summed_over_classes(rng, k, weighting):
    y, cost = labels(rng, k), matrix_of(rng, k)
    W = weight_matrix(y, k, weighting)
    B = [W[i, i] * sum(cost[y[i], c] for c in range(k)) for i in range(len(y))]
    assert_allclose(vector_of(ClassCosts(cost, "classes"), y, k, weighting), B, rtol=1e-12)


@KS
@WEIGHTINGS
def test_example_costs_give_equation_12_summed_over_samples(rng, k, weighting):
    y = labels(rng, k)
    cost = rng.uniform(0.5, 9.0, (len(y), k)) * (y[:, np.newaxis] != np.arange(k))
    M = np.array([[cost[i, y[j]] for j in range(len(y))] for i in range(len(y))])  # (11)
    B = printed_vector(M, weight_matrix(y, k, weighting))
    assert_allclose(vector_of(ExampleCosts(cost), y, k, weighting), B, rtol=1e-12)


@KS
@WEIGHTINGS
def test_example_costs_give_equation_12_summed_over_classes(rng, k, weighting):
    y = labels(rng, k)
    cost = rng.uniform(0.5, 9.0, (len(y), k)) * (y[:, np.newaxis] != np.arange(k))
    W = weight_matrix(y, k, weighting)
    B = [W[i, i] * sum(cost[i, c] for c in range(k)) for i in range(len(y))]
    assert_allclose(vector_of(ExampleCosts(cost, "classes"), y, k, weighting), B, rtol=1e-12)


@KS
@WEIGHTINGS
def test_pair_costs_give_equation_12(rng, k, weighting):
    y = labels(rng, k)
    M = rng.uniform(0.0, 9.0, (len(y), len(y)))
    np.fill_diagonal(M, 0.0)
    B = printed_vector(M, weight_matrix(y, k, weighting))
    assert_allclose(vector_of(PairCosts(M.sum(axis=1), k), y, k, weighting), B, rtol=1e-12)
    parsed = parse_sample_cost(M, y, np.arange(k), "samples")
    assert_allclose(vector_of(parsed, y, k, weighting), B, rtol=1e-12)


@KS
@WEIGHTINGS
def test_sample_costs_are_the_vector_itself(rng, k, weighting):
    y = labels(rng, k)
    B = rng.uniform(0.0, 9.0, len(y))
    assert_array_equal(vector_of(SampleCosts(B), y, k, weighting), B)


@KS
def test_zero_one_costs_with_w1_count_the_others_per_row_of_the_class(rng, k):
    y = labels(rng, k)
    n = np.bincount(y)[y]
    B = vector_of(ClassCosts(parse_cost(None, np.arange(k))), y, k, "w1")
    assert_allclose(B, (len(y) - n) / n, rtol=1e-14)


@KS
@AGGREGATES
def test_costs_by_class_equal_the_same_costs_by_example(rng, k, aggregate):
    y, cost = labels(rng, k), matrix_of(rng, k)
    by_class = vector_of(ClassCosts(cost, aggregate), y, k, "w2")
    by_example = vector_of(ExampleCosts(cost[y], aggregate), y, k, "w2")
    assert_allclose(by_example, by_class, rtol=1e-12)


@KS
def test_costs_by_class_equal_the_same_costs_by_pair(rng, k):
    y, cost = labels(rng, k), matrix_of(rng, k)
    pairs = parse_sample_cost(cost[np.ix_(y, y)], y, np.arange(k), "samples")
    by_class = vector_of(ClassCosts(cost), y, k, "w1")
    assert_allclose(vector_of(pairs, y, k, "w1"), by_class, rtol=1e-12)


@KS
@AGGREGATES
def test_reordering_rows_reorders_the_vector(rng, k, aggregate):
    y, order = labels(rng, k), rng.permutation(23)
    cost = rng.uniform(0.5, 9.0, (23, k)) * (y[:, np.newaxis] != np.arange(k))
    B = vector_of(ExampleCosts(cost, aggregate), y, k, "w1")
    reordered = vector_of(ExampleCosts(cost[order], aggregate), y[order], k, "w1")
    assert_allclose(reordered, B[order], rtol=1e-12)


@KS
@AGGREGATES
@pytest.mark.parametrize("by_example", [False, True])
def test_costs_twice_as_high_give_a_vector_twice_as_high(rng, k, aggregate, by_example):
    y, cost = labels(rng, k), matrix_of(rng, k)
    kind, cost = (ExampleCosts, cost[y]) if by_example else (ClassCosts, cost)
    B = vector_of(kind(cost, aggregate), y, k, "w1")
    assert_allclose(vector_of(kind(2.0 * cost, aggregate), y, k, "w1"), 2.0 * B, rtol=1e-14)


@KS
@AGGREGATES
def test_every_row_twice_halves_only_the_sum_over_classes(rng, k, aggregate):
    y, cost = labels(rng, k), matrix_of(rng, k)
    once = vector_of(ClassCosts(cost, aggregate), y, k, "w1")
    twice = vector_of(ClassCosts(cost, aggregate), np.tile(y, 2), k, "w1")
    # W1 halves, and the sum over samples doubles.
    factor = 1.0 if aggregate == "samples" else 0.5
    assert_allclose(twice, factor * np.tile(once, 2), rtol=1e-12)


@AGGREGATES
@pytest.mark.parametrize("by_example", [False, True])
@pytest.mark.parametrize("weighting", [None, "w1", "w2", "balanced"])
def test_a_class_that_never_occurs_breaks_nothing(rng, aggregate, by_example, weighting):
    y, cost = np.array([0, 2, 2, 0, 2]), matrix_of(rng, 3)
    seen, codes = cost[np.ix_([0, 2], [0, 2])], np.array([0, 1, 1, 0, 1])
    if aggregate == "classes":  # where mistakes towards it cost as any other
        cost[:, 1] = 0.0
    costs = ExampleCosts(cost[y], aggregate) if by_example else ClassCosts(cost, aggregate)
    B = vector_of(costs, y, 3, weighting)
    expected = vector_of(ClassCosts(seen, aggregate), codes, 2, weighting)
    assert_allclose(B, expected, rtol=1e-12)


def test_the_counts_may_come_after_the_rows(rng):
    y, cost = labels(rng, 3), matrix_of(rng, 3)
    n, W = counts_and_weights(y, 3, "w1")
    for costs in (ClassCosts(cost), ExampleCosts(cost[y]), ExampleCosts(cost[y], "classes")):
        whole = costs.terms(y).vector(costs.coefficients(n, W))
        terms = costs.terms(y)
        halves = [
            CostTerms(terms.groups[part], terms.factors[part], terms.n_groups, terms.kind)
            for part in (slice(10), slice(10, None))
        ]
        coefficients = costs.coefficients(n, W)
        assert len(coefficients) == terms.n_groups
        parts = np.concatenate([half.vector(coefficients) for half in halves])
        assert_array_equal(parts, whole)


@pytest.mark.parametrize("kind", ["examples", "pairs"])
def test_coefficients_do_not_share_memory_with_the_weights(kind):
    W = np.array([1.0, 2.0])
    costs = PairCosts(np.ones(2), 2) if kind == "pairs" else ExampleCosts(np.eye(2), "classes")
    costs.coefficients(np.ones(2), W)[:] = 9.0
    assert_array_equal(W, [1.0, 2.0])
