"""The benchmark of fits in blocks measures what it says; no speed is asserted."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.streaming import Clock, Made, Measured, Shape, measure
from ecselm.streaming import StreamProgress

SMALL = Shape(n_rows=1050, n_features=4, n_hidden=5, block_rows=200)


@pytest.mark.parametrize("file", [False, True])
def test_passes_and_products_are_timed(file):
    measured = measure(SMALL, file)
    assert min(measured.look, measured.sums, measured.products) > 0
    assert measured.peak > 2**20
    assert measured.both < measured.sums


def test_passes_take_their_time_one_after_the_other():
    measured = Measured(products=20.0, look=1.5, sums=0.5, peak=2**20)
    assert measured.both == pytest.approx(0.375)
    assert "most memory: 1 MiB" in str(measured)


def test_only_whole_blocks_are_compared_with_the_products():
    clock = Clock(SMALL)
    for n_rows in (0, 200, 400, 450):
        clock(StreamProgress(1, 2, "sums", n_rows, 450))
    assert len(clock.products) == len(clock.shares[1]) == 2


def test_blocks_are_all_rows_and_the_same_every_time():
    made = Made.of(SMALL)
    sizes = [len(y) for _, y in made]
    assert (sum(sizes), max(sizes)) == (1050, 200)
    for (X, _), (again, _) in zip(made, made, strict=True):
        np.testing.assert_array_equal(X, again)
