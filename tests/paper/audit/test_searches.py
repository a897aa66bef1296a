"""The searches of the audit, against (15) solved literally."""

from __future__ import annotations

import numpy as np
import pytest

from ecselm import ELMClassifier
from ecselm.fitness import fold_splits
from ecselm.paper.audit import Effort
from ecselm.paper.audit.searches import (
    ARMS,
    KINDS,
    N_FOLDS,
    N_TEST,
    N_TRAIN,
    POSITIVE,
    SIGNED,
    STRENGTH,
    Arm,
    Task,
    compare_searches,
    difference_test,
    search_costs,
)
from ecselm.paper.datasets import make_m2b_like

TINY = Effort(2, 6, 2)
BOUNDS = pytest.mark.parametrize("bounds", [SIGNED, POSITIVE], ids=["signed", "positive"])


@pytest.fixture(scope="module")
def data():
    return make_m2b_like("vocal", random_state=0)


@pytest.fixture(scope="module")
def task(data):
    return Task.draw(data.X, data.y - 1, 5, np.random.default_rng(1))


def literal_predictions(H, y, B, rows, k=5):
    """Return the classes that (15) predicts for hidden ``rows``."""
    T = np.where(y[:, np.newaxis] == np.arange(k), 1.0, -1.0)
    S = np.diag(B)
    beta = np.linalg.solve(np.eye(H.shape[1]) / STRENGTH + H.T @ S @ H, H.T @ S @ T)
    return (rows @ beta).argmax(axis=1)


def test_a_task_has_the_rows_of_table_i(task):
    assert task.H.shape == (N_TRAIN + N_TEST, 100)
    assert (task.n_train, len(task.y) - task.n_train) == (400, 220)
    assert np.abs(task.H).max() <= 1.0


def test_costs_of_one_are_the_plain_machine(data):
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    drawn = Task.draw(data.X, data.y - 1, 5, rng)
    rows = same.permutation(len(data.X))
    X, y = data.X[rows], data.y[rows]
    machine = ELMClassifier(100, draw="uniform", scale="minmax", random_state=same)
    expected = machine.fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert drawn.accuracy(np.ones(400)) == expected


@BOUNDS
def test_training_fitness_is_the_accuracy_on_the_training_rows(task, bounds):
    B, fitness, equal = search_costs(task, KINDS[0], bounds, TINY, np.random.default_rng(2))
    H, y = task.H[:400], task.y[:400]
    assert np.mean(literal_predictions(H, y, B, H) == y) == pytest.approx(fitness)
    assert np.mean(literal_predictions(H, y, np.ones(400), H) == y) == pytest.approx(equal)
    assert bounds[0] <= B.min() <= B.max() <= bounds[1]


@BOUNDS
def test_out_of_fold_fitness_is_trained_without_the_fold(task, bounds):
    rng, same = np.random.default_rng(2), np.random.default_rng(2)
    B, fitness, equal = search_costs(task, KINDS[1], bounds, TINY, rng)
    y, right, right_equal = task.y[:400], 0, 0
    for split in fold_splits(task.X[:400], y, N_FOLDS, same):
        H = task.H[split.train]
        y_pred = literal_predictions(H, y[split.train], B[split.train], task.H[split.test])
        right += np.sum(y_pred == y[split.test])
        ones = np.ones(len(split.train))
        y_equal = literal_predictions(H, y[split.train], ones, task.H[split.test])
        right_equal += np.sum(y_equal == y[split.test])
    assert right / 400 == pytest.approx(fitness)
    assert right_equal / 400 == pytest.approx(equal)


@BOUNDS
def test_the_oracle_searches_on_the_test_rows(task, bounds):
    B, fitness, equal = search_costs(task, KINDS[2], bounds, TINY, np.random.default_rng(2))
    y_pred = literal_predictions(task.H[:400], task.y[:400], B, task.H[400:])
    assert np.mean(y_pred == task.y[400:]) == pytest.approx(fitness)
    assert task.accuracy(B) == pytest.approx(fitness)
    assert task.accuracy(np.ones(400)) == pytest.approx(equal)


def test_only_the_oracle_is_moved_by_the_labels_of_the_test_rows(task):
    other = np.append(task.y[:400], np.roll(task.y[400:], 1))
    turned = Task(task.X, task.H, other, task.n_train, task.n_classes)
    for kind in KINDS:
        found = [
            search_costs(one, kind, POSITIVE, TINY, np.random.default_rng(4))[0]
            for one in (task, turned)
        ]
        assert np.array_equal(*found) == (kind != KINDS[2])


def test_arms_come_in_one_order_and_do_not_depend_on_jobs(data):
    runs = [
        compare_searches(data.X, data.y, TINY, np.random.default_rng(5), n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert [(arm.bounds, arm.fitness_on) for arm in runs[0][1:]] == list(ARMS)
    assert [arm.accuracy for arm in runs[0]] == [arm.accuracy for arm in runs[1]]
    assert [arm.is_oracle for arm in runs[0]] == [False, *[False, False, True] * 2]


def test_random_labels_are_drawn_anew_in_every_repeat(data):
    arms = compare_searches(data.X, None, TINY, np.random.default_rng(6))
    assert all(len(arm.accuracy) == 2 for arm in arms)
    assert np.isnan(arms[0].fitness).all()


def test_mean_and_std_are_over_the_repeats():
    arm = Arm(KINDS[0], SIGNED, (0.5, 0.5), (0.2, 0.4))
    assert (arm.mean, arm.std) == pytest.approx((0.3, np.sqrt(0.02)))


def test_arms_are_compared_split_by_split():
    one = Arm(KINDS[0], SIGNED, (0.5,) * 4, (0.30, 0.31, 0.33, 0.29))
    other = Arm(KINDS[2], SIGNED, (0.5,) * 4, (0.40, 0.42, 0.42, 0.39))
    assert difference_test(other, one).p < 0.01
    assert difference_test(other, one).statistic == -difference_test(one, other).statistic


def test_too_few_rows_are_refused(data):
    with pytest.raises(ValueError, match="X must have at least 620 rows, got 10"):
        compare_searches(data.X[:10], data.y[:10], TINY, np.random.default_rng(0))
