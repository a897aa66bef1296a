"""Class weights against (9) and (10) as printed, and against scikit-learn's balance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight

from ecselm.costs import class_weights
from ecselm.costs.weights import WEIGHTINGS

COUNTS = pytest.mark.parametrize("n", [[6, 2], [5, 5], [1, 40], [3, 9, 6], [10, 1, 1, 4]])
EACH = pytest.mark.parametrize("weighting", WEIGHTINGS)


@COUNTS
def test_w1_is_equation_9(n):
    W = class_weights("w1", n, range(len(n)))
    for c, count in enumerate(n):
        assert W[c] == 1.0 / count  # (9)


@COUNTS
def test_w2_is_equation_10(n):
    W = class_weights("w2", n, range(len(n)))
    mean = sum(n) / len(n)
    for c, count in enumerate(n):
        assert_allclose(W[c], 0.618 / count if count > mean else 1.0 / count, rtol=1e-15)  # (10)


def test_a_class_of_average_size_is_not_a_large_one_in_equation_10():
    assert_array_equal(class_weights("w2", [3, 9, 6], "abc"), [1 / 3, 0.618 / 9, 1 / 6])
    assert_array_equal(class_weights("w2", [5, 5], "ab"), class_weights("w1", [5, 5], "ab"))


@COUNTS
def test_balanced_weights_are_those_of_scikit_learn(n):
    classes = np.arange(len(n))
    expected = compute_class_weight("balanced", classes=classes, y=np.repeat(classes, n))
    assert_allclose(class_weights("balanced", n, classes), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("classes", "weighting"),
    [
        (["high", "low", "mid"], {"mid": 3.0, "high": 0.5}),
        ([1, 2, 5], {5: 3.0, 1: 0.5}),
        (np.array([1, 2, 5]), {np.int64(5): 3, np.int32(1): 0.5}),
        ([1.0, 2.0, 5.0], {5: 3.0, 1: 0.5}),
    ],
)
def test_dict_gives_weights_by_label_and_one_for_the_rest(classes, weighting):
    assert_array_equal(class_weights(weighting, [4, 4, 4], classes), [0.5, 1.0, 3.0])


def test_boolean_labels_have_weights_too():
    assert_array_equal(class_weights({True: 7.0}, [4, 4], np.array([False, True])), [1.0, 7.0])


@COUNTS
def test_no_weighting_is_one_for_all(n):
    assert_array_equal(class_weights(None, n, range(len(n))), np.ones(len(n)))


@COUNTS
def test_w1_weights_of_all_rows_sum_to_the_number_of_classes(n):
    assert_allclose(class_weights("w1", n, range(len(n))) @ n, len(n))


@EACH
@COUNTS
def test_order_of_the_classes_does_not_matter(weighting, n):
    W = class_weights(weighting, n, range(len(n)))
    assert_allclose(class_weights(weighting, n[::-1], range(len(n))), W[::-1], rtol=1e-15)


@EACH
def test_counts_may_be_sums_of_sample_weights(weighting):
    factor = 1.0 if weighting == "balanced" else 4.0
    few, many = ([1.5, 0.25], "ab"), ([6, 1], "ab")
    expected = factor * class_weights(weighting, *many)
    assert_allclose(class_weights(weighting, *few), expected, rtol=1e-15)


@EACH
def test_a_class_that_never_occurs_weighs_nothing_and_changes_no_other(weighting):
    W = class_weights(weighting, [6, 0, 2], "abc")
    assert W[1] == 0.0
    assert_array_equal(W[[0, 2]], class_weights(weighting, [6, 2], "ac"))


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "heavy", None, [1.0, 2.0]])
def test_a_weight_that_is_no_finite_number_of_zero_or_more_is_refused(value):
    with pytest.raises(ValueError, match=r"weighting must .*got .*'many'"):
        class_weights({"many": value}, [6, 2], ["many", "few"])


def test_an_unknown_class_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"weighting must .*got 'meny'; did you mean 'many'\?"):
        class_weights({"meny": 2.0}, [6, 2], ["many", "few"])
