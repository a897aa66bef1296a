import numpy as np
import pytest

from ecselm.paper.datasets import load_lfw
from tests.paper.datasets.conftest import view_two


def test_either_descriptor_has_its_file(write_npz, rng):
    write_npz("lfw", "lfw_sift.npz", **view_two(rng, d=300))
    pairs = load_lfw("sift")
    assert pairs.descriptors.shape == (40, 300)
    assert "Sub-SML" in pairs.source
    with pytest.raises(FileNotFoundError, match=r"lfw_lbp\.npz is missing.*load_lfw says how"):
        load_lfw()


@pytest.mark.parametrize("d", [300, 5])
def test_other_sizes_are_own_data(write_npz, rng, d):
    arrays = view_two(rng, d=d)
    write_npz("lfw", "lfw_lbp.npz", **arrays)
    assert load_lfw().own == load_lfw().dataset().own == (d != 300)
    few = {name: arrays[name][:2400] for name in ("pairs", "same", "fold")}
    write_npz("lfw", "lfw_lbp.npz", **{**arrays, **few})
    pairs = load_lfw()
    assert (pairs.name, pairs.own, len(pairs.dataset().folds)) == ("own pairs, LBP", True, 4)
    assert pairs.source.startswith("Own data of lfw/lfw_lbp.npz, in the layout of Labeled Faces")


def test_a_pair_of_view_two_in_another_fold_makes_own_data(write_npz, rng):
    arrays = view_two(rng, d=300)
    arrays["fold"][0] = 9
    write_npz("lfw", "lfw_lbp.npz", **arrays)
    assert load_lfw().own


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"fold": np.zeros(6000, dtype=int)}, r"array fold: must be 0, 1, ... .*got \[0\]"),
        ({"fold": np.repeat([0, 2], 3000)}, r"array fold: must be 0, 1, ... .*got \[0, 2\]"),
        ({"fold": np.repeat([0, 1], [300, 5700])}, "fold 0 must have pairs of one person and"),
        ({"pairs": np.zeros((5999, 2), dtype=int)}, r"array pairs: must have the shape \(6000"),
        ({"eigenvalues": np.ones(299)}, r"array eigenvalues: must have the shape \(300,\)"),
    ],
)
def test_other_forms_and_descriptors_are_refused(write_npz, rng, change, sentence):
    write_npz("lfw", "lfw_lbp.npz", **{**view_two(rng, d=300), **change})
    with pytest.raises(ValueError, match=rf"lfw_lbp\.npz, .*{sentence}"):
        load_lfw()
    with pytest.raises(ValueError, match="descriptor must be"):
        load_lfw("hog")
