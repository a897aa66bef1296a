import numpy as np
import pytest

from ecselm.paper.datasets._text import check_array


@pytest.mark.parametrize(
    ("values", "kind", "shape", "sentence"),
    [
        (np.array(["a"]), "f", (1,), "must hold real numbers, got <U1"),
        (np.array([1.5]), "i", (1,), "must hold whole numbers, got float64"),
        (np.array([1]), "U", (1,), "must hold text, got int64"),
        (np.zeros((2, 3)), "f", (2, 4), r"must have the shape \(2, 4\), got \(2, 3\)"),
        (np.zeros((0, 3)), "f", (None, 3), r"must have the shape \(any, 3\), got \(0, 3\)"),
        (np.zeros(3), "f", (None, 3), "must have the shape"),
        (np.array([np.nan]), "f", (1,), "must hold finite numbers only"),
    ],
)
def test_arrays_of_another_form_are_refused(values, kind, shape, sentence):
    with pytest.raises(ValueError, match=f"toy.npz, array X: {sentence}"):
        check_array({"X": values}, "X", kind, shape, "toy.npz")


@pytest.mark.parametrize("order", "<>")
def test_numbers_that_are_no_characters_are_refused(order):
    names = np.array([65, 2**21], dtype=f"{order}u4").view(f"{order}U1")
    with pytest.raises(ValueError, match="array name: must hold text, got 2097152 for a character"):
        check_array({"name": names}, "name", "U", (2,), "toy.npz")
    assert check_array({"name": names[:1]}, "name", "U", (1,), "toy.npz").tolist() == ["A"]


def test_empty_texts_are_text():
    assert check_array({"name": np.array(["", ""])}, "name", "U", (2,), "toy.npz").size == 2
    assert check_array({"name": np.zeros(2, "<U0")}, "name", "U", (2,), "toy.npz").size == 2


def test_whole_numbers_pass_for_real_ones():
    assert check_array({"X": np.arange(3)}, "X", "f", (None,), "toy.npz").tolist() == [0, 1, 2]
