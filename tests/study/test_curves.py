"""Curves, against areas and shares computed from all points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import auc, average_precision_score, roc_auc_score

from ecselm.metrics import cumulative_score
from ecselm.study.curves import (
    MOST_POINTS,
    cumulative_of,
    precision_recall_of,
    reliability_of,
    roc_of,
)


@pytest.fixture
def judged(rng):
    """Return some thousand rows, a fifth of them positive, and a fair score."""
    positive = rng.random(5000) < 0.2
    return positive, positive + 1.2 * rng.standard_normal(5000)


def test_area_below_roc_is_that_of_all_points(judged):
    curve = roc_of("ill", *judged)
    assert curve.area == pytest.approx(roc_auc_score(*judged), abs=1e-12)
    assert 100 < len(curve.x) <= MOST_POINTS + 2
    assert_allclose(auc(curve.x, curve.y), curve.area, atol=2e-3)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


def test_average_precision_is_that_of_all_points(judged):
    curve = precision_recall_of("ill", *judged)
    assert curve.area == pytest.approx(average_precision_score(*judged), abs=1e-12)
    assert len(curve.x) <= MOST_POINTS + 2
    assert list(curve.x) == sorted(curve.x)
    assert_allclose(auc(curve.x, curve.y), curve.area, atol=1e-2)


def test_short_curves_keep_every_point():
    curve = roc_of("ill", np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    assert curve.x == (0, 0, 0.5, 0.5, 1)
    assert curve.y == (0, 0.5, 0.5, 1, 1)


@pytest.mark.parametrize("positive", [np.zeros(4, bool), np.ones(4, bool)])
def test_one_class_alone_has_no_roc(positive):
    assert roc_of("ill", positive, np.arange(4.0)) is None


def test_class_without_rows_has_no_precision():
    assert precision_recall_of("ill", np.zeros(4, bool), np.arange(4.0)) is None


@pytest.mark.parametrize("curve", [roc_of, precision_recall_of])
def test_scores_that_are_not_finite_have_no_curve(curve):
    assert curve("ill", np.array([True, False]), np.array([np.nan, 1.0])) is None


def test_bins_of_told_probabilities_hold_equally_many_rows(rng):
    told = rng.random(1000)
    curve = reliability_of("ill", told, rng.random(1000) < told)
    parts = np.sort(told).reshape(10, 100)
    assert_allclose(curve.x, parts.mean(axis=1), rtol=1e-4)
    assert curve.area < 0.06


def test_calibration_error_is_the_mean_distance_over_rows():
    told = np.repeat([0.1, 0.6], [50, 150])
    happened = np.r_[np.arange(50) < 10, np.arange(150) < 120]
    curve = reliability_of("ill", told, happened)
    assert_allclose(curve.x, [0.1, 0.6])
    assert_allclose(curve.y, [0.2, 0.8])
    assert_allclose(curve.area, 0.25 * 0.1 + 0.75 * 0.2)


def test_few_rows_are_one_bin():
    assert reliability_of("ill", np.array([0.2, 0.4]), np.array([True, False])).x == (0.3,)


def test_probabilities_that_are_not_finite_have_no_reliability():
    assert reliability_of("ill", np.array([np.nan]), np.array([True])) is None


def test_cumulative_shares_are_the_scores_of_the_paper(rng):
    truth, told = rng.normal(size=700), rng.normal(size=700)
    curve = cumulative_of(truth - told)
    assert len(curve.x) <= MOST_POINTS + 2
    assert (curve.x[0], curve.y[0], curve.y[-1]) == (0, 0, 1)
    expected = [cumulative_score(truth, told, tolerance=x) for x in curve.x]
    assert_allclose(curve.y, expected, atol=2 / 700)  # points are kept with five digits
