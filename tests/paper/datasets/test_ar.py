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


def test_the_papers_sizes_are_ar(put, arrays):
    put(**arrays)
    data = load_ar()
    assert (data.name, data.own) == ("AR", False)
    assert data.source.startswith("AR faces, Martinez and Benavente")


def moved(arrays):
    """Give a person one more picture in a session, and one less to another."""
    rows = np.flatnonzero(arrays["session"] == 1)
    person = arrays["person"].copy()
    person[rows[person[rows] == 1][0]] = 2
    return {"person": person}


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {"X": a["X"][:, :200]},
        lambda a: {name: values[a["person"] < 41] for name, values in a.items()},
        lambda a: {"person": 1 + a["person"] % 50},
        moved,
    ],
    ids=["columns", "persons", "pictures of each", "pictures in a session"],
)
def test_other_sizes_are_own_data(put, arrays, change):
    put(**{**arrays, **change(arrays)})
    data = load_ar()
    assert (data.name, data.own) == ("own faces", True)
    assert data.source.startswith("Own data of ar/ar.npz, in the layout of AR faces")
    ((train, test),) = data.folds
    assert set(data.y[train]) == set(data.y[test]) == set(data.classes)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": np.zeros(1400)}, r"array X: must have the shape \(any, any\)"),
        ({"X": np.zeros((1399, 300))}, r"array person: must have the shape \(1399,\)"),
        ({"person": np.zeros(1400, dtype=int)}, "must name 2 persons or more, got 1"),
        ({"session": np.ones(1400, dtype=int)}, "session 2: must have 1 rows of 1 or more, got 0"),
        ({"session": np.arange(1400)}, "array session: must be 1 or 2"),
        ({"person": np.zeros(1400)}, "array person: must hold whole numbers"),
    ],
)
def test_other_forms_are_refused(put, arrays, change, sentence):
    put(**{**arrays, **change})
    with pytest.raises(ValueError, match=rf"ar\.npz.*{sentence}"):
        load_ar()


def test_missing_file_says_how_to_write_it(folder):
    with pytest.raises(FileNotFoundError, match=r"ar\.npz is missing.*load_ar says how"):
        load_ar()
