"""The front of recalls: literal oracles, invariance, honest figures, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs.front import (
    MOST_POINTS,
    MOST_POINTS_OF_MANY,
    RecallFront,
    clearly_dominated,
    confusions_at,
    cost_pattern,
    cost_vectors,
    halves,
    recalls_at,
    spread_out,
    undominated,
)


def rows(n: int, k: int, seed: int = 0, digits: int | None = None):
    """Return probabilities and classes of overlapping normal clouds."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, size=n, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    Z = rng.normal(size=(n, k)) + 1.2 * np.eye(k)[y]
    P = np.exp(Z) * np.arange(1, k + 1)
    P /= P.sum(axis=1, keepdims=True)
    return (P if digits is None else np.round(P, digits)), y


def dominates(a, b) -> bool:
    return bool(np.all(np.asarray(a) >= b) and np.any(np.asarray(a) > b))


def ones_of(P, y, some):
    return P[some], y[some], np.ones(len(some))


def recall_pair(p, y, t):
    answer = (p > t).astype(int)
    return [(answer[y == c] == c).mean() for c in (0, 1)]


# Literal oracles


@pytest.mark.parametrize("digits", [None, 1])
def test_two_classes_equal_all_thresholds_tried_one_by_one(digits):
    P, y = rows(300, 2, digits=digits)
    P[:, 0] = 1.0 - P[:, 1]
    chooses, reports = halves(y, 2)
    p = P[chooses, 1]
    values = np.unique(p)
    tried = [0.0, 1.0, *((values[1:] + values[:-1]) / 2)]
    reached = [tuple(np.round(recall_pair(p, y[chooses], t), 12)) for t in tried]
    best = {r for r in reached if not any(dominates(other, r) for other in reached)}
    front = RecallFront.of_rows(P, y)
    shown = [recall_pair(p, y[chooses], t) for t in front.thresholds()]
    assert {tuple(np.round(r, 12)) for r in shown} <= best
    # Those that are missing are clearly dominated on the other rows.
    lowest: dict[tuple[float, ...], float] = {}
    for t, r in sorted(zip(tried, reached, strict=True)):
        lowest.setdefault(r, t)
    every = np.array([t for r, t in lowest.items() if r in best])
    other = np.array([recall_pair(P[reports, 1], y[reports], t) for t in every])
    errors = front_errors(other, np.bincount(y[reports]))
    expected = every[~literally_dominated(other, errors)]
    assert_allclose(sorted(set(front.thresholds())), np.unique(expected), rtol=1e-12)


def front_errors(recalls, sizes):
    q = (recalls * sizes + 2) / (sizes + 4)
    return np.sqrt(q * (1 - q) / (sizes + 4))


def literally_dominated(recalls, errors):
    return np.array(
        [
            any(np.all(b >= a) and np.any(b > a + e) for b in recalls)
            for a, e in zip(recalls, errors, strict=True)
        ]
    )


def test_three_classes_equal_all_cost_vectors_tried_one_by_one():
    P, y = rows(120, 3)
    pattern = 1.0 - np.eye(3)
    chooses, reports = halves(y, 3)
    tried = cost_vectors(np.bincount(y) / len(y), [], [], 3000)
    points = []
    for b in tried:
        answers = (P[chooses] @ (b[:, None] * pattern)).argmin(axis=1)
        points.append([(answers[y[chooses] == c] == c).mean() for c in range(3)])
    points = np.round(points, 12)
    best = {tuple(a) for a in points if not any(dominates(b, a) for b in points)}
    front = RecallFront.of_rows(P, y)
    shown = np.round(recalls_at(front.costs, pattern, *ones_of(P, y, chooses)), 12)
    assert {tuple(a) for a in shown} <= best
    kept = {tuple(np.round(b, 9)) for b in front.costs}
    first = [int(np.flatnonzero((points == a).all(axis=1))[0]) for a in best]
    assert kept <= {tuple(np.round(tried[i], 9)) for i in first}
    other = recalls_at(tried[first], pattern, *ones_of(P, y, reports))
    errors = front_errors(other, np.bincount(y[reports]))
    assert len(kept) == int((~literally_dominated(other, errors)).sum())


