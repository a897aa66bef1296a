import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ecselm.metrics import mean_cost
from ecselm.paper.datasets import load_german

MIXED = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201"


@pytest.mark.parametrize("gap", [" ", ", ", ","])
def test_numbers_may_stand_between_spaces_or_commas(write, gap):
    rows = [gap.join(map(str, [*range(24), label])) for label in (1, 2)]
    write("german_credit_cost5to1", "german.data-numeric", "\n".join(rows * 500) + " \n")
    data = load_german()
    np.testing.assert_array_equal(data.X, [range(24)] * 1000)
    assert data.y.tolist() == [1, 2] * 500
    np.testing.assert_array_equal(data.cost, [[0, 1], [5, 0]])


def test_names_of_the_mixed_file_become_columns(write):
    write(
        "german_credit_cost5to1",
        "german.data",
        f"{MIXED} 1\n{MIXED.replace('A11', 'A14')} 2\n" * 500,
    )
    data = load_german(columns="mixed")
    assert data.feature_names[:3] == ("account=A11", "account=A14", "duration")
    np.testing.assert_array_equal(data.X[:2, :3], [[1, 0, 6], [0, 1, 6]])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [("A11 6 1", "must have 21 fields, got 3"), (f"{MIXED} 3", "label must be one of 1, 2")],
)
def test_damaged_lines_are_refused_with_their_place(write, row, sentence):
    write("german_credit_cost5to1", "german.data", f"{MIXED} 1\n{row}\n" * 500)
    with pytest.raises(ValueError, match=rf"german\.data, line 2: .*{sentence}"):
        load_german(columns="mixed")


def test_names_that_the_source_does_not_have_are_refused(write):
    rows = f"{MIXED} 1\n" * 999 + MIXED.replace("A43", "A53") + " 1\n"
    write("german_credit_cost5to1", "german.data", rows)
    with pytest.raises(
        ValueError, match=r"german\.data, line 1000: purpose must be one of A40, .*A53"
    ):
        load_german(columns="mixed")


def test_lost_rows_are_noticed(write):
    write("german_credit_cost5to1", "german.data", f"{MIXED} 1\n" * 999)
    with pytest.raises(ValueError, match=r"german\.data must hold 1000 rows, got 999"):
        load_german(columns="mixed")


def test_missing_file_is_named(folder):
    with pytest.raises(FileNotFoundError, match=r"german\.data-numeric is missing.*Hofmann"):
        load_german()


def test_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="columns must be"):
        load_german(columns="all")


def test_real_files_agree_row_by_row(data_folder):
    numeric, mixed = load_german(folder=data_folder), load_german(data_folder, columns="mixed")
    np.testing.assert_array_equal(numeric.y, mixed.y)
    assert numeric.counts.tolist() == [700, 300]
    assert numeric.X.shape == (1000, 24)
    assert sum("=" not in name for name in mixed.feature_names) == 7
    np.testing.assert_array_equal(
        numeric.X[:, 1], mixed.X[:, mixed.feature_names.index("duration")]
    )


def test_costs_of_real_decisions_are_those_of_the_notes(data_folder):
    data = load_german(folder=data_folder)
    cv = StratifiedKFold(10, shuffle=True, random_state=0)
    bad = cross_val_predict(
        LinearDiscriminantAnalysis(), data.X, data.y, cv=cv, method="predict_proba"
    )[:, 1]
    for threshold, cost in ((0.5, 0.853), (1 / 6, 0.554), (0.0, 0.700)):
        y_pred = np.where(bad >= threshold, 2, 1)
        assert mean_cost(data.y, y_pred, cost=data.cost) == pytest.approx(cost, abs=0.03)
