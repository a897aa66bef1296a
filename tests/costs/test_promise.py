"""Promises of recalls and false alarms: exact tails, the order of tests, groups."""

from math import ceil, comb, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, norm
from sklearn.metrics import recall_score

from ecselm.costs.decision import min_cost_decision
from ecselm.costs.promise import (
    CautiousCosts,
    Promise,
    cases_at_rate,
    cases_needed,
    check_promise,
    keep_promises,
    largest_p_value,
    read_promise,
    tail_probability,
    why_not,
)

COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [6.0, 3.0, 0.0]])


def drawn(n, k, seed=0, sharpness=3.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    Z = rng.standard_normal((n, k)) + sharpness * np.eye(k)[y]
    P = np.exp(2 * Z)
    return P / P.sum(axis=1, keepdims=True), y


def deciding(P):
    return lambda M: min_cost_decision(P, M)


def sequence_of(matrix, promises, P, y):
    return CautiousCosts(matrix, promises).sequence(y, deciding(P))


@pytest.mark.parametrize(("failed", "n", "limit"), [(0, 45, 0.05), (3, 40, 0.1), (7, 9, 0.5)])
def test_tail_is_the_sum_of_binomial_probabilities(failed, n, limit):
    literal = sum(comb(n, i) * limit**i * (1 - limit) ** (n - i) for i in range(failed + 1))
    assert_allclose(tail_probability(failed, n, limit), literal, rtol=1e-10)


def test_without_cases_nothing_is_shown():
    assert tail_probability(0, 0, 0.1) == 1.0


@pytest.mark.parametrize("recall", [0.5, 0.85, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.99])
def test_cases_without_a_failure_are_those_of_the_closed_form(recall, confidence):
    expected = ceil(log(1 - confidence) / log(recall) - 1e-9)
    assert cases_needed(1 - recall, confidence) == expected


@pytest.mark.parametrize("failed", [1, 2, 5])
def test_cases_needed_are_the_fewest(failed):
    n = cases_needed(0.1, 0.9, failed)
    assert tail_probability(failed, n, 0.1) <= 0.1 < tail_probability(failed, n - 1, 0.1)


def test_cases_at_a_rate_exist_below_the_limit_only():
    n = cases_at_rate(0.1, 0.9, 0.05)
    assert n is not None
    assert tail_probability(ceil(0.05 * n), n, 0.1) <= 0.1
    assert cases_at_rate(0.1, 0.9, 0.1) is None
    assert cases_at_rate(0.1, 0.9, 0.3) is None


@pytest.mark.parametrize("truth", [0, 1])
@pytest.mark.parametrize("stated", [0.5, 0.02, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_two_classes_equal_brute_force_over_all_thresholds(truth, stated, seed):
    P, y = drawn(300, 2, seed, sharpness=1.0)
    promises = (Promise(truth, None, 0.9),)
    M = np.array([[0.0, stated], [1 - stated, 0.0]])
    found = keep_promises(promises, sequence_of(M, promises, P, y), y, deciding(P), 0.9)
    # Every threshold between the most cautious and the stated one, literally.
    log_odds = np.linspace(-30, 30, 601)
    grid = 1 / (1 + np.exp(-log_odds))
    grid = grid[grid < stated] if truth == 1 else grid[grid > stated][::-1]
    best, n = None, int((y == truth).sum())
    for t in [*grid, stated]:
        answers = ((1 - t) * P[:, 1] > t * P[:, 0]).astype(int)
        missed = int(((y == truth) & (answers != truth)).sum())
        tail = sum(comb(n, i) * 0.1**i * 0.9 ** (n - i) for i in range(missed + 1))
        if tail > 0.1:
            break
        best = t
    assert found is not None
    assert_allclose(found.matrix[0, 1] / found.matrix.sum(), best, rtol=1e-9)
    assert_allclose(found.matrix.sum(), 1.0)


@pytest.mark.parametrize("asked", [{0: 0.9}, {2: 0.9}, {(1, 0): 0.1}, {1: 0.9, (1, 2): 0.01}])
def test_caution_keeps_one_class_and_costs_more(asked):
    P, y = drawn(400, 3, sharpness=1.0)
    promises = read_promise(asked, np.arange(3))
    sequence = sequence_of(COST, promises, P, y)
    assert_array_equal(sequence[-1].matrix, COST)
    answers = [min_cost_decision(P, one.matrix) for one in sequence]
    for promise in promises:
        failed = [promise.failures(y, one)[0] for one in answers]
        assert failed[0] == 0
        if len(promises) == 1 and promise.predicted is None:
            assert (np.diff(failed) >= 0).all()
    # By the probabilities of every row, the expected cost falls towards the stated costs.
    costs = np.array([(P @ COST)[np.arange(len(P)), one] for one in answers])
    assert (np.diff(costs, axis=0) <= 1e-9).all()


def test_free_mistakes_become_expensive():
    P, y = drawn(200, 3, sharpness=1.0)
    free = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    promises = (Promise(0, None, 0.9),)
    sequence = sequence_of(free, promises, P, y)
    assert (min_cost_decision(P, sequence[0].matrix) == 0).all()


def test_rows_multiplied_by_the_factor_decide():
    P, y = drawn(400, 3, sharpness=1.0)
    promises = (Promise(2, None, 0.9),)
    for one in sequence_of(COST, promises, P, y)[::40]:
        M = COST.copy()
        M[2] *= one.factors[2]
        assert_allclose(one.matrix, M * COST.sum() / M.sum(), rtol=1e-9)


def test_the_order_of_classes_does_not_matter():
    P, y = drawn(500, 3, sharpness=1.5)
    order = np.array([2, 0, 1])  # the old positions of the new classes
    place = np.argsort(order)
    for asked in ({0: 0.9}, {0: 0.7, 1: 0.7}, {(2, 1): 0.05}):
        promises = read_promise(asked, np.arange(3))
        moved = tuple(
            Promise(place[p.truth], None if p.predicted is None else place[p.predicted], p.asked)
            for p in promises
        )
        one = keep_promises(promises, sequence_of(COST, promises, P, y), y, deciding(P), 0.9)
        Q, z = P[:, order], place[y]
        M = COST[np.ix_(order, order)]
        other = keep_promises(moved, sequence_of(M, moved, Q, z), z, deciding(Q), 0.9)
        assert one is not None
        assert other is not None
        assert_allclose(other.matrix, one.matrix[np.ix_(order, order)], rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_competing_promises_start_where_other_rows_keep_them(k):
    P, y = drawn(3000, k, sharpness=2.0)
    promises = read_promise({0: 0.8, (1, 0): 0.15}, np.arange(k))
    far = (1.0 - np.eye(k)) * np.array([1.0, *[200.0] * (k - 1)])[:, np.newaxis]
    half = np.arange(3000) < 1000
    sequence = sequence_of(far, promises, P[half], y[half])
    found = keep_promises(promises, sequence, y[~half], deciding(P[~half]), 0.9)
    assert largest_p_value(promises, y, min_cost_decision(P, far)) > 0.1
    assert found is not None
    assert largest_p_value(promises, y[~half], min_cost_decision(P[~half], found.matrix)) <= 0.1


def test_asking_a_person_is_neither_recall_nor_false_alarm():
    y, answers = np.array([0, 0, 1, 1]), np.array([0, 2, 2, 0])
    assert Promise(0, None, 0.9).failures(y, answers) == (1, 2)
    assert Promise(1, 0, 0.1).failures(y, answers) == (1, 2)


@pytest.mark.parametrize("n_cases", [15, 50])
def test_recall_is_missed_no_more_often_than_stated(n_cases):
    """Scores N(1.5, 1) and N(0, 1): the true recall of a threshold is known."""
    rng, broken, fits = np.random.default_rng(0), 0, 1000
    promises, M = (Promise(1, None, 0.85),), 1.0 - np.eye(2)
    sequence = CautiousCosts(M, promises).sequence(np.empty(0, int), lambda M: np.empty(0, int))
    y = np.ones(n_cases, dtype=int)
    for _ in range(fits):
        # A finer grid would miss just as rarely: the tail is exact at every threshold.
        x = rng.normal(1.5, 1.0, n_cases)
        p = 1 / (1 + np.exp(-(1.5 * x - 1.5**2 / 2)))
        P = np.column_stack([1 - p, p])
        found = keep_promises(promises, sequence, y, deciding(P), 0.9)
        t = found.matrix[0, 1] / found.matrix.sum()
        cut = (np.log(t / (1 - t)) + 1.5**2 / 2) / 1.5
        broken += norm.sf(cut, 1.5) < 0.85
    assert binomtest(broken, fits, 0.1, alternative="greater").pvalue > 1e-3
    assert broken > 0  # it is not kept by being useless


def test_groups_are_checked_one_by_one():
    y = np.repeat(["ill", "well"], [120, 40])
    predicted = y.copy()
    predicted[:6] = "well"  # all of them in the first hospital
    predicted[40] = "ask"  # in the second
    hospital = np.r_[np.repeat(["A", "B", "C"], 40), np.repeat(["A", "B"], 20)]
    checks = check_promise(y, predicted, {"ill": 0.9}, ["ill", "well"], 0.9, hospital)
    assert [one.group for one in checks] == ["A", "B", "C"]
    assert [one.n_failures for one in checks] == [6, 1, 0]
    assert [one.holds for one in checks] == [False, True, True]
    recalls = [
        recall_score(y[hospital == g] == "ill", predicted[hospital == g] == "ill") for g in "ABC"
    ]
    assert_allclose([one.observed for one in checks], recalls)
    for one in checks:
        exact = binomtest(40 - one.n_failures, 40).proportion_ci(0.8, "exact").low
        assert_allclose(one.bound, exact)
        assert one.holds == (one.bound >= one.asked)
    (all_rows,) = check_promise(y, predicted, {"ill": 0.9}, ["ill", "well"])
    assert (all_rows.n_cases, all_rows.n_failures, all_rows.group) == (120, 7, None)


def test_rates_have_an_upper_bound_and_groups_without_cases_show_nothing():
    y, predicted = [0] * 50 + [1], [0] * 48 + [1, 1, 1]
    checks = check_promise(y, predicted, {(0, 1): 0.2}, [0, 1], 0.95, ["a"] * 50 + ["b"])
    exact = binomtest(2, 50).proportion_ci(0.9, "exact").high
    assert_allclose((checks[0].observed, checks[0].bound), (0.04, exact))
    assert checks[0].holds
    assert (checks[1].n_cases, checks[1].bound, checks[1].holds) == (0, 1.0, False)
    assert np.isnan(checks[1].observed)


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({}, "promise must be a dict"),
        ([0.9], "promise must be a dict"),
        ({"a": 0}, "promise of 'a' must be between 0 and 1, got 0"),
        ({"a": 1}, "between 0 and 1, got 1"),
        ({"a": float("nan")}, "between 0 and 1, got nan"),
        ({"a": "0.9"}, "between 0 and 1, got '0.9'"),
        ({"a": True}, "between 0 and 1, got True"),
        ({"c": 0.9}, r"promise must be about classes, \['a', 'b'\], got 'c'"),
        ({("a", "c"): 0.1}, "got 'c'"),
        ({("a", "a"): 0.1}, r"a pair \(true, predicted\) of two classes, got \('a', 'a'\)"),
        ({("a",) * 3: 0.1}, "of two classes"),
        ({(): 0.1}, "of two classes"),
    ],
)
def test_bad_promises_are_refused_in_one_sentence(promise, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_promise(promise, np.array(["a", "b"]))
    assert "\n" not in str(caught.value)


def test_bad_checks_are_refused():
    with pytest.raises(ValueError, match="confidence must be between"):
        check_promise([0, 1], [0, 1], {0: 0.9}, [0, 1], 1.0)
    with pytest.raises(ValueError, match=r"y_true must hold classes, \[0, 1\], got 2"):
        check_promise([0, 2], [0, 1], {0: 0.9}, [0, 1])
    with pytest.raises(ValueError, match="y_pred must have one label per row"):
        check_promise([0, 1], [0], {0: 0.9}, [0, 1])
    with pytest.raises(ValueError, match="groups must have one label per row"):
        check_promise([0, 1], [0, 1], {0: 0.9}, [0, 1], groups=["a"])


def test_the_reason_names_what_was_asked_and_how_many_more_cases_it_takes():
    classes, promises = np.array(["ill", "well"]), (Promise(0, None, 0.95),)
    y = np.zeros(20, dtype=int)
    assert why_not(promises, classes, y, y, 0.9) == (
        "promise must be tested on enough cases: a recall of 'ill' of at least 0.95 with "
        "confidence 0.9 takes 45 of the class even without a failure, got 20, 25 too few"
    )
    y = np.zeros(60, dtype=int)
    answers = np.r_[np.ones(1, int), np.zeros(59, int)]
    more = cases_at_rate(0.05, 0.9, 1 / 60) - 60
    reason = why_not(promises, classes, y, answers, 0.9)
    assert "got 1 missed among 60 cases" in reason
    assert f"at this rate of 0.0167 it would take {more} more" in reason
    assert "no number of cases would do" in why_not(promises, classes, y, 1 - y, 0.9)
