"""Fewer units give the scores of all, for any costs up to the strength."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.linalg import reduced_units

# Rows, units, and how many of them say something of their own.
SHAPES = {"tall": (200, 30, 10), "square": (40, 40, 7), "wide": (25, 60, 12), "one": (50, 8, 1)}
SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def deficient(rng, N, L, rank):
    return rng.standard_normal((N, rank)) @ rng.standard_normal((rank, L))


def scores(H, T, B, C):
    """Return H beta by (15) as least squares, where nothing is squared that is ill-conditioned."""
    root, L = np.sqrt(B)[:, np.newaxis], H.shape[1]
    A = np.vstack([root * H, np.eye(L) / np.sqrt(C)])
    return H @ np.linalg.lstsq(A, np.vstack([root * T, np.zeros((L, T.shape[1]))]), rcond=None)[0]


@SHAPE
@pytest.mark.parametrize("strength", [1e-2, 32.0, 2.0**16])
def test_scores_do_not_change_for_any_costs_up_to_the_strength(rng, shape, strength):
    N, L, rank = shape
    H, T = deficient(rng, N, L, rank), rng.standard_normal((N, 2))
    fewer = reduced_units(H, (strength, strength))
    assert fewer.shape == (N, rank)
    for C in (strength, strength / 100):
        for B in (np.ones(N), rng.uniform(1e-3, 1.0, N), (rng.random(N) < 0.5).astype(float)):
            assert_allclose(scores(fewer, T, B, C), scores(H, T, B, C), rtol=0, atol=1e-8)


def test_directions_just_below_the_bound_change_next_to_nothing(rng):
    N, L, strength = 80, 20, 100.0
    U, _ = np.linalg.qr(rng.standard_normal((N, L)))
    V, _ = np.linalg.qr(rng.standard_normal((L, L)))
    values = np.where(np.arange(L) < 8, 3.0, 0.9e-6)  # C B s^2 = 1e-10 at s = 1e-6
    H, T = (U * values) @ V, rng.standard_normal((N, 1))
    fewer = reduced_units(H, (strength, strength))
    assert fewer.shape == (N, 8)
    assert_allclose(
        scores(fewer, T, np.ones(N), strength),
        scores(H, T, np.ones(N), strength),
        rtol=0,
        atol=1e-9,
    )
    # What a stronger candidate would see is kept.
    assert reduced_units(H, (strength, 1e3 * strength)) is H


@SHAPE
def test_products_of_rows_stay_as_they_are(rng, shape):
    H = deficient(rng, *shape)
    fewer = reduced_units(H, (32.0, 32.0))
    assert_allclose(fewer @ fewer.T, H @ H.T, rtol=0, atol=1e-12 * np.abs(H @ H.T).max())


@pytest.mark.parametrize("N", [20, 50, 400])
def test_units_that_all_say_something_are_returned_as_they_are(rng, N):
    H = rng.standard_normal((N, 20))
    assert reduced_units(H, (32.0, 32.0)) is H


def test_too_little_is_not_worth_it(rng):
    H = deficient(rng, 100, 20, 18)
    assert reduced_units(H, (32.0, 32.0)) is H


def test_units_that_say_nothing_at_all_are_left(rng):
    H = np.zeros((30, 6))
    assert reduced_units(H, (32.0, 32.0)) is H


def test_rank_that_only_some_rows_have_is_not_missed(rng):
    N, L = 400, 20
    H = np.zeros((N, L))
    H[1:31] = rng.standard_normal((30, L))  # between the rows of any sample
    assert reduced_units(H, (32.0, 32.0)) is H


def test_rows_are_contiguous_and_the_argument_is_left_alone(rng):
    H = deficient(rng, 50, 12, 4)
    kept = H.copy()
    assert reduced_units(H, (1.0, 1.0)).flags.c_contiguous
    assert_array_equal(H, kept)


@pytest.mark.parametrize(("C", "unit"), [(1e-14, 1.0), (1.0, 1e-7), (1e-12, 1e-1)])
def test_scores_that_are_small_themselves_lose_nothing(rng, C, unit):
    N, L = 60, 20
    U, _ = np.linalg.qr(rng.standard_normal((N, L)))
    V, _ = np.linalg.qr(rng.standard_normal((L, L)))
    H, T = unit * (U * np.geomspace(10.0, 1e-9, L)) @ V, rng.standard_normal((N, 1))
    fewer = reduced_units(H, (C, C))
    expected = scores(H, T, np.ones(N), C)
    assert fewer.shape[1] < L
    assert_allclose(
        scores(fewer, T, np.ones(N), C), expected, rtol=0, atol=1e-8 * np.abs(expected).max()
    )
