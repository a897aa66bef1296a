"""The page on asking says what the kept results of every person say."""

import numpy as np
import pytest

from benchmarks.elicitation import (
    FILE,
    FIRST,
    METHODS,
    MOST,
    N_PEOPLE,
    PAGE,
    TASKS,
    TOLERANCE,
    at_random,
    filled,
    halving,
    stored,
    thirds,
)
from ecselm.elicitation import CostElicitor
from ecselm.elicitation.elicitor import supposed


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.elicitation --show"


def test_every_method_asked_the_same_people():
    assert [(one.data, one.method, one.seed) for one in stored(FILE)] == [
        (data, method, seed)
        for data in TASKS
        for method in METHODS
        for seed in range(FIRST, FIRST + N_PEOPLE)
    ]


def test_questions_went_on_until_the_regret_was_small():
    for one in stored(FILE):
        assert len(one.kinds) + 1 == len(one.regret) == len(one.settled) == len(one.true)
        assert one.regret[-1] <= TOLERANCE or len(one.kinds) == MOST
        assert all(regret >= TOLERANCE for regret in one.regret[:-1])  # five digits are kept


@pytest.mark.parametrize("method", [at_random, halving, thirds])
@pytest.mark.parametrize("k", [2, 3])
def test_baselines_ask_what_can_be_answered(method, k):
    known, rng = supposed(range(k)), np.random.default_rng(0)
    truth = known.sample(1, rng)[0]
    elicitor = CostElicitor(known, rng.dirichlet(np.ones(k), 50), random_state=0)
    for _ in range(3):
        question = method(elicitor, rng)
        elicitor.tell(question.answer_for(truth), question=question)
    assert elicitor.constraints.contains(truth)
    first = CostElicitor(known, elicitor.rows, random_state=0)
    assert elicitor.settled > first.settled
