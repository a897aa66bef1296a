"""The random stream of a fit, and sample weights as they come in."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from ecselm._sklearn import as_generator, check_weights

X = np.ones((3, 2))


def numbers(generator):
    return generator.random(5).tolist()


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**32 - 1])
def test_an_integer_is_a_seed(seed):
    assert numbers(as_generator(seed)) == numbers(np.random.default_rng(int(seed)))


def test_a_generator_is_used_as_it_is(rng):
    assert as_generator(rng) is rng


def test_a_random_state_is_advanced():
    state = np.random.RandomState(0)
    first, second = numbers(as_generator(state)), numbers(as_generator(state))
    assert first != second
    again = np.random.RandomState(0)
    assert [numbers(as_generator(again)), numbers(as_generator(again))] == [first, second]


def test_random_states_of_different_seeds_differ():
    assert numbers(as_generator(np.random.RandomState(0))) != numbers(
        as_generator(np.random.RandomState(1))
    )


def test_none_is_another_stream_every_time():
    assert numbers(as_generator(None)) != numbers(as_generator(None))


@pytest.mark.parametrize("random_state", [None, 0])
def test_the_global_state_is_neither_read_nor_changed(random_state):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    numbers(as_generator(random_state))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("random_state", ["seed", 1.5, -1])
def test_what_is_no_seed_is_refused(random_state):
    with pytest.raises((TypeError, ValueError)):
        as_generator(random_state)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", [[1, 0, 2.5], np.array([1, 0, 2.5]), (1.0, 0.0, 2.5)])
def test_weights_are_returned_in_the_precision_of_the_rows(dtype, weights):
    checked = check_weights(weights, X.astype(dtype))
    assert checked.dtype == dtype
    assert_array_equal(checked, [1.0, 0.0, 2.5])


def test_weights_of_sparse_rows_are_weights_too():
    assert_array_equal(check_weights([1, 0, 2], sparse.csr_array(X)), [1.0, 0.0, 2.0])


def test_one_weight_is_that_of_every_row():
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
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, X)
