import numpy as np
import pytest

from ecselm.paper.datasets._descriptors import read_grey


@pytest.fixture
def save(tmp_path, rng):
    pytest.importorskip("skimage", reason="needs the extra images")
    from PIL import Image

    def saved(shape=(250, 250, 3), mode=None, form="JPEG"):
        path = tmp_path / "a.jpg"
        image = Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8))
        (image if mode is None else image.convert(mode)).save(path, form)
        return path

    return saved


@pytest.mark.parametrize("shape", [(250, 250), (250, 250, 3)])
def test_picture_is_the_one_that_scikit_image_reads(save, shape):
    from skimage.color import rgb2gray
    from skimage.io import imread

    path = save(shape)
    picture = imread(path)
    wanted = picture if picture.ndim == 2 else rgb2gray(picture) * 255
    np.testing.assert_array_equal(read_grey(path), wanted)


@pytest.mark.parametrize(
    ("picture", "sentence"),
    [
        (
            {"shape": (20, 20)},
            r"must have \(250, 250\) points, grey or RGB, got \(\(20, 20\), 'L'\)",
        ),
        ({"mode": "CMYK"}, "must have .* grey or RGB, got .*'CMYK'"),
        ({"form": "PNG"}, "is damaged or truncated, or no JPEG"),
    ],
)
def test_other_pictures_are_refused(save, picture, sentence):
    with pytest.raises(ValueError, match=rf"a\.jpg {sentence}"):
        read_grey(save(**picture))


def test_claim_to_be_huge_is_refused_before_anything_is_unpacked(save):
    path = save()
    data = path.read_bytes()
    size = bytes([0, 250, 0, 250])
    assert size in data
    path.write_bytes(data.replace(size, b"\xff" * 4, 1))
    with pytest.raises(ValueError, match=r"a\.jpg (must have|is damaged)"):
        read_grey(path)


def test_large_files_are_not_opened(save, monkeypatch):
    monkeypatch.setattr("ecselm.paper.datasets._descriptors.LARGEST", 100)
    with pytest.raises(ValueError, match=r"a\.jpg must have at most 100 bytes"):
        read_grey(save())
