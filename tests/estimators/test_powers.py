"""Costs along powers of W1, and which of them a metric implies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, make_scorer

from ecselm.costs.levels import ClassLevel, MatrixLevel
from ecselm.estimators._priors import BESIDE_STATED, POWERS, mean_one, power_of, power_path
from ecselm.metrics.registry import METRICS

COUNTS = np.array([60.0, 30.0, 10.0])


def path(scoring="gmean", counts=COUNTS, stated=None):
    return power_path(scoring, ClassLevel(len(counts)), counts, stated)


def test_path_goes_from_equal_costs_to_beyond_w1():
    made = path()
    assert made.powers == POWERS
    expected = [[count**-power for count in COUNTS] for power in POWERS]
    assert_allclose(made.entries, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("scoring", "power"),
    [
        *(("gmean", 1.0), ("balanced_accuracy", 1.0), (None, 0.0), ("accuracy", 0.0)),
        *(("f1_macro", 0.5), ("matthews_corrcoef", 0.5), ("roc_auc", 0.5), ("mean_cost", 0.0)),
    ],
)
def test_prior_is_what_the_metric_asks_for(scoring, power):
    assert power_of(scoring) == power
    assert_allclose(path(scoring).prior, COUNTS**-power, rtol=1e-12)


def test_a_scorer_that_is_no_name_asks_for_the_middle():
    assert power_of(make_scorer(f1_score)) == 0.5
    assert power_of(lambda model, X, y: 1.0) == 0.5


def test_every_metric_implies_a_power_on_the_path():
    for metric in METRICS.values():
        assert metric.implied_power in POWERS


@pytest.mark.parametrize("scoring", ["mean_cost", "savings", "total_cost"])
def test_stated_costs_are_the_prior_where_they_are_counted(scoring):
    stated = np.array([1.0, 5.0, 2.0])
    made = path(scoring, stated=stated)
    assert_array_equal(made.prior, stated)
    assert made.powers == BESIDE_STATED
    for power, entries in zip(made.powers, made.entries, strict=True):
        assert_allclose(entries, stated / COUNTS**power, rtol=1e-12)


def test_stated_costs_do_not_matter_to_other_metrics():
    made = path("gmean", stated=np.array([1.0, 5.0, 2.0]))
    assert_array_equal(made.entries, path("gmean").entries)


@pytest.mark.parametrize("scoring", [None, "gmean", "mean_cost"])
def test_a_class_that_never_occurs_costs_as_the_rarest(scoring):
    counts = np.array([40.0, 0.0, 8.0])
    stated = np.ones(3) if scoring == "mean_cost" else None
    made = path(scoring, counts, stated)
    assert np.isfinite(made.entries).all()
    assert_array_equal(made.entries[:, 1], made.entries[:, 2])


def test_classes_of_one_size_cost_the_same_all_along():
    entries = path(counts=np.full(3, 25.0)).entries
    assert_array_equal(entries, np.repeat(entries[:, :1], 3, axis=1))


def test_counts_may_be_weights():
    """Twice the weight of everything is the same path up to scale."""
    one, twice = path().entries, path(counts=2 * COUNTS).entries
    assert_allclose(one / one.sum(axis=1, keepdims=True), twice / twice.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("level", [ClassLevel(3), MatrixLevel(3)], ids=["class", "matrix"])
def test_scaled_path_gives_rows_a_mean_cost_of_one(level):
    made = power_path("gmean", level, COUNTS, None)
    scaled = made.scaled(level, COUNTS)
    assert scaled.implied == made.implied
    assert_allclose(level.group_costs(scaled.entries) @ COUNTS / COUNTS.sum(), 1.0, rtol=1e-12)
    ratios = scaled.entries / made.entries
    assert_allclose(ratios, np.repeat(ratios[:, :1], ratios.shape[1], axis=1), rtol=1e-12)


def test_mean_one_takes_back_any_unit():
    level, entries = ClassLevel(3), np.array([1.0, 2.0, 7.0])
    expected = mean_one(entries, level, COUNTS)
    assert_allclose(mean_one(1e4 * entries, level, COUNTS), expected, rtol=1e-12)
