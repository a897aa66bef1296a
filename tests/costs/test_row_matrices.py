"""Costs of rows whose true class is not known, against loops over rows and classes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs import outcome_costs, parse_sample_cost, row_matrices
from ecselm.costs.weights import ExampleCosts, SampleCosts

TWO, THREE = ["ill", "well"], ["flu", "pox", "well"]
OUTCOMES = ["tp_cost", "tn_cost", "fp_cost", "fn_cost"]


def random_matrices(rng, n_rows, k):
    """Return matrices in which every mistake costs more than the right answer."""
    values = rng.uniform(2.0, 9.0, (n_rows, k, k))
    values[:, np.arange(k), np.arange(k)] = rng.uniform(0.0, 2.0, (n_rows, k))
    return values


@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two", "three"])
def test_right_answers_are_subtracted_row_by_row(rng, classes):
    k = len(classes)
    values = random_matrices(rng, 7, k)
    matrices = row_matrices(7, classes, sample_cost=values)
    for n in range(7):
        for i in range(k):
            for j in range(k):
                assert matrices[n, i, j] == values[n, i, j] - values[n, i, i]


@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "form",
    [list, np.array, pd.Series, pd.DataFrame, lambda costs: pd.Series(costs, index=[5, 4, 3, 2])],
)
def test_one_cost_per_row_is_that_of_any_mistake(classes, form):
    costs = [3.0, 0.0, 8.0, 2.5]
    matrices = row_matrices(4, classes, sample_cost=form(costs))
    for n, cost in enumerate(costs):
        for i in range(len(classes)):
            for j in range(len(classes)):
                assert matrices[n, i, j] == (0.0 if i == j else cost)


def test_outcomes_have_the_second_class_for_the_positive(rng):
    tp, tn, fp, fn = rng.uniform(0.0, 1.0, 6), 0.5, rng.uniform(2.0, 3.0, 6), 7.0
    matrices = row_matrices(6, TWO, tp_cost=tp, tn_cost=tn, fp_cost=pd.Series(fp), fn_cost=fn)
    for n in range(6):
        assert_array_equal(matrices[n], [[0.0, fp[n] - tn], [fn - tp[n], 0.0]])


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes_left_out_cost_one_for_mistakes_and_zero_for_right_answers(name):
    costs = np.array([0.25, 0.75])
    usual = {"tp_cost": 0.0, "tn_cost": 0.0, "fp_cost": 1.0, "fn_cost": 1.0} | {name: costs}
    stated = row_matrices(2, TWO, **{name: costs})
    assert_array_equal(stated, row_matrices(2, TWO, **usual))


def test_nothing_given_is_none():
    assert row_matrices(3, TWO) is None
    assert row_matrices(3, TWO, sample_cost=None, fn_cost=None) is None


@pytest.mark.parametrize("k", [2, 4])
def test_permuting_the_classes_permutes_rows_and_columns(rng, k):
    values, order = random_matrices(rng, 5, k), rng.permutation(k)
    names = np.arange(k)
    permuted = row_matrices(5, names[order], sample_cost=values[:, order][:, :, order])
    expected = row_matrices(5, names, sample_cost=values)[:, order][:, :, order]
    assert_array_equal(permuted, expected)


def test_swapping_two_classes_swaps_positive_and_negative(rng):
    tp, tn = rng.uniform(0.0, 1.0, (2, 5))
    fp, fn = rng.uniform(2.0, 9.0, (2, 5))
    one = row_matrices(5, TWO, tp_cost=tp, tn_cost=tn, fp_cost=fp, fn_cost=fn)
    other = row_matrices(5, TWO[::-1], tp_cost=tn, tn_cost=tp, fp_cost=fn, fn_cost=fp)
    assert_array_equal(other, one[:, ::-1, ::-1])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("aggregate", ["samples", "classes"])
def test_fit_reads_the_row_of_the_true_class_of_the_same_array(rng, k, aggregate):
    values, y, classes = random_matrices(rng, 9, k), rng.integers(0, k, 9), np.arange(k)
    costs = parse_sample_cost(values, y, classes, aggregate)
    assert isinstance(costs, ExampleCosts)
    assert costs.aggregate == aggregate
    matrices = row_matrices(9, classes, sample_cost=values)
    assert_array_equal(costs.matrix, [matrices[n, y[n]] for n in range(9)])
    by_row = parse_sample_cost([values[n, y[n]] for n in range(9)], y, classes, aggregate)
    assert_array_equal(costs.matrix, by_row.matrix)


def test_fit_and_predict_read_outcomes_alike(rng):
    y = rng.integers(0, 2, 20)
    outcomes = {"fn_cost": rng.uniform(5.0, 90.0, 20), "tp_cost": 2.0, "fp_cost": 3.0}
    stated = outcome_costs(y, **outcomes)
    known = row_matrices(20, TWO, **outcomes)[np.arange(20), y]
    assert_allclose(known, stated - stated[np.arange(20), y][:, np.newaxis], rtol=1e-15)


def test_a_column_of_costs_is_one_cost_per_row_in_fit_too():
    frame = pd.DataFrame({"amount": [3.0, 0.0, 8.0]})
    costs = parse_sample_cost(frame, np.array([0, 1, 1]), TWO, "samples")
    assert isinstance(costs, SampleCosts)
    assert_array_equal(costs.vector, [3.0, 0.0, 8.0])


def test_as_many_rows_as_classes_are_told_by_the_number_of_axes(rng):
    values = random_matrices(rng, 3, 3)
    assert row_matrices(3, THREE, sample_cost=values).shape == (3, 3, 3)
    expected = (1.0 - np.eye(3)) * np.array([1.0, 2.0, 3.0])[:, np.newaxis, np.newaxis]
    assert_array_equal(row_matrices(3, THREE, sample_cost=[1, 2, 3]), expected)


def test_what_is_given_is_not_modified(rng):
    values = random_matrices(rng, 4, 3)
    before = values.copy()
    row_matrices(4, THREE, sample_cost=values)
    assert_array_equal(values, before)


def cheap(n, i, j):
    values = np.broadcast_to(1.0 - np.eye(3), (4, 3, 3)).copy()
    values[n, i, j] = -0.5
    return values


@pytest.mark.parametrize(
    ("sample_cost", "message"),
    [
        (
            np.ones((4, 3)),
            r"sample_cost must not .*\(4, 3\), .* given the true one, .* give .*\(4, 3, 3\), or tp",
        ),
        (np.ones((4, 4)), r"sample_cost must be .*\(4, 3, 3\), .* or \(4,\), .*, got \(4, 4\)"),
        (np.ones((3, 3, 3)), r"sample_cost must be .*\(4, 3, 3\).*, got \(3, 3, 3\)"),
        (np.ones(3), r"sample_cost must be .*, got \(3,\)"),
        (2.0, r"sample_cost must be .*, got \(\)"),
        ([1, 2, np.nan, 4], "sample_cost must be finite, got nan"),
        ([1, 2, np.inf, 4], "sample_cost must be finite, got inf"),
        ([1, 2, "x", 4], "sample_cost must hold numbers only"),
        ([1, 2, -3, 4], "sample_cost must be >= 0, got -3"),
        (
            cheap(2, 1, 0),
            r"sample_cost must not .* in row 2 a mistake costs -0\.5 and the right answer 0",
        ),
    ],
)
def test_costs_that_make_no_sense_are_refused(sample_cost, message):
    with pytest.raises(ValueError, match=message):
        row_matrices(4, THREE, sample_cost=sample_cost)


@pytest.mark.parametrize(
    ("classes", "stated", "message"),
    [
        (TWO, {"fn_cost": [1.0, 2.0]}, r"fn_cost must be .*shape \(3,\), got \(2,\)"),
        (TWO, {"fp_cost": np.nan}, "fp_cost must be finite, got nan"),
        (
            TWO,
            {"tp_cost": 2.0, "fn_cost": [5.0, 1.0, 5.0]},
            "tp_cost, fn_cost must not .* in row 1 a mistake costs 1 and the right answer 2",
        ),
        (THREE, {"fn_cost": 2.0}, r"fn_cost can .*two classes only, y has 3; .*\(3, 3, 3\)"),
        (
            TWO,
            {"sample_cost": np.ones(3), "fn_cost": 2.0, "tp_cost": 0.0},
            "costs must be stated once, got sample_cost and tp_cost, fn_cost",
        ),
    ],
)
def test_outcomes_that_make_no_sense_are_refused(classes, stated, message):
    with pytest.raises(ValueError, match=message):
        row_matrices(3, classes, **stated)


def test_fit_names_the_row_in_which_a_mistake_is_cheap():
    y = np.array([0, 1, 1, 2])
    with pytest.raises(ValueError, match=r"right answer: in row 2 a mistake costs -0\.5"):
        parse_sample_cost(cheap(2, 1, 0), y, THREE, "samples")
    assert_array_equal(
        parse_sample_cost(cheap(2, 0, 1), y, THREE, "samples").matrix, (1 - np.eye(3))[y]
    )
