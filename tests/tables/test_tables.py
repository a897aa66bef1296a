"""Files that people have: read, or refused in one sentence."""

import csv
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ecselm.study import read_table


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return written


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("size,sex\n1.5,f\n2,m\n", 0),
        ("size;sex\n1,5;f\n2;m\n", 2),
        ("size\tsex\r\n1,5\tf\r\n2\tm\r\n", 2),
        ("size|sex\r1.5|f\r2|m", 1),
        ('"size", "sex"\n 1.5, "f"\n\n   \n2, m \n', 0),
        ("\ufeffsize,sex\n1.5,f\n2,m\x1a", 0),
    ],
    ids=["commas", "semicolons", "tabs", "bars", "quotes and spaces", "byte order mark"],
)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".TXT"])
def test_delimiters_are_found_by_content_whatever_the_ending(write, text, notes, ending):
    table = read_table(write(f"a{ending}", text))
    assert_frame_equal(
        table.frame, pd.DataFrame({"size": [1.5, 2], "sex": ["f", "m"]}), check_dtype=False
    )
    assert len(table.notes) == notes


@pytest.mark.parametrize(
    ("encoding", "notes"),
    [
        ("utf-8", ()),
        ("utf-16", ()),
        ("cp1252", ("The text is not UTF-8; read as cp1252.",)),
    ],
)
def test_encodings_are_found_and_a_guess_is_noted(write, encoding, notes):
    table = read_table(write("a.csv", "größe,art\n1,Bär\n".encode(encoding)))
    assert table.frame.to_dict("list") == {"größe": [1], "art": ["Bär"]}
    assert table.notes == notes


