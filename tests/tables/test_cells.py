"""Cells as people write them; those of another kind are marked."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.tables.cells import (
    DAY_FIRST,
    DECIMAL,
    GROUPING,
    MONTH_FIRST,
    NAMED_MONTH,
    PLAIN,
    YEAR_FIRST,
    blanked,
    dates,
    read_days,
    read_hours,
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
        (["1", "NA", "?", "-", "None", None], [1, *[NAN] * 5], PLAIN),
        (["$1,200.50", "-$3", "$ -4", "7"], [1200.5, -3, -4, 7], GROUPING),
        (["900 €", "1.200 €", "2.500,5 €"], [900, 1200, 2500.5], DECIMAL),
        (["900 €", "1.200 €"], [900, 1200], DECIMAL),
        (["USD 5", "7 usd"], [5, 7], GROUPING),
    ],
    ids=[
        *("plain", "comma", "comma and points", "groups", "per cent", "apostrophes", "nothing"),
        *("dollars", "euros", "thousands of euros", "codes of currencies"),
    ],
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
        (["$1", "2 €"], [True, True]),
        (["1", "inf", "-Infinity", "1e999"], [False, True, True, True]),
    ],
    ids=["word", "code", "two styles", "list", "some per cent", "two currencies", "infinite"],
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


@pytest.mark.parametrize(
    ("order", "cells"),
    [
        (YEAR_FIRST, ["2024/12/31", "2024.12.31", "2024-12-31"]),
        (DAY_FIRST, ["31.12.2024", "31/12/2024", "31-12-24", "2024-12-31"]),
        (MONTH_FIRST, ["12/31/2024", "12-31-24", "2024-12-31"]),
        (NAMED_MONTH, ["31 Dec 2024", "31-dec-24", "December 31, 2024", "Dec 31st, 2024"]),
    ],
)
def test_dates_of_every_order_are_the_same_day(order, cells):
    assert_array_equal(read_days(pd.Series(cells), order).values, 20088.0)
    evening = pd.Series([f"{cell} 6:00 pm" for cell in cells if "-12-31" not in cell])
    assert_array_equal(read_days(evening, order).values, 20088.75)


def test_days_that_are_not_in_the_calendar_are_marked():
    cells = pd.Series(["29.02.2024", "29.02.2023", "12.31.2024", "1.1.2024 25:00", "?"])
    assert_array_equal(read_days(cells, DAY_FIRST).bad, [False, True, True, True, False])


def test_times_of_day_are_hours():
    cells = pd.Series(["00:00", "14:30", "2:30 PM", "12:15 am", "23:59:59.5", None])
    assert_allclose(read_hours(cells).values[:4], [0, 14.5, 14.5, 0.25])
    assert read_hours(cells).values[4] == pytest.approx(24 - 0.5 / 3600)
    assert_array_equal(read_hours(pd.Series(["24:00", "13:00 pm", "1:60", ""])).bad[:3], True)


def test_words_for_missing_values_are_gaps_in_any_case_and_type():
    assert blanked(pd.Series(["a", " UNKNOWN", None]), ["unknown"]).isna().tolist() == [
        *(False, True, True)
    ]
    assert blanked(pd.Series([1, -9]), ["-9", "none"]).isna().tolist() == [False, True]
    column = pd.Series(["a"])
    assert blanked(column, []) is column


def test_yes_and_no_are_read_in_words_and_flags():
    assert_array_equal(read_yes_no(pd.Series(["Ja", "NO", "true", "", "0"])).values[:3], [1, 0, 1])
    assert_array_equal(read_yes_no(pd.Series([True, False])).values, [1, 0])
    assert_array_equal(read_yes_no(pd.Series(["yes", "perhaps"])).bad, [False, True])


def test_a_name_is_the_same_whether_its_column_has_gaps_or_not():
    assert read_names(pd.Series([1, 2])).tolist() == ["1", "2"]
    assert read_names(pd.Series([1, None])).tolist() == ["1", ""]
    assert read_names(pd.Series(["1", "None", " n/a"])).tolist() == ["1", "None", ""]
    assert read_names(pd.Series(["b", None], dtype="category")).tolist() == ["b", ""]
