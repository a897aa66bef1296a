import numpy as np
import pytest

from ecselm.paper.datasets import Dataset
from ecselm.paper.datasets.dataset import leave_fold_out, stratified_fold

X, y = np.zeros((4, 2)), np.array([0, 0, 0, 1])


def test_summary_counts_classes_and_ends_with_the_source():
    cost = np.ones((2, 2))
    folds = leave_fold_out(np.array([0, 1, 0, 1]))
    data = Dataset(
        "toy", X, y, "By me.", np.array([0, 1]), cost, folds=folds, class_names=("no", "yes")
    )
    assert data.summary() == (
        "toy: 4 rows of 2 features; classes no (3), yes (1); with a cost matrix; 2 splits. By me."
    )


def test_summary_of_scores_has_their_range_and_marks_what_is_synthetic():
    text = Dataset("toy", X, np.array([1.5, 2, 3, 9]), "By me.", synthetic=True).summary()
    assert text == "toy: SYNTHETIC, 4 rows of 2 features; scores from 1.5 to 9. By me."


def test_summary_of_many_classes_is_short():
    data = Dataset("toy", np.zeros((40, 1)), np.arange(40) // 2, "By me.", np.arange(20))
    assert "20 classes of 2 to 2" in data.summary()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"y": y[:3]}, "y must have the shape"),
        ({"cost": np.ones((3, 3))}, "cost must have the shape"),
        ({"sample_cost": np.ones((4, 3))}, "sample_cost must have the shape"),
        ({"feature_names": ("a",)}, "feature_names must name all 2"),
        ({"class_names": ("a",)}, "class_names must name 2"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(wrong, sentence):
    whole = {"name": "toy", "X": X, "y": y, "source": "By me.", "classes": np.array([0, 1])}
    with pytest.raises(ValueError, match=sentence):
        Dataset(**{**whole, **wrong})


def test_stratified_folds_share_every_class_out_evenly(rng):
    labels = rng.permutation(np.repeat([0, 1, 2], [40, 13, 2]))
    fold = stratified_fold(labels, 5, rng)
    counts = np.array([[(fold[labels == c] == f).sum() for f in range(5)] for c in range(3)])
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts.sum(axis=0)) <= 1
