"""Curves, against areas and shares computed from all points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import auc, average_precision_score, roc_auc_score

from ecselm.metrics import cumulative_score
from ecselm.study.evaluate import (
    MAX_POINTS,
    cumulative_curve,
    precision_recall_points,
    reliability_points,
    roc_points,
)


@pytest.fixture
def scored(rng):
    """Return some thousand rows, a fifth of them positive, and a fair score."""
    positive = rng.random(5000) < 0.2
    return positive, positive + 1.2 * rng.standard_normal(5000)


def test_area_below_roc_is_that_of_all_points(scored):
    curve = roc_points("ill", *scored)
    assert curve.area == pytest.approx(roc_auc_score(*scored), abs=1e-12)
    assert 100 < len(curve.x) <= MAX_POINTS + 2
    assert_allclose(auc(curve.x, curve.y), curve.area, atol=2e-3)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


def test_average_precision_is_that_of_all_points(scored):
    curve = precision_recall_points("ill", *scored)
    assert curve.area == pytest.approx(average_precision_score(*scored), abs=1e-12)
    assert len(curve.x) <= MAX_POINTS + 2
    assert list(curve.x) == sorted(curve.x)
    assert_allclose(auc(curve.x, curve.y), curve.area, atol=1e-2)


def test_short_curves_keep_every_point():
    curve = roc_points("ill", np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    assert curve.x == (0, 0, 0.5, 0.5, 1)
    assert curve.y == (0, 0.5, 0.5, 1, 1)


@pytest.mark.parametrize("positive", [np.zeros(4, bool), np.ones(4, bool)])
def test_one_class_alone_has_no_roc(positive):
    assert roc_points("ill", positive, np.arange(4.0)) is None


def test_class_without_rows_has_no_precision():
    assert precision_recall_points("ill", np.zeros(4, bool), np.arange(4.0)) is None


@pytest.mark.parametrize("curve", [roc_points, precision_recall_points])
def test_scores_that_are_not_finite_have_no_curve(curve):
    assert curve("ill", np.array([True, False]), np.array([np.nan, 1.0])) is None


def test_bins_of_predicted_probabilities_hold_equally_many_rows(rng):
    predicted = rng.random(1000)
    curve = reliability_points("ill", predicted, rng.random(1000) < predicted)
    parts = np.sort(predicted).reshape(10, 100)
    assert_allclose(curve.x, parts.mean(axis=1), rtol=1e-4)
    assert curve.area < 0.06


def test_calibration_error_is_the_mean_distance_over_rows():
    predicted = np.repeat([0.1, 0.6], [50, 150])
    observed = np.r_[np.arange(50) < 10, np.arange(150) < 120]
    curve = reliability_points("ill", predicted, observed)
    assert_allclose(curve.x, [0.1, 0.6])
    assert_allclose(curve.y, [0.2, 0.8])
    assert_allclose(curve.area, 0.25 * 0.1 + 0.75 * 0.2)


def test_few_rows_are_one_bin():
    assert reliability_points("ill", np.array([0.2, 0.4]), np.array([True, False])).x == (0.3,)


def test_probabilities_that_are_not_finite_have_no_reliability():
    assert reliability_points("ill", np.array([np.nan]), np.array([True])) is None


def test_cumulative_shares_are_the_scores_of_the_paper(rng):
    truth, predicted = rng.normal(size=700), rng.normal(size=700)
    curve = cumulative_curve(truth - predicted)
    assert len(curve.x) <= MAX_POINTS + 2
    assert (curve.x[0], curve.y[0], curve.y[-1]) == (0, 0, 1)
    expected = [cumulative_score(truth, predicted, tolerance=x) for x in curve.x]
    assert_allclose(curve.y, expected, atol=2 / 700)  # points are kept with five digits
