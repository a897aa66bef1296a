import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from ecselm.paper.datasets import load_olivetti
from tests.paper.datasets.conftest import truncate


@pytest.fixture
def put(folder):
    def saved(**arrays):
        path = folder / "olivetti_faces" / "olivettifaces.mat"
        path.parent.mkdir(exist_ok=True)
        savemat(path, arrays, do_compression=True)
        return path

    return saved


def test_columns_of_the_file_become_rows_in_zero_to_one(put, rng):
    faces = rng.integers(0, 256, (4096, 400), dtype=np.uint8)
    put(faces=faces)
    data = load_olivetti()
    np.testing.assert_array_equal(data.X[7], faces[:, 7] / 255)
    assert data.y[[0, 9, 10, 399]].tolist() == [0, 0, 1, 39]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"faces": np.zeros((3, 2))}, r"must hold faces of shape \(4096, 400\)"),
        ({"other": np.zeros((3, 2))}, "must hold faces"),
        ({"faces": np.full((4096, 400), 256.0)}, r"must hold numbers in \[0, 255\]"),
        ({"faces": np.full((4096, 400), np.nan)}, r"must hold numbers in \[0, 255\]"),
        ({"faces": np.full((4096, 400), 1j)}, r"must hold numbers in \[0, 255\]"),
        ({"faces": csc_array((4096, 400))}, r"must hold numbers in \[0, 255\]"),
    ],
)
def test_other_arrays_are_refused(put, arrays, sentence):
    put(**arrays)
    with pytest.raises(ValueError, match=sentence):
        load_olivetti()


@pytest.mark.parametrize("share", [0.9, 0.5, 0.01, 0.0])
def test_truncated_file_is_refused(put, rng, share):
    truncate(put(faces=rng.integers(0, 256, (4096, 400), dtype=np.uint8)), share)
    with pytest.raises(ValueError, match=r"olivettifaces\.mat is damaged or truncated"):
        load_olivetti()


def test_missing_file_is_named(folder):
    with pytest.raises(FileNotFoundError, match=r"olivettifaces\.mat is missing.*AT&T"):
        load_olivetti()


def test_real_faces_are_recognised_as_the_notes_say(data_folder):
    data = load_olivetti(data_folder)
    assert data.X.shape == (400, 4096)
    assert data.counts.tolist() == [10] * 40
    rates = []
    for seed in range(5):
        split = train_test_split(data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed)
        rates.append(KNeighborsClassifier(1).fit(split[0], split[2]).score(split[1], split[3]))
    assert np.mean(rates) == pytest.approx(0.877, abs=0.03)
