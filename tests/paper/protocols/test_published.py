"""The paper's tables as data."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ecselm.paper.protocols.published import (
    ERRATA,
    GAS_TEST_ROWS,
    GASES,
    PUBLISHED,
    frame,
    std_frame,
)

SHAPES = {
    "table-1": (8, 6),
    "table-2": (8, 8),
    "table-3": (6, 6),
    "table-4": (6, 11),
    "table-5": (6, 8),
    "table-6": (1, 9),
    "table-7": (1, 8),
    "table-8": (2, 9),
    "table-9": (2, 9),
    "table-10": (8, 13),
    "table-11": (8, 11),
    "table-12": (6, 9),
    "table-13": (3, 8),
    "table-14": (1, 9),
}
SPOTS = [  # the first cell, the last and one in the middle of each, read off the paper
    ("table-1", "Facial (G), E", "ELM", 32.91, 5.50),
    ("table-1", "Dressing, E", "KELM", 39.68, 14.5),
    ("table-1", "Vocal, W", "ECSELM", 54.76, 1.13),
    ("table-2", "Facial (G), E", "PCA-NN", 29.50, 1.85),
    ("table-2", "Facial (A), W", "CSMFA-NN", 31.50, 2.85),
    ("table-3", "Facial (A), E", "KNN", 36.45, 3.03),
    ("table-3", "Vocal, W", "CSOR", 40.67, 2.30),
    ("table-4", "Facial (A), E", "NN", 2.10, np.nan),
    ("table-4", "Vocal, E", "E-ELM", 0.95, np.nan),
    ("table-4", "Dressing, W", "Ridge", 1.76, np.nan),
    ("table-4", "Dressing, W", "Neural Network", 1.62, np.nan),
    ("table-5", "Facial (A), W->E", "LDFAT", 1.43, np.nan),
    ("table-5", "Vocal, W->E", "ECSELM", 0.99, np.nan),
    ("table-6", "AR", "CSELM", 89.4, np.nan),
    ("table-7", "AR", "CISVM", np.nan, np.nan),
    ("table-7", "AR", "mcKLR", 92.2, np.nan),
    ("table-8", "LFW, LBP", "E-ELM", 86.97, 3.10),
    ("table-8", "LFW, SIFT", "CSMFA", 52.76, 1.35),
    ("table-9", "LFW, SIFT", "CSML", np.nan, np.nan),
    ("table-9", "LFW, SIFT", "DML-eig", 81.27, 7.27),
    ("table-10", "C6H6", "ELM", 83.22, np.nan),
    ("table-10", "TRR", "ECS-ELM", 98.15, np.nan),
    ("table-11", "NO2", "PLS-DA", 23.08, np.nan),
    ("table-12", "AR", "CSLDA", 45.50, np.nan),
    ("table-13", "p", "E-ELM", 0.0029, np.nan),
    ("table-13", "H at 0.01", "WELM", 0, np.nan),
    ("table-14", "LFW", "CSMFA", 6731.9, np.nan),
]


@pytest.mark.parametrize(("item", "row", "column", "mean", "std"), SPOTS)
def test_cells_are_those_of_the_paper(item, row, column, mean, std):
    np.testing.assert_equal(float(frame(item).loc[row, column]), mean)
    np.testing.assert_equal(float(std_frame(item).loc[row, column]), std)


def test_all_fourteen_tables_have_their_shapes():
    assert {item: (len(t.rows), len(t.columns)) for item, t in PUBLISHED.items()} == SHAPES


def test_only_the_dashes_of_the_paper_are_missing():
    missing = {item: int(frame(item).isna().to_numpy().sum()) for item in PUBLISHED}
    assert {item: n for item, n in missing.items() if n} == {"table-7": 1, "table-9": 2}


def test_stds_stand_beside_all_means_of_five_tables():
    with_stds = [item for item in PUBLISHED if std_frame(item).notna().any(axis=None)]
    assert with_stds == ["table-1", "table-2", "table-3", "table-8", "table-9"]
    for item in with_stds:
        assert (std_frame(item).isna() == frame(item).isna()).all(axis=None)


def test_ecselm_has_one_result_on_the_same_data_in_all_tables():
    first = frame("table-1")["ECSELM"]
    assert (frame("table-2")["ECSELM"] == first).all()
    assert (frame("table-3")["ECSELM"] == first[2:]).all()
    assert (frame("table-8")["ECSELM"] == frame("table-9")["ECSELM"]).all()
    assert frame("table-10")["ECS-ELM"].equals(frame("table-11")["ECSELM"])


def test_the_summary_repeats_the_other_tables_but_for_its_slips():
    summary = frame("table-12")
    beauty = frame("table-1").rename(columns={"W1ELM": "WELM"})
    subspaces = frame("table-2").rename(columns=lambda name: name.removesuffix("-NN"))
    rows = ["Facial (A), E", "Dressing, E", "Vocal, E"]
    for method in summary:
        source = beauty if method in beauty else subspaces
        assert (summary[method].to_numpy()[:3] == source.loc[rows, method].to_numpy()).all()
    lfw = frame("table-8").loc["LFW, SIFT"]
    assert (summary.loc["LFW, SIFT"] == lfw[summary.columns]).all()
    ar = frame("table-6").loc["AR"]
    moved = [method for method in summary if method in ar and summary[method]["AR"] != ar[method]]
    assert moved == ["CSLDA", "CSLPP", "CSMFA"]


def test_slips_that_name_a_cell_quote_it():
    roman = {"X": "table-10", "XII": "table-12"}
    cells = [re.fullmatch(r"table (XI?I?), (\S.*), (\S.*)", erratum.place) for erratum in ERRATA]
    named = [(cell.groups(), erratum) for cell, erratum in zip(cells, ERRATA, strict=True) if cell]
    assert len(named) == 8
    for (table, one, other), erratum in named:
        row, column = (other, one) if table == "X" else (one, other)
        assert frame(roman[table]).loc[row, column] == float(erratum.printed)
        assert erratum.printed != erratum.should_be


def test_gases_have_the_test_rows_that_two_thirds_leave():
    counts = np.array([188, 72, 66, 58, 60, 38])
    assert tuple(counts - 2 * counts // 3) == GAS_TEST_ROWS
    assert PUBLISHED["table-10"].rows[:6] == GASES


def test_a_column_is_read_row_by_row():
    assert PUBLISHED["table-6"].column("CSLDA") == (86.4,)


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match=r"item must be one of table-1, .*got 'table-15'"):
        frame("table-15")
