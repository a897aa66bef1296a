"""Costs of predictions by row and of rejected predictions, against loops over the rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecselm.costs.parse import parse_reject_cost, parse_with_reject_column
from ecselm.metrics import mean_cost, savings_score, total_cost

CLASSES = np.array(["flu", "pox", "well"])
MATRIX = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
N = 30


@pytest.fixture
def codes(rng):
    """Return what 30 rows are and what they are taken for."""
    return rng.integers(0, 3, N), rng.integers(0, 3, N)


def check(y_true, y_pred, by_row, weight, price=None, **stated):
    """Compare all metrics with costs (N, k) of predicting each class; -1 is rejected."""
    w = np.ones(N) if weight is None else weight
    spent = 0.0
    for n in range(N):
        rejected = y_pred[n] == -1
        spent += w[n] * (price[n] if rejected else by_row[n][y_pred[n]])
    k = len(by_row[0])
    constant = min(sum(w[n] * by_row[n][j] for n in range(N)) for j in range(k))
    names = CLASSES[:k]
    truth, predicted = names[y_true], np.append(names, "reject")[y_pred]
    stated = {"labels": names, "sample_weight": weight, **stated}
    assert total_cost(truth, predicted, **stated) == pytest.approx(spent, rel=1e-12)
    assert mean_cost(truth, predicted, **stated) == pytest.approx(spent / w.sum(), rel=1e-12)
    saved = 1.0 - spent / constant
    assert savings_score(truth, predicted, **stated) == pytest.approx(saved, rel=1e-12)


@WEIGHTED
def test_matrices_by_row_count_the_row_of_the_truth(rng, codes, weighted):
    truth, predicted = codes
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    matrices = rng.uniform(0.0, 9.0, (N, 3, 3))
    by_row = [matrices[n, truth[n]] for n in range(N)]
    check(truth, predicted, by_row, weight, sample_cost=matrices)
    check(truth, predicted, by_row, weight, sample_cost=by_row)


@WEIGHTED
@pytest.mark.parametrize("form", [list, np.array, pd.Series, pd.DataFrame])
def test_one_cost_per_row_is_that_of_any_mistake(rng, codes, weighted, form):
    truth, predicted = codes
    weight, costs = rng.uniform(0.2, 3.0, N) if weighted else None, rng.uniform(0.0, 9.0, N)
    by_row = [[0.0 if j == truth[n] else costs[n] for j in range(3)] for n in range(N)]
    check(truth, predicted, by_row, weight, sample_cost=form(costs))


@WEIGHTED
def test_outcomes_have_the_second_label_for_the_positive_class(rng, weighted):
    truth, predicted = rng.integers(0, 2, (2, N))
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    tp, fn, fp = 0.5, rng.uniform(5.0, 90.0, N), rng.uniform(1.0, 4.0, N)
    by_row = [[fn[n], tp] if truth[n] == 1 else [0.0, fp[n]] for n in range(N)]
    check(truth, predicted, by_row, weight, tp_cost=tp, fn_cost=pd.Series(fn), fp_cost=fp)
    by_row = [[1.0, 0.0] if truth[n] == 1 else [0.0, fp[n]] for n in range(N)]
    check(truth, predicted, by_row, weight, fp_cost=fp)


REJECT_COSTS = {
    "number": (0.75, lambda truth: np.full(N, 0.75)),
    "classes": ([0.5, 1.0, 2.0], lambda truth: np.array([0.5, 1.0, 2.0])[truth]),
    "dict": (
        {"well": 2.0, "flu": 0.5, "pox": 1.0},
        lambda truth: np.array([0.5, 1.0, 2.0])[truth],
    ),
    "series": (
        pd.Series({"well": 2.0, "flu": 0.5, "pox": 1.0}),
        lambda truth: np.array([0.5, 1.0, 2.0])[truth],
    ),
    "rows": (np.arange(N) / 7.0, lambda truth: np.arange(N) / 7.0),
    "rows in a series": (pd.Series(np.arange(N) / 7.0), lambda truth: np.arange(N) / 7.0),
}


@WEIGHTED
@pytest.mark.parametrize("form", REJECT_COSTS)
@pytest.mark.parametrize("kind", ["class", "row", "matrix", "mistake"])
def test_a_rejected_prediction_costs_what_is_stated(rng, codes, weighted, form, kind):
    truth, predicted = codes
    predicted = np.where(rng.random(N) < 0.3, -1, predicted)
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    matrices = rng.uniform(0.0, 9.0, (N, 3, 3))
    stated = {
        "class": {"cost": MATRIX},
        "row": {"sample_cost": matrices[np.arange(N), truth]},
        "matrix": {"sample_cost": matrices},
        "mistake": {"sample_cost": matrices[:, 0, 0]},
    }[kind]
    by_row = {
        "class": MATRIX[truth],
        "row": matrices[np.arange(N), truth],
        "matrix": matrices[np.arange(N), truth],
        "mistake": matrices[:, [0], 0] * (1.0 - np.eye(3))[truth],
    }[kind]
    reject_cost, price = REJECT_COSTS[form]
    check(truth, predicted, by_row, weight, price(truth), reject_cost=reject_cost, **stated)


WITH_COLUMN = np.column_stack([MATRIX, [1.0, 2.0, 3.0]]) + np.array([[0.5], [0.0], [1.5]])
COLUMNS = {
    "array": WITH_COLUMN,
    "list": WITH_COLUMN.tolist(),
    "pandas": pd.DataFrame(WITH_COLUMN, CLASSES, [*CLASSES, "ask"]).iloc[::-1, [3, 1, 0, 2]],
    "polars": pl.DataFrame(WITH_COLUMN, [*CLASSES, "ask"]),
}


@pytest.mark.parametrize("form", COLUMNS)
def test_the_last_column_of_costs_by_class_is_that_of_rejected_predictions(rng, codes, form):
    truth, predicted = codes
    predicted = np.where(rng.random(N) < 0.3, -1, predicted)
    price = np.array([1.0, 2.0, 3.0])[truth]
    check(truth, predicted, MATRIX[truth], None, price, cost=COLUMNS[form])


NUMBERS = [0, 1, None, 1, None, 0]


@pytest.mark.parametrize(
    "y_pred",
    [
        NUMBERS,
        tuple(NUMBERS),
        np.array(NUMBERS, dtype=object),
        np.array([0.0, 1.0, np.nan, 1.0, np.nan, 0.0]),
        pd.Series(NUMBERS),
        pd.Series(NUMBERS, dtype=object),
        pd.DataFrame({"prediction": NUMBERS}),
    ],
)
@pytest.mark.parametrize("options", [{}, {"reject_label": None}], ids=["auto", "none"])
@pytest.mark.parametrize("labels", [None, [0, 1]])
def test_none_is_the_label_of_rejected_predictions_of_numbers(y_pred, options, labels):
    y_true = [0, 0, 0, 1, 1, 1]
    options |= {"labels": labels, "reject_cost": [0.25, 0.5]}
    assert total_cost(y_true, y_pred, **options) == pytest.approx(2.75)


@pytest.mark.parametrize("missing", ["reject", None, "?", 7])
@pytest.mark.parametrize("form", [list, lambda y: np.array(y, dtype=object), pd.Series])
def test_any_label_can_be_that_of_rejected_predictions_of_text(missing, form):
    y_pred = form(["ill", missing, "well", missing])
    options = {} if missing == "reject" else {"reject_label": missing}
    y_true = ["ill", "well", "ill", "ill"]
    cost = {("ill", "well"): 10.0}
    assert total_cost(y_true, y_pred, cost=cost, reject_cost=0.25, **options) == 10.5


@pytest.mark.parametrize("missing", [-1, "ask", None])
def test_any_label_can_be_that_of_rejected_predictions_of_numbers(missing):
    options = {"reject_label": missing, "reject_cost": 0.25}
    assert total_cost([0, 1, 2], [0, missing, 1], **options) == 1.25
    assert total_cost([0, 1, 2], [missing] * 3, **options) == 0.75


def test_a_model_that_rejects_nothing_is_scored_as_ever(codes):
    truth, predicted = (CLASSES[y] for y in codes)
    expected = total_cost(truth, predicted, cost=MATRIX)
    assert total_cost(truth, predicted, cost=MATRIX, reject_cost=3.0) == expected
    assert total_cost(*codes, cost=MATRIX, reject_cost=3.0) == expected


def test_rejecting_all_costs_the_prices_whatever_mistakes_cost(rng, codes):
    truth, _ = codes
    prices = rng.uniform(0.0, 2.0, 3)
    y_pred = np.full(N, None)
    total = total_cost(truth, y_pred, cost=MATRIX, reject_cost=prices, labels=[0, 1, 2])
    assert total == pytest.approx(prices[truth].sum())


@pytest.mark.parametrize("metric", [total_cost, mean_cost, savings_score])
def test_permuting_the_classes_changes_nothing(rng, codes, metric):
    truth, predicted = codes
    predicted = np.where(rng.random(N) < 0.3, -1, predicted)
    y_true, y_pred = CLASSES[truth], np.append(CLASSES, "reject")[predicted]
    order, prices, matrices = np.array([2, 0, 1]), np.arange(1.0, 4.0), rng.random((N, 3, 3))
    one = metric(y_true, y_pred, sample_cost=matrices, reject_cost=prices, labels=CLASSES)
    permuted = {
        "sample_cost": matrices[:, order][:, :, order],
        "reject_cost": prices[order],
        "labels": CLASSES[order],
    }
    assert metric(y_true, y_pred, **permuted) == pytest.approx(one, rel=1e-12)


@pytest.mark.parametrize("as_objects", [False, True])
def test_labels_in_any_order_are_found(codes, as_objects):
    truth, predicted = (CLASSES[y] for y in codes)
    if as_objects:
        truth, predicted = truth.astype(object), predicted.astype(object)
    order = [1, 2, 0]
    expected = total_cost(truth, predicted, cost=MATRIX, labels=CLASSES)
    cost = MATRIX[np.ix_(order, order)]
    assert total_cost(truth, predicted, cost=cost, labels=CLASSES[order]) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": MATRIX, "fn_cost": 2.0}, "costs must be stated once, got cost and fn_cost"),
        (
            {"sample_cost": np.ones(2), "tp_cost": 0.0, "fn_cost": 2.0},
            "costs must be stated once, got sample_cost and tp_cost, fn_cost",
        ),
        ({"fn_cost": 2.0}, "fn_cost can be given for two classes only, y has 3; give sample_cost"),
        ({"sample_cost": np.ones((2, 2, 2))}, r"must have the shape \(2, 3\), .*got \(2, 2, 2\)"),
        ({"sample_cost": [1.0, -2.0]}, "sample_cost must be >= 0, got -2"),
        ({"sample_cost": [1.0, np.nan]}, "sample_cost must be finite, got nan"),
        ({"reject_label": "?"}, r"reject_cost must be given with reject_label, .*'\?' alone"),
        ({"reject_label": None}, "reject_cost must be given with reject_label, .*None alone"),
        ({"reject_label": "pox", "reject_cost": 1.0}, "reject_label must not be a class, .*'pox'"),
        ({"reject_cost": -1.0}, "reject_cost must be >= 0, got -1"),
        ({"reject_cost": np.ones(4)}, r"reject_cost must be one number, .*\(3,\), .*got \(4,\)"),
        ({"reject_cost": {"flu": 1.0}}, r"reject_cost must name every class, .*got \['flu'\]"),
        ({"reject_cost": {"flo": 1.0}}, r"reject_cost must name classes of y, .* mean 'flu'\?"),
        (
            {"cost": WITH_COLUMN, "reject_cost": 1.0},
            "costs must be stated once, got reject_cost and a last column of cost",
        ),
        ({"cost": np.ones((4, 5))}, r"cost must have the shape \(3, 3\) .*\(3, 4\) .*got \(4, 5\)"),
        (
            {"cost": WITH_COLUMN - [0, 0, 0, 9]},
            "must not make a rejected prediction cheaper than the right answer, got -7.5 .* flu",
        ),
        (
            {"cost": pd.DataFrame(np.ones((3, 4)), CLASSES, ["flu", "pox", "a", "b"])},
            "cost must have one column besides those of the classes",
        ),
    ],
)
@pytest.mark.parametrize("metric", [total_cost, mean_cost, savings_score])
def test_what_cannot_be_meant_is_refused(metric, options, message):
    with pytest.raises(ValueError, match=message):
        metric(["flu", "pox"], ["well", "pox"], **{"labels": CLASSES, **options})


def test_an_answer_that_is_neither_class_nor_rejected_is_refused():
    with pytest.raises(ValueError, match=r"y_pred must name classes .* got 'reject'"):
        total_cost(["flu"], ["reject"], labels=CLASSES)
    with pytest.raises(ValueError, match=r"y_pred must name classes .* got '\?'"):
        total_cost(["flu"], ["?"], labels=CLASSES, reject_cost=1.0)


def test_prices_of_rejected_predictions_are_read_by_class():
    expected = np.array([3.0, 1.0])
    for stated in ([3, 1], {"well": 1, "ill": 3}, pd.Series({"well": 1, "ill": 3})):
        assert (parse_reject_cost(stated, ["ill", "well"]) == expected).all()
    with pytest.raises(ValueError, match=r"reject_cost must be .*\(2,\), got \(3,\)"):
        parse_reject_cost([1, 2, 3], ["ill", "well"])
    matrix, column = parse_with_reject_column(WITH_COLUMN, CLASSES)
    assert (matrix == MATRIX).all()
    assert (column == [1.0, 2.0, 3.0]).all()


@WEIGHTED
def test_matrices_by_row_may_have_a_column_for_rejected_predictions(rng, codes, weighted):
    truth, predicted = codes
    predicted = np.where(rng.random(N) < 0.3, -1, predicted)
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    matrices = rng.uniform(0.0, 9.0, (N, 3, 4))
    by_row = [matrices[n, truth[n], :3] for n in range(N)]
    price = [matrices[n, truth[n], 3] for n in range(N)]
    check(truth, predicted, by_row, weight, price, sample_cost=matrices)
    with pytest.raises(ValueError, match="got reject_cost and a last column of sample_cost"):
        mean_cost(CLASSES[truth], CLASSES[truth], sample_cost=matrices, reject_cost=1)
    with pytest.raises(ValueError, match="sample_cost must be >= 0, got -1"):
        mean_cost(CLASSES[truth], CLASSES[truth], sample_cost=np.full((N, 3, 4), -1.0))
