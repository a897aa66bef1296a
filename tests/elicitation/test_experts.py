"""Simulated experts: how many questions it takes to know their costs within 10 %."""

import numpy as np
import pytest

from ecselm.costs import CostConstraints
from ecselm.elicitation import CostElicitor
from ecselm.elicitation.elicitor import supposed

SPAN = 100.0
LIMIT = int(np.ceil(np.log2(np.log(SPAN) / np.log(1.1))))  # yes or no, for two classes


def asked(k, seed, error_rate=0.0, most=200):
    """Return how many questions were asked, and after how many costs were within 10 % for good.

    With errors the estimate takes a second, so that it is looked at after every k - 1 questions.
    """
    rng = np.random.default_rng([seed, k])
    names = list("abcde")[:k]
    known = CostConstraints(names, intervals=dict.fromkeys(names[1:], (1, SPAN)))
    truth = known.sample(1, rng)[0]
    P = rng.dirichlet(np.full(k, 0.5), 200)
    one = CostElicitor(known, P, tolerance=0, error_rate=error_rate, random_state=seed)
    places, errors = ~np.eye(k, dtype=bool), {}
    while len(one.history) < most and (question := one.ask()) is not None:
        key = question.answer_for(truth)
        if rng.random() < error_rate:
            key = rng.choice([c.key for c in question.choices if c.states and c.key != key])
        one.tell(key)
        n = len(one.history)
        if not error_rate or n % (k - 1) == 0 or n == most or one.done:
            errors[n] = np.abs(one.constraints.mean()[places] / truth[places] - 1).max()
    last_far = max((n for n, error in errors.items() if error > 0.1), default=0)
    near = min((n for n in errors if n > last_far), default=np.inf)
    return len(one.history), near


def test_the_limit_of_information_is_six_questions():
    assert LIMIT == 6


@pytest.mark.parametrize(("k", "seeds"), [(2, range(5)), (3, range(2)), (5, range(1))])
def test_costs_are_known_within_10_per_cent_after_few_questions(k, seeds):
    for seed in seeds:
        n, near = asked(k, seed)
        assert near <= n <= (k - 1) * (LIMIT + 1)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 60), (3, 30), (5, 15)])
def test_many_experts_without_errors(k, n, record_property):
    found = [asked(k, seed) for seed in range(100, 100 + n)]
    record_property("questions", float(np.mean([questions for questions, _ in found])))
    assert all(near <= questions <= (k - 1) * (LIMIT + 1) for questions, near in found)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 100), (3, 20), (5, 6)])
def test_one_wrong_answer_in_ten_takes_at_most_twice_as_many(k, n, record_property):
    most = 2 * (k - 1) * (LIMIT + 1)
    found = [asked(k, seed, 0.1, most)[1] for seed in range(100, 100 + n)]
    record_property("questions", float(np.median(found)))
    # Chance may let many of an expert's answers be wrong.
    assert np.mean([near <= most for near in found]) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 20), (3, 5)])
def test_regret_at_the_true_costs_is_what_was_expected(k, n):
    expected, true = [], []
    for seed in range(n):
        rng = np.random.default_rng([seed, k])
        known = supposed(list(range(k)))
        truth = known.sample(1, rng)[0]
        P = rng.dirichlet(np.full(k, 0.5), 300)
        one = CostElicitor(known, P, random_state=seed, tolerance=0.02)
        while not one.done:
            one.tell(one.ask().answer_for(truth))
        costs = truth / (P.mean(axis=0) @ truth).min()
        decided = (P @ one.decision_matrix).argmin(axis=1)
        paid = (P @ costs)[np.arange(len(P)), decided].mean()
        true.append(paid - (P @ costs).min(axis=1).mean())
        expected.append(one.regret)
    assert max(expected) <= 0.02
    assert np.mean(true) <= 0.02
