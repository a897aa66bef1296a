"""Feasible costs satisfy every constraint, and contradictions are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from ecselm.costs import CostConstraints
from ecselm.costs.feasible import (
    MARGIN,
    SLACK,
    FeasibleRegion,
    half_known_region,
    has_cost_per_class,
)
from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel

ROUNDING = 1e-12  # of the margin, relative


def region_of(low, high, order=(), names="abcdefgh"):
    return FeasibleRegion.from_constraints(
        np.array(low, dtype=float), np.array(high, dtype=float), list(order), names
    )


def obeys(costs, low, high, order):
    """Say entry by entry whether costs (E,) contradict nothing of this."""
    bounded = all(low[i] <= costs[i] <= high[i] for i in range(len(costs)))
    ordered = all(costs[d] >= MARGIN * costs[c] * (1.0 - ROUNDING) for d, c in order)
    return bounded and ordered


@st.composite
def known(draw):
    """Return low, high, order of some costs that are possible, and which of them are fixed."""
    E = draw(st.integers(1, 7))
    ratios = draw(st.lists(st.floats(1.011, 2.0), min_size=E, max_size=E))
    truth = np.cumprod(ratios)[draw(st.permutations(range(E)))] * draw(st.floats(1e-3, 1e3))
    kinds = draw(st.lists(st.sampled_from(["open", "fixed", "between"]), min_size=E, max_size=E))
    widths = draw(st.lists(st.floats(1.0, 9.0), min_size=2 * E, max_size=2 * E))
    low, high = np.zeros(E), np.full(E, np.inf)
    for i, kind in enumerate(kinds):
        if kind != "open":
            low[i] = high[i] = truth[i]
        if kind == "between":
            low[i], high[i] = truth[i] / widths[2 * i], truth[i] * widths[2 * i + 1]
    above = [(d, c) for d in range(E) for c in range(E) if truth[d] > truth[c]]
    order = draw(st.lists(st.sampled_from(above), max_size=8)) if above else []
    return low, high, order, truth, np.array([kind == "fixed" for kind in kinds])


@settings(deadline=None)
@given(known(), st.integers(0, 1000))
def test_repaired_points_obey_bounds_and_order_and_keep_fixed_costs_to_the_bit(case, seed):
    low, high, order, truth, fixed = case
    guesses = np.random.default_rng(seed).uniform(0.1, 10.0, (2, len(low)))
    region = region_of(low, high, order).closed(guesses)
    assert np.isfinite(region.high).all()
    assert (region.low > 0).all()
    points = np.exp(np.random.default_rng(seed).uniform(-12, 12, (20, len(low))))
    for costs in region.repaired(points):
        assert obeys(costs, low, high, order)
        assert obeys(costs, region.low, region.high, order)
        assert_array_equal(costs[fixed], truth[fixed])


@settings(deadline=None)
@given(known(), st.floats(1e-4, 1e4))
def test_closing_never_contradicts_what_is_known(case, guess):
    low, high, order, truth, _ = case
    region = region_of(low, high, order)
    closed = region.closed(np.full((1, len(low)), guess))
    assert (closed.low >= region.low).all()
    assert (closed.high <= region.high).all()
    assert (closed.low <= closed.high).all()
    if not region.is_open:  # then nothing that is possible is lost but far away
        stated = np.r_[region.low, region.high, guess]  # with what the order implies
        stated = stated[(stated > 0) & np.isfinite(stated)]
        near = (truth >= stated.min() / SLACK) & (truth <= stated.max() * SLACK)
        if near.all():
            assert obeys(truth, closed.low, closed.high, order)


@settings(deadline=None)
@given(known(), st.integers(0, 1000))
def test_points_that_obey_are_left_as_they_are(case, seed):
    low, high, order, *_ = case
    region = region_of(low, high, order).closed(np.ones((1, len(low))))
    inside = region.repaired(np.exp(np.random.default_rng(seed).uniform(-9, 9, (5, len(low)))))
    assert_array_equal(region.repaired(inside), inside)


@settings(deadline=None)
@given(known(), st.integers(0, 1000))
def test_conclusions_are_the_tightest_bounds_of_the_order(case, seed):
    low, high, order, *_ = case
    region = region_of(low, high, order)
    expected_low, expected_high = low.copy(), high.copy()
    for _ in low:  # a path has fewer steps than there are costs
        for d, c in order:
            expected_low[d] = max(expected_low[d], MARGIN * expected_low[c])
            expected_high[c] = min(expected_high[c], expected_high[d] / MARGIN)
    assert_array_equal(region.low, expected_low)
    assert_array_equal(region.high, expected_high)


@settings(deadline=None)
@given(known(), st.randoms(use_true_random=False))
def test_in_which_sequence_the_order_is_stated_does_not_matter(case, random):
    low, high, order, *_ = case
    shuffled = order[:]
    random.shuffle(shuffled)
    one, other = (region_of(low, high, pairs) for pairs in (order, shuffled))
    assert_array_equal(other.low, one.low)
    assert_array_equal(other.high, one.high)
    points = np.random.default_rng(0).uniform(0.1, 99.0, (5, len(low)))
    assert_array_equal(other.repaired(points), one.repaired(points))


def test_repairing_clips_then_raises_the_higher_cost():
    region = region_of([1, 0, 0], [2, 50, 50], [(1, 0), (2, 1)])
    costs = np.array([[9.0, 1.5, 1.5], [0.1, 7.0, 60.0]])
    kept = costs.copy()
    repaired = region.repaired(costs)
    expected = [[2.0, 2.0 * MARGIN, 2.0 * MARGIN**2], [1.0, 7.0, 50.0]]
    assert_allclose(repaired, expected, rtol=1e-14)
    assert_array_equal(costs, kept)


def test_a_fixed_cost_stays_as_it_is_above_a_cost_that_comes_up_to_it():
    for fixed in range(1, 30):  # 9, 11 and others are less than 1.01 (9 / 1.01) when rounded
        region = region_of([0.01, fixed], [np.inf, fixed], [(1, 0)])
        lower, higher = region.repaired(np.array([[99.0, 99.0]]))[0]
        assert higher == fixed
        assert lower == fixed / MARGIN


def test_a_region_is_open_until_a_number_is_known():
    assert region_of([0, 0], [np.inf, np.inf], [(1, 0)]).is_open
    assert not region_of([0, 1], [np.inf, 1]).is_open
    assert not region_of([0, 0], [np.inf, 5]).is_open


def test_without_constraints_bounds_lie_around_the_guesses():
    guesses = np.array([[1.0, 2.0], [3.0, 0.5]])
    region = region_of([0, 0], [np.inf, np.inf]).closed(guesses)
    assert_array_equal(region.low, np.array([1.0, 0.5]) / SLACK)
    assert_array_equal(region.high, np.array([3.0, 2.0]) * SLACK)


def test_without_an_order_bounds_do_not_widen_with_the_number_of_costs():
    N = 20_000
    low, high = np.zeros(N), np.full(N, np.inf)
    low[0] = high[0] = 2.0
    region = FeasibleRegion.from_constraints(low, high, [], [""] * N).closed(np.ones((1, N)))
    assert region.low[1] == 1.0 / SLACK
    assert region.high[1] == 2.0 * SLACK


def test_bounds_for_all_costs_narrow_what_is_known():
    region = region_of([0, 3, 0], [np.inf, 3, 9], [(1, 0)]).within(0.5, 5.0, "abc")
    assert_array_equal(region.low, [0.5, 3.0, 0.5])
    assert_array_equal(region.high, [3.0 / MARGIN, 3.0, 5.0])


def test_bounds_may_be_negative_where_no_order_is_known():
    region = region_of([0, 0], [np.inf, np.inf]).within(-1.0, 1.0, "ab")
    assert_array_equal(region.repaired(np.array([[-3.0, 0.25]])), [[-1.0, 0.25]])


def test_scaling_keeps_ratios_and_ends_inside():
    region = region_of([2, 0.1], [4, 100])
    assert_array_equal(region.scaled_into(np.array([3.0, 5.0])), [3.0, 5.0])  # inside already
    scaled = region.scaled_into(np.array([1.0, 5.0]))
    assert_allclose(scaled[1] / scaled[0], 5.0, rtol=1e-14)
    assert_allclose(scaled[0], np.sqrt(2.0 * 4.0), rtol=1e-14)  # the middle, on a log scale


def test_scaling_keeps_fixed_costs_to_the_bit():
    fixed = 0.1 + 0.2
    region = region_of([fixed, 0.01], [fixed, 100])
    for guess in (0.7, 1.0, 3.3):
        assert region.scaled_into(np.array([guess, 1.0]))[0] == fixed


def test_scaling_without_bounds_leaves_costs_as_they_are():
    region = region_of([0, 0], [np.inf, np.inf], [(1, 0)])
    assert_array_equal(region.scaled_into(np.array([1.0, 5.0])), [1.0, 5.0])


@pytest.mark.parametrize(
    ("region", "costs"),
    [
        (region_of([1, 2], [1, 2]), [1.0, 1.0]),
        (region_of([0, 0], [np.inf, np.inf], [(1, 0)]), [5.0, 1.0]),
        (region_of([0, 0], [np.inf, np.inf], [(1, 0)]), [1.0, 1.0]),
    ],
    ids=["another ratio is fixed", "against the order", "equal, where one is higher"],
)
def test_what_no_scale_puts_inside_is_none(region, costs):
    assert region.scaled_into(np.array(costs)) is None


@settings(deadline=None)
@given(known(), st.integers(0, 1000))
def test_what_is_scaled_obeys(case, seed):
    low, high, order, truth, _ = case
    region = region_of(low, high, order).closed(truth[np.newaxis])
    factor = np.exp(np.random.default_rng(seed).uniform(-3, 3))
    scaled = region.scaled_into(truth * factor)
    assert scaled is not None
    assert obeys(scaled, low, high, order)


@pytest.mark.parametrize(
    ("low", "high", "order", "message"),
    [
        ([5, 1], [5, 1], [(1, 0)], "the cost of b to be at least 5.05 and at most 1"),
        ([0, 3, 1], [np.inf, 4, 2], [(2, 0), (0, 1)], "the cost of c to be at least 3.0603 and"),
        ([0, 0], [np.inf, np.inf], [(1, 0), (0, 1)], "not run in a circle, got (a < b < a|b < a)"),
        ([2], [1], [], "cost_intervals and cost_order must not contradict each other"),
    ],
    ids=["fixed against order", "interval through another", "circle", "interval"],
)
def test_contradictions_are_refused_by_name(low, high, order, message):
    with pytest.raises(ValueError, match=message):
        region_of(low, high, order)


def test_bounds_that_contradict_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^cost_bounds, .* cost of b .* least 9 and at most 5"):
        region_of([0, 9], [np.inf, 9]).within(1.0, 5.0, "ab")
    with pytest.raises(ValueError, match=r"^cost_bounds, .* cost of b to be at least 2.02 and"):
        region_of([0, 0], [np.inf, np.inf], [(1, 0)]).within(2.0, 2.0, "ab")
    with pytest.raises(ValueError, match=r"cost_bounds must be >= 0 with cost_order, got \(-1"):
        region_of([0, 0], [np.inf, np.inf], [(1, 0)]).within(-1.0, 1.0, "ab")


def test_arguments_are_never_modified():
    low, high = np.array([1.0, 0.0]), np.array([1.0, np.inf])
    region = FeasibleRegion.from_constraints(low, high, [(1, 0)], "ab")
    assert_array_equal(low, [1.0, 0.0])
    region.closed(np.ones((1, 2)))
    region.within(0.5, 9.0, "ab")
    assert_array_equal(region.low, [1.0, MARGIN])
    assert_array_equal(region.high, [1.0, np.inf])


# Half-known costs: the oracle of a point is ``contains``, that of the nearest one a linear program


@st.composite
def half_known(draw, n_answers=0):
    """Return constraints that some matrix obeys, and the level of their costs."""
    k = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    by_class = draw(st.booleans())
    truth = np.exp(rng.uniform(-2, 2, (k, k)))
    if by_class:
        truth = np.repeat(truth[:, :1], k, axis=1)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    keys = list(range(k)) if by_class else pairs
    cost = {key: truth[key, 0] if by_class else truth[key] for key in keys}
    numbers = draw(st.lists(st.sampled_from(keys), unique=True))
    fixed = {key: cost[key] for key in numbers[::3]}
    intervals = {key: (cost[key] / 2, cost[key] * 3) for key in numbers if key not in fixed}
    # Costs that are not stated are 1: all that are compared are stated.
    compared = draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(keys)), max_size=6))
    ratios = []
    for one, other in compared:
        if one != other:
            ratio = cost[one] / cost[other]
            ratios.append((one, other, ratio / rng.uniform(1, 3), ratio * rng.uniform(1, 3)))
    for key in {key for relation in ratios for key in relation[:2]} - set(numbers):
        intervals[key] = (0.0, cost[key] * 9)
    given = CostConstraints(range(k), fixed, intervals, ratios=ratios)
    full = truth * (1 - np.eye(k))
    for key in keys:
        if key not in fixed and key not in intervals:
            full[key] = 1.0
    np.fill_diagonal(full, 0.0)
    for _ in range(n_answers):
        array = rng.standard_normal((k, k)) * (1 - np.eye(k))
        array *= np.sign((array * full).sum())
        given = given.with_answer(array, "an outcome is worse than another")
    assert given.contains(full)
    return given, ClassLevel(k) if by_class else MatrixLevel(k)


def matrix_of(entries, level):
    if isinstance(level, MatrixLevel):
        return level.matrices(entries[np.newaxis])[0]
    return entries[:, np.newaxis] * (1.0 - np.eye(len(entries)))


@settings(deadline=None, max_examples=60)
@given(half_known(), st.integers(0, 1000))
def test_repaired_points_are_possible_by_half_known_costs(case, seed):
    given_costs, level = case
    region = half_known_region(given_costs, level)
    points = np.exp(np.random.default_rng(seed).uniform(-9, 9, (10, level.n_entries)))
    repaired = region.repaired(points)
    for costs in repaired:
        assert given_costs.contains(matrix_of(costs, level))
        assert (costs >= region.low).all()
        assert (costs <= region.high).all()
    assert_allclose(region.repaired(repaired), repaired, rtol=1e-12)
    known = region.low == region.high
    assert_array_equal(repaired[:, known], np.broadcast_to(region.low[known], (10, known.sum())))


@settings(deadline=None, max_examples=40)
@given(half_known(n_answers=2), st.integers(0, 1000))
@pytest.mark.slow
def test_repaired_points_are_possible_by_answers(case, seed):
    given_costs, level = case
    region = half_known_region(given_costs, level)
    points = np.exp(np.random.default_rng(seed).uniform(-9, 9, (10, level.n_entries)))
    for costs in [*region.repaired(points), region.nearest(points[0])]:
        assert given_costs.contains(matrix_of(costs, level))


@settings(deadline=None, max_examples=40)
@given(half_known(), st.integers(0, 1000))
def test_possible_costs_are_left_as_they_are(case, seed):
    given_costs, level = case
    region = half_known_region(given_costs, level)
    for matrix in given_costs.sample(5, seed):
        entries = level.entries(matrix) if isinstance(level, MatrixLevel) else matrix.max(axis=1)
        assert_allclose(region.repaired(entries[np.newaxis])[0], entries, rtol=1e-9)
        scaled = region.scaled_into(region.repaired(entries[np.newaxis])[0] * 7.0)
        assert scaled is not None
        assert given_costs.contains(matrix_of(scaled, level))


@settings(deadline=None, max_examples=40)
@given(half_known(), st.integers(0, 1000))
def test_the_nearest_costs_differ_by_the_least_possible_factor(case, seed):
    """The least d with ``|x - p - s| <= d``, by a linear program in logarithms x and s."""
    given_costs, level = case
    region = half_known_region(given_costs, level)
    costs = np.exp(np.random.default_rng(seed).uniform(-3, 3, level.n_entries))
    found = region.nearest(costs)
    assert given_costs.contains(matrix_of(found, level))
    n, logs = len(costs), np.log(costs)
    rows, ends = [], []
    for i in range(n):
        for sign in (1.0, -1.0):
            row = np.zeros(n + 2)  # x, s, d
            row[i], row[n], row[n + 1] = sign, -sign, -1.0
            rows.append(row)
            ends.append(sign * logs[i])
    known = region.relations
    for a, b, most in zip(known.greater, known.lesser, known.most, strict=True):
        row = np.zeros(n + 2)
        row[a], row[b] = 1.0, -1.0
        rows.append(row)
        ends.append(np.log(most))
    equal = np.eye(n, n + 2) - np.eye(n, n + 2)[known.same]
    box = [*zip(np.log(region.low), np.log(region.high), strict=True), (None, None), (0, None)]
    goal = np.eye(n + 2)[n + 1]
    least = linprog(goal, rows, ends, equal, np.zeros(n), bounds=box).fun
    away = np.log(found / costs)
    assert (away.max() - away.min()) / 2.0 == pytest.approx(least, abs=1e-7)


def test_several_classes_have_a_cost_each_where_no_statement_divides_them():
    one = CostConstraints([*"abc"], intervals={"a": (2, 9)}, order=[("a", "b")])
    assert has_cost_per_class(one)
    assert half_known_region(one, ClassLevel(3)).high.tolist() == [9.0, 1.0, 1.0]
    for stated in ({("a", "b"): (2, 9)}, {("a", "b"): (2, 9), ("a", "c"): (2, 9)}):
        divided = CostConstraints([*"abc"], intervals=stated)
        assert not has_cost_per_class(divided)
        with pytest.raises(ValueError, match=r"cost_level must be .* 3 classes, got 'class'"):
            half_known_region(divided, ClassLevel(3))
    assert has_cost_per_class(CostConstraints([*"ab"], intervals={("a", "b"): (2, 9)}))


def test_half_known_costs_of_nothing_or_by_row_are_refused():
    free = CostConstraints([*"ab"], {("a", "b"): 0}, {("b", "a"): (2, 9)})
    with pytest.raises(ValueError, match=r"cost must state costs > 0 .* got 0 for 'a' taken for"):
        half_known_region(free, ClassLevel(2))
    known = CostConstraints([*"ab"], intervals={"a": (2, 9)})
    with pytest.raises(ValueError, match="cost_level must not be 'sample'"):
        half_known_region(known, SampleLevel(np.array([0, 1])))
