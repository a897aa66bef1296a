"""What predictions cost, in every form costs are stated in."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import accuracy_score, recall_score

from ecselm.metrics import cumulative_score, geometric_mean_score, mean_cost, total_cost

CLASSES = np.array(["flu", "pox", "well"])
MATRIX = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 4.0, 0.0]])
FORMS = {
    "array": MATRIX,
    "list": MATRIX.tolist(),
    "frame": pd.DataFrame(MATRIX, CLASSES, CLASSES).iloc[::-1, [1, 2, 0]],
    "pairs": {
        (i, j): MATRIX[a, b] for a, i in enumerate(CLASSES) for b, j in enumerate(CLASSES) if a != b
    },
}
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


@pytest.fixture
def codes(rng):
    """Return what 30 rows are and what they are taken for."""
    return rng.integers(0, 3, 30), rng.integers(0, 3, 30)


def summed(truth, predicted, weight, cost):
    """Return the total, prediction by prediction."""
    w = np.ones(len(truth)) if weight is None else weight
    return sum(w[i] * cost[truth[i], predicted[i]] for i in range(len(truth)))


@pytest.mark.parametrize("form", FORMS)
@WEIGHTED
def test_costs_are_summed_over_predictions_in_every_form(rng, codes, form, weighted):
    truth, predicted = codes
    weight = rng.uniform(0.2, 3.0, 30) if weighted else None
    options = {"cost": FORMS[form], "sample_weight": weight}
    total = summed(truth, predicted, weight, MATRIX)
    assert total_cost(CLASSES[truth], CLASSES[predicted], **options) == pytest.approx(total)
    mean = total / (30 if weight is None else weight.sum())
    assert mean_cost(CLASSES[truth], CLASSES[predicted], **options) == pytest.approx(mean)


@pytest.mark.parametrize(
    "cost",
    [[5, 2, 1], {"flu": 5, "pox": 2}, pd.Series({"flu": 5.0, "pox": 2.0, "well": 1.0})],
    ids=["vector", "dict", "series"],
)
def test_costs_by_class_are_those_of_any_mistake_on_it(codes, cost):
    truth, predicted = codes
    matrix = (1.0 - np.eye(3)) * np.array([[5.0], [2.0], [1.0]])
    expected = summed(truth, predicted, None, matrix)
    assert total_cost(CLASSES[truth], CLASSES[predicted], cost=cost) == pytest.approx(expected)


@WEIGHTED
def test_without_costs_the_mean_is_the_error(rng, codes, weighted):
    weight = rng.uniform(0.2, 3.0, 30) if weighted else None
    error = 1.0 - accuracy_score(*codes, sample_weight=weight)
    assert mean_cost(*codes, sample_weight=weight) == pytest.approx(error, rel=1e-12)


@WEIGHTED
def test_costs_by_row_are_those_of_what_was_predicted(rng, codes, weighted):
    truth, predicted = codes
    by_row, weight = rng.uniform(0.0, 9.0, (30, 3)), rng.uniform(0.2, 3.0, 30)
    weight = weight if weighted else np.ones(30)
    total = sum(weight[i] * by_row[i, predicted[i]] for i in range(30))
    options = {"sample_cost": by_row, "sample_weight": weight if weighted else None}
    assert total_cost(truth, predicted, **options) == pytest.approx(total)
    assert mean_cost(truth, predicted, **options) == pytest.approx(total / weight.sum())


def test_costs_by_row_in_a_frame_are_read_by_the_names_of_its_columns(rng, codes):
    truth, predicted = (CLASSES[c] for c in codes)
    by_row = rng.uniform(0.0, 9.0, (30, 3))
    frame = pd.DataFrame(by_row, columns=CLASSES)[["well", "flu", "pox"]]
    expected = total_cost(truth, predicted, sample_cost=by_row)
    assert total_cost(truth, predicted, sample_cost=frame) == pytest.approx(expected)


def test_labels_name_classes_that_do_not_occur():
    y_true, y_pred = ["flu", "flu"], ["well", "flu"]
    assert total_cost(y_true, y_pred, cost=MATRIX, labels=CLASSES) == 2.0
    by_row = np.array([[0.0, 1.0, 4.0], [0.0, 1.0, 4.0]])
    assert total_cost(y_true, y_pred, sample_cost=by_row, labels=CLASSES) == 4.0
    with pytest.raises(ValueError, match=r"cost must have the shape \(2, 2\)"):
        total_cost(y_true, y_pred, cost=MATRIX)


@pytest.mark.parametrize("labels", [[3, 7], [-1.0, 1.0], [False, True], ["a", "b"]], ids=str)
def test_labels_of_any_kind_are_found(labels):
    first, second = labels
    cost = {(first, second): 10}
    assert total_cost(labels, [second, first], cost=cost) == 11.0


@pytest.mark.parametrize("cost", [total_cost, mean_cost])
def test_a_weight_of_two_is_a_row_twice(codes, cost):
    truth, predicted = codes
    twice = np.append(np.arange(30), [0, 3, 7])
    heavy = cost(truth, predicted, cost=MATRIX, sample_weight=np.bincount(twice))
    assert cost(truth[twice], predicted[twice], cost=MATRIX) == pytest.approx(heavy, rel=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": MATRIX, "sample_cost": np.ones((2, 3))}, "costs must be stated once"),
        (
            {"sample_cost": np.ones((2, 2))},
            r"sample_cost must have the shape \(2, 3\), .* \(2, 2\)",
        ),
        ({"sample_cost": [["a"] * 3] * 2}, "sample_cost must hold numbers only"),
        ({"cost": {("flu", "pix"): 2}}, r"cost must name classes of y, .* did you mean 'pox'\?"),
        ({"labels": ["flu", "pox"]}, "y_pred must name classes of y"),
        ({"sample_weight": [1.0]}, "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("cost", [total_cost, mean_cost])
def test_what_cannot_be_meant_is_refused_by_name(cost, options, message):
    with pytest.raises(ValueError, match=message):
        cost(["flu", "pox"], ["well", "pox"], **{"labels": CLASSES, **options})


@pytest.mark.parametrize("cost", [total_cost, mean_cost, geometric_mean_score, cumulative_score])
def test_answers_must_be_as_many_as_questions(cost):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cost([0, 1, 1], [0, 1])


@pytest.mark.parametrize("k", [2, 4])
@WEIGHTED
def test_gmean_is_the_root_of_the_product_of_all_recalls(rng, k, weighted):
    truth = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, 30)])
    predicted = np.where(rng.random(len(truth)) < 0.7, truth, rng.integers(0, k, len(truth)))
    weight = rng.uniform(0.2, 3.0, len(truth)) if weighted else None
    recalls = recall_score(truth, predicted, average=None, sample_weight=weight)
    value = geometric_mean_score(truth, predicted, sample_weight=weight)
    assert value == pytest.approx(np.prod(recalls) ** (1 / k), rel=1e-12)


def test_gmean_leaves_out_classes_that_are_predicted_but_never_true():
    assert geometric_mean_score([0, 0, 1, 1], [0, 2, 1, 1]) == pytest.approx(np.sqrt(0.5))


@WEIGHTED
def test_cumulative_score_is_equation_35(rng, weighted):
    truth, predicted = rng.integers(1, 6, (2, 40))
    weight = rng.uniform(0.2, 3.0, 40) if weighted else None
    w = np.ones(40) if weight is None else weight
    for tolerance in range(5):
        near = sum(w[i] for i in range(40) if abs(int(predicted[i]) - int(truth[i])) <= tolerance)
        value = cumulative_score(truth, predicted, tolerance=tolerance, sample_weight=weight)
        assert value == pytest.approx(near / w.sum(), rel=1e-12)
    zero = cumulative_score(truth, predicted, tolerance=0, sample_weight=weight)
    assert zero == pytest.approx(accuracy_score(truth, predicted, sample_weight=weight), rel=1e-12)
    assert cumulative_score(truth, predicted, tolerance=4) == 1.0


def test_cumulative_score_of_several_targets_is_the_mean_over_them(rng):
    T, Z = rng.standard_normal((2, 20, 3))
    by_target = [cumulative_score(T[:, j], Z[:, j], tolerance=0.5) for j in range(3)]
    assert_allclose(cumulative_score(T, Z, tolerance=0.5), np.mean(by_target), rtol=1e-12)


def test_a_column_is_as_good_as_a_row_of_numbers(rng):
    truth, predicted = rng.integers(0, 4, (2, 20))
    expected = cumulative_score(truth, predicted)
    assert cumulative_score(truth[:, np.newaxis], predicted) == expected
    assert cumulative_score(truth, predicted[:, np.newaxis]) == expected


def test_cumulative_score_refuses_what_has_no_distance():
    with pytest.raises(ValueError, match="tolerance must be >= 0, got -1"):
        cumulative_score([1], [1], tolerance=-1)
    with pytest.raises(ValueError, match="as many columns as y_true, 2, got 1"):
        cumulative_score(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match="could not convert"):
        cumulative_score(["low"], ["high"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cumulative_score([1, 2], [1, 2], sample_weight=[1.0])
