"""The Gaussian ridge, entry by entry."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm import _native
from ecselm.layers.activations import radbas

pytestmark = pytest.mark.usefixtures("built")

FURTHEST = 26.6  # where the square is 708


def units_apart(a, b):
    """Return the largest difference of two arrays in units in the last place."""
    return (np.abs(a - b) / np.spacing(np.minimum(a, b))).max()


def ridge(A):
    B = A.copy()
    _native.radbas(B)
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
    np.testing.assert_allclose(A, expected, rtol=1e-6 if layout == "float32" else 1e-14)
