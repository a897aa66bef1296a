import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import load_scut
from tests.paper.datasets.conftest import truncate


@pytest.fixture
def arrays(rng):
    return {
        "name": np.array(["AF1", "AM1", "AF2"]),
        "landmarks": rng.uniform(0, 300, (3, 86, 2)).astype(np.float32),
        "appearance300": rng.standard_normal((3, 300)).astype(np.float32),
        "score": np.array([7 / 3, 1.0, 5.0], dtype=np.float32),
    }


@pytest.fixture
def put(write_npz):
    return lambda **arrays: write_npz("scut_fbp_asian", "features.npz", **arrays)


def test_scores_are_stretched_and_a_third_lies_on_its_cut(put, arrays):
    put(**arrays)
    assert load_scut(target="score").y.tolist() == [4.0, 10.0]
    assert load_scut().y.tolist() == [2, 5]


def test_groups_and_features_are_chosen(put, arrays):
    put(**arrays)
    np.testing.assert_array_equal(load_scut("AM").X, arrays["appearance300"][[1]])
    assert load_scut("AF", "geometric").X.shape == (2, 172)


def test_geometry_has_neither_place_nor_size(put, arrays):
    put(**arrays)
    before = load_scut(features="geometric").X
    arrays["landmarks"] = 3 * arrays["landmarks"] + np.float32(50)
    put(**arrays)
    np.testing.assert_allclose(load_scut(features="geometric").X, before, atol=1e-5)
    np.testing.assert_allclose((before**2).sum(axis=1) / 86, 1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"score": np.array(["a", "b", "c"])}, "array score: must hold real numbers"),
        ({"score": np.array([1.0, 2.0])}, r"array score: must have the shape \(3,\)"),
        ({"appearance300": np.zeros((3, 30))}, r"array appearance300: must have the shape"),
        ({"name": np.array(["CF1", "CF2", "CF3"])}, "array name: must hold faces of AF"),
        ({"name": np.array(["AF1", "QF2", "AF3"])}, "array name: names must begin with AF.*'QF2'"),
        ({"score": np.array([1.0, 2.0, 50.0])}, r"array score: scores must lie in \[1, 5\]"),
    ],
)
def test_arrays_of_another_form_are_refused(put, arrays, change, sentence):
    put(**{**arrays, **change})
    with pytest.raises(ValueError, match=rf"features\.npz, {sentence}"):
        load_scut()


def test_face_that_is_one_point_is_refused(put, arrays):
    arrays["landmarks"][2] = 7.0
    put(**arrays)
    with pytest.raises(ValueError, match=r"features\.npz, array landmarks: must not lie in one"):
        load_scut(features="geometric")


def test_missing_arrays_and_truncated_files_are_refused(put, arrays):
    truncate(put(**arrays))
    with pytest.raises(ValueError, match=r"features\.npz is damaged or truncated"):
        load_scut()
    del arrays["landmarks"]
    put(**arrays)
    with pytest.raises(ValueError, match="landmarks missing"):
        load_scut(features="geometric")


@pytest.mark.parametrize("wrong", [{"group": "CF"}, {"features": "all"}, {"target": "rank"}])
def test_choices_that_do_not_exist_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        load_scut(**wrong)


def test_real_levels_have_their_counts(data_folder):
    data = load_scut(folder=data_folder)
    assert data.counts.tolist() == [22, 310, 869, 664, 135]
    assert data.X.shape == (2000, 300)


@pytest.mark.parametrize(("features", "error"), [("appearance", 0.734), ("geometric", 0.881)])
def test_real_scores_are_learned_as_well_as_the_notes_say(data_folder, features, error):
    data = load_scut("AF", features, "score", data_folder)
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 4, 9)))
    cv = ShuffleSplit(3, test_size=0.5, random_state=0)
    scores = cross_val_score(model, data.X, data.y, cv=cv, scoring="neg_mean_absolute_error")
    assert -scores.mean() == pytest.approx(error, abs=0.04)
