"""Blocks put together are the table, whatever their size and the kind of the file."""

import gzip
import tracemalloc

import pandas as pd
import pytest

from ecselm.streaming import can_open_blocks, open_blocks
from ecselm.study import read_table

TEXTS = {
    "decimal commas": "size;sex;n\n1,5;f;1\n;m;2\n2,5;f;3\n1.500;x;4\n",
    "quotes and gaps": 'a,b,c\n1,x,12%\n2,"y, z",13%\n\n3,?,\n4,"two\nlines",7 %\n',
    "grouping commas": 'a,b\n"1,500",2\n"2,500",3\n"3",4\n',
    "a comma that decides": 'a,b\n"1,500",2\n"2,500",3\n"3,5",4\n',
    "codes": "a\tb\n007\t1\n3\t-\n",
    "a word at the end": "a,b\n1,1\n2,2\n3,3\n4,x\n",
    "a fraction at the end": "a,b\n1,1\n2,2\n3,3\n4,0.5\n",
    "signs at first": "a,b\n12%,1\n13%,2\n14,3\n",
    "nothing in a column": "a,b\n1,nan\n2,\n",
    "no names": "1,2\n3,4\n",
    "a column without a name": "a,\n3,4\n",
    "spaces": "a , b\n 1, x\n2 ,y \n",
    "not UTF-8": "größe,b\nä,1e5\nö,2\n",
    "end of file sign": "a,b\n1,2\n\x1a",
    "quotes within a field": 'a,b\n5" pipe,1\nx,2\n6" pipe,3\n',
    "an open quote": 'a,b\n1,x\n2,"y\n3,z\n',
    "one column with gaps": 'a\n1\n""\n\n3\n',
    "ends of lines of an old system": "a,b\r1,2\r3,x\r",
    "codes with a sign, in quotes": 'a,b,c\n"-01", 00,1\n2,3,0\n',
    "an ISO date": "a,b\n2024-01-05,1e-05\n2024-02-06,2\n",
    "three decimals": "a;b\n1.234;1\n2.345;2,5\n3.456;3\n",
    "three decimals, then a comma": "a;b\n1.234;x\n2.345;y\n3,5;z\n4.567;w\n",
    "signs and exponents": "a,b\n+1.5,-2e-05\n-3,1E5\n,inf\n",
    "flags": "a,b\nTrue,1\nFalse,0\n",
    "marks of nothing, then words": "a,b\n-,1\n,2\nnone,3\nx,4\n",
    "a large number": "a,b\n9007199254740993,18446744073709551616\n1,2\n",
}
SIZES = pytest.mark.parametrize("block_rows", [1, 2, 100])


@pytest.fixture
def frame(rng):
    """Return a table with columns of many types."""
    n = 300
    return pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "n": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m", None], n),
            "seen": pd.date_range("2020-01-01", periods=n),
            "member": rng.choice([True, False], n),
            "kind": pd.Categorical(rng.choice(["u", "v"], n)),
        }
    )


def together(blocks):
    return pd.concat(list(blocks), ignore_index=True)


