"""Where scores of two classes are cut, against every cut tried one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.estimators._ensemble import (
    N_THRESHOLDS,
    REACH,
    REACH_OF_MANY,
    THRESHOLD_SHRINKAGE,
    best_thresholds,
)
from ecselm.fitness import ConfusionFitness
from ecselm.metrics.confusion import accuracy, gmean


@pytest.fixture
def data(rng):
    """Return scores (n, 1) that lie too low, and classes."""
    y = np.repeat([0, 1], [90, 30])
    return (2.5 * y + rng.standard_normal(120) - 2.3)[:, np.newaxis], y


def judge(y, metric=gmean, smoothing=0.0, weight=None):
    return ConfusionFitness(y, 2, weight, metric, smoothing)


def best_cut(scores, y, judge, weight=None):
    """Return the only cut of two classes."""
    (cut,) = best_thresholds(scores, y, weight, judge)
    return cut


def literal_cut(z, y):
    """Return the cut with the best G-mean less what distance costs, 0 where it is as good."""
    middle = (z[y == 0].mean() + z[y == 1].mean()) / 2
    within = np.where(y == 1, z - z[y == 1].mean(), z - z[y == 0].mean())
    spread = np.sqrt(np.mean(within**2))
    best, found = -np.inf, None
    for cut in [
        0.0,
        *(middle + spread * step for step in np.linspace(-REACH, REACH, N_THRESHOLDS)),
    ]:
        recalls = [np.mean((z > cut)[y == c] == c) for c in (0, 1)]
        value = np.sqrt(recalls[0] * recalls[1]) - THRESHOLD_SHRINKAGE * (cut / spread) ** 2
        if value > best:
            best, found = value, cut
    return found


def literal_cuts(scores, y):
    """Return the cuts of more than two classes, each the best while the others stay."""
    k = scores.shape[1]
    own = scores[np.arange(len(y)), y]
    spread = np.sqrt(np.mean([(z - own[y == c].mean()) ** 2 for z, c in zip(own, y, strict=True)]))
    cuts = np.zeros(k)
    for c in range(k):
        best = -np.inf
        for step in [cuts[c] / spread, *np.linspace(-REACH_OF_MANY, REACH_OF_MANY, N_THRESHOLDS)]:
            tried = np.where(np.arange(k) == c, step * spread, cuts)
            told = (scores - tried).argmax(axis=1)
            recalls = [np.mean(told[y == one] == one) for one in range(k)]
            value = (
                np.prod(recalls) ** (1 / k) - THRESHOLD_SHRINKAGE * ((tried / spread) ** 2).sum()
            )
            if value > best + 1e-12:
                best, found = value, tried
        cuts = found
    return cuts


def test_cut_is_the_best_of_all_tried(data):
    scores, y = data
    cut = best_cut(scores, y, judge(y))
    assert cut < 0  # the scores lie too low
    assert_allclose(cut, literal_cut(scores[:, 0], y), rtol=1e-9)


def test_cutting_is_worth_it(data):
    scores, y = data
    cut = best_cut(scores, y, judge(y))
    assert judge(y)((scores - cut)[np.newaxis]) > judge(y)(scores[np.newaxis])


def test_flat_fitness_leaves_scores_alone(data):
    scores, y = data
    assert best_cut(scores, y, lambda Z: np.full(len(Z), 0.7)) == 0.0


def test_scores_in_the_right_place_are_left_alone():
    y = np.repeat([0, 1], 20)
    scores = np.where(y == 1, 1.0, -1.0)[:, np.newaxis] + np.linspace(-0.1, 0.1, 40)[:, np.newaxis]
    assert best_cut(scores, y, judge(y, accuracy)) == 0.0


def test_scores_without_spread_are_left_alone():
    y = np.repeat([0, 1], 20)
    assert best_cut(np.where(y == 1, -0.2, -0.8)[:, np.newaxis], y, judge(y)) == 0.0


def test_more_classes_are_cut_one_after_the_other(rng):
    """Scores of the last class lie too low, and are moved up."""
    y = np.repeat([0, 1, 2], 30)
    scores = np.eye(3)[y] + 0.3 * rng.standard_normal((90, 3)) - [0.0, 0.0, 1.2]
    cuts = best_thresholds(scores, y, None, ConfusionFitness(y, 3, None, gmean, 0.0))
    assert cuts[2] < 0
    assert_allclose(cuts, literal_cuts(scores, y), atol=1e-9)


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_alone_is_left_alone(data, only):
    scores, y = data
    one = y == only
    assert best_cut(scores[one], y[one], judge(y[one], accuracy)) == 0.0


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_cut_grows_with_the_scores(data, factor):
    scores, y = data
    cut = best_cut(scores, y, judge(y, smoothing=0.5))
    assert_allclose(best_cut(factor * scores, y, judge(y, smoothing=0.5)), factor * cut, rtol=1e-9)


def test_a_row_of_weight_two_is_a_row_twice(data, rng):
    scores, y = data
    times = rng.integers(1, 4, len(y))
    weight = times.astype(float)
    cut = best_cut(scores, y, judge(y, gmean, 0.5, weight), weight)
    again, scores = np.repeat(y, times), np.repeat(scores, times, axis=0)
    assert_allclose(cut, best_cut(scores, again, judge(again, gmean, 0.5)), rtol=1e-9)


def test_order_of_rows_does_not_matter(data, rng):
    scores, y = data
    order = rng.permutation(len(y))
    cut = best_cut(scores, y, judge(y))
    assert_allclose(best_cut(scores[order], y[order], judge(y[order])), cut, rtol=1e-9)
