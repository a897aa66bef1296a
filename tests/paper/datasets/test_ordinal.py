import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, cross_val_predict

from ecselm.paper.datasets import load_ordinal

SHAPES = {
    "ESL": (488, 4),
    "LEV": (1000, 4),
    "wine-red": (1599, 11),
    "wine-white": (4898, 11),
    "abalone": (4177, 10),
}


def test_header_and_levels_are_read(write):
    write(
        "ordinal_regression",
        "ESL.csv",
        '"in1","in2","in3","in4","out1"\n' + "6,5,6,6,6\n5,4,5,5,1\n" * 244,
    )
    data = load_ordinal("ESL")
    np.testing.assert_array_equal(data.X[:2], [[6, 5, 6, 6], [5, 4, 5, 5]])
    assert data.y.tolist() == [6, 1] * 244
    assert data.classes.tolist() == [1, 6]


def test_sex_of_abalone_is_encoded(write):
    write("ordinal_regression", "abalone.csv", "M,0.4,0.3,0.1,0.5,0.2,0.1,0.15,15\n" * 4177)
    data = load_ordinal("abalone")
    assert data.feature_names[:4] == ("sex=F", "sex=I", "sex=M", "length")
    np.testing.assert_array_equal(data.X[0, :4], [0, 0, 1, 0.4])


@pytest.mark.parametrize(
    ("file", "name", "text", "sentence"),
    [
        ("ESL.csv", "ESL", "a,b,c,d,e\n1,1,1,1,1", "line 1: must be in1,in2,in3,in4,out1"),
        (
            "LEV.csv",
            "LEV",
            "in1,in2,in3,in4,out1\n" + "1,1,1,1,5\n" * 1000,
            "line 2: the label must be",
        ),
        ("winequality-white.csv", "wine-white", "1,2,3,4,5,6,7,8,9,10,11,5", "must hold 4898 rows"),
        ("winequality-red.csv", "wine-red", "1,2,3", "line 1: must have 12 fields, got 3"),
        (
            "abalone.csv",
            "abalone",
            "X,0,0,0,0,0,0,0,1\n" * 4177,
            "line 1: sex must be one of F, I, M",
        ),
    ],
)
def test_damaged_files_are_refused_with_their_place(write, file, name, text, sentence):
    write("ordinal_regression", file, text)
    with pytest.raises(ValueError, match=f"{file},? {sentence}"):
        load_ordinal(name)


def test_unknown_and_missing_sets_are_named(folder):
    with pytest.raises(ValueError, match="name must be one of ESL, LEV, wine-red"):
        load_ordinal("wine")
    with pytest.raises(FileNotFoundError, match=r"winequality-red\.csv is missing.*Cortez"):
        load_ordinal("wine-red")


@pytest.mark.parametrize("name", SHAPES)
def test_real_sets_have_their_shapes(data_folder, name):
    assert load_ordinal(name, data_folder).X.shape == SHAPES[name]


def test_real_levels_have_their_counts(data_folder):
    counts = {name: load_ordinal(name, data_folder).counts.tolist() for name in SHAPES}
    assert counts["ESL"] == [2, 12, 38, 100, 116, 135, 62, 19, 4]
    assert counts["LEV"] == [93, 280, 403, 197, 27]
    assert len(counts["wine-red"]) == 6
    assert len(counts["wine-white"]) == 7


@pytest.mark.parametrize(
    ("name", "right", "error"),
    [("ESL", 0.703, 0.311), ("LEV", 0.602, 0.435), ("wine-red", 0.592, 0.456)],
)
def test_linear_discriminants_do_as_the_notes_say(data_folder, name, right, error):
    data = load_ordinal(name, data_folder)
    cv = KFold(10, shuffle=True, random_state=0)
    y_pred = cross_val_predict(LinearDiscriminantAnalysis(), data.X, data.y, cv=cv)
    assert (y_pred == data.y).mean() == pytest.approx(right, abs=0.015)
    assert np.abs(y_pred - data.y).mean() == pytest.approx(error, abs=0.02)
