"""The random generator of a fit or a search."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm._random import as_generator


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


def test_none_gives_another_stream_every_time():
    assert numbers(as_generator(None)) != numbers(as_generator(None))


@pytest.mark.parametrize("random_state", [None, 0])
def test_the_global_state_is_neither_read_nor_changed(random_state):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    numbers(as_generator(random_state))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("random_state", ["seed", 1.5, -1])
def test_invalid_seeds_are_refused(random_state):
    with pytest.raises((TypeError, ValueError)):
        as_generator(random_state)
