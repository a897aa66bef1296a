"""The searches of the audit, against (15) solved literally."""

from __future__ import annotations

import numpy as np
import pytest

from ecselm import ELMClassifier
from ecselm.fitness import fold_splits
from ecselm.paper.audit import Arm, Effort
from ecselm.paper.audit.searches import (
    ARMS,
    KINDS,
    N_FOLDS,
    N_TEST,
    N_TRAIN,
    POSITIVE,
    SIGNED,
    STRENGTH,
    Task,
    compared,
    difference_test,
    searched,
)
from ecselm.paper.datasets import make_m2b_like

TINY = Effort(2, 6, 2)
BOUNDS = pytest.mark.parametrize("bounds", [SIGNED, POSITIVE], ids=["signed", "positive"])


@pytest.fixture(scope="module")
def data():
    return make_m2b_like("vocal", random_state=0)


@pytest.fixture(scope="module")
def task(data):
    return Task.drawn(data.X, data.y - 1, 5, np.random.default_rng(1))


def literal_answers(H, y, B, judged, k=5):
    """Return the classes that (15) gives the rows ``judged``."""
    T = np.where(y[:, np.newaxis] == np.arange(k), 1.0, -1.0)
    S = np.diag(B)
    beta = np.linalg.solve(np.eye(H.shape[1]) / STRENGTH + H.T @ S @ H, H.T @ S @ T)
    return (judged @ beta).argmax(axis=1)


def test_a_task_has_the_rows_of_table_i(task):
    assert task.H.shape == (N_TRAIN + N_TEST, 100)
    assert (task.n_train, len(task.y) - task.n_train) == (400, 220)
    assert np.abs(task.H).max() <= 1.0


def test_costs_of_one_are_the_plain_machine(data):
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    drawn = Task.drawn(data.X, data.y - 1, 5, rng)
    rows = same.permutation(len(data.X))
    X, y = data.X[rows], data.y[rows]
    machine = ELMClassifier(100, draw="uniform", scale="minmax", random_state=same)
    expected = machine.fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert drawn.accuracy(np.ones(400)) == expected


@BOUNDS
def test_training_fitness_is_the_accuracy_on_the_training_rows(task, bounds):
    B, fitness = searched(task, KINDS[0], bounds, TINY, np.random.default_rng(2))
    H, y = task.H[:400], task.y[:400]
    assert np.mean(literal_answers(H, y, B, H) == y) == pytest.approx(fitness)
    assert bounds[0] <= B.min() <= B.max() <= bounds[1]


@BOUNDS
def test_out_of_fold_fitness_is_judged_without_the_fold(task, bounds):
    rng, same = np.random.default_rng(2), np.random.default_rng(2)
    B, fitness = searched(task, KINDS[1], bounds, TINY, rng)
    y, right = task.y[:400], 0
    for split in fold_splits(task.X[:400], y, N_FOLDS, same):
        H = task.H[split.train]
        told = literal_answers(H, y[split.train], B[split.train], task.H[split.test])
        right += np.sum(told == y[split.test])
    assert right / 400 == pytest.approx(fitness)


@BOUNDS
def test_the_oracle_finds_what_it_is_tested_by(task, bounds):
    B, fitness = searched(task, KINDS[2], bounds, TINY, np.random.default_rng(2))
    told = literal_answers(task.H[:400], task.y[:400], B, task.H[400:])
    assert np.mean(told == task.y[400:]) == pytest.approx(fitness)
    assert task.accuracy(B) == pytest.approx(fitness)


def test_only_the_oracle_is_moved_by_the_labels_of_the_test_rows(task):
    other = np.append(task.y[:400], np.roll(task.y[400:], 1))
    turned = Task(task.X, task.H, other, task.n_train, task.n_classes)
    for kind in KINDS:
        found = [
            searched(one, kind, POSITIVE, TINY, np.random.default_rng(4))[0]
            for one in (task, turned)
        ]
        assert np.array_equal(*found) == (kind != KINDS[2])


def test_arms_come_in_one_order_and_do_not_depend_on_jobs(data):
    runs = [
        compared(data.X, data.y, TINY, np.random.default_rng(5), n_jobs=jobs) for jobs in (1, 2)
    ]
    assert [(arm.bounds, arm.judged_by) for arm in runs[0][1:]] == list(ARMS)
    assert [arm.accuracy for arm in runs[0]] == [arm.accuracy for arm in runs[1]]
    assert [arm.is_oracle for arm in runs[0]] == [False, *[False, False, True] * 2]


def test_random_labels_are_drawn_anew_in_every_repeat(data):
    arms = compared(data.X, None, TINY, np.random.default_rng(6))
    assert all(len(arm.accuracy) == 2 for arm in arms)
    assert np.isnan(arms[0].fitness).all()


def test_mean_and_spread_are_over_the_repeats():
    arm = Arm(KINDS[0], SIGNED, (0.5, 0.5), (0.2, 0.4))
    assert (arm.mean, arm.spread) == pytest.approx((0.3, np.sqrt(0.02)))


def test_arms_are_compared_split_by_split():
    one = Arm(KINDS[0], SIGNED, (0.5,) * 4, (0.30, 0.31, 0.33, 0.29))
    other = Arm(KINDS[2], SIGNED, (0.5,) * 4, (0.40, 0.42, 0.42, 0.39))
    assert difference_test(other, one).p < 0.01
    assert difference_test(other, one).statistic == -difference_test(one, other).statistic


def test_too_few_rows_are_refused(data):
    with pytest.raises(ValueError, match="X must have at least 620 rows, got 10"):
        compared(data.X[:10], data.y[:10], TINY, np.random.default_rng(0))
