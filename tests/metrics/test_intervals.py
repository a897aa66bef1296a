"""Bootstrap intervals: what they are, what they cover, what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from ecselm.paper.statistics import bootstrap_interval

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
def test_values_without_spread_have_an_interval_without_width(method):
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
