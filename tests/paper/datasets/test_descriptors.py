import numpy as np
import pytest

from ecselm.paper.datasets._descriptors import CROP, N_PATTERNS, imported, lbp, sift


@pytest.fixture
def picture(rng):
    return rng.uniform(0, 255, (250, 250))


def uniform_patterns():
    """Return the numbers of the 256 patterns by the changes in their circle, as printed."""
    changes = [sum((p >> i & 1) != (p >> (i + 1) % 8 & 1) for i in range(8)) for p in range(256)]
    return sum(change <= 2 for change in changes)


def test_uniform_patterns_number_58_and_all_others_are_one():
    assert uniform_patterns() + 1 == N_PATTERNS


def test_blocks_of_a_face_have_histograms_of_length_one(picture):
    pytest.importorskip("skimage", reason="needs the extra images")
    values = lbp(picture)
    assert values.shape == (7080,)
    np.testing.assert_allclose((values.reshape(120, 59) ** 2).sum(axis=1), 1.0)


def test_points_outside_the_crop_do_not_count(picture):
    pytest.importorskip("skimage", reason="needs the extra images")
    other = np.zeros((250, 250))
    other[CROP] = picture[CROP]
    np.testing.assert_array_equal(lbp(picture), lbp(other))


def test_brightness_does_not_count_inside_the_crop(picture):
    pytest.importorskip("skimage", reason="needs the extra images")
    darker = np.rint(picture / 2)
    inner = [lbp(p).reshape(15, 8, 59)[1:-1, 1:-1] for p in (darker, darker + 64)]
    np.testing.assert_allclose(inner[0], inner[1], atol=0.15)  # neighbours may tie by rounding
    assert (inner[0] != inner[1]).mean() < 0.01


def test_flat_block_has_one_pattern():
    pytest.importorskip("skimage", reason="needs the extra images")
    blocks = lbp(np.full((250, 250), 7.0)).reshape(120, 59)
    inner = blocks.reshape(15, 8, 59)[1:-1, 1:-1].reshape(-1, 59)
    assert ((inner > 0).sum(axis=1) == 1).all()


def test_gradients_have_length_one_at_every_point_and_width(picture):
    values = sift(picture)
    assert values.shape == (9 * 3 * 128,)
    np.testing.assert_allclose(np.linalg.norm(values.reshape(27, 128), axis=1), 1.0)


def test_gradients_of_a_ramp_point_along_it():
    ramp = np.tile(np.arange(250.0), (250, 1))  # brighter to the right
    angles = sift(ramp).reshape(27, 16, 8)
    assert (angles[:, :, 0] > 0).all()
    np.testing.assert_allclose(angles[:, :, 1:], 0.0, atol=1e-12)
    turned = sift(ramp.T).reshape(27, 16, 8)  # brighter downwards: a quarter turn
    assert (turned[:, :, 2] > 0).all()


def test_contrast_and_brightness_change_no_gradient(picture):
    np.testing.assert_allclose(sift(0.5 * picture + 30), sift(picture), atol=1e-12)


def test_missing_package_names_its_extra():
    with pytest.raises(ImportError, match='the extra "images"'):
        imported("no_such_package_of_pictures")
