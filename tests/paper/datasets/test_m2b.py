import numpy as np
import pytest

from ecselm.paper.datasets import load_m2b


@pytest.fixture
def arrays(rng):
    return {
        "culture": np.repeat(["E", "W"], 620),
        "vocal": rng.standard_normal((1240, 50)),
        "vocal_score": rng.uniform(1, 10, 1240),
        "facial_geometric": rng.standard_normal((1240, 7)),
        "facial_score": rng.uniform(1, 10, 1240),
    }


@pytest.fixture
def put(write_npz):
    return lambda **arrays: write_npz("m2b", "m2b.npz", **arrays)


def test_one_culture_and_one_kind_of_features_are_read(put, arrays):
    put(**arrays)
    data = load_m2b("vocal", "W", "score")
    np.testing.assert_array_equal(data.X, arrays["vocal"][620:])
    np.testing.assert_array_equal(data.y, arrays["vocal_score"][620:])
    assert not data.synthetic


def test_levels_and_the_score_of_the_face_belong_to_its_geometry(put, arrays):
    put(**arrays)
    data = load_m2b("facial_geometric")
    assert data.X.shape == (620, 7)
    assert data.class_names == ("poor", "fair", "good", "very good", "excellent")
    np.testing.assert_array_equal(data.y == 1, arrays["facial_score"][:620] <= 2)


def test_the_papers_sizes_are_m2b(put, arrays):
    put(**arrays)
    for features in ("vocal", "facial_geometric"):
        data = load_m2b(features)
        assert (data.name, data.own) == (f"M2B {features} E", False)
        assert data.source.startswith("Multi-modality beauty")


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {"culture": np.repeat(["E", "W"], [621, 619])},
        lambda a: {"vocal": a["vocal"][:, :49]},
        lambda a: {name: values[::2] for name, values in a.items()},
        lambda a: {name: values[:930] for name, values in a.items()},
    ],
    ids=["cultures", "columns", "rows", "rows of one culture"],
)
def test_other_sizes_are_own_data(put, arrays, change):
    put(**{**arrays, **change(arrays)})
    for culture in ("E", "W"):
        data = load_m2b("vocal", culture)
        assert (data.name, data.own) == (f"own vocal {culture}", True)
        assert data.source.startswith("Own data of m2b/m2b.npz, in the layout of Multi-modality")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"culture": np.repeat(["E", "W"], [1239, 1])}, "must have 2 rows of W or more, got 1"),
        ({"culture": np.repeat(["E", "X"], 620)}, "array culture: must be 'E' or 'W', got 'X'"),
        ({"vocal": np.zeros((1239, 50))}, r"array vocal: must have the shape \(1240, any\)"),
        ({"vocal_score": np.zeros(1240)}, r"scores must lie in \[1, 10\], got 0 to 0"),
        ({"vocal_score": np.full(1240, "x")}, "array vocal_score: must hold real numbers"),
    ],
)
def test_other_forms_are_refused(put, arrays, change, sentence):
    put(**{**arrays, **change})
    with pytest.raises(ValueError, match=rf"m2b\.npz.*{sentence}"):
        load_m2b("vocal")


def test_what_is_missing_is_named(put, arrays):
    with pytest.raises(FileNotFoundError, match=r"m2b\.npz is missing.*load_m2b says how"):
        load_m2b()
    put(**arrays)
    with pytest.raises(ValueError, match="facial_appearance missing"):
        load_m2b("facial_appearance")


@pytest.mark.parametrize("wrong", [{"features": "smell"}, {"culture": "N"}, {"target": "rank"}])
def test_choices_that_do_not_exist_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        load_m2b(**wrong)
