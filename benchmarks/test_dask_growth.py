"""The benchmark on Dask makes the rows it says and reports its measurements."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")

from benchmarks.dask_growth import QUICK, Size, _measured, as_markdown, made_rows


def test_rows_are_the_same_whenever_they_are_made():
    X, y, scores = made_rows(Size(n_features=4, chunk=100), 250)
    assert X.chunks[0] == (100, 100, 50)
    np.testing.assert_array_equal(X.compute(), X.compute())
    assert 0.05 < y.compute().mean() < 0.4
    assert len(np.unique(X.compute(), axis=0)) == len(scores.compute()) == 250


def test_everything_is_measured_and_reported(monkeypatch):
    monkeypatch.setattr("benchmarks.dask_growth.ONE_THREAD", {})
    result = _measured(QUICK)
    assert result.workers.median > 0
    assert {one.n_evaluations for one in result.searches} == {12}
    assert all(held > 0 for held in result.memory.values())
    text = as_markdown([result])
    assert "a fit by one worker over one by two" in text
    assert "rows hashed" in text