@pytest.mark.parametrize("k", [2, 3, 5])
def test_recalls_are_those_of_least_expected_cost(k):
    P, y = rows(80, k, digits=1)  # with ties
    rng = np.random.default_rng(1)
    w, pattern = rng.random(80), rng.random((k, k)) * (1 - np.eye(k))
    costs = rng.integers(1, 4, (20, k)).astype(float)
    confusions = confusions_at(costs, 1 - np.eye(k), P, y, w)
    for b, found, confusion in zip(
        costs, recalls_at(costs, pattern, P, y, w), confusions, strict=True
    ):
        answers = (P @ (b[:, None] * pattern)).argmin(axis=1)
        expected = [np.average(answers[y == c] == c, weights=w[y == c]) for c in range(k)]
        assert_allclose(found, expected, atol=1e-12)
        assert_allclose(confusion.sum(axis=1), 1.0)


@pytest.mark.parametrize(("n", "k"), [(1, 2), (50, 2), (400, 3), (700, 6)])
def test_undominated_equals_all_pairs(n, k):
    points = np.random.default_rng(n).integers(0, 7, (n, k)).astype(float)
    seen, expected = set(), []
    for i, a in enumerate(points):
        if not any(dominates(b, a) for b in points) and tuple(a) not in seen:
            seen.add(tuple(a))
            expected.append(i)
    assert_array_equal(undominated(points), expected)


def test_clearly_dominated_equals_its_definition():
    rng = np.random.default_rng(0)
    recalls, errors = rng.random((60, 3)), 0.2 * rng.random((60, 3))
    assert_array_equal(clearly_dominated(recalls, errors), literally_dominated(recalls, errors))


def test_mean_cost_is_that_of_the_stated_costs():
    P, y = rows(200, 3)
    stated = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 2.0], [7.0, 1.0, 0.0]])
    front = RecallFront.of_rows(P, y, stated=stated, pattern=cost_pattern(stated))
    _, reports = halves(y, 3)
    shares = np.bincount(y) / len(y)
    for q in range(len(front)):
        answers = (P[reports] @ front.matrix(q)).argmin(axis=1)
        by_class = [stated[c, answers[y[reports] == c]].mean() for c in range(3)]
        assert_allclose(front.mean_cost[q], shares @ by_class, rtol=1e-12)
    assert (front.mean_cost_std_error > 0).all()
    assert np.isnan(RecallFront.of_rows(P, y).mean_cost_std_error).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_mean_costs_of_two_classes_are_those_of_the_recalls(weighted):
    P, y = rows(200, 2)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    stated, shares = np.array([[0.0, 2.0], [7.0, 0.0]]), np.array([0.9, 0.1])
    front = RecallFront.of_rows(P, y, w, shares, stated=stated)
    by_class = front.std_errors * shares * [2.0, 7.0]
    assert_allclose(front.mean_cost_std_error, np.sqrt((by_class**2).sum(axis=1)))


def test_errors_of_mean_costs_are_those_of_means_of_many_rows():
    P, y = rows(4000, 3)
    stated = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 2.0], [7.0, 1.0, 0.0]])
    front = RecallFront.of_rows(P, y, stated=stated, pattern=cost_pattern(stated))
    _, reports = halves(y, 3)
    shares = np.bincount(y) / len(y)
    for q in range(0, len(front), 20):
        answers = (P[reports] @ front.matrix(q)).argmin(axis=1)
        costs = [stated[c, answers[y[reports] == c]] for c in range(3)]
        variance = sum(s**2 * one.var() / len(one) for s, one in zip(shares, costs, strict=True))
        assert_allclose(front.mean_cost_std_error[q], np.sqrt(variance), rtol=0.05)


# Invariance


def test_swapped_classes_have_the_same_front():
    P, y = rows(400, 2)
    one, two = RecallFront.of_rows(P, y), RecallFront.of_rows(P[:, ::-1], 1 - y)
    assert_allclose(one.thresholds(), 1.0 - two.thresholds()[::-1], atol=1e-12)
    assert_allclose(one.recalls, two.recalls[::-1, ::-1])
    assert_allclose(one.std_errors, two.std_errors[::-1, ::-1])


