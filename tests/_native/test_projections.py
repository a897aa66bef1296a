"""Hidden layers against (16) written out, in every library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from ecselm import _native
from ecselm.layers import ACTIVATIONS, RandomLayer

pytestmark = pytest.mark.usefixtures("built")

LITERAL = {"linear": lambda A: A, "radbas": lambda A: np.exp(-(A**2)), "sigmoid": expit}
ROUNDING = {np.float64: 1e-14, np.float32: 1e-5}
DTYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def projected(X, W, b, center, activation):
    H = np.full((len(X), len(b)), np.nan, X.dtype)
    _native.project(X, (W, b), center, activation, H)
    return H


@DTYPE
@pytest.mark.parametrize("activation", LITERAL)
@pytest.mark.parametrize("N", [1, 7, 33, 100])
@pytest.mark.parametrize("L", [1, 5, 16, 33, 50])
def test_rows_are_projected_and_activated(rng, dtype, activation, N, L):
    X, W, b = (rng.standard_normal(size).astype(dtype) for size in [(N, 6), (6, L), L])
    for center in (None, rng.standard_normal(6).astype(dtype)):
        moved = X if center is None else X - center
        expected = LITERAL[activation](moved.astype(float) @ W.astype(float) + b)
        found = projected(X, W, b, center, activation)
        assert_allclose(found, expected, rtol=ROUNDING[dtype], atol=ROUNDING[dtype])


@DTYPE
def test_a_row_has_the_same_bits_beside_any_others(rng, dtype):
    X, W, b = (rng.standard_normal(size).astype(dtype) for size in [(40, 9), (9, 21), 21])
    H = projected(X, W, b, None, "radbas")
    for rows in (slice(0, 3), slice(8, 40), slice(39, 40)):
        assert_array_equal(projected(X[rows], W, b, None, "radbas"), H[rows])


@DTYPE
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("with_center", [False, True])
def test_a_layer_is_the_same_with_and_without_the_library(rng, dtype, activation, with_center):
    X, W, b, c = (rng.standard_normal(size).astype(dtype) for size in [(70, 9), (9, 30), 30, 9])
    layer = RandomLayer(W, b, activation, c if with_center else None)
    H = layer(X)
    with _native.disabled():
        expected = layer(X)
    assert H.dtype == dtype
    if activation == "hardlim":  # a step turns a rounding into 1
        assert np.mean(expected != H) < 0.01
    else:
        assert_allclose(H, expected, rtol=ROUNDING[dtype], atol=ROUNDING[dtype])


@pytest.mark.parametrize("n", [256, 257])
def test_layers_of_many_inputs_are_the_same_on_both_sides_of_the_limit(rng, n):
    X, W, b = rng.standard_normal((40, n)), rng.standard_normal((n, 12)) / n, np.ones(12)
    H = RandomLayer(W, b, "radbas")(X)
    assert_allclose(H, LITERAL["radbas"](X @ W + b), rtol=1e-12)


def test_inputs_of_any_memory_layout_are_accepted(rng):
    X, layer = rng.standard_normal((50, 8)), RandomLayer(np.ones((8, 5)), np.zeros(5), "radbas")
    expected = layer(X)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float32)):
        assert_allclose(layer(other), expected, atol=1e-6)
    X.flags.writeable = False
    assert_array_equal(layer(X), expected)
