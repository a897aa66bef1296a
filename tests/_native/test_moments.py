"""Moments of columns and norms of projected rows, in every library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native
from ecselm.layers import measure_scale
from ecselm.linalg.factors import factor_shifted

pytestmark = pytest.mark.usefixtures("built")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("N", [1, 3, 4, 50])
@pytest.mark.parametrize("n", [1, 7, 33])
def test_moments_are_those_of_the_definition(rng, dtype, N, n):
    X, share = rng.standard_normal((N, n)).astype(dtype), rng.random(N)
    origin, before = rng.standard_normal(n), rng.standard_normal(n)
    apart = X.astype(float) - origin
    for squared, expected in ((False, share @ apart), (True, share @ apart**2)):
        sums = before.copy()
        _native.add_moments(X, share, origin, sums, squared=squared)
        assert_allclose(sums, before + expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scales_are_the_same_with_and_without_the_library(rng, dtype):
    X = (1e3 + rng.standard_normal((400, 5))).astype(dtype)
    X[:, 2] = dtype(0.1)  # constant: its width is 1, whatever rounding does
    for weight in (None, rng.random(400)):
        found = measure_scale(X, "standard", weight)
        with _native.disabled():
            expected = measure_scale(X, "standard", weight)
        assert found.width[2] == expected.width[2] == 1.0
        tolerance = 1e-12 if dtype == np.float64 else 1e-5
        assert_allclose(found.center, expected.center, rtol=tolerance)
        assert_allclose(found.width, expected.width, rtol=tolerance)


@pytest.mark.parametrize("N", [1, 8, 37])
@pytest.mark.parametrize("L", [1, 12, 24, 25, 50])
def test_norms_are_those_of_the_definition(rng, N, L):
    F, R = rng.standard_normal((N, L)), np.triu(rng.standard_normal((L, L)))
    norms = _native.squared_norms(F, R)
    assert_allclose(norms, ((F @ R) ** 2).sum(axis=1), rtol=1e-12)
    assert_array_equal(_native.squared_norms(F[-1:], R), norms[-1:])


@pytest.mark.parametrize("shift", [1.0, 1e-6, 1e-12])
def test_leverages_keep_the_digits_of_a_substitution(rng, shift):
    F = rng.standard_normal((80, 30)) * np.logspace(0, -4, 30)
    factor = factor_shifted(F.T @ F, shift)
    found = factor.leverages(F)
    with _native.disabled():
        expected = factor.leverages(F)
    assert_allclose(found, expected, rtol=1e-10)
    assert found.max() < 1.0 + 1e-10