@SIZES
@pytest.mark.parametrize("chunk_bytes", [8, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_blocks_of_text_are_the_table(tmp_path, name, packed, block_rows, chunk_bytes, monkeypatch):
    data = TEXTS[name].encode("cp1252" if name == "not UTF-8" else "utf-8")
    file = tmp_path / ("a.csv.gz" if packed else "a.csv")
    file.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    table = read_table(file)
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", chunk_bytes)
    pd.testing.assert_frame_equal(read_table(file).frame, table.frame)
    blocks = open_blocks(file, block_rows=block_rows)
    assert all(len(block) <= block_rows for block in blocks)
    pd.testing.assert_frame_equal(together(blocks), table.frame)
    assert (blocks.notes, blocks.n_rows) == (table.notes, len(table.frame))


def test_text_in_utf_16_is_read(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_bytes("a\tb\n1\tä\n".encode("utf-16"))
    pd.testing.assert_frame_equal(together(open_blocks(file)), read_table(file).frame)


@pytest.mark.parametrize("block_rows", [7, 64, 1000])
@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_blocks_of_arrow_are_the_table(tmp_path, frame, ending, block_rows):
    file = tmp_path / f"a.{ending}"
    if ending == "parquet":
        frame.to_parquet(file, row_group_size=50)
    else:
        frame.to_feather(file, chunksize=50)
    blocks = open_blocks(file, block_rows=block_rows)
    assert max(len(block) for block in blocks) <= block_rows
    pd.testing.assert_frame_equal(together(blocks), read_table(file).frame)
    assert blocks.n_rows == len(frame)


@pytest.mark.parametrize("index", ["n", None])
def test_a_named_index_is_a_column_and_another_is_not(tmp_path, frame, index):
    file = tmp_path / "a.parquet"
    (frame[::-1] if index is None else frame.set_index(index)).to_parquet(file)
    table = read_table(file).frame.reset_index(drop=True)
    pd.testing.assert_frame_equal(together(open_blocks(file, block_rows=99)), table)


def test_some_columns_are_read_in_the_requested_order(tmp_path, frame):
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    for file in ("a.parquet", "a.csv"):
        blocks = open_blocks(tmp_path / file, ["sex", "size"], block_rows=100)
        assert [list(block) for block in blocks] == [["sex", "size"]] * 3


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"a,b\n1,2\n3\n", "a.csv, line 3: must have 2 fields as line 1 has, got 1"),
        ("a.csv", b"a,b\n", "must hold rows, got the names of columns only"),
        ("a.csv", b"  \n", "must hold a table, got nothing"),
        ("a.csv", b"a,b\n1,\x00\n", "must be text, character 6"),
        ("a.csv", b"PAR1....", "by its content it is a Parquet file"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 999, mtime=0)[:-9], "damaged or truncated"),
        ("a.csv.gz", b"a,b\n1,2\n", "damaged or truncated"),
        ("a.parquet", b"a,b\n1,2\n", "must begin as a file of its ending does"),
        ("a.parquet", b"PAR1....", "damaged or truncated"),
        ("a.parquet", b"", "must hold a table, got nothing"),
        ("a.feather", b"FEA1....", "second version"),
        ("a.arff", b"@relation r", "must end in .csv"),
    ],
)
def test_files_without_a_table_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        open_blocks(tmp_path / name)


def test_missing_files_and_columns_are_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "known.csv").write_text("age,sex\n1,f\n")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'known.csv'"):
        open_blocks(tmp_path / "know.csv")
    with pytest.raises(ValueError, match="got 'Age'; did you mean 'age'"):
        open_blocks(tmp_path / "known.csv", ["Age"])
    with pytest.raises(ValueError, match="block_rows must be at least 1, got 0"):
        open_blocks(tmp_path / "known.csv", block_rows=0)


def test_endings_show_which_files_can_be_read_in_blocks():
    assert can_open_blocks("a.CSV.gz")
    assert not can_open_blocks("a.svm")
    assert not can_open_blocks("a.xlsx")
    with pytest.raises(ValueError, match="must end in"):
        can_open_blocks("a.xls")


def peak_of_reading(file):
    """Return the most bytes that were held while a file was read in small blocks.

    The least of several times: other threads of the process may take memory meanwhile.
    """
    return min(peak_of_reading_once(file) for _ in range(3))


def peak_of_reading_once(file):
    tracemalloc.start()
    assert sum(float(block["a"].sum()) for block in open_blocks(file, block_rows=100)) > 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_is_that_of_a_block(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", 4096)
    lines = [",".join(f"{x:.9f}" for x in row) for row in rng.random((20_000, 4))]
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("\n".join(["a,b,c,d", *lines[:1000]]))
    large.write_text("\n".join(["a,b,c,d", *lines]))
    for _ in open_blocks(small):  # what is imported on the way is no part of it
        pass
    assert peak_of_reading(large) < 1.5 * peak_of_reading(small) < large.stat().st_size
