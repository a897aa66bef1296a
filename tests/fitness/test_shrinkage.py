"""The pull towards prior costs against the mean over pairs, one by one."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.fitness import Shrinkage

E = pytest.mark.parametrize("n_entries", [2, 3, 6])


def literal_pull(entries, center, strength):
    """Return the mean over pairs of the squared logarithm of what a ratio differs by."""
    squares = [
        np.log((entries[i] / entries[j]) / (center[i] / center[j])) ** 2
        for i, j in combinations(range(len(center)), 2)
    ]
    return strength * np.mean(squares)


def drawn(rng, *shape):
    return np.exp(rng.standard_normal(shape))


@E
def test_pull_is_the_mean_over_pairs(rng, n_entries):
    center, entries = drawn(rng, n_entries), drawn(rng, 9, n_entries)
    expected = [literal_pull(one, center, 0.07) for one in entries]
    assert_allclose(Shrinkage(center, 0.07)(entries), expected, rtol=1e-10)


@E
def test_the_prior_and_its_multiples_are_free(rng, n_entries):
    center = drawn(rng, n_entries)
    pulled = Shrinkage(center, 1.0)(center * np.geomspace(1e-6, 1e6, 5)[:, np.newaxis])
    assert_allclose(pulled, 0.0, atol=1e-20)


@E
def test_a_multiple_of_costs_pulls_as_they_do(rng, n_entries):
    pull, entries = Shrinkage(drawn(rng, n_entries), 1.0), drawn(rng, 4, n_entries)
    assert_allclose(pull(1e3 * entries), pull(entries), rtol=1e-9)


@E
def test_it_is_as_far_there_as_back(rng, n_entries):
    one, other = drawn(rng, 2, n_entries)
    there = Shrinkage(one, 0.5)(other[np.newaxis])
    assert_allclose(there, Shrinkage(other, 0.5)(one[np.newaxis]), rtol=1e-12)
    opposite = Shrinkage(one, 0.5)((one**2 / other)[np.newaxis])
    assert_allclose(there, opposite, rtol=1e-9)


def test_order_of_classes_does_not_matter(rng):
    center, entries, order = drawn(rng, 5), drawn(rng, 3, 5), rng.permutation(5)
    pulled = Shrinkage(center[order], 0.1)(entries[:, order])
    assert_allclose(pulled, Shrinkage(center, 0.1)(entries), rtol=1e-12)


def test_costs_are_left_as_they_are(rng):
    entries = drawn(rng, 3, 2)
    copy = entries.copy()
    Shrinkage(np.ones(2), 0.1)(entries)
    assert_allclose(entries, copy, rtol=0)
