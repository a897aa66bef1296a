"""Plainer models on the same rows, and whether a difference is more than chance."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.metrics import mean_absolute_error

from ecselm import ELMRegressor, WELMClassifier
from ecselm.metrics import geometric_mean_score, mean_cost
from ecselm.metrics.confusion import accuracy, gmean, neg_mean_cost
from ecselm.study.evaluate import differ_in_classes, differ_in_numbers, fitted_rivals


@pytest.fixture
def parts(labelled):
    X, y = labelled
    return X[:300], y[:300], X[300:], y[300:]


def test_rivals_are_the_estimators_of_their_names(parts):
    X_train, y_train, X, y = parts
    cost = {(1, 0): 4.0}
    rivals = fitted_rivals(X_train, y_train, seed=3)
    found = {one.name: one for one in rivals.compared(X, y, metric="gmean", stated=cost)}
    assert list(found) == ["ELM", "W1-ELM", "W2-ELM", "most frequent class"]
    told = WELMClassifier(100, weighting="w2", random_state=3).fit(X_train, y_train).predict(X)
    assert_allclose(found["W2-ELM"].scores["gmean"], geometric_mean_score(y, told))
    assert_allclose(found["W2-ELM"].total_cost, len(y) * mean_cost(y, told, cost=cost))
    counts = np.array(found["most frequent class"].confusion)
    assert (counts.sum(axis=0) > 0).tolist() == [True] + [False] * (len(counts) - 1)


def test_rivals_of_numbers_are_a_machine_and_two_constants(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    rivals = fitted_rivals(X[:40], y[:40], task="numbers", seed=1)
    found = rivals.compared(X[40:], y[40:], metric="mae")
    told = ELMRegressor(100, random_state=1).fit(X[:40], y[:40]).predict(X[40:])
    expected = [
        mean_absolute_error(y[40:], told),
        abs(y[40:] - y[:40].mean()).mean(),
        abs(y[40:] - np.median(y[:40])).mean(),
    ]
    assert [one.name for one in found] == ["ELM", "mean", "median"]
    assert_allclose([one.scores["mae"] for one in found], expected)


def test_rival_that_cannot_be_fitted_is_left_out_with_a_note():
    """Of one class alone, only the constant answer can be learned."""
    X, y = np.ones((4, 1)), np.zeros(4, dtype=int)
    rivals = fitted_rivals(X, y)
    assert list(rivals.models) == ["most frequent class"]
    assert rivals.notes[0].startswith(
        "ELM could not be fitted for comparison: y must have at least"
    )
    assert len(rivals.notes) == 3
    assert len(rivals.compared(X, y)) == 1


def _answers(n_first, n_second, n=100):
    """Return the truth, and two answers that are wrong in so many rows the other has right."""
    truth = np.arange(n) % 2
    first, second = truth.copy(), truth.copy()
    first[:n_first] = 1 - first[:n_first]
    second[n_first : n_first + n_second] = 1 - second[n_first : n_first + n_second]
    return truth, (first, second)


@pytest.mark.parametrize(("n_first", "n_second"), [(0, 0), (5, 3), (3, 9), (2, 16), (30, 4)])
def test_difference_in_accuracy_is_found_where_mcnemar_finds_it(rng, n_first, n_second):
    truth, answers = _answers(n_first, n_second)
    p = binomtest(n_first, n_first + n_second).pvalue if n_first + n_second else 1.0
    assert differ_in_classes(truth, answers, accuracy, 2, rng) == (p < 0.05)


def test_stricter_confidence_finds_less(rng):
    truth, answers = _answers(3, 12)
    assert differ_in_classes(truth, answers, gmean, 2, rng, 0.95)
    assert not differ_in_classes(truth, answers, gmean, 2, rng, 0.999)


def test_difference_in_costs_is_found_where_mistakes_are_as_many(rng):
    truth = np.repeat([0, 1], 50)
    first, second = truth.copy(), truth.copy()
    first[:10], second[-10:] = 1, 0
    assert not differ_in_classes(truth, (first, second), accuracy, 2, rng)
    costs = np.array([[0.0, 1.0], [20.0, 0.0]])
    metric = partial(neg_mean_cost, cost=costs)
    assert differ_in_classes(truth, (first, second), metric, 2, rng)


def test_errors_differ_by_the_measure_of_the_metric():
    """Absolute errors are equal on average, squared ones are not."""
    first, second = np.tile([1.0, -1.0], 50), np.tile([0.1, 1.9], 50)
    assert not differ_in_numbers(first, second, "mae")
    assert differ_in_numbers(first, second, "rmse")
    assert not differ_in_numbers(first[:1], second[:1], "rmse")
