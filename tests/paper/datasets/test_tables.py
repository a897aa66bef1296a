import numpy as np
import pytest

from ecselm.paper.datasets._text import Column, Row, encode, encoded_names, integers, split_rows


def test_rows_keep_the_number_of_their_line():
    rows = split_rows('"a";1\n\n"b";2\n', "toy.csv", 2, ";")
    assert rows == [Row(1, ["a", "1"]), Row(3, ["b", "2"])]


def test_quotes_without_a_partner_stay():
    assert split_rows("'a',\"b,12',\"", "toy.csv", 4)[0].fields == ["a", '"b', "12'", '"']


def test_first_row_sets_the_number_of_fields_where_none_is_given():
    with pytest.raises(ValueError, match=r"toy\.csv, line 2: must have 3 fields, got 2"):
        split_rows("1,2,3\n1,2", "toy.csv", None)


def test_empty_file_is_refused():
    with pytest.raises(ValueError, match=r"toy\.csv must hold rows"):
        split_rows("\n\n", "toy.csv", 2)


def test_names_are_encoded_in_the_order_of_their_categories():
    columns = [Column("sex", ("M", "F", "I")), Column("age")]
    X = encode([Row(1, ["F", "3"]), Row(2, ["I", "4.5"])], columns, "toy.csv")
    np.testing.assert_array_equal(X, [[0, 1, 0, 3], [0, 0, 1, 4.5]])
    assert encoded_names(columns) == ("sex=M", "sex=F", "sex=I", "age")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (["X", "3"], "line 7: sex must be one of M, F, got 'X'"),
        (["M", "old"], "line 7, age: must be a number, got 'old'"),
        (["M", "nan"], "line 7, age: must be a finite number"),
        (["M", ""], "line 7, age: must be a number"),
        (["M", "1_0"], "line 7, age: must be a number, got '1_0'"),
        (["M", "\u0663"], "line 7, age: must be a number"),
        (["M", "9" * 400 + "x"], r"line 7, age: must be a number, got '9+\.\.\.$"),
    ],
)
def test_wrong_fields_are_refused_with_their_place(fields, sentence):
    with pytest.raises(ValueError, match=sentence):
        encode([Row(7, fields)], [Column("sex", ("M", "F")), Column("age")], "toy.csv")


def test_labels_must_lie_in_their_range():
    assert integers([Row(1, ["3"]), Row(2, ["1"])], 0, range(1, 4), "t").tolist() == [3, 1]
    with pytest.raises(ValueError, match="line 1: the label must be one of 1, 2, 3, got '4'"):
        integers([Row(1, ["4"])], 0, range(1, 4), "t")
