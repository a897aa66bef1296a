import io
import zipfile

import numpy as np
import pytest

from ecselm.tables import files as readers
from ecselm.tables.files import read_gzip, read_npz, read_text, read_zip
from tests.paper.datasets.conftest import truncate


@pytest.fixture
def low_limit(monkeypatch):
    monkeypatch.setattr(readers, "LIMIT", 2000)


def test_text_that_is_not_utf8_is_refused_with_its_place(write):
    with pytest.raises(ValueError, match=r"a\.csv must be text in UTF-8, byte 2"):
        read_text(write("toy", "a.csv", b"ab\xff"))


@pytest.mark.parametrize("odd", ["\0", "\x1b", "\x0c", "\x85", "\u2028"], ids=ascii)
def test_what_no_plain_text_has_is_refused_with_its_line(write, odd):
    with pytest.raises(ValueError, match=r"a\.csv, line 2: must be plain text, got '\\"):
        read_text(write("toy", "a.csv", f"1,2\n3{odd},4\n"))


def test_what_the_disk_says_is_not_taken_for_damage(folder):
    with pytest.raises(IsADirectoryError):
        read_gzip(folder)


def test_truncated_gzip_is_refused_by_name(write):
    path = write("toy", "a.csv.gz", "1,2\n" * 100)
    assert read_gzip(path) == "1,2\n" * 100
    truncate(path)
    with pytest.raises(ValueError, match=r"a\.csv\.gz is damaged or truncated"):
        read_gzip(path)


def test_gzip_that_is_none_is_refused_by_name(write):
    path = write("toy", "a.gz", "")
    path.write_bytes(b"plain text")
    with pytest.raises(ValueError, match=r"a\.gz is damaged or truncated"):
        read_gzip(path)


def test_gzip_bomb_is_refused(write, low_limit):
    with pytest.raises(ValueError, match=r"a\.gz must hold at most 2000 bytes"):
        read_gzip(write("toy", "a.gz", "0" * 10**6))


def test_truncated_zip_is_refused_by_name(write_zip):
    path = write_zip("toy", "a.zip", {"one.dat": "1,2\n" * 100})
    assert read_zip(path, ["one.dat"]) == ["1,2\n" * 100]
    truncate(path)
    with pytest.raises(ValueError, match=r"a\.zip is damaged or truncated"):
        read_zip(path, ["one.dat"])


def test_zip_with_a_changed_byte_is_refused(write_zip):
    path = write_zip("toy", "a.zip", {"one.dat": "1,2\n" * 100})
    data = bytearray(path.read_bytes())
    data[40] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"a\.zip is damaged or truncated"):
        read_zip(path, ["one.dat"])


def test_huge_member_of_a_zip_is_refused_before_it_is_unpacked(write_zip, low_limit, monkeypatch):
    path = write_zip("toy", "a.zip", {"one.dat": "0" * 10**6})
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(ValueError, match=r"a\.zip, one\.dat: must hold at most 2000 bytes"):
        read_zip(path, ["one.dat"])


def test_folders_in_a_zip_are_passed_over_and_nothing_is_written(write_zip, folder):
    path = write_zip("toy", "a.zip", {"../../one.dat": "x"})
    before = sorted(folder.rglob("*"))
    assert read_zip(path, ["one.dat"]) == ["x"]
    assert sorted(folder.rglob("*")) == before


def test_missing_member_is_named(write_zip):
    with pytest.raises(ValueError, match=r"a\.zip must hold two\.dat"):
        read_zip(write_zip("toy", "a.zip", {"one.dat": "x"}), ["one.dat", "two.dat"])


def test_arrays_come_back_as_written(write_npz, rng):
    arrays = {
        "X": rng.standard_normal((3, 2)),
        "F": np.asfortranarray(rng.standard_normal((3, 2))),
        "names": np.array(["a", "bc"]),
        "one": np.array(1),
    }
    read = read_npz(write_npz("toy", "a.npz", **arrays), list(arrays))
    for name, values in arrays.items():
        np.testing.assert_array_equal(read[name], values)


def test_missing_array_is_named_beside_those_there(write_npz):
    with pytest.raises(ValueError, match=r"a\.npz must hold the arrays X, y; y missing, got X"):
        read_npz(write_npz("toy", "a.npz", X=np.zeros(2)), ["X", "y"])


def test_truncated_npz_is_refused_by_name(write_npz, rng):
    path = write_npz("toy", "a.npz", X=rng.standard_normal(1000))
    truncate(path)
    with pytest.raises(ValueError, match=r"a\.npz is damaged or truncated"):
        read_npz(path, ["X"])


def test_pickled_objects_are_refused(write_npz):
    path = write_npz("toy", "a.npz", X=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"a\.npz, array X: must hold numbers or text"):
        read_npz(path, ["X"])


def test_array_that_claims_more_than_it_holds_is_refused(write_zip):
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(stream, header)
    path = write_zip("toy", "a.npz", {"X.npy": stream.getvalue() + b"\0" * 80})
    with pytest.raises(ValueError, match=r"array X: shape \(1000000000000,\) of float64 must take"):
        read_npz(path, ["X"])


def npy(header, version=b"\x01\x00"):
    """Return an array in NumPy's format whose header says what a test wants."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + bytes(48)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)"), "not an array of NumPy"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,}"), "not an array of NumPy"),
        (npy("{1: 2, 'a': 3}"), "not an array of NumPy"),
        (npy("{'descr': ('<f8'" + " " * 20000), "not an array of NumPy"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", b"\x09\x00"), "version"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, -2)}"), "shape"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (7,)}"), "must take 56 bytes"),
    ],
    ids=["open", "brackets", "keys", "long", "version", "negative", "short"],
)
def test_headers_of_arrays_that_make_no_sense_are_refused_on_one_line(write_zip, data, sentence):
    path = write_zip("toy", "a.npz", {"X.npy": data})
    with pytest.raises(ValueError, match=rf"^a\.npz, array X: [^\n]*{sentence}[^\n]*$") as caught:
        read_npz(path, ["X"])
    assert len(str(caught.value)) < 200


def test_odd_names_in_a_zip_stay_on_one_line(write_zip):
    path = write_zip("toy", "a.npz", {"X\n\x1b" + "y" * 500: "x"})
    with pytest.raises(
        ValueError, match=r"^a\.npz must hold the arrays X; X missing, got X y+\.\.\.$"
    ):
        read_npz(path, ["X"])


def test_name_in_a_zip_that_is_no_text_is_refused(write_zip):
    path = write_zip("toy", "a.zip", {"\u00e9.dat": "x"})
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xff\xff"))
    with pytest.raises(ValueError, match=r"^a\.zip is damaged or truncated: "):
        read_zip(path, ["one.dat"])


def test_member_that_is_no_array_is_refused(write_zip):
    with pytest.raises(ValueError, match=r"a\.npz, array X: not an array"):
        read_npz(write_zip("toy", "a.npz", {"X.npy": "plain text of some length"}), ["X"])
