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


def test_other_widths_and_descriptors_are_refused(write_npz, rng):
    write_npz("lfw", "lfw_lbp.npz", **view_two(rng, d=5))
    with pytest.raises(ValueError, match=r"lfw_lbp\.npz, array X: must have 300 columns, got 5"):
        load_lfw()
    with pytest.raises(ValueError, match="descriptor must be"):
        load_lfw("hog")
