import numpy as np
import pytest
from sklearn.metrics import auc, roc_curve

from ecselm.metrics import cumulative_score, mean_cost
from ecselm.paper.datasets import Dataset
from ecselm.paper.protocols.evaluation import (
    evaluate_classes,
    evaluate_levels,
    evaluate_pairs,
    evaluate_persons,
    evaluate_scores,
)


class FixedModel:
    """A model with fixed predictions."""

    def __init__(self, y_pred, scores=None):
        self.y_pred = np.asarray(y_pred)
        self.scores = scores

    def predict(self, X):
        return self.y_pred

    def predict_proba(self, X):
        return np.column_stack([1 - self.scores, self.scores])


def of_classes(classes, cost=None):
    """Return data with these classes, which is all that evaluations need."""
    k = len(classes)
    return Dataset("toy", np.zeros((k, 1)), classes, "Made here.", classes, cost=cost)


def found(rows, metric):
    return {row.at: row.value for row in rows if row.metric == metric}


def test_cumulative_scores_are_those_of_the_metric():
    y, y_pred = np.array([1, 2, 3, 4, 5, 5]), np.array([1, 3, 5, 1, 5, 4])
    rows = evaluate_levels(FixedModel(y_pred), None, y, of_classes(np.arange(1, 6)))
    expected = {str(t): cumulative_score(y, y_pred, tolerance=t) for t in range(5)}
    assert found(rows, "cum_score") == expected


def test_levels_that_do_not_occur_leave_no_gap():
    y, y_pred = np.array([1, 3, 3]), np.array([3, 1, 3])
    assert (
        found(
            evaluate_levels(FixedModel(y_pred), None, y, of_classes(np.array([1, 3]))), "cum_score"
        )["1"]
        == 1.0
    )


def test_confusion_counts_truth_by_rows():
    rows = evaluate_classes(
        FixedModel([0, 1, 1]), None, np.array([0, 0, 1]), of_classes(np.arange(2))
    )
    assert found(rows, "confusion") == {"0,0": 1, "0,1": 1, "1,0": 0, "1,1": 1}
    assert found(rows, "recall") == {"0": 0.5, "1": 1.0}
    assert found(rows, "arr")[""] == 0.75


def test_classes_are_called_by_their_names():
    data = Dataset(
        "toy", np.zeros((2, 1)), np.arange(2), "Made.", np.arange(2), class_names=("CO", "NH3")
    )
    rows = evaluate_classes(FixedModel([0, 1]), None, np.array([0, 0]), data)
    assert found(rows, "recall") == {"CO": 0.5}
    assert found(rows, "confusion")["CO,NH3"] == 1


def test_class_without_test_rows_has_no_recall():
    rows = evaluate_classes(FixedModel([0, 0]), None, np.array([0, 0]), of_classes(np.arange(2)))
    assert found(rows, "recall") == {"0": 1.0}


def test_scores_are_evaluated_by_their_mean_absolute_error():
    (row,) = evaluate_scores(FixedModel([1.0, 4.0]), None, np.array([2.0, 2.0]), None)
    assert (row.metric, row.value) == ("mae", 1.5)


def test_curve_on_the_grid_has_the_area_of_the_curve(rng):
    y = np.arange(400) % 2
    scores = np.clip(0.5 + 0.2 * (y - 0.5) + 0.2 * rng.standard_normal(400), 0, 1)
    rows = evaluate_pairs(FixedModel(scores > 0.5, scores), None, y, of_classes(np.arange(2)))
    curve = found(rows, "tpr")
    area = auc([float(at) for at in curve], list(curve.values()))
    false, true, _ = roc_curve(y, scores)
    assert area == pytest.approx(auc(false, true), abs=0.01)
    assert found(rows, "auc")[""] == pytest.approx(auc(false, true), abs=1e-12)
    assert curve["1.00"] == 1.0


def test_costs_are_evaluated_where_the_data_have_them():
    y, y_pred, cost = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([[0, 1.0], [5.0, 0]])
    rows = evaluate_classes(FixedModel(y_pred), None, y, of_classes(np.arange(2), cost))
    assert found(rows, "mean_cost")[""] == mean_cost(y, y_pred, cost=cost) == 1.5
    assert found(rows, "savings")[""] == pytest.approx(1 - 1.5 / 0.5)
    assert not found(
        evaluate_classes(FixedModel(y_pred), None, y, of_classes(np.arange(2))), "mean_cost"
    )


def test_scores_of_persons_go_to_the_number_of_persons_in_the_split():
    y, y_pred = np.array([7, 7, 20, 31]), np.array([7, 20, 20, 7])
    rows = evaluate_persons(FixedModel(y_pred), None, y, of_classes(np.arange(100)))
    assert found(rows, "cum_score") == {"0": 0.5, "1": 0.75, "2": 1.0}
