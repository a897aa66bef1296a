"""Sums of rows and targets against their definition, in every library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native
from ecselm._native.calls import PANEL
from ecselm.linalg import GramBlocks, GramSum
from ecselm.linalg.gram import COMPILED_UNITS

pytestmark = pytest.mark.usefixtures("built")

ROUNDING = {np.float64: 1e-12, np.float32: 1e-5}
DTYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def sums_of(H, T, w):
    sums, squares = np.zeros((H.shape[1] + T.shape[1], H.shape[1])), np.zeros(T.shape[1])
    _native.add_gram((H, T), w, sums, squares)
    return np.tril(sums), squares


@DTYPE
@pytest.mark.parametrize("N", [1, PANEL - 1, 2 * PANEL, 2 * PANEL + 1, 600])
@pytest.mark.parametrize(("L", "m"), [(1, 1), (5, 3), (24, 2), (33, 10), (48, 1), (7, 20)])
def test_sums_are_those_of_the_definition(rng, dtype, N, L, m):
    H, T = rng.standard_normal((N, L)).astype(dtype), rng.standard_normal((N, m)).astype(dtype)
    Z = np.hstack([H, T]).astype(float)
    for w in (None, rng.random(N).astype(dtype)):
        weights = np.ones(N) if w is None else w.astype(float)
        sums, squares = sums_of(H, T, w)
        expected = np.tril(Z.T @ (weights[:, np.newaxis] * Z[:, :L]))
        scale = N * ROUNDING[dtype]
        assert_allclose(sums, expected, rtol=ROUNDING[dtype], atol=scale)
        assert_allclose(squares, weights @ T.astype(float) ** 2, rtol=ROUNDING[dtype])


@pytest.mark.parametrize("n_hidden", [20, COMPILED_UNITS, COMPILED_UNITS + 1])
@DTYPE
def test_blocks_are_the_same_with_and_without_the_library(rng, dtype, n_hidden):
    H = rng.standard_normal((60, n_hidden)).astype(dtype)
    T, w = rng.standard_normal((60, 3)).astype(dtype), rng.random(60).astype(dtype)
    found = GramBlocks.from_rows(H, T, w)
    with _native.disabled():
        expected = GramBlocks.from_rows(H, T, w)
    for name in ("grams", "moments", "squares"):
        value = getattr(found, name)
        assert value.shape == getattr(expected, name).shape
        assert_allclose(value, getattr(expected, name), rtol=1e-9, atol=60 * ROUNDING[dtype])
    assert_array_equal(found.grams[0], found.grams[0].T)


def test_groups_and_blocks_of_rows_add_up(rng):
    H, T = rng.standard_normal((90, 6)), rng.standard_normal((90, 2))
    parts = [GramSum(45, 6, 2, np.dtype(float), 2) for _ in range(2)]
    for total, rows in zip(parts, (slice(0, 45), slice(45, 90)), strict=True):
        for group in range(2):
            own = slice(rows.start + 20 * group, rows.start + 20 + 25 * group)
            total.hidden(own.stop - own.start)[:] = H[own]
            total.add(T[own], None, group)
    parts[0].merge(parts[1])
    blocks = parts[0].blocks()
    first = np.r_[0:20, 45:65]
    assert_allclose(blocks.grams[0], H[first].T @ H[first], rtol=1e-12, atol=1e-12)
    assert_allclose(blocks.grams.sum(axis=0), H.T @ H, rtol=1e-12, atol=1e-12)
    assert_allclose(blocks.moments.sum(axis=0), H.T @ T, rtol=1e-12, atol=1e-12)


def test_targets_of_another_type_or_layout_are_accepted(rng):
    H, T = rng.standard_normal((30, 4)), rng.choice([-1.0, 1.0], (30, 2))
    expected = GramBlocks.from_rows(H, T, None)
    found = GramBlocks.from_rows(H, np.asfortranarray(T.astype(np.float32)), np.ones(30))
    assert_allclose(found.moments, expected.moments, rtol=1e-12)


def test_sums_of_infinite_rows_are_not_finite(rng):
    H, T = rng.standard_normal((30, 4)), np.ones((30, 1))
    H[3, 2] = np.inf
    assert not np.isfinite(GramBlocks.from_rows(H, T, None).grams).all()
