"""Answers where costs are partly known: regret, settled rows, possible answers, asking."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import CostConstraints
from ecselm.costs.decision import min_cost_decision
from ecselm.costs.policy import DecisionPolicy, minimax_matrix, normalised
from tests.costs.test_region import random_constraints

SEEDS = st.integers(0, 10_000)


def rows_of(k, n, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


def policy_of(constraints, **options):
    k = len(constraints.classes)
    return DecisionPolicy.of_costs(constraints.region, np.full(k, 1 / k), **options)


@pytest.mark.parametrize(("low", "high"), [(1, 100), (2, 20), (0.2, 3)])
def test_two_classes_follow_closed_forms(low, high):
    policy = policy_of(CostConstraints(["fine", "ill"], intervals={"ill": (low, high)}))
    P = rows_of(2, 2000)
    p = P[:, 1]
    answers = policy.answers(P)
    inside = (p >= 1 / (1 + high)) & (p <= 1 / (1 + low))
    assert_array_equal(policy.settled(P, answers), ~inside)
    # Missing an ill case costs a, a false alarm 1: c_0 = p a, c_1 = 1 - p.
    missed = np.maximum(p * high - (1 - p), 0)
    alarmed = np.maximum((1 - p) - p * low, 0)
    assert_allclose(policy.regret(P, answers), np.where(answers == 0, missed, alarmed), atol=1e-9)
    possible = policy.possible_answers(P)
    assert_array_equal(possible[:, 0], p <= 1 / (1 + low))
    assert_array_equal(possible[:, 1], p >= 1 / (1 + high))
    mean = (high - low) / np.log(high / low)
    assert_allclose(policy.mean[1, 0], mean, rtol=1e-6)
    cost = policy.expected_cost(P, answers)
    assert_allclose(cost, np.where(answers == 0, p * mean, 1 - p), rtol=1e-6)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("seed", range(2))
def test_regret_and_possible_answers_equal_those_of_all_vertices(k, seed, answered):
    constraints = random_constraints(k, seed, answered)
    policy, P = policy_of(constraints), rows_of(k, 60, seed)
    answers = policy.answers(P)
    costs = np.einsum("ni,vij->nvj", P, constraints.vertices())
    mine = np.take_along_axis(costs, answers[:, np.newaxis, np.newaxis], axis=2)
    worst = (mine - costs).max(axis=(1, 2))
    assert_allclose(policy.regret(P, answers), worst, atol=1e-8 * costs.max())
    assert_array_equal(policy.settled(P, answers), worst <= 1e-8 * costs.max())
    # Mixtures of vertices are possible too, so that samples and vertices show a part only.
    possible = policy.possible_answers(P)
    drawn = np.concatenate([constraints.sample(3000, 0), constraints.vertices()[:3000]])
    for matrix in drawn:
        assert possible[np.arange(len(P)), (P @ matrix).argmin(axis=1)].all()
    for row, p in enumerate(P):
        solved = [policy._can_be_best(p, j) for j in range(k)]
        assert_array_equal(possible[row], solved)


def test_linear_programmes_of_many_coupled_costs_equal_vertices(monkeypatch):
    constraints = random_constraints(4, 1)
    P = rows_of(4, 20)
    usual = policy_of(constraints)
    answers = usual.answers(P)
    regret, possible = usual.regret(P, answers), usual.possible_answers(P)
    monkeypatch.setattr("ecselm.costs.policy.MOST_COUPLED", 1)
    solved = policy_of(constraints)
    assert_allclose(solved.regret(P, answers), regret, atol=1e-9 * constraints.high.max())
    assert_array_equal(solved.possible_answers(P), possible)


def test_a_chain_of_twelve_costs_is_solved():
    chain = [(i, j) for i in range(4) for j in range(4) if i != j]
    constraints = CostConstraints(
        range(4), intervals=dict.fromkeys(chain, (1, 50)), order=list(pairwise(chain))
    )
    assert len(constraints.region.components[0].parameters) == 12
    policy, P = policy_of(constraints), rows_of(4, 8)
    answers = policy.answers(P)
    # Vertices of a chain are steps: the first g costs are 50, the others 1.
    corners = np.ones((13, 4, 4)) - np.eye(4)
    for g in range(13):
        for pair in chain[:g]:
            corners[g][pair] = 50.0
    costs = np.einsum("ni,vij->nvj", P, corners)
    mine = np.take_along_axis(costs, answers[:, np.newaxis, np.newaxis], axis=2)
    assert_allclose(policy.regret(P, answers), (mine - costs).max(axis=(1, 2)), atol=1e-6)
    possible = policy.possible_answers(P)
    for matrix in corners:
        assert possible[np.arange(len(P)), (P @ matrix).argmin(axis=1)].all()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("capacity", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("ask_cost", [None, 0.3])
def test_asking_equals_the_best_subset_of_rows_under_the_capacity(k, capacity, ask_cost):
    constraints = CostConstraints(range(k), intervals={1: (2, 9)})
    P = rows_of(k, 8, seed=k)
    column = None if ask_cost is None else np.full(k, ask_cost)
    policy = policy_of(constraints, P=P, ask_cost=column, capacity=capacity)
    answers = policy.answers(P)
    costs = P @ policy.matrix
    alone = costs[:, :k].min(axis=1)

    def total(asked):
        mask = np.isin(np.arange(len(P)), asked)
        return float(np.where(mask, costs[:, k], alone).sum())

    subsets = [s for n in range(int(capacity * len(P)) + 1) for s in combinations(range(len(P)), n)]
    best = min(subsets, key=total)
    assert_array_equal(np.flatnonzero(answers == k), best)
    assert_allclose(total(np.flatnonzero(answers == k)), total(best), rtol=1e-12)


def test_asking_without_capacity_is_chosen_like_any_answer():
    policy = policy_of(CostConstraints(range(3), fixed={0: 4}), ask_cost=np.array([0.5, 0.4, 0.6]))
    P = rows_of(3, 500)
    assert_array_equal(policy.answers(P), (P @ policy.matrix).argmin(axis=1))
    assert not policy.regret(P, policy.answers(P)).any()


def test_costs_by_row_take_the_place_of_the_region():
    policy = policy_of(CostConstraints(range(3), intervals={0: (1, 9)}))
    P = rows_of(3, 50)
    costs = np.random.default_rng(1).uniform(1, 5, (50, 3, 3))
    answers = policy.answers(P, costs)
    assert_array_equal(answers, min_cost_decision(P, costs))
    expected = [p @ M[:, j] for p, M, j in zip(P, costs, answers, strict=True)]
    assert_allclose(policy.expected_cost(P, answers, costs), expected)


@given(SEEDS, st.integers(2, 5))
@settings(deadline=None, max_examples=10)
def test_a_region_of_one_matrix_decides_by_least_cost(seed, k):
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.5, 9, (k, k)) * (1 - np.eye(k))
    policy, P = policy_of(CostConstraints.from_costs(cost, range(k))), rows_of(k, 200, seed)
    answers = policy.answers(P)
    assert_array_equal(answers, min_cost_decision(P, cost))
    assert policy.settled(P, answers).all()
    assert_allclose(policy.expected_cost(P, answers), (P @ cost).min(axis=1))


@given(SEEDS, st.sampled_from([3, 4]))
@settings(deadline=None, max_examples=8)
def test_more_knowledge_of_known_subjects_never_unsettles_a_row(seed, k):
    constraints = random_constraints(k, seed, answers=False)
    P = rows_of(k, 100, seed)
    before = policy_of(constraints).possible_answers(P)
    member = constraints.sample(1, seed)[0]
    wide = np.argwhere(constraints.high > constraints.low * 1.01)
    i, j = wide[seed % len(wide)].tolist()
    labels = constraints.classes.tolist()
    subject = labels[i] if i == k - 1 else f"{labels[i]}->{labels[j]}"
    more = constraints.with_sentences(
        f"{subject} = {member[i, j] * 0.9:.9f}..{member[i, j] * 1.1:.9f}"
    )
    after = policy_of(more).possible_answers(P)
    assert not (after & ~before).any()


@given(SEEDS, st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=8)
def test_scaled_costs_change_no_answer_and_scale_regret(seed, factor):
    rng = np.random.default_rng(seed)
    low = np.exp(rng.uniform(0, 2, (3, 3)))
    ends = np.stack([low, low * rng.uniform(1, 5, (3, 3))], axis=2)
    P = rows_of(3, 200, seed)
    one, two = (policy_of(CostConstraints.from_costs(c, range(3))) for c in (ends, factor * ends))
    answers = one.answers(P)
    assert_array_equal(two.answers(P), answers)
    assert_array_equal(two.settled(P, answers), one.settled(P, answers))
    assert_allclose(two.regret(P, answers), factor * one.regret(P, answers), rtol=1e-7, atol=1e-9)


@given(SEEDS, st.permutations(range(3)))
@settings(deadline=None, max_examples=8)
def test_permuted_classes_permute_answers(seed, order):
    rng = np.random.default_rng(seed)
    low = np.exp(rng.uniform(0, 2, (3, 3)))
    ends = np.stack([low, low * rng.uniform(1, 5, (3, 3))], axis=2)
    constraints = CostConstraints.from_costs(ends, range(3))
    P = rows_of(3, 300, seed)
    policy, moved = policy_of(constraints), policy_of(constraints.for_classes(order))
    costs = np.sort(P @ policy.matrix, axis=1)
    clear = costs[:, 1] - costs[:, 0] > 0.05 * costs[:, 0]  # away from ties of the sample
    answers, others = policy.answers(P), np.array(order)[moved.answers(P[:, order])]
    assert_array_equal(others[clear], answers[clear])
    assert_array_equal(moved.possible_answers(P[:, order]), policy.possible_answers(P)[:, order])


@given(SEEDS, st.sampled_from([2, 3, 4]))
@settings(deadline=None, max_examples=8)
def test_regret_is_zero_where_one_answer_is_possible(seed, k):
    if k == 2:
        constraints = CostConstraints(range(2), intervals={1: (1 + seed % 7, 30)})
    else:
        constraints = random_constraints(k, seed, answers=False)
    policy, P = policy_of(constraints), rows_of(k, 100, seed)
    answers = policy.answers(P)
    settled = policy.settled(P, answers)
    assert_array_equal(policy.regret(P, answers) == 0, settled)
    assert_array_equal(policy.possible_answers(P).sum(axis=1) == 1, settled)


def worst_regret(shares, P, matrix, true):
    """Return the worst expected regret."""
    M = normalised(true, shares)
    chosen = (P @ matrix).argmin(axis=1)
    costs = np.einsum("ni,ani->an", P, M[:, :, chosen].transpose(0, 2, 1)).mean(axis=1)
    return (costs - np.array([(P @ one).min(axis=1).mean() for one in M])).max()


def worst_on_tables(shares, P, matrices, true, n_tables=400):
    """Return the expectation of the worst regret of every matrix, table by table."""
    rng, n, M = np.random.default_rng(123), len(P), normalised(true, shares)
    mine = [(P @ one).argmin(axis=1) for one in matrices]
    own = np.array([(P @ one).argmin(axis=1) for one in M])
    total = np.zeros(len(matrices))
    for _ in range(n_tables):
        y = np.array([rng.choice(len(p), p=p) for p in P])
        rows = rng.integers(n, size=n)
        least = M[np.arange(len(M))[:, np.newaxis], y[rows], own[:, rows]].mean(axis=1)
        for place, chosen in enumerate(mine):
            total[place] += (M[:, y[rows], chosen[rows]].mean(axis=1) - least).max()
    return total / n_tables


def test_the_minimax_matrix_of_two_classes_is_near_the_best_threshold_on_tables():
    region = CostConstraints(range(2), intervals={1: (1, 100)}).region
    P, shares = rows_of(2, 200), np.array([0.5, 0.5])
    true = region.matrices(np.geomspace(1, 100, 60)[:, np.newaxis])
    found, *grid = worst_on_tables(shares, P, [minimax_matrix(region, shares, P), *true], true)
    assert found <= min(grid) * 1.03  # by other tables than those of the rule


@pytest.mark.parametrize("seed", range(3))
def test_the_minimax_matrix_is_no_worse_than_means_and_members_on_tables(seed):
    constraints = random_constraints(3, seed, answers=False)
    region, P, shares = constraints.region, rows_of(3, 100, seed), np.full(3, 1 / 3)
    true = np.concatenate([constraints.vertices(), region.spread()[:60]])
    with np.errstate(divide="ignore"):
        geometric = np.exp(np.log(region.spread()).mean(axis=0))
    expected = normalised(region.spread(), shares).mean(axis=0)
    others = [expected, constraints.mean(), geometric, *constraints.sample(40, seed)]
    found, *rest = worst_on_tables(
        shares, P, [minimax_matrix(region, shares, P), *others], true, 200
    )
    assert found <= min(rest) * 1.05 + 1e-4


def test_the_minimax_matrix_of_many_rows_has_the_least_worst_expectation():
    region = CostConstraints(range(2), intervals={1: (1, 100)}).region
    P, shares = rows_of(2, 400), np.array([0.5, 0.5])
    true = region.matrices(np.geomspace(1, 100, 200)[:, np.newaxis])
    many = minimax_matrix(region, shares, np.tile(P, (2500, 1)))
    least = min(worst_regret(shares, P, one, true) for one in true)
    assert worst_regret(shares, P, many, true) <= least * 1.03
    # With few rows chance adds to the regret at high costs, and the rule avoids more misses.
    few = minimax_matrix(region, shares, P)
    assert few[1, 0] / few[0, 1] > 1.2 * many[1, 0] / many[0, 1]


def test_the_minimax_matrix_meets_the_worst_of_thousands_of_vertices():
    far = [(i, j) for i in range(5) for j in range(5) if abs(i - j) > 1]
    constraints = CostConstraints(range(5), intervals=dict.fromkeys(far, (2, 20)))
    region, P, shares = constraints.region, rows_of(5, 500), np.full(5, 0.2)
    true = constraints.vertices()
    assert len(true) == 2**12
    others = [normalised(region.spread(), shares).mean(axis=0), *constraints.sample(5, 0)]
    found = worst_regret(shares, P, minimax_matrix(region, shares, P), true)
    assert found < min(worst_regret(shares, P, one, true) for one in others)


def test_the_minimax_matrix_is_the_same_every_time():
    region, P = random_constraints(3, 0).region, rows_of(3, 50)
    one, two = (minimax_matrix(region, np.full(3, 1 / 3), P) for _ in range(2))
    assert_array_equal(one, two)
