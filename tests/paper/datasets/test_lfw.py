import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import load_lfw_metrics, load_lfw_pairs
from tests.paper.datasets.conftest import truncate, view_two


@pytest.fixture
def put(write_npz):
    return lambda **arrays: write_npz("lfw_view2_lbp", "lfw_lbp_pca300.npz", **arrays)


@pytest.fixture
def put_metrics(write_npz):
    return lambda **arrays: write_npz("lfw_view2_lbp", "lfw_lbp_pairmetrics5.npz", **arrays)


def test_pictures_and_pairs_are_read(put, rng):
    arrays = view_two(rng)
    put(**arrays, image=np.array([f"face{i}" for i in range(40)]))
    pairs = load_lfw_pairs()
    np.testing.assert_array_equal(pairs.descriptors, arrays["X"])
    assert pairs.descriptors.dtype == np.float64
    assert pairs.images[3] == "face3"
    data = pairs.dataset()
    assert data.X.shape == (6000, 2, 4)
    assert [len(test) for _, test in data.folds] == [600] * 10


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"same": np.ones(6000, dtype=int)}, "fold 0 must have 300 pairs of one person and 300"),
        ({"fold": np.zeros(10, dtype=int)}, r"array fold: must have the shape \(6000,\)"),
        ({"pairs": np.full((6000, 2), 40)}, "pairs must be positions of the 40 pictures"),
        ({"pairs": np.zeros((6000, 2))}, "array pairs: must hold whole numbers"),
        ({"eigenvalues": np.ones(5)}, r"array eigenvalues: must have the shape \(4,\)"),
        ({"X": np.full((40, 4), np.nan)}, "array X: must hold finite numbers"),
    ],
)
def test_arrays_of_another_form_are_refused(put, rng, change, sentence):
    put(**{**view_two(rng), **change})
    with pytest.raises(ValueError, match=rf"lfw_lbp_pca300\.npz.*{sentence}"):
        load_lfw_pairs()


def test_truncated_missing_and_incomplete_files_are_refused(put, rng):
    with pytest.raises(FileNotFoundError, match=r"lfw_lbp_pca300\.npz is missing.*umass"):
        load_lfw_pairs()
    truncate(put(**view_two(rng)))
    with pytest.raises(ValueError, match="is damaged or truncated"):
        load_lfw_pairs()
    put(X=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="eigenvalues, pairs, same, fold missing"):
        load_lfw_pairs()


def test_metrics_are_those_learned_without_the_fold(put_metrics, rng):
    arrays = view_two(rng)
    X = rng.standard_normal((10, 6000, 5)).astype(np.float32)
    put_metrics(X=X, same=arrays["same"], fold=arrays["fold"])
    data = load_lfw_metrics(2)
    np.testing.assert_array_equal(data.X, X[2])
    ((train, test),) = data.folds
    assert (arrays["fold"][test] == 2).all()
    assert len(train) == 5400


def test_metrics_of_another_form_are_refused(put_metrics, rng):
    with pytest.raises(ValueError, match="fold must be 0 to 9"):
        load_lfw_metrics(10)
    arrays = view_two(rng)
    put_metrics(X=np.zeros((6000, 5)), same=arrays["same"], fold=arrays["fold"])
    with pytest.raises(ValueError, match=r"array X: must have the shape \(10, 6000, 5\)"):
        load_lfw_metrics()


def test_whitened_cosines_of_real_pairs_do_as_the_notes_say(data_folder):
    pairs = load_lfw_pairs(data_folder)
    assert pairs.descriptors.shape == (7701, 300)
    assert len(pairs.images) == 7701
    data = pairs.dataset(whiten=True)
    unit = data.X / np.linalg.norm(data.X, axis=2, keepdims=True)
    cosine = (unit[:, 0] * unit[:, 1]).sum(axis=1)
    rates = []
    for train, test in data.folds:
        cuts = np.quantile(cosine[train], np.linspace(0.2, 0.8, 61))
        best = max(cuts, key=lambda cut: ((cosine[train] > cut) == data.y[train]).mean())
        rates.append(((cosine[test] > best) == data.y[test]).mean())
    assert np.mean(rates) == pytest.approx(0.783, abs=0.005)


def test_five_real_similarities_do_as_the_notes_say(data_folder):
    rates = []
    for fold in range(10):
        data = load_lfw_metrics(fold, data_folder)
        ((train, test),) = data.folds
        model = make_pipeline(StandardScaler(), LogisticRegression())
        rates.append(model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test]))
    assert np.mean(rates) == pytest.approx(0.824, abs=0.005)
