import numpy as np
import pytest

from ecselm.datasets.shapes import check_array


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


def test_whole_numbers_pass_for_real_ones():
    assert check_array({"X": np.arange(3)}, "X", "f", (None,), "toy.npz").tolist() == [0, 1, 2]
