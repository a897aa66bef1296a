"""Sheets of Excel: read like text, or refused before they take memory."""

import sys
import zipfile
from datetime import date, datetime, time

import numpy as np
import openpyxl
import pandas as pd
import pytest

from ecselm.study import plan_columns, read_table
from ecselm.tables import excel

MINIMAL = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": "<workbook/>",
}


@pytest.fixture
def write(tmp_path):
    def written(*rows, sheets=(), name="a.xlsx"):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for title in sheets:
            book.create_sheet(title)
        book.save(tmp_path / name)
        return tmp_path / name

    return written


@pytest.fixture
def pack(tmp_path):
    def packed(**members):
        with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (MINIMAL | members).items():
                archive.writestr(name, content)
        return tmp_path / "a.xlsx"

    return packed


def test_cells_of_every_type_are_columns_of_one(write):
    table = read_table(
        write(
            ["size", "n", "seen", "day", "at", "ok", "site", "mixed"],
            [1.5, 1, datetime(2024, 5, 1, 6), date(2024, 5, 1), time(6, 30), True, "Köln ", 1],
            [None, 2, None, date(2024, 5, 2), time(7), None, "Bonn", "x"],
            [2, 3, datetime(2024, 5, 2), None, None, False, "NA", 2.0],
        )
    )
    frame = table.frame
    assert frame["size"].tolist()[::2] == [1.5, 2.0]
    assert np.isnan(frame["size"][1])
    assert frame["n"].dtype == np.int64
    assert frame["seen"].tolist()[::2] == [pd.Timestamp(2024, 5, 1, 6), pd.Timestamp(2024, 5, 2)]
    assert frame["mixed"].tolist() == ["1", "x", "2"]
    assert frame["site"][0] == "Köln"
    kinds = {note.name: note.kind for note in plan_columns(frame.assign(y=[0, 1, 0]), "y").columns}
    assert kinds["seen"] == kinds["day"] == "dates"
    assert kinds["at"] == "numbers"
    assert kinds["ok"] == "yes or no"
    assert table.notes == ()


def test_a_sheet_is_read_as_the_same_text_is(write, tmp_path):
    rows = [
        ["Report", None, None],
        ["size", "sex", "size"],
        *[[i / 4, "fm"[i % 2], i] for i in range(9)],
    ]
    table = read_table(write(*rows, sheets=["more"]))
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    text = read_table(tmp_path / "a.csv")
    pd.testing.assert_frame_equal(table.frame, text.frame, check_dtype=False)
    assert table.notes == ("The sheet 'Sheet' is read, and not 'more'.", *text.notes)


def test_chunks_of_rows_do_not_matter(write, monkeypatch):
    rows = [["a", "b", "c"], *[[i, None if i < 5 else "x", i if i < 7 else "y"] for i in range(9)]]
    whole = read_table(write(*rows)).frame
    monkeypatch.setattr(excel, "CHUNK_ROWS", 2)
    pd.testing.assert_frame_equal(read_table(write(*rows)).frame, whole)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "must hold a table, got sheets without any cell"),
        ([["a", "b"]], "must hold rows, got the names of columns only"),
        ([["a", "b"], *[[1, 2]] * 120, [1, 2, 3]], r"row 121 below the names: .* 2 cells .* got 3"),
    ],
    ids=["empty", "names", "uneven"],
)
def test_sheets_without_a_table_are_refused(write, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_table(write(*rows))


def test_a_file_that_is_no_sheet_is_refused(tmp_path, pack):
    (tmp_path / "b.xlsx").write_bytes(b"PK junk")
    with pytest.raises(ValueError, match=r"b.xlsx is damaged or truncated"):
        read_table(tmp_path / "b.xlsx")
    with pytest.raises(ValueError, match=r"a.xlsx is damaged or truncated"):
        read_table(pack())


def test_a_file_that_claims_too_much_is_refused_before_it_is_unpacked(pack, monkeypatch):
    monkeypatch.setattr(excel, "FREE_BYTES", 10**6)
    with pytest.raises(ValueError, match=r"must take at most \d+ bytes once unpacked, 20 times"):
        read_table(pack(**{"xl/worksheets/sheet1.xml": b"<a>" + b" " * 10**7}))
    with pytest.raises(ValueError, match=r"got 9\d{6}$"):
        read_table(pack(**{"xl/sharedStrings.xml": b"<a>" + b" " * 10**6}))


def test_entities_are_refused(pack):
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]><workbook>&b;</workbook>'
    with pytest.raises(ValueError, match=r"must not declare a document type, got one in xl/work"):
        read_table(pack(**{"xl/workbook.xml": bomb}))


def test_a_wide_and_nearly_empty_sheet_is_refused_by_its_cells(write, monkeypatch):
    monkeypatch.setattr(excel, "FREE_BYTES", 20_000)
    monkeypatch.setattr(excel, "MOST_RATIO", 0)
    monkeypatch.setattr(excel, "STRING_RATIO", 0)
    file = write([f"c{i}" for i in range(300)], *[[1]] * 100)
    monkeypatch.setattr(excel, "check_unpacked", lambda _: 20_000)
    with pytest.raises(ValueError, match="must have at most 2500 cells for its size"):
        read_table(file)


def test_without_openpyxl_the_extra_is_named(write, monkeypatch):
    file = write(["a"], [1])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r'reading a.xlsx needs openpyxl: install the extra "exc'):
        read_table(file)
