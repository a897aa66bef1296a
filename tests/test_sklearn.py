"""Validation of sample weights."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from ecselm._sklearn import check_weights

X = np.ones((3, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", [[1, 0, 2.5], np.array([1, 0, 2.5]), (1.0, 0.0, 2.5)])
def test_weights_are_returned_in_the_precision_of_the_rows(dtype, weights):
    checked = check_weights(weights, X.astype(dtype))
    assert checked.dtype == dtype
    assert_array_equal(checked, [1.0, 0.0, 2.5])


def test_weights_of_sparse_rows():
    assert_array_equal(check_weights([1, 0, 2], sparse.csr_array(X)), [1.0, 0.0, 2.0])


def test_a_scalar_weight_is_that_of_every_row():
    assert_array_equal(check_weights(2.0, X), [2.0, 2.0, 2.0])


def test_no_weights_stay_none():
    assert check_weights(None, X) is None


def test_weights_are_not_modified():
    weights = np.array([1.0, 0.0, 2.0])
    check_weights(weights, X)
    assert_array_equal(weights, [1.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -0.5, 2], r"sample_weight must be >= 0, got -0.5"),
        ([1, np.nan, 2], "sample_weight contains NaN"),
        ([1, np.inf, 2], "sample_weight contains infinity"),
        ([1, 2], r"sample_weight.*\(2,\).*\(3,\)"),
        (np.ones((3, 1)), "[Ss]ample.weight"),
        (["a", "b", "c"], "'a'"),
    ],
)
def test_invalid_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, X)
