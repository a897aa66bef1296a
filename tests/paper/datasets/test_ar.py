import numpy as np
import pytest

from ecselm.paper.datasets import load_ar


@pytest.fixture
def arrays(rng):
    order = rng.permutation(1400)
    return {
        "X": rng.standard_normal((1400, 300)),
        "person": np.tile(np.repeat(np.arange(1, 101), 7), 2)[order],
        "session": np.repeat([1, 2], 700)[order],
    }


@pytest.fixture
def put(write_npz):
    return lambda **arrays: write_npz("ar", "ar.npz", **arrays)


def test_first_session_trains_and_the_second_tests(put, arrays):
    put(**arrays)
    data = load_ar()
    ((train, test),) = data.folds
    assert set(arrays["session"][train]) == {1}
    assert set(arrays["session"][test]) == {2}
    assert np.bincount(data.y[train])[1:].tolist() == [7] * 100


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": np.zeros((1400, 200))}, r"array X: must have the shape \(1400, 300\)"),
        ({"person": np.zeros(1400, dtype=int)}, "must name 100 persons, got 1"),
        ({"session": np.ones(1400, dtype=int)}, "session 1: must have 7 rows of 1, got 14"),
        ({"person": np.zeros(1400)}, "array person: must hold whole numbers"),
    ],
)
def test_other_sizes_are_refused(put, arrays, change, sentence):
    put(**{**arrays, **change})
    with pytest.raises(ValueError, match=rf"ar\.npz.*{sentence}"):
        load_ar()


def test_missing_file_says_how_to_write_it(folder):
    with pytest.raises(FileNotFoundError, match=r"ar\.npz is missing.*load_ar says how"):
        load_ar()