def test_permuted_classes_permute_recalls_and_halves():
    P, y = rows(200, 3)
    order = np.array([2, 0, 1])  # the class i is called order[i]
    new, Q = order[y], np.empty_like(P)
    Q[:, order] = P
    for a, b in zip(halves(y, 3), halves(new, 3), strict=True):
        assert_array_equal(a, b)
    costs = np.random.default_rng(0).random((30, 3))
    moved = np.empty_like(costs)
    moved[:, order] = costs
    equal, ones = 1.0 - np.eye(3), np.ones(200)
    before, after = recalls_at(costs, equal, P, y, ones), recalls_at(moved, equal, Q, new, ones)
    assert_allclose(after[:, order], before)
    assert_array_equal(undominated(after), undominated(before))


def test_a_weight_of_two_counts_as_two_rows_in_recalls():
    P, y = rows(60, 3)
    w = 1.0 + np.arange(60) % 2
    costs = cost_vectors(np.full(3, 1 / 3), [], [], 40)
    twice = np.repeat(np.arange(60), w.astype(int))
    equal = 1.0 - np.eye(3)
    assert_allclose(
        recalls_at(costs, equal, P, y, w),
        recalls_at(costs, equal, P[twice], y[twice], np.ones(len(twice))),
    )


def test_the_scale_of_weights_does_not_matter():
    P, y = rows(200, 2)
    one, two = (RecallFront.of_rows(P, y, np.full(200, w)) for w in (1.0, 7.0))
    assert_allclose(one.recalls, two.recalls)
    assert_allclose(one.std_errors, two.std_errors)


# Limits


def test_no_reported_point_is_dominated_by_more_than_its_standard_error():
    for k, seed in itertools.product([2, 3, 4], range(3)):
        front = RecallFront.of_rows(*rows(500, k, seed))
        assert len(front) > 3
        assert not literally_dominated(front.recalls, front.std_errors).any()


def test_points_are_few_and_rows_are_bounded():
    P, y = rows(20_000, 2)
    first, second = halves(y, 2)
    assert len(first) + len(second) <= 5000
    assert not set(first) & set(second)
    assert len(RecallFront.of_rows(P, y)) <= MOST_POINTS
    assert len(RecallFront.of_rows(*rows(2000, 6))) <= MOST_POINTS_OF_MANY
    rare = np.repeat([0, 1], [20_000, 30])
    assert np.bincount(rare[np.concatenate(halves(rare, 2))])[1] == 30  # none is given away


def test_groups_are_in_one_half_and_count_as_one_row():
    P, y = rows(300, 2)
    groups = np.arange(300) // 3
    first, second = halves(y, 2, groups)
    assert not set(groups[first]) & set(groups[second])
    assert len(first) + len(second) == 300
    alone = RecallFront.of_rows(P, y, groups=np.arange(300))
    together = RecallFront.of_rows(P, y, groups=groups)
    assert together.std_errors.min() > alone.std_errors.min()


@pytest.mark.parametrize("counts", [(3, 0), (1, 1), (5, 1), (1, 1, 1), (4, 4, 0)])
def test_few_rows_have_a_front(counts):
    k, y = len(counts), np.repeat(np.arange(len(counts)), counts)
    P = np.full((len(y), k), 1.0 / k)
    front = RecallFront.of_rows(P, y, stated=1.0 - np.eye(k))
    assert len(front) >= 1
    assert_array_equal(np.isnan(front.recalls).all(axis=0), np.array(counts) == 0)
    assert np.isfinite(front.mean_cost).all()


def test_spread_out_keeps_the_ends():
    points = np.column_stack([np.linspace(0, 1, 500), np.linspace(1, 0, 500)])
    kept = spread_out(points, 20)
    assert len(kept) == 20
    assert {0, 499} <= set(kept.tolist())
    assert np.diff(kept).max() <= 500 / 8


