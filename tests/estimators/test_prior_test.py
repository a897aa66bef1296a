"""Whether learned costs pay, against standard errors that can be written down."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.estimators._prior_test import FEW, PriorTest, prior_test
from ecselm.estimators._scoring import ScorerFitness, ValidationRows
from ecselm.fitness import ConfusionFitness, RowCostFitness, TieBreakingFitness
from ecselm.metrics.confusion import accuracy, balanced_accuracy, gmean


@pytest.fixture
def y():
    return np.repeat([0, 1], [150, 50])


@pytest.fixture
def scores(rng, y):
    """Learned and prior scores (n, 1), of which the first are somewhat better."""
    noise = rng.standard_normal((2, len(y), 1))
    return (
        np.where(y == 1, 1.0, -1.0)[:, np.newaxis] * np.array([0.8, 0.4])[:, None, None]
    ) + noise


def judge(y, metric=accuracy, smoothing=0.0, weight=None):
    return ConfusionFitness(y, int(y.max()) + 1, weight, metric, smoothing)


def weighed(judge, learned, prior, keys=None):
    """Return the verdict on rows that are all different, unless they have keys."""
    return prior_test(judge, learned, prior, np.arange(len(learned)) if keys is None else keys)


def right(Z, y):
    return ((Z[..., 0] > 0) == y).astype(float)


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("metric", [accuracy, balanced_accuracy, gmean])
def test_gain_is_the_difference_of_the_judge(scores, y, metric, smoothing):
    known = judge(y, metric, smoothing)
    learned, prior = known(scores)
    assert weighed(known, *scores).gain == learned - prior


@pytest.mark.parametrize("metric", [accuracy, balanced_accuracy])
def test_noise_is_the_standard_error_of_the_gain(scores, y, metric):
    """Of a mean over rows of every class, by the variances within the classes."""
    differences = np.subtract(*right(scores, y))
    share = {accuracy: [0.75, 0.25], balanced_accuracy: [0.5, 0.5]}[metric]
    errors = [part**2 * differences[y == c].var() / np.sum(y == c) for c, part in enumerate(share)]
    found = weighed(judge(y, metric), *scores)
    assert_allclose(found.std_error, np.sqrt(sum(errors)), rtol=1e-4)


def test_noise_of_row_costs_is_the_standard_error_of_their_mean(scores, y, rng):
    costs = np.column_stack([rng.uniform(1, 9, len(y)) * y, rng.uniform(0, 2, len(y)) * (1 - y)])
    spent = [np.where(Z[:, 0] > 0, costs[:, 1], costs[:, 0]) for Z in scores]
    saved = spent[1] - spent[0]
    found = weighed(RowCostFitness(y, costs, None, 0.0), *scores)
    expected = np.sqrt(sum(np.sum(y == c) * saved[y == c].var() for c in (0, 1))) / len(y)
    assert_allclose(found.gain, saved.mean(), rtol=1e-12)
    assert_allclose(found.std_error, expected, rtol=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_equal_scores_gain_nothing_without_noise_and_do_not_pay(scores, y, smoothing):
    found = weighed(judge(y, gmean, smoothing), scores[0], scores[0])
    assert (found.gain, found.std_error, found.passed) == (0.0, 0.0, False)


def test_better_pays_and_worse_does_not(scores, y):
    assert weighed(judge(y), *scores).passed
    assert not weighed(judge(y), *scores[::-1]).passed


def test_more_rows_have_less_noise(scores, y):
    fourfold = weighed(judge(np.tile(y, 4)), *np.tile(scores, (1, 4, 1)))
    once = weighed(judge(y), *scores)
    assert_allclose(fourfold.gain, once.gain, rtol=1e-12)
    assert_allclose(fourfold.std_error, once.std_error / 2, rtol=1e-4)


def test_order_of_rows_does_not_matter(scores, y, rng):
    order = rng.permutation(len(y))
    one = weighed(judge(y, gmean, 0.5), *scores)
    other = weighed(judge(y[order], gmean, 0.5), *scores[:, order])
    assert_allclose([other.gain, other.std_error], [one.gain, one.std_error], rtol=1e-9)


def test_a_row_of_weight_two_is_a_row_twice(scores, y, rng):
    times = rng.integers(1, 4, len(y))
    once = weighed(judge(y, gmean, 0.5, weight=times.astype(float)), *scores)
    repeated, copies = np.repeat(y, times), np.repeat(np.arange(len(y)), times)
    twice = weighed(judge(repeated, gmean, 0.5), *np.repeat(scores, times, axis=1), copies)
    assert_allclose([once.gain, once.std_error], [twice.gain, twice.std_error], rtol=1e-6)
    assert once.n_smallest == twice.n_smallest == 50


def test_noise_of_a_bent_metric_is_the_spread_over_rows_drawn_again(scores, y):
    known, stream, gains = judge(y, gmean, 0.0), np.random.default_rng(5), []
    for _ in range(2000):
        rows = np.concatenate(
            [stream.choice(np.flatnonzero(y == c), np.sum(y == c)) for c in (0, 1)]
        )
        learned, prior = judge(y[rows], gmean, 0.0)(scores[:, rows])
        gains.append(learned - prior)
    assert_allclose(weighed(known, *scores).std_error, np.std(gains), rtol=0.1)


def test_a_class_of_a_single_row_adds_no_noise(rng):
    y = np.append(np.repeat([0, 1], 30), 2)
    scores = rng.standard_normal((2, 61, 3))
    scores[:, -1] = [[-1.0, -1.0, 1.0]]
    found = weighed(judge(y, balanced_accuracy), *scores)
    assert found.n_smallest == 1
    assert np.isfinite(found.std_error)


@pytest.mark.parametrize("n_smallest", [1, FEW - 1])
def test_few_rows_need_twice_the_noise(n_smallest):
    assert FEW == 17
    assert not PriorTest(0.019, 0.01, n_smallest).passed
    assert PriorTest(0.021, 0.01, n_smallest).passed
    assert PriorTest(0.021, 0.01, n_smallest).few_rows


@pytest.mark.parametrize("n_smallest", [FEW, 1000])
def test_enough_rows_need_more_than_the_noise(n_smallest):
    assert not PriorTest(0.01, 0.01, n_smallest).passed
    assert PriorTest(0.011, 0.01, n_smallest).passed
    assert not PriorTest(0.011, 0.01, n_smallest).few_rows


def test_what_is_no_function_of_counts_has_no_verdict(scores, y):
    T = np.where(y, 1.0, -1.0)[:, np.newaxis]
    any_scorer = ScorerFitness("roc_auc", ValidationRows(scores[0], y, T, None), None)
    squares = TieBreakingFitness(judge(y), T, None)
    for other in (squares, partial(np.mean, axis=(1, 2)), any_scorer):
        assert weighed(other, *scores) is None
