"""Cost curves against costs counted on populations, and geometry they must have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.metrics import cost_curve, mean_cost, operating_point, score_cost_curve


def literal_cost(fpr, fnr, share, fn_cost, fp_cost):
    """Return the expected cost by its definition, over that of getting everything wrong."""
    spent = share * fnr * fn_cost + (1.0 - share) * fpr * fp_cost
    return spent / (share * fn_cost + (1.0 - share) * fp_cost)


def test_a_line_is_the_expected_cost_over_the_greatest(rng):
    for fpr, fnr, share in rng.random((20, 3)):
        fn_cost, fp_cost = rng.uniform(0.1, 9.0, 2)
        x = operating_point(share, fn_cost=fn_cost, fp_cost=fp_cost)
        curve = cost_curve(fpr, fnr, operating_points=[x])
        expected = literal_cost(fpr, fnr, share, fn_cost, fp_cost)
        assert curve.lines[0, 0] == pytest.approx(expected, rel=1e-12)


def test_it_is_the_mean_cost_of_answers_by_its_unit(rng):
    y, predicted = rng.integers(0, 2, (2, 60))
    fpr, fnr = predicted[y == 0].mean(), 1.0 - predicted[y == 1].mean()
    x = operating_point(y.mean(), fn_cost=7.0, fp_cost=2.0)
    spent = mean_cost(y, predicted, cost=[[0.0, 2.0], [7.0, 0.0]])
    greatest = mean_cost(y, 1 - y, cost=[[0.0, 2.0], [7.0, 0.0]])
    line = cost_curve(fpr, fnr, operating_points=[x]).lines[0, 0]
    assert line == pytest.approx(spent / greatest, rel=1e-12)


def test_the_envelope_is_the_least_of_all_lines_and_constant_answers(rng):
    fpr, fnr = rng.random((2, 8))
    curve = cost_curve(fpr, fnr)
    x = curve.operating_points
    for g in range(len(x)):
        costs = [fnr[i] * x[g] + fpr[i] * (1 - x[g]) for i in range(8)]
        assert_allclose(curve.lines[:, g], costs, rtol=1e-12)
        assert curve.envelope[g] == pytest.approx(min([*costs, x[g], 1 - x[g]]), rel=1e-12)
    assert_allclose(curve.trivial, np.minimum(x, 1 - x), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_between_the_points_the_envelope_is_straight(rng, n):
    fpr, fnr = 0.5 * rng.random((2, n))
    curve = cost_curve(fpr, fnr)
    fine = np.linspace(0.0, 1.0, 5003)
    expected = cost_curve(fpr, fnr, operating_points=fine).envelope
    between = np.interp(fine, curve.operating_points, curve.envelope)
    assert_allclose(between, expected, atol=1e-14)


def test_the_envelope_is_concave_and_ends_in_nothing(rng):
    curve = cost_curve(*rng.random((2, 12)))
    slopes = np.diff(curve.envelope) / np.diff(curve.operating_points)
    assert (np.diff(slopes) < 1e-9).all()
    assert_array_equal(curve.envelope[[0, -1]], 0.0)


def test_exchanging_the_classes_mirrors_the_curve(rng):
    fpr, fnr = rng.random((2, 5))
    one, other = cost_curve(fpr, fnr), cost_curve(fnr, fpr)
    assert_allclose(other.operating_points, 1.0 - one.operating_points[::-1], atol=1e-14)
    assert_allclose(other.envelope, one.envelope[::-1], atol=1e-14)


def test_a_dominated_classifier_changes_nothing_but_adds_its_line(rng):
    alone, both = cost_curve(0.1, 0.2), cost_curve([0.1, 0.3], [0.2, 0.4])
    assert_array_equal(alone.operating_points, both.operating_points)
    assert_array_equal(alone.envelope, both.envelope)


def test_areas_of_the_best_and_the_worst_are_known():
    assert cost_curve(0.0, 0.0).area == 0.0
    assert cost_curve(0.7, 0.8).area == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("kind", [[0, 1], ["no", "yes"], [False, True]], ids=str)
def test_scores_give_the_curve_of_all_their_thresholds(rng, kind, weighted):
    y, score = rng.permutation(np.arange(40) % 2), rng.standard_normal(40).round(1)
    w = rng.uniform(0.2, 3.0, 40) if weighted else np.ones(40)
    points = []
    for threshold in (*score, np.inf):
        predicted = score >= threshold
        alarms, missed = w[predicted & (y == 0)].sum(), w[~predicted & (y == 1)].sum()
        points.append((alarms / w[y == 0].sum(), missed / w[y == 1].sum()))
    x = np.linspace(0.0, 1.0, 21)
    expected = cost_curve(*np.array(points).clip(0.0, 1.0).T, operating_points=x).envelope
    labels = np.array(kind)[y]
    weight = w if weighted else None
    curve = score_cost_curve(labels, score, sample_weight=weight, operating_points=x)
    assert_allclose(curve.envelope, expected, atol=1e-12)
    turned = score_cost_curve(
        labels, -score, pos_label=kind[0], sample_weight=weight, operating_points=1 - x
    )
    assert_allclose(turned.envelope, expected[::-1], atol=1e-12)


def test_the_operating_point_is_the_share_where_mistakes_cost_the_same(rng):
    shares = rng.random(9)
    assert_allclose(operating_point(shares), shares, rtol=1e-12)
    assert operating_point(0.3, fp_cost=0.0) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost_curve(1.2, 0.1), "false_positive_rate must lie between 0 and 1, got 1.2"),
        (lambda: cost_curve(0.1, [0.1, -1]), "false_negative_rate must lie .*, got -1"),
        (lambda: cost_curve([0.1], [0.1, 0.2]), r"one shape \(n,\), .* \(1,\) and \(2,\)"),
        (lambda: cost_curve([], []), r"one shape \(n,\), n >= 1"),
        (lambda: cost_curve(0.1, np.nan), "false_negative_rate must be finite"),
        (lambda: cost_curve(0.1, 0.1, operating_points=[2.0]), "operating_points must lie"),
        (lambda: score_cost_curve([0, 1, 2], [1, 2, 3]), r"y_true must have two classes, got \[0"),
        (lambda: score_cost_curve([0, 1], [1, 2], pos_label=5), r"one of \[0, 1\], got 5"),
        (lambda: score_cost_curve([0, 1], [1, np.inf]), "y_score must be finite"),
        (lambda: operating_point(1.5), "positive_share must lie between 0 and 1, got 1.5"),
        (lambda: operating_point(0.5, fn_cost=-2), "fn_cost must be >= 0, got -2"),
        (lambda: operating_point(0.0, fp_cost=0), "must make a mistake cost something"),
    ],
)
def test_what_is_no_rate_or_cost_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