def test_text_packed_by_gzip_is_read(write):
    table = read_table(write("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)))
    assert table.frame.to_dict("list") == {"a": [1], "b": [2]}


def test_codes_stay_texts_and_gaps_are_gaps(write):
    frame = read_table(write("a.csv", "zip,n,word\n01234,?,None\n04321,2,NA\n")).frame
    assert frame["zip"].tolist() == ["01234", "04321"]
    assert np.isnan(frame["n"][0])
    assert frame["word"][0] == "None"
    assert pd.isna(frame["word"][1])


def test_a_quoted_field_may_hold_delimiters_and_lines(write):
    frame = read_table(write("a.csv", 'a,b\n"x,\ny",1\n"say ""z""",2\n')).frame
    assert frame["a"].tolist() == ["x,\ny", 'say "z"']


def test_numbers_with_a_plus_sign_are_read_to_the_last_digit(write):
    texts = ["+9380.531266279357", "+5.6236506816856086e-08"]
    for delimiter, sign in ((",", "."), (";", ",")):
        lines = [delimiter.join(["a", "b"]), *(f"{t}{delimiter}x" for t in texts)]
        file = write("a.csv", "\n".join(lines).replace(".", sign))
        assert read_table(file).frame["a"].tolist() == [float(text) for text in texts]


def test_an_uneven_row_is_named_by_its_line_wherever_it_is(write, monkeypatch):
    lines = ["a,b", *['1,"x\ny"'] * 50, "1,2,3", *["1,2"] * 50]
    file = write("a.csv", "\n".join(lines))
    for size in (16, 1 << 20):
        monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", size)
        with pytest.raises(ValueError, match=r"line 102: must have 2 fields as line 1 has, got 3"):
            read_table(file)


def test_a_file_of_gzip_that_claims_too_much_is_refused(write, monkeypatch):
    monkeypatch.setattr("ecselm.tables.read.MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="must hold at most 1000 bytes once unpacked"):
        read_table(write("a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 999, mtime=0)))


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(write, monkeypatch):
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", 1000)
    monkeypatch.setattr("ecselm.tables.text.MOST_LINE_BYTES", 5000)
    with pytest.raises(ValueError, match="must have lines of at most 5000 bytes"):
        read_table(write("a.csv", "a,b\n" + "1," * 9999))


def test_text_that_is_not_utf_8_far_from_its_beginning_is_read_again(write, monkeypatch):
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", 64)
    monkeypatch.setattr("ecselm.tables.text.SNIFFED_BYTES", 64)
    lines = ["a,b", *["x,1"] * 200, "Bär,2"]
    table = read_table(write("a.csv", "\n".join(lines).encode("cp1252")))
    assert table.frame["a"].iloc[-1] == "Bär"
    assert table.notes == ("The text is not UTF-8; read as cp1252.",)


def test_a_column_without_a_name_gets_one(write):
    table = read_table(write("a.csv", ",column 1\n0,5\n1,6\n"))
    assert table.frame.columns.tolist() == ["column 1'", "column 1"]
    assert table.notes == ('A column without a name is called "column 1\'".',)


def test_numbers_in_the_place_of_names_are_noted(write):
    assert "numbers only" in read_table(write("a.csv", "5.1,3\n4.9,2\n")).notes[0]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "", "a.csv must hold a table, got nothing"),
        ("a.csv", "\n \n", "must hold a table, got nothing"),
        ("a.csv", "a,b\n", "must hold rows, got the names of columns only"),
        ("a.csv", "a,b\n1,2\n\n3\n", r"a.csv, line 4: must have 2 fields as line 1 has, got 1"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", r"line 3: must have 2 fields as line 1 has, got 3"),
        ("a.csv", f"a,b\n{'x' * 200_000},1\n", r"a.csv, line 2: field larger"),
        ("a.csv", bytes(range(256)), "a.csv must be text, character 0 is"),
        ("a.csv", b"PAR1....PAR1", "must be text, by its content it is a Parquet file"),
        ("a.csv", b"PK\x03\x04....", "a zip archive or an Excel sheet"),
        ("a.csv.gz", "a,b\n1,2", "a.csv.gz is damaged or truncated"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2", mtime=0)[:-9], "a.csv.gz is damaged or truncated"),
        ("a.xls", b"PK", "a.xls must end in .csv, .*; save the sheet as .xlsx or .csv"),
        ("a.csv", "sep=:\na:b\n1:2\n", "line 1: fields must be separated by commas, .* 'sep=:'"),
        ("a.parquet.gz", b"PK", r"must end in .* before .gz"),
        ("a.parquet", b"a,b\n1,2", "must begin as a file of its ending does"),
        ("a.parquet", b"PAR1junkPAR1", "a.parquet is damaged or truncated"),
        ("a.feather", b"ARROW1\0\0junk", "a.feather is damaged or truncated"),
        ("a.arff", "@relation r\n@attribute a string\n@data\nx\n", "String attributes"),
        ("a.arff", "@relation r\n@attribute a real\n@data\n{0 1}\n", "that SciPy can read"),
        ("a.arff", "nothing of it", "a.arff must be an ARFF file"),
        ("a.svm", "1 x\n", "a.svm must have lines such as"),
        ("a.svm", "1 99999999:1\n", "at most 1000000 columns"),
    ],
)
def test_files_without_a_table_are_refused_in_one_sentence(write, name, content, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        read_table(write(name, content))
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named_with_the_nearest_one(write, tmp_path):
    write("tumours.csv", "a,b\n1,2")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'tumours.csv'\?"):
        read_table(tmp_path / "tumors.csv")
    with pytest.raises(FileNotFoundError, match=r"is not there$"):
        read_table(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(IsADirectoryError, match="must be a file, it is a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_columns_of_arrow_keep_their_types(tmp_path, ending):
    frame = pd.DataFrame(
        {"n": [1.5, None], "flag": [True, False], "seen": pd.to_datetime(["2024-01-01", None])}
    )
    path = tmp_path / f"a.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_feather(path)
    assert_frame_equal(read_table(path).frame, frame)


def test_a_named_index_in_parquet_is_a_column(tmp_path):
    pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="who")).to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").frame.columns.tolist() == ["who", "a"]


def test_without_pyarrow_the_extra_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match='install the extra "parquet"'):
        read_table(write("a.parquet", b"PAR1"))


def test_names_of_arff_may_be_quoted_and_foreign(write):
    longest = csv.field_size_limit()
    text = "@relation r\n@attribute 'grö ße' real\n@attribute c {ä, 'b c'}\n@data\n1,ä\n?,'b c'\n"
    frame = read_table(write("a.arff", text)).frame
    assert frame["c"].tolist() == ["ä", "b c"]
    assert frame["grö ße"][0] == 1.0
    assert np.isnan(frame["grö ße"][1])
    assert csv.field_size_limit() == longest


def test_libsvm_with_a_far_column_is_refused_before_it_is_written_out(write):
    with pytest.raises(ValueError, match="at most 1000000 columns, got the number 9999999"):
        read_table(write("a.libsvm", "1 9999999:1\n"))


def test_targets_of_libsvm_beyond_whole_floats_stay_floats(write):
    table = read_table(write("a.libsvm", "1e300 1:1\n-1 2:1\n"))
    assert table.frame["target"].tolist() == [1e300, -1.0]


def test_columns_of_libsvm_are_named_by_their_numbers(write):
    table = read_table(write("a.libsvm", "2 1:0.5 3:2\n-1 2:1\n"))
    assert table.frame.columns.tolist() == ["target", "f1", "f2", "f3"]
    assert table.frame["target"].tolist() == [2, -1]
    assert table.absent == 0.0
    assert "f0" in read_table(write("b.svm", "0.5 0:1\n")).frame


CELLS = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=8).map(str.strip)


@given(
    st.lists(st.tuples(CELLS, st.integers(-(10**9), 10**9)), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_the_csv_module_writes_comes_back(tmp_path, rows, delimiter):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("word", "number"), *(("w" + word, number) for word, number in rows)])
    path = tmp_path / "a.csv"
    path.write_bytes(text.getvalue().encode())
    frame = read_table(path).frame
    assert frame["word"].tolist() == ["w" + word for word, _ in rows]
    assert frame["number"].tolist() == [number for _, number in rows]


@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize(
    ("text", "n_titles"),
    [
        ("sep=;\nsize;sex\n1,5;f\n2;m\n", 0),
        ('"sep=;"\r\nsize;sex\r\n1,5;f\r\n2;m\r\n', 0),
        ("Report 2024\nsize;sex\n1,5;f\n2;m\n", 1),
        ('"Report of\nall"\n\nsize;sex\n1,5;f\n2;m\n', 1),
        ("sep=;\rReport\rof 2024\rsize;sex\r1,5;f\r2;m", 2),
    ],
    ids=["hint", "quoted hint", "title", "title of two lines", "hint and titles"],
)
def test_lines_above_the_names_are_left_out_and_said(write, monkeypatch, text, n_titles, size):
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", size)
    monkeypatch.setattr("ecselm.tables.text.SNIFFED_BYTES", size)
    table = read_table(write("a.csv", text))
    assert table.frame.to_dict("list") == {"size": [1.5, 2.0], "sex": ["f", "m"]}
    said = [note for note in table.notes if "above the names" in note]
    assert len(said) == bool(n_titles)
    assert all(note.startswith(f"{n_titles} row") for note in said)


def test_title_rows_of_a_spreadsheet_have_empty_fields(write):
    table = read_table(write("a.csv", "Report;;\nof 2024;;\nsize;sex;age\n1;f;3\n2;m;4\n"))
    assert table.frame.columns.tolist() == ["size", "sex", "age"]
    assert "2 rows above the names of the columns left out: 'Report', 'of 2024'." in table.notes


def test_titles_are_found_above_amounts_and_dates_too(write):
    rows = ["€1,5;unknown;f", *["€2,5;03.01.2024;m"] * 10]
    table = read_table(write("a.csv", "\n".join(["Loans 2024;;", "amount;day;sex", *rows])))
    assert table.frame.columns.tolist() == ["amount", "day", "sex"]


def test_an_uneven_row_below_titles_is_named_by_its_line(write):
    lines = ["Report", "size,sex,age", *["1,f,2"] * 30, "1,f"]
    with pytest.raises(ValueError, match=r"line 33: must have 3 fields as line 2 has, got 2"):
        read_table(write("a.csv", "\n".join(lines)))


@pytest.mark.parametrize("text", ["x,,\n1,2,3\n4,5,6\n", ",a\n0,5\n1,6\n", "a,b,c\nx,y,z\nu,v,w\n"])
def test_the_first_line_is_no_title_where_that_is_not_sure(write, text):
    table = read_table(write("a.csv", text))
    assert len(table.frame) == 2
    assert not any("above" in note for note in table.notes)


def test_columns_of_the_same_name_are_numbered_as_in_pandas(write):
    table = read_table(write("a.csv", "a,b,a,a\n1,2,3,4\n"))
    assert table.frame.columns.tolist() == ["a", "b", "a.1", "a.2"]
    assert table.notes == (
        "Another column named 'a' is called 'a.1'.",
        "Another column named 'a' is called 'a.2'.",
    )
    assert read_table(write("a.csv", "a,a,a.1\n1,2,3\n")).frame.columns.tolist() == [
        *("a", "a.2", "a.1")
    ]


def test_a_header_longer_than_a_field_may_be_is_read(write):
    n = 2000
    header = ",".join(f"{'c' * 70}{i}" for i in range(n))
    table = read_table(write("a.csv", f"{header}\n{','.join(['1'] * n)}\n"))
    assert table.frame.shape == (1, n)


def test_infinite_numbers_are_read_as_such(write):
    frame = read_table(write("a.csv", "a,b\n1,x\ninf,y\n-inf,z\n1e308,u\n")).frame
    assert frame["a"].tolist() == [1.0, np.inf, -np.inf, 1e308]


def test_a_path_with_nul_is_refused():
    with pytest.raises(ValueError, match="must not hold the character NUL"):
        read_table("a\0.csv")
