import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array

from ecselm.paper.datasets.faces import read_mat


@pytest.fixture
def put(tmp_path):
    def saved(do_compression=True, **arrays):
        path = tmp_path / "toy.mat"
        savemat(path, arrays, do_compression=do_compression)
        return path

    return saved


@pytest.mark.parametrize("do_compression", [True, False])
@pytest.mark.parametrize("kind", ["u1", "i2", "i4", "u8", "f4", "f8"])
def test_arrays_are_those_that_scipy_reads(put, rng, kind, do_compression):
    values = rng.integers(0, 100, (5, 3)).astype(kind)
    path = put(do_compression, other=np.arange(3), values=values, more="text")
    read = read_mat(path, "values")
    np.testing.assert_array_equal(read["values"], values)
    np.testing.assert_array_equal(read["values"], loadmat(path)["values"])
    assert list(read) == ["other", "values", "more"]


def test_small_arrays_lie_in_the_place_of_their_size(put):
    np.testing.assert_array_equal(read_mat(put(a=np.uint8([[1, 2]])), "a")["a"], [[1, 2]])


@pytest.mark.parametrize("values", [np.ones((2, 2)) * 1j, csc_array((2, 2)), "text", {"a": 1}])
def test_what_is_no_array_of_real_numbers_is_none(put, values):
    assert read_mat(put(values=values), "values") == {"values": None}


@pytest.mark.parametrize("do_compression", [True, False])
def test_every_changed_byte_of_the_header_is_survived(put, do_compression):
    """SciPy's reader ends the process at some of these."""
    path = put(do_compression, values=np.arange(12.0).reshape(3, 4))
    data = path.read_bytes()
    for place in range(120, 190):
        for bit in range(8):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
            values = read_or_sentence(path)
            assert values is None or isinstance(values, str) or values.size == 12


def read_or_sentence(path):
    try:
        return read_mat(path, "values").get("values")
    except ValueError as error:
        sentence = str(error)
    assert sentence.startswith("toy.mat is damaged or truncated")
    return sentence


def test_packed_part_without_an_end_is_refused(put, monkeypatch):
    monkeypatch.setattr("ecselm.paper.datasets.faces.LIMIT", 1000)
    with pytest.raises(ValueError, match=r"toy\.mat .* must end, after 1000 bytes at most"):
        read_mat(put(values=np.zeros((1000, 1000))), "values")


def test_other_versions_are_refused(tmp_path):
    path = tmp_path / "toy.mat"
    savemat(path, {"values": np.ones((9, 9))}, format="4")
    with pytest.raises(ValueError, match=r"toy\.mat .* not of MATLAB's version 5"):
        read_mat(path, "values")
