"""Bootstrap intervals, and paired differences of two models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import roc_auc_score

from ecselm.metrics import get_scorer, paired_difference
from ecselm.metrics.intervals import (
    RecordedClassifier,
    RecordedRegressor,
    bootstrap_interval,
    jackknife_difference,
    jackknife_scores,
)

METHODS = pytest.mark.parametrize("method", ["BCa", "basic", "percentile"])


def bounds(*arguments, **options):
    found = bootstrap_interval(*arguments, **options)
    return np.array([found.low, found.high])


def test_percentiles_are_those_of_all_resamples():
    """Of three values there are 27 resamples, each as likely."""
    values = np.array([0.0, 1.0, 5.0])
    means = values[np.stack(np.meshgrid(*[range(3)] * 3), axis=-1)].mean(axis=-1).ravel()
    found = bounds(values, method="percentile", confidence=0.6, n_resamples=20_000)
    assert_allclose(found, np.quantile(means, [0.2, 0.8]), atol=1e-12)


@METHODS
def test_intervals_are_those_of_scipy_with_the_same_draws(rng, method):
    values = rng.exponential(size=12)
    expected = stats.bootstrap(
        (values,), np.mean, method=method, rng=np.random.default_rng(3), batch=500
    ).confidence_interval
    assert_allclose(bounds(values, method=method, rng=3), expected, rtol=1e-12)


@METHODS
def test_intervals_cover_the_mean_about_as_often_as_they_say(rng, method):
    samples = rng.standard_normal((30, 200))
    low, high = bounds(samples, method=method, confidence=0.9, n_resamples=999)
    assert 0.82 < np.mean((low <= 0) & (high >= 0)) < 0.96


@METHODS
def test_a_column_does_not_depend_on_its_company(rng, method):
    values = rng.standard_normal((10, 3))
    values[:, 1] = 4.0
    together = bounds(values, method=method)
    alone = [bounds(values[:, j], method=method) for j in range(3)]
    assert_allclose(together, np.transpose(alone), rtol=1e-12)


def test_shift_and_unit_go_with_the_values(rng):
    values = rng.standard_normal(15)
    assert_allclose(bounds(7.0 + 100 * values), 7.0 + 100 * bounds(values), rtol=1e-9)


def test_other_statistics_may_be_asked_for(rng):
    values = rng.standard_normal(41)
    low, high = bounds(values, statistic=np.median)
    assert low <= np.median(values) <= high
    assert np.isin([low, high], values).all()


def test_greater_confidence_is_wider(rng):
    values = rng.standard_normal(20)
    narrow, wide = (np.ptp(bounds(values, confidence=c)) for c in (0.5, 0.99))
    assert narrow < wide


def test_numbers_give_the_same_interval_and_generators_go_on(rng):
    values = rng.standard_normal(10)
    assert_array_equal(bounds(values), bounds(values, rng=0))
    assert (bounds(values, rng=rng) != bounds(values, rng=rng)).any()


@METHODS
def test_constant_values_have_an_interval_without_width(method):
    assert_array_equal(bounds([0.3, 0.3, 0.3], method=method), 0.3)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0], {}, r"values must have the shape \(n,\) or \(n, m\), n >= 2, got \(1,\)"),
        (np.ones((2, 2, 2)), {}, r"values must have the shape .* got \(2, 2, 2\)"),
        ([1.0, np.nan], {}, "values must be finite, got nan"),
        ([1.0, 2.0], {"confidence": 95}, "confidence must lie between 0 and 1, got 95"),
        ([1.0, 2.0], {"method": "bca"}, r"method must be one of .*'BCa'.* got 'bca'"),
        ([1.0, 2.0], {"n_resamples": 0}, "n_resamples must be >= 1, got 0"),
    ],
)
def test_what_has_no_interval_is_refused(values, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, **options)


# Differences of two models on the same rows.


def predictions(n_first, n_second, n=100):
    """Return the truth and two predictions that are wrong in so many rows the other has right."""
    y = np.arange(n) % 2
    first, second = y.copy(), y.copy()
    first[:n_first] = 1 - first[:n_first]
    second[n_first : n_first + n_second] = 1 - second[n_first : n_first + n_second]
    return y, first, second


@pytest.mark.parametrize(
    ("n_first", "n_second"),
    [(0, 0), (5, 3), (3, 9), (2, 16), (30, 4), (0, 4), (5, 0), (0, 7), (8, 1), (1, 7), (2, 10)],
)
def test_difference_in_accuracy_is_found_where_mcnemar_finds_it(n_first, n_second):
    found = paired_difference("accuracy", *predictions(n_first, n_second))
    n = n_first + n_second
    p = stats.binomtest(n_first, n).pvalue if n else 1.0
    assert found.beyond_chance() == (p < 0.05)
    assert_allclose(found.difference, (n_second - n_first) / 100, atol=1e-12)
    assert_allclose(found.n_effective, n, rtol=1e-9)
    assert_allclose(found.std_error, np.sqrt(n) / 100, rtol=1e-5)


@pytest.mark.parametrize("scoring", ["accuracy", "gmean", "f1_macro", "mean_cost", "f1", "savings"])
def test_difference_is_that_of_the_scores(rng, scoring):
    y, a, b = rng.integers(0, 2, (3, 80))
    found = paired_difference(scoring, y, a, b)
    scorer = get_scorer(scoring)
    values = [
        scorer(RecordedClassifier(np.array([0, 1]), one), np.arange(80)[:, np.newaxis], y)
        for one in (a, b)
    ]
    assert_allclose(found.difference, values[0] - values[1], atol=1e-12)
    back = paired_difference(scoring, y, b, a)
    assert_allclose([back.difference, back.std_error], [-found.difference, found.std_error])


@pytest.mark.parametrize("scoring", ["accuracy", "gmean", "balanced_accuracy"])
def test_equal_models_rarely_differ_beyond_chance(rng, scoring):
    found = []
    for _ in range(300):
        y = (rng.random(150) < 0.2).astype(int)
        a, b = (np.where(rng.random(150) < 0.8, y, 1 - y) for _ in range(2))
        found.append(paired_difference(scoring, y, a, b).beyond_chance())
    assert np.mean(found) < 0.08


def test_std_error_is_that_of_swapped_predictions(rng):
    y, a, b = predictions(20, 30)
    swapped = []
    for _ in range(2000):
        swap = rng.random(100) < 0.5
        one = paired_difference("gmean", y, np.where(swap, a, b), np.where(swap, b, a))
        swapped.append(one.difference)
    assert_allclose(paired_difference("gmean", y, a, b).std_error, np.std(swapped), rtol=0.05)


def test_a_few_rows_of_a_rare_class_prove_nothing():
    """All three rare rows are recognised by one model and none by the other."""
    y = np.repeat([0, 1], [97, 3])
    found = paired_difference("balanced_accuracy", y, y, np.zeros(100, dtype=int))
    assert found.difference == 0.5
    assert not found.beyond_chance()


def test_missing_a_frequent_class_is_beyond_chance():
    y = np.repeat([0, 1], [50, 50])
    assert paired_difference("gmean", y, y, np.zeros(100, dtype=int)).beyond_chance()


def test_difference_in_costs_is_found_where_mistakes_are_as_many():
    y = np.repeat([0, 1], 50)
    first, second = y.copy(), y.copy()
    first[:10], second[-10:] = 1, 0
    assert not paired_difference("accuracy", y, first, second).beyond_chance()
    found = paired_difference("mean_cost", y, first, second, cost={(1, 0): 20.0})
    assert found.beyond_chance()
    assert_allclose(found.difference, 1.9)


def test_stricter_confidence_finds_less():
    found = paired_difference("gmean", *predictions(3, 12))
    assert found.beyond_chance(0.95)
    assert not found.beyond_chance(0.999)


def test_errors_differ_by_the_measure_of_the_metric():
    """Absolute errors are equal on average, squared ones are not."""
    y = np.zeros(100)
    first, second = np.tile([1.0, -1.0], 50), np.tile([0.1, 1.9], 50)
    assert not paired_difference("mae", y, first, second).beyond_chance()
    assert paired_difference("neg_mean_squared_error", y, first, second).beyond_chance()
    root = paired_difference("neg_root_mean_squared_error", y, first, second)
    assert root.beyond_chance()
    assert_allclose(root.difference, np.sqrt(np.mean(second**2)) - 1.0)


def test_jackknife_of_a_mean_is_exact(rng):
    y, a, b = rng.standard_normal((3, 60))
    exact = paired_difference("neg_mean_absolute_error", y, a, b)
    models = RecordedRegressor(a), RecordedRegressor(b)
    found = jackknife_difference(
        *(jackknife_scores("neg_mean_absolute_error", y, one) for one in models)
    )
    assert_allclose(
        [found.difference, found.std_error, found.n_effective],
        [exact.difference, exact.std_error, exact.n_effective],
        rtol=1e-9,
    )


def test_rows_of_a_group_count_once():
    y, a, b = predictions(0, 16)
    alone = paired_difference("accuracy", y, a, b)
    together = paired_difference("accuracy", y, a, b, groups=np.arange(100) // 4)
    assert alone.beyond_chance()
    assert not together.beyond_chance()
    assert_allclose(together.n_effective, 4.0)
    assert together.difference == alone.difference


def test_a_row_of_weight_two_is_a_group_of_two_rows(rng):
    y, a, b = rng.integers(0, 3, (3, 50))
    times = rng.integers(1, 4, 50)
    once = paired_difference("f1_macro", y, a, b, sample_weight=times)
    rows = np.repeat(np.arange(50), times)
    twice = paired_difference("f1_macro", y[rows], a[rows], b[rows], groups=rows)
    assert_allclose([once.difference, once.std_error], [twice.difference, twice.std_error])


def test_scores_are_compared_by_their_ranks(rng):
    y = np.arange(120) % 2
    good, bad = y + 0.5 * rng.standard_normal(120), rng.standard_normal(120)
    models = [RecordedClassifier(np.array([0, 1]), z > 0.5, decisions=z) for z in (good, bad)]
    found = jackknife_difference(*(jackknife_scores("roc_auc", y, one) for one in models))
    assert_allclose(found.difference, roc_auc_score(y, good) - roc_auc_score(y, bad))
    assert found.beyond_chance()


def test_one_row_says_nothing():
    found = paired_difference("accuracy", [0, 1], [0, 1], [0, 0])
    assert found.interval() == (-np.inf, np.inf)
    assert not found.beyond_chance()
