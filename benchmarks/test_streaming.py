"""The benchmark of fits in blocks measures what it says; no speed is asserted."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.streaming import MADE, QUICK, STORED, Clock, Made, Measured, _measured, as_table
from ecselm.streaming import StreamProgress


def test_passes_and_products_are_timed():
    for source in (MADE, STORED):
        measured = _measured(QUICK, source)
        assert min(measured.look, measured.sums) > 0
        assert measured.peak > 2**20
        assert measured.both < measured.sums


def test_passes_take_their_time_one_after_the_other():
    measured = Measured(MADE, QUICK, look=1.5, sums=0.5, peak=2**20)
    assert measured.both == pytest.approx(0.375)
    assert "| 0.50 | >= 0.6 | 1.50 | 0.38 | 1 | < 2048 | no |" in as_table([measured])


def test_only_whole_blocks_are_compared_with_the_products():
    clock = Clock(QUICK)
    for n_rows in (0, *range(200, 1700, 200), 1650):
        clock(StreamProgress(1, 2, "sums", n_rows, 1650))
    assert len(clock.shares[1]) == 1  # after four; one was read meanwhile, three are left


def test_blocks_are_all_rows_and_the_same_every_time():
    made = Made.of(QUICK)
    sizes = [len(y) for _, y in made]
    assert (sum(sizes), max(sizes)) == (1850, 200)
    for (X, _), (again, _) in zip(made, made, strict=True):
        np.testing.assert_array_equal(X, again)
