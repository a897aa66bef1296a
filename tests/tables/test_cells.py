"""Cells as people write them; those of another kind are marked."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ecselm.tables.cells import (
    DECIMAL,
    GROUPING,
    PLAIN,
    dates,
    read_days,
    read_names,
    read_numbers,
    read_yes_no,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("cells", "values", "style"),
    [
        (["1", " 2.5 ", "-3e2"], [1, 2.5, -300], PLAIN),
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25], DECIMAL),
        (["1.234,5", "1.234"], [1234.5, 1234], DECIMAL),
        (["1,234.5", "2,000"], [1234.5, 2000], GROUPING),
        (["12 %", "3.5%", ""], [12, 3.5, NAN], GROUPING),
        (["1'200", "2\u00a0000"], [1200, 2000], GROUPING),
        (["1", "NA", "?", "-", "None", None, "inf"], [1, *[NAN] * 6], PLAIN),
    ],
    ids=["plain", "comma", "comma and points", "groups", "per cent", "apostrophes", "nothing"],
)
def test_numbers_are_read_in_the_style_they_are_written_in(cells, values, style):
    reading = read_numbers(pd.Series(cells))
    assert reading.is_clean
    assert reading.style == style
    assert_array_equal(reading.values, values)


def test_a_comma_that_may_be_either_is_decided_by_the_caller():
    column = pd.Series(["1,500", "2,250", "x"])[:2]
    assert_array_equal(read_numbers(column).values, [1500, 2250])
    assert_array_equal(read_numbers(column, decimal_comma=True).values, [1.5, 2.25])


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        (["1", "many", "3"], [False, True, False]),
        (["007", "123"], [True, False]),
        (["1.5", "2,5"], [False, True]),
        (["1,2,3", "4"], [True, False]),
        (["12 %", "3"], [True, False]),
    ],
    ids=["word", "code", "two styles", "list", "some per cent"],
)
def test_cells_that_are_no_numbers_are_marked(cells, bad):
    reading = read_numbers(pd.Series(cells))
    assert_array_equal(reading.bad, bad)
    assert not reading.is_clean


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(max_examples=25, deadline=None)
def test_numbers_written_by_python_come_back_to_the_last_digit(values):
    assert_array_equal(read_numbers(pd.Series([repr(value) for value in values])).values, values)


@given(
    st.lists(
        st.decimals(-(10**6), 10**6, places=2, allow_nan=False).map(str), min_size=1, max_size=20
    )
)
@settings(max_examples=25, deadline=None)
def test_a_decimal_comma_means_what_a_point_does(values):
    with_comma = pd.Series([value.replace(".", ",") for value in values])
    assert_array_equal(read_numbers(with_comma).values, read_numbers(pd.Series(values)).values)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["1970-01-02", None]),
        pd.Series(pd.to_datetime(["1970-01-02", None])),
        pd.Series(pd.to_datetime(["1970-01-02T02:00+02:00", None])),
        pd.Series([date(1970, 1, 2), None]),
        pd.Series([1.0, NAN]),
    ],
    ids=["text", "dates", "zone", "objects", "days"],
)
def test_days_are_counted_from_1970_whatever_a_date_is_kept_as(column):
    assert_array_equal(read_days(column).values, [1.0, NAN])


def test_cells_that_are_no_iso_dates_are_marked():
    cells = ["2024-02-29", "2023-02-29", "01.02.2024", "?", "0001-01-01"]
    assert_array_equal(read_days(pd.Series(cells)).bad, [False, True, True, False, False])


@given(st.lists(st.datetimes(), min_size=1, max_size=10))
@settings(max_examples=25, deadline=None)
def test_days_and_dates_are_each_other_s_inverse(moments):
    days = read_days(pd.Series([moment.isoformat() for moment in moments], dtype=object)).values
    back = dates(days) - np.array(moments, "datetime64[us]")
    assert np.abs(back).max() <= np.timedelta64(100, "us")  # of a float of days in year 9999


def test_yes_and_no_are_read_in_words_and_flags():
    assert_array_equal(read_yes_no(pd.Series(["Ja", "NO", "true", "", "0"])).values[:3], [1, 0, 1])
    assert_array_equal(read_yes_no(pd.Series([True, False])).values, [1, 0])
    assert_array_equal(read_yes_no(pd.Series(["yes", "perhaps"])).bad, [False, True])


def test_a_name_is_the_same_whether_its_column_has_gaps_or_not():
    assert read_names(pd.Series([1, 2])).tolist() == ["1", "2"]
    assert read_names(pd.Series([1, None])).tolist() == ["1", ""]
    assert read_names(pd.Series(["1", "None", " n/a"])).tolist() == ["1", "None", ""]
    assert read_names(pd.Series(["b", None], dtype="category")).tolist() == ["b", ""]
