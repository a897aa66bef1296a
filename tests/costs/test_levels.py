"""Levels of costs: classes, confusions, rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.costs.levels import ClassLevel, MatrixLevel, SampleLevel
from ecselm.costs.weights import ClassCosts
from tests.contracts.level_contract import LevelContract

CLASSES = {2: np.array(["ill", "well"]), 4: np.array([1, 2, 5, 7])}
KS = pytest.mark.parametrize("k", [2, 4], ids=["two classes", "four classes"])


class OfClasses(LevelContract):
    @pytest.fixture(params=[2, 4], ids=["two classes", "four classes"])
    def k(self, request):
        return request.param


class TestClassLevel(OfClasses):
    @pytest.fixture
    def case(self, k):
        return ClassLevel(k), CLASSES[k], np.arange(k)


class TestMatrixLevel(OfClasses):
    @pytest.fixture
    def case(self, k):
        return MatrixLevel(k), CLASSES[k], np.arange(k)


class TestSampleLevel(OfClasses):
    @pytest.fixture
    def case(self, k, rng):
        y = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, 9)])
        return SampleLevel(y), CLASSES[k], y


@KS
def test_a_matrix_gives_equation_12_as_a_mean_over_the_other_classes(rng, k):
    M = rng.uniform(0.5, 9.0, (k, k)) * (1.0 - np.eye(k))
    y = rng.integers(0, k, 15)
    level = MatrixLevel(k)
    b = level.group_costs(level.entries(M)[np.newaxis])[0]
    literal = [sum(M[y[i], j] for j in range(k) if j != y[i]) / (k - 1) for i in range(15)]
    assert_allclose(b[y], literal, rtol=1e-14)


@KS
def test_a_matrix_weighs_rows_as_a_sum_over_classes_does_but_for_the_mean(rng, k):
    M = rng.uniform(0.5, 9.0, (k, k)) * (1.0 - np.eye(k))
    level, y = MatrixLevel(k), rng.integers(0, k, 15)
    b = level.group_costs(level.entries(M)[np.newaxis])[0]
    costs = ClassCosts(M, "classes")
    B = costs.terms(y).vector(costs.coefficients(np.bincount(y, minlength=k), np.ones(k)))
    assert_allclose(b[y], B / (k - 1), rtol=1e-14)


@KS
def test_entries_and_matrices_undo_each_other(rng, k):
    M = rng.uniform(0.5, 9.0, (3, k, k)) * (1.0 - np.eye(k))
    level = MatrixLevel(k)
    entries = np.stack([level.entries(matrix) for matrix in M])
    assert entries.shape == (3, k * (k - 1))
    assert_array_equal(level.matrices(entries), M)


@KS
def test_entry_of_a_confusion_is_where_it_stands_in_the_matrix(k):
    level = MatrixLevel(k)
    for truth in range(k):
        for predicted in set(range(k)) - {truth}:
            (entry,) = level.entries_of(truth, predicted)
            (M,) = level.matrices(np.eye(level.n_entries)[[entry]])
            assert np.argwhere(M).tolist() == [[truth, predicted]]


def test_names_say_what_is_mistaken_for_what():
    assert ClassLevel(2).names(CLASSES[2]) == ["'ill'", "'well'"]
    assert MatrixLevel(2).names(CLASSES[2]) == ["'ill' taken for 'well'", "'well' taken for 'ill'"]
    assert SampleLevel(np.array([1, 0])).names(CLASSES[4]) == [
        "row 0 of class 2",
        "row 1 of class 1",
    ]


def test_with_two_classes_a_confusion_is_its_class():
    assert ClassLevel(2).entries_of(1, 0) == ClassLevel(2).entries_of(1, None) == [1]
    assert SampleLevel(np.array([0, 1, 1])).entries_of(1, 0) == [1, 2]


def test_with_more_classes_single_confusions_need_the_matrix():
    with pytest.raises(ValueError, match=r"cost_level='matrix'.* got a pair and 3 classes"):
        ClassLevel(3).entries_of(0, 2)
