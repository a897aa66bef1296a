"""Tables of results, in every form they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecselm.paper.statistics.tests import column_of, differences, read_table

FRAME = pd.DataFrame({"ELM": [70.0, 80.0], "ours": [75.0, 85.0]})


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.astype(int),
        FRAME.astype(object),
        FRAME.astype(str),
        FRAME.to_dict("list"),
        pl.DataFrame(FRAME.to_dict("list")),
    ],
    ids=["floats", "integers", "objects", "words of numbers", "dict", "polars"],
)
def test_tables_are_read_in_every_form(table):
    pd.testing.assert_frame_equal(read_table(table), FRAME)


def test_arrays_have_numbers_for_names():
    assert list(read_table(np.eye(3)).columns) == [0, 1, 2]


def test_the_table_itself_stays_as_it_is():
    kept = FRAME.copy()
    found = read_table(FRAME)
    found.iloc[0, 0] = 1.0
    pd.testing.assert_frame_equal(FRAME, kept)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (FRAME.iloc[:1], "table must have at least two rows .* got 1 and 2"),
        (FRAME[["ELM"]], "table must have at least two rows .* got 2 and 1"),
        ({}, "table must have at least two rows .* got 0 and 0"),
        (FRAME[["ELM", "ELM"]], "table must have every method once, got 'ELM' twice"),
        ({"ELM": ["good", "bad"], "ours": [1, 2]}, "table must hold numbers only, got .*good"),
        (
            pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}, index=["AR", "LFW"]),
            "table must be complete, got nan in row 'LFW', column 'b'",
        ),
        ({"a": [1.0, np.inf], "b": [1.0, 2.0]}, "table must be complete, got inf in row 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        read_table(table)


def test_a_baseline_is_a_column():
    assert column_of(FRAME, "ours") == 1
    message = r"baseline must be a column of table, \['ELM', 'ours'\], got 'our'; .* 'ours'\?"
    with pytest.raises(ValueError, match=message):
        column_of(FRAME, "our")
    with pytest.raises(ValueError, match=r"got 3$"):
        column_of(FRAME, 3)


def test_differences_are_equal_where_they_were_before_they_were_rounded(rng):
    a, b = np.array([0.95, 0.85, 0.3, 1e-3]), np.array([0.9, 0.8, 0.1 + 0.2, 0.0])
    found = differences(a, b)
    assert found[0] == found[1]
    assert found[2] == 0.0
    np.testing.assert_allclose(found, [0.05, 0.05, 0.0, 1e-3], rtol=1e-10, atol=0)
    V = rng.standard_normal((2, 50))
    np.testing.assert_allclose(differences(*V), V[0] - V[1], rtol=0, atol=2e-13)
    assert not differences(np.zeros(3), np.zeros(3)).any()
