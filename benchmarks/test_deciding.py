"""The page on half-known costs says what the kept results of every split say."""

import numpy as np

from benchmarks.deciding import (
    FILE,
    FIRST,
    N_SPLITS,
    PAGE,
    RULES,
    TASKS,
    expected_regrets,
    filled,
    regrets,
    stored,
)


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m benchmarks.deciding --show"


def test_every_rule_was_run_on_the_same_splits():
    splits = stored(FILE)
    assert [(one.data, one.seed) for one in splits] == [
        (data, seed) for data in TASKS for seed in range(FIRST, FIRST + N_SPLITS)
    ]
    assert all(tuple(one.mean) == tuple(one.worst) == RULES for one in splits)


def test_deciding_by_the_true_costs_has_no_regret():
    P, y = np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([1, 1])
    M = np.array([[[0.0, 1.0], [5.0, 0.0]]])
    found = regrets(P, y, M, {"true": M[0], "0/1 costs": 1.0 - np.eye(2)})
    assert (found["true"][0], found["0/1 costs"][0]) == (0.0, 2.5)


def test_no_rule_beats_the_mean_of_the_true_costs_in_expectation():
    rng = np.random.default_rng(0)
    P, M = rng.dirichlet(np.ones(3), 100), rng.uniform(1, 9, (20, 3, 3)) * (1 - np.eye(3))
    found = expected_regrets(P, M, {"mean": M.mean(axis=0), "0/1 costs": 1.0 - np.eye(3)})
    assert 0 < found["mean"].mean() < found["0/1 costs"].mean()
    assert expected_regrets(P, M[:1], {"true": M[0]})["true"][0] == 0
