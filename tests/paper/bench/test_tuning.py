import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.preprocessing import StandardScaler

from ecselm.metrics import geometric_mean_score, mean_cost
from ecselm.paper.bench import tuning
from ecselm.paper.bench.methods import BenchMethod
from ecselm.paper.bench.tuning import (
    Fitter,
    LabelledRows,
    inner_folds,
    label_rows,
    rank_candidates,
    scores,
    tuning_rows,
)
from tests.paper.bench.made import tiny

LINEAR = BenchMethod("balanced logistic regression")
PENALTIES = [{"C": 1e-3}, {"C": 1.0}, {"C": 1e3}]
TARGETS = ("gmean", "accuracy")


def test_scores_equal_the_functions_of_the_same_names(rng):
    y, y_pred = rng.integers(0, 3, (2, 50))
    rows = LabelledRows(np.zeros((50, 1)), y, 3)
    expected = {
        "gmean": geometric_mean_score(y, y_pred),
        "f1_macro": f1_score(y, y_pred, average="macro"),
        "matthews_corrcoef": matthews_corrcoef(y, y_pred),
        "accuracy": (y == y_pred).mean(),
        "mean_cost": -(y != y_pred).mean(),
    }
    for target, value in expected.items():
        assert scores(target, y_pred, rows)[0] == pytest.approx(value, abs=1e-11)


@pytest.mark.parametrize("costs", ["matrix", "rows"])
def test_costs_are_those_of_the_decisions(rng, costs):
    data = tiny("costly", costs=costs)
    y_pred = rng.integers(0, 2, 60)
    expected = mean_cost(data.y, y_pred, cost=data.cost, sample_cost=data.sample_cost)
    assert scores("mean_cost", y_pred, label_rows(data))[0] == pytest.approx(-expected)


def test_costs_by_row_have_the_means_of_their_classes():
    rows = label_rows(tiny("costly", costs="rows"))
    np.testing.assert_allclose(rows.present_cost, [[0.0, 1.0], [5.0, 1.0]])
    np.testing.assert_allclose(rows.take(np.flatnonzero(rows.y)).present_cost, [[1.0]])


@pytest.mark.parametrize(("smallest", "n_folds"), [(9, 5), (5, 5), (3, 3), (2, 2), (1, 2)])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_small_classes_have_fewer_folds(smallest, n_folds):
    y = np.repeat([0, 1], [20, smallest])
    folds = inner_folds(y, 0)
    assert len(folds) == n_folds
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))


def test_candidates_are_ranked_by_the_predictions_of_all_folds_together():
    rows = label_rows(tiny("glass"))
    y_pred = np.zeros((3, 60), dtype=int)
    for train, test in inner_folds(rows.y, 7):
        scaler = StandardScaler().fit(rows.X[train])
        for i, candidate in enumerate(PENALTIES):
            model = Fitter(LINEAR, False, 7).fit(candidate, rows.take(train).scaled(scaler))
            y_pred[i, test] = model.predict(scaler.transform(rows.X[test]))
    found = rank_candidates(Fitter(LINEAR, False, 7), PENALTIES, rows, TARGETS)
    for target in TARGETS:
        assert found[target][0] == np.argmax(scores(target, y_pred, rows))


def test_ties_go_to_the_earlier_candidate():
    rows = label_rows(tiny("glass"))
    found = rank_candidates(Fitter(LINEAR, False, 0), [{"C": 1.0}] * 3, rows, TARGETS)
    assert found == dict.fromkeys(TARGETS, (0, 1, 2))


def test_what_cannot_be_fitted_comes_last():
    rows = label_rows(tiny("glass"))
    candidates = [{"C": -1.0}, {"C": 1.0}]
    found = rank_candidates(Fitter(LINEAR, False, 0), candidates, rows, TARGETS)
    assert found == dict.fromkeys(TARGETS, (1, 0))


def test_many_rows_are_subsampled_by_class(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_ROWS", 30)
    rows = label_rows(tiny("glass"))
    few = tuning_rows(rows, 0)
    np.testing.assert_array_equal(2 * np.bincount(few.y), np.bincount(rows.y))
