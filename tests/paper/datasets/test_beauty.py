import numpy as np

from ecselm.paper.datasets import beauty_levels
from ecselm.paper.datasets.beauty import beauty_dataset


def test_scores_on_a_cut_belong_to_the_lower_level():
    scores = [1, 2, 2.01, 4, 4.01, 6, 6.01, 8, 8.01, 10]
    assert beauty_levels(scores).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_levels_that_do_not_occur_are_no_classes():
    data = beauty_dataset("toy", np.zeros((3, 1)), np.array([3.0, 7.0, 7.5]), "level", "By me.")
    assert data.classes.tolist() == [2, 4]
    assert data.class_names == ("fair", "very good")


def test_scores_stay_as_they_are():
    data = beauty_dataset("toy", np.zeros((2, 1)), np.array([3.0, 7.0]), "score", "By me.")
    assert data.classes is None
    assert data.y.tolist() == [3.0, 7.0]