def test_cost_vectors_are_the_same_in_every_call_and_hold_those_that_no_row_has_chosen():
    stated, learned = np.array([1.0, 5.0, 0.5, 9.5]), np.array([3.0, 1.0, 0.2, 4.0])
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    found = cost_vectors(shares, [stated], [learned], 900)
    assert found.shape == (900, 4)
    assert_allclose(found.mean(axis=1), 1.0)
    assert_array_equal(found, cost_vectors(shares, [stated], [learned], 900))

    def is_found(one):
        return bool(np.isclose(found, one / one.mean()).all(axis=1).any())

    assert is_found(stated)
    assert is_found(np.ones(4))
    assert is_found(1 / shares)
    assert is_found(learned * [2, 1, 1, 1])
    assert not is_found(learned)


# Best points and errors


def test_the_best_point_reaches_what_is_wanted_at_the_least_cost():
    P, y = rows(2000, 2)
    stated = np.array([[0.0, 1.0], [1.0, 0.0]])
    front = RecallFront.of_rows(P, y, stated=stated)
    least = np.array([0.0, 0.9])
    able = front.recalls[:, 1] >= 0.9
    assert front.best(least) == np.flatnonzero(able)[front.mean_cost[able].argmin()]
    plain = RecallFront.of_rows(P, y)
    able = plain.recalls[:, 1] >= 0.9
    best = plain.recalls[plain.best(least)]
    assert best.mean() == plain.recalls[able].mean(axis=1).max()
    assert plain.best(np.array([0.99, 0.99])) is None


def test_a_front_refuses_arrays_of_other_shapes():
    ones, equal = np.ones((4, 2)), 1.0 - np.eye(2)
    with pytest.raises(ValueError, match="of a shape"):
        RecallFront(ones, equal, ones[:3], ones, ones[:, 0])
    with pytest.raises(ValueError, match="mean cost by point"):
        RecallFront(ones, equal, ones, ones, ones[:, 0], np.ones(3))
    with pytest.raises(ValueError, match="mean cost by point"):
        RecallFront(ones, equal, ones, ones, np.ones(3), ones[:, 0])
    with pytest.raises(ValueError, match="finite numbers >= 0"):
        RecallFront(-ones, equal, ones, ones, ones[:, 0])


# Honest figures


def coverage(k: int, n: int, n_repetitions: int) -> tuple[float, float, float]:
    """Return how often 95 % intervals hold true recalls, how often mean costs, and the mean of
    what recalls are too high.
    """
    Q, z = rows(100_000, k, 10_000)
    shares, stated = np.bincount(z) / len(z), np.arange(1.0, k * k + 1).reshape(k, k)
    np.fill_diagonal(stated, 0.0)
    right, total, costs, above = 0, 0, [], []
    for seed in range(n_repetitions):
        front = RecallFront.of_rows(*rows(n, k, seed), shares=shares, stated=stated)
        some = np.linspace(0, len(front) - 1, 12).astype(int)
        confusions = confusions_at(front.costs[some], front.pattern, Q, z, np.ones(len(z)))
        apart = front.recalls[some] - confusions.diagonal(axis1=1, axis2=2)
        right += int((np.abs(apart) <= 1.96 * front.std_errors[some]).sum())
        total += apart.size
        above.append(apart.mean())
        costly = front.mean_cost[some] - (confusions * stated).sum(axis=2) @ shares
        costs.append(np.abs(costly) <= 1.96 * front.mean_cost_std_error[some])
    return right / total, float(np.mean(costs)), float(np.mean(above))


@pytest.mark.parametrize(("k", "n"), [(2, 400), (3, 600)])
def test_intervals_hold_the_recalls_and_costs_of_fresh_rows(k, n):
    share, of_costs, above = coverage(k, n, 12)
    assert share > 0.85
    assert of_costs > 0.8
    assert abs(above) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 150), (2, 1000), (3, 600), (5, 1500)])
def test_intervals_hold_the_recalls_of_fresh_rows_in_95_of_100_repetitions(k, n):
    share, of_costs, above = coverage(k, n, 200)
    assert 0.92 < share < 0.985
    assert 0.92 < of_costs < 0.985
    assert abs(above) < 0.02  # dropping dominated points flatters a little where rows are few
