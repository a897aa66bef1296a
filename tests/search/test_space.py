"""The box: what lies in it, and how points come back into it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds

from ecselm.search import Box


def test_entries_inside_are_untouched_and_a_coin_decides_for_those_outside(rng):
    box = Box.from_bounds([(0, 1), (-1, 1)])
    V = np.tile([[-5.0, 0.25], [0.5, 7.0]], (5000, 1))
    repaired = box.repair(V.copy(), rng)
    assert box.contains(repaired)
    assert_array_equal(repaired[::2, 1], 0.25)
    assert_array_equal(repaired[1::2, 0], 0.5)
    at_low, at_high = (repaired[::2, 0] == 0.0).mean(), (repaired[1::2, 1] == 1.0).mean()
    assert_allclose([at_low, at_high], 0.5, atol=0.03)


def test_what_is_redrawn_is_uniform_in_its_own_bounds(rng):
    box = Box.from_bounds([(0, 1), (-4, 4)])
    V = box.repair(np.tile([9.0, -9.0], (20000, 1)), rng)
    for column, bound, (low, high) in ((0, 1.0, (0, 1)), (1, -4.0, (-4, 4))):
        fresh = V[V[:, column] != bound, column]
        tenths, _ = np.histogram(fresh, bins=10, range=(low, high))
        assert_allclose(tenths / 20000, 0.05, atol=0.006)


def test_the_layout_in_memory_does_not_matter(rng):
    box = Box.from_bounds([(0, 1), (-1, 1), (5, 6)])
    V = rng.uniform(-9, 9, (40, 3))
    rows = box.repair(V.copy(), np.random.default_rng(1))
    columns = box.repair(np.asfortranarray(V), np.random.default_rng(1))
    assert_array_equal(columns, rows)


def test_entries_of_some_columns_are_repaired_in_the_bounds_of_these(rng):
    box = Box.from_bounds([(0, 1), (-1, 1), (5, 6)])
    columns = np.tile([2, 0], 1000)
    repaired = box.repair(np.tile([-3.0, 0.25], 1000), rng, columns)
    assert_array_equal(repaired[1::2], 0.25)
    assert ((repaired[::2] >= 5) & (repaired[::2] <= 6)).all()
    assert_allclose((repaired[::2] == 5.0).mean(), 0.5, atol=0.05)


def test_printed_bounds_redraw_what_lies_inside(rng):
    box = Box.from_bounds([(0, 1)])
    V = np.repeat([-1.0, 0.5, 2.0], 3000)[:, np.newaxis]
    below, inside, above = np.split(box.repair_literally(V, rng)[:, 0], 3)
    assert not (inside == 0.5).any()
    assert_allclose([(below == 0.0).mean(), (above == 1.0).mean()], 0.5, atol=0.03)
    assert_allclose(inside.mean(), 0.5, atol=0.03)


def test_scipy_bounds_are_read():
    box = Box.from_bounds(Bounds([0, -1], [1, 1]))
    assert_array_equal(box.low, [0, -1])
    assert_array_equal(box.high, [1, 1])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(1, 0)], "low <= high, got 1 > 0 in coordinate 0"),
        ([(0, np.inf)], "must be finite"),
        ([(0, np.nan)], "must be finite"),
        ([0, 1, 2], "must be pairs"),
        (np.empty((0, 2)), "one lower and one upper"),
    ],
)
def test_bad_bounds_are_refused(bounds, message):
    with pytest.raises(ValueError, match=message):
        Box.from_bounds(bounds)
