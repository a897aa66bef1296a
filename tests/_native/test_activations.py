"""Activations, entry by entry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from ecselm import _native
from ecselm.layers.activations import radbas, sigmoid

pytestmark = pytest.mark.usefixtures("built")

FURTHEST = 26.6  # where the square is 708


def units_apart(a, b):
    """Return the largest difference of two arrays in units in the last place."""
    return (np.abs(a - b) / np.spacing(np.minimum(a, b))).max()


def ridge(A):
    B = A.copy()
    _native.activate(B, "radbas")
    return B


def test_exponentials_are_right_to_the_last_places(rng):
    A = np.concatenate([np.linspace(-FURTHEST, FURTHEST, 20011), rng.standard_normal(20000)])
    exact = np.exp(-(A.astype(np.longdouble) ** 2))
    allowed = 2.0 + A**2  # the square itself is rounded
    off = np.abs(ridge(A) - exact) / np.spacing(exact.astype(float))
    assert (off <= allowed).all()
    near = np.abs(A) < 1.0
    assert units_apart(ridge(A[near]), np.exp(-(A[near] ** 2))) <= 2.0


def test_infinities_and_nan():
    A = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e200, -1e200, 5e-324])
    with np.errstate(over="ignore"):
        assert_array_equal(ridge(A), [1.0, 1.0, 0.0, 0.0, np.nan, 0.0, 0.0, 1.0])


def test_underflow_gives_zero():
    A = np.linspace(FURTHEST + 0.1, 60.0, 999)
    assert (ridge(A) <= 1e-307).all()
    assert (ridge(A) >= 0.0).all()


@pytest.mark.parametrize("n", range(10))
def test_arrays_of_any_length_and_offset(rng, n):
    A = rng.standard_normal(n)
    one_by_one = np.array([ridge(A[i : i + 1])[0] for i in range(n)])
    assert_array_equal(ridge(A), one_by_one)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "float32"])
def test_projections_of_any_layout_are_overwritten(rng, layout):
    A = {
        "C": lambda A: A,
        "F": np.asfortranarray,
        "strided": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
        "float32": lambda A: A.astype(np.float32),
    }[layout](rng.standard_normal((7, 5)))
    expected = np.exp(-(A**2))
    assert radbas(A) is A
    assert_allclose(A, expected, rtol=1e-6 if layout == "float32" else 1e-14)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_sigmoid_equals_that_of_scipy(rng, dtype, rtol):
    A = np.concatenate([np.linspace(-30, 30, 501), rng.standard_normal(300)]).astype(dtype)
    expected = expit(A)
    assert sigmoid(A) is A
    assert_allclose(A, expected, rtol=rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sigmoid_of_infinities_and_nan(dtype):
    A = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0.0], dtype=dtype)
    _native.activate(A, "sigmoid")
    assert_allclose(A, [1.0, 0.0, np.nan, 1.0, 0.0, 0.5], atol=1e-38)


def test_float32_ridges_are_right_to_the_last_places(rng):
    A = rng.uniform(-3.0, 3.0, 9999).astype(np.float32)
    exact = np.exp(-(A.astype(np.float64) ** 2))
    off = np.abs(ridge(A) - exact) / np.spacing(exact.astype(np.float32))
    assert (off <= 3.0 + A**2).all()  # the square itself is rounded


def test_float32_infinities_and_nan():
    A = np.array([0.0, np.inf, -np.inf, np.nan, 1e30, 12.0], dtype=np.float32)
    with np.errstate(over="ignore"):
        assert_array_equal(ridge(A), [1.0, 0.0, 0.0, np.nan, 0.0, 0.0])
