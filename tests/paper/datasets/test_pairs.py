import numpy as np
import pytest

from ecselm.paper.datasets import PairSet


@pytest.fixture
def parts(rng):
    return {
        "name": "toy",
        "descriptors": rng.standard_normal((4, 3)),
        "eigenvalues": np.array([4.0, 1.0, 0.25]),
        "pairs": np.array([[0, 1], [2, 3], [1, 1]]),
        "same": np.array([1, 0, 1]),
        "fold": np.array([0, 0, 1]),
        "source": "By me.",
    }


def test_pairs_become_rows_of_two_descriptors(parts):
    data = PairSet(**parts).dataset()
    np.testing.assert_array_equal(data.X[1, 0], parts["descriptors"][2])
    assert data.class_names == ("different", "same")
    assert [test.tolist() for _, test in data.folds] == [[0, 1], [2]]


def test_whitening_divides_by_roots_of_eigenvalues(parts):
    pairs = PairSet(**parts)
    np.testing.assert_allclose(
        pairs.dataset(whiten=True).X, pairs.dataset().X / np.array([2.0, 1.0, 0.5])
    )


def test_summary_counts_pairs_and_marks_what_is_synthetic(parts):
    text = PairSet(**parts, synthetic=True).summary()
    assert text.startswith("toy: SYNTHETIC, 3 pairs of 4 pictures with 3 features; 2 of the same")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pairs": np.array([[0, 4]] * 3)}, "pairs must be positions of the 4 pictures"),
        ({"same": np.array([1, 2, 0])}, "same must be 0 or 1"),
        ({"eigenvalues": np.zeros(3)}, "eigenvalues must be > 0"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(parts, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        PairSet(**{**parts, **change})
