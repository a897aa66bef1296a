import numpy as np
import pytest

from ecselm.paper.datasets import lfw_pairs_from_images
from ecselm.paper.datasets.lfw import read_pair_list
from tests.paper.datasets.conftest import truncate

PAIRS = "2\t1\nAda\t1\t2\nAda\t1\tBob\t1\nCyd\t1\t2\nCyd\t2\tBob\t1\n"


@pytest.fixture
def pictures(tmp_path, rng):
    """Pictures of three people in pairs and of eight others, one of them grey."""
    pytest.importorskip("skimage", reason="needs the extra images")
    from PIL import Image

    people = {"Ada": 2, "Bob": 1, "Cyd": 2, **{f"Other{i}": 1 for i in range(8)}}
    for name, n in people.items():
        (tmp_path / "faces" / name).mkdir(parents=True)
        for i in range(1, n + 1):
            shape = (250, 250) if name == "Other0" else (250, 250, 3)
            picture = Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8))
            picture.save(tmp_path / "faces" / name / f"{name}_{i:04d}.jpg")
    (tmp_path / "pairs.txt").write_text(PAIRS)
    return tmp_path / "faces"


@pytest.fixture
def pairs_file(tmp_path):
    def put(text):
        path = tmp_path / "pairs.txt"
        path.write_text(text)
        return path

    return put


@pytest.mark.parametrize("descriptor", ["lbp", "sift"])
def test_components_are_of_pictures_in_no_pair(pictures, descriptor):
    pairs = lfw_pairs_from_images(pictures, pictures.parent / "pairs.txt", descriptor, 4)
    assert pairs.images == ("Ada_0001", "Ada_0002", "Bob_0001", "Cyd_0001", "Cyd_0002")
    assert pairs.descriptors.shape == (5, 4)
    assert pairs.pairs.tolist() == [[0, 1], [0, 2], [3, 4], [4, 2]]
    assert pairs.same.tolist() == [1, 0, 1, 0]
    assert pairs.fold.tolist() == [0, 0, 1, 1]
    assert (np.diff(pairs.eigenvalues) <= 0).all()


def test_pictures_of_pairs_do_not_change_the_components(pictures):
    before = lfw_pairs_from_images(pictures, pictures.parent / "pairs.txt", "sift", 4)
    bob = pictures / "Bob" / "Bob_0001.jpg"
    bob.write_bytes((pictures / "Ada" / "Ada_0001.jpg").read_bytes())
    after = lfw_pairs_from_images(pictures, pictures.parent / "pairs.txt", "sift", 4)
    np.testing.assert_allclose(after.eigenvalues, before.eigenvalues)
    np.testing.assert_allclose(after.descriptors[2], after.descriptors[0])


def test_missing_damaged_and_small_pictures_are_named(pictures):
    from PIL import Image

    pairs = pictures.parent / "pairs.txt"
    path = pictures / "Other1" / "Other1_0001.jpg"
    truncate(path, 0.001)
    with pytest.raises(ValueError, match=r"Other1_0001\.jpg is damaged or truncated, or no JPEG"):
        lfw_pairs_from_images(pictures, pairs, "sift", 4)
    Image.new("RGB", (20, 20)).save(path)
    with pytest.raises(ValueError, match=r"Other1_0001\.jpg must have \(250, 250\) points"):
        lfw_pairs_from_images(pictures, pairs, "sift", 4)
    (pictures / "Bob" / "Bob_0001.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"1 pictures .* missing, .* Bob_0001\.jpg"):
        lfw_pairs_from_images(pictures, pairs, "sift", 4)


def test_too_many_components_are_refused(pictures):
    with pytest.raises(ValueError, match=r"n_components must be at most .* 8, got 300"):
        lfw_pairs_from_images(pictures, pictures.parent / "pairs.txt")


def test_without_scikit_image_the_extra_is_named(monkeypatch, tmp_path):
    def absent(module):
        raise ImportError(module)

    monkeypatch.setattr("ecselm.paper.datasets._descriptors.import_module", absent)
    with pytest.raises(ImportError, match='the extra "images"'):
        lfw_pairs_from_images(tmp_path, tmp_path / "pairs.txt")


def test_unknown_descriptor_is_refused(tmp_path):
    with pytest.raises(ValueError, match="descriptor must be 'lbp' or 'sift'"):
        lfw_pairs_from_images(tmp_path, tmp_path / "pairs.txt", "hog")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: must be the numbers"),
        ("ten 300\n", "line 1: must be the numbers"),
        ("1 1\nAda 1 2\n", "must list 2 pairs, got 1"),
        ("0 0\n", "line 1: must be the numbers"),
        (f"{'9' * 5000} 1\n", "line 1: must be the numbers"),
        ("1 1\n\n\nAda 1 2\nAda 1 Bob 0\n", "line 5: must read"),
        ("1 1\nAda 1\nAda 1 Bob 1\n", "line 2: must read '<name> <number> <number>'"),
        ("1 1\nAda 1 2\nAda 1 Bob one\n", "line 3: must read"),
    ],
)
def test_damaged_lists_are_refused_with_their_place(pairs_file, text, sentence):
    with pytest.raises(ValueError, match=rf"pairs\.txt.*{sentence}"):
        read_pair_list(pairs_file(text))


def test_missing_list_says_where_to_get_it_and_under_what_terms(tmp_path):
    pytest.importorskip("skimage", reason="needs the extra images")
    with pytest.raises(
        FileNotFoundError, match=r"no\.txt is missing.*Get it from http.*terms: .+\)$"
    ):
        lfw_pairs_from_images(tmp_path, tmp_path / "no.txt")


def test_missing_pictures_say_where_to_get_them(tmp_path, pairs_file):
    pytest.importorskip("skimage", reason="needs the extra images")
    with pytest.raises(
        FileNotFoundError, match=r"5 pictures .* missing.*Get them from.*terms: .+\)$"
    ):
        lfw_pairs_from_images(tmp_path, pairs_file(PAIRS))


def test_real_list_agrees_with_the_features_file(data_folder):
    from ecselm.paper.datasets import load_lfw_pairs

    listed = read_pair_list(data_folder / "lfw_view2_lbp" / "pairs.txt")
    pairs = load_lfw_pairs(data_folder)
    named = np.array(pairs.images)[pairs.pairs]
    assert [tuple(pair) for pair in named.tolist()] == list(listed.names)
    np.testing.assert_array_equal(listed.same, pairs.same)
    np.testing.assert_array_equal(listed.fold, pairs.fold)
