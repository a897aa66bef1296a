"""Confusion matrices against NumPy's argmax, from float64 and from checked float32."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native

pytestmark = pytest.mark.usefixtures("built")

UNIT = 2.0**-24
KS = pytest.mark.parametrize("k", [2, 3, 4, 10, 32, 33, 70])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


def decided(Z):
    """Return the classes (P, n) of scores (P, m, n)."""
    return (Z[:, 0] > 0).astype(int) if Z.shape[1] == 1 else Z.argmax(axis=1)


def literal(Z, y, weight, k):
    counts = np.zeros((len(Z), k, k))
    w = np.ones(len(y)) if weight is None else weight
    for p, winners in enumerate(decided(Z)):
        np.add.at(counts[p], (y, winners), w)
    return counts


def labels(rng, n, k):
    return rng.integers(0, k, n).astype(np.int32)


def weights(rng, n, weighted):
    return rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None


@KS
@WEIGHTED
@pytest.mark.parametrize("n", [1, 5, 130])
def test_counts_are_those_of_argmax(rng, k, weighted, n):
    for m in {k, 1} if k == 2 else {k}:
        Z, y, weight = rng.standard_normal((3, m, n)), labels(rng, n, k), weights(rng, n, weighted)
        counts = np.zeros((3, k, k))
        _native.count(Z, y, weight, k, counts)
        assert_allclose(counts, literal(Z, y, weight, k), rtol=1e-14)


@KS
@WEIGHTED
def test_the_first_of_equals_wins(rng, k, weighted):
    Z = rng.integers(0, 3, (4, k, 200)).astype(float)
    y, weight, counts = labels(rng, 200, k), weights(rng, 200, weighted), np.zeros((4, k, k))
    _native.count(Z, y, weight, k, counts)
    assert_allclose(counts, literal(Z, y, weight, k), rtol=1e-14)
    assert (np.sort(Z, axis=1)[:, -1] == np.sort(Z, axis=1)[:, -2]).any()


def test_a_score_of_zero_is_the_first_of_two_classes():
    counts = np.zeros((1, 2, 2))
    Z = np.array([[[0.0, -0.0, 5e-324, -5e-324]]])
    _native.count(Z, np.array([0, 1, 1, 0], dtype=np.int32), None, 2, counts)
    assert_array_equal(counts, [[[2.0, 0.0], [1.0, 1.0]]])


@KS
@WEIGHTED
def test_counts_are_added_to_earlier_counts(rng, k, weighted):
    Z, y, weight = (
        rng.standard_normal((2, k, 50)),
        labels(rng, 50, k),
        weights(rng, 50, weighted),
    )
    counts = np.full((2, k, k), 7.0)
    _native.count(Z[:, :, :20].copy(), y[:20], None if weight is None else weight[:20], k, counts)
    _native.count(Z[:, :, 20:].copy(), y[20:], None if weight is None else weight[20:], k, counts)
    assert_allclose(counts - 7.0, literal(Z, y, weight, k), rtol=1e-13, atol=1e-13)


def near_ties(rng, n, L, P, m):
    """Return H (n, L) and beta (P, m, L) that float32 cannot distinguish in every other row.

    All classes agree on the first unit; the rest of them is below the rounding of its
    product, or well above it in the odd rows.
    """
    H = rng.standard_normal((n, L))
    H[:, 0] = rng.uniform(1.0, 2.0, n)
    H[::2, 1:] *= 1e-10
    beta = rng.standard_normal((P, m, L))
    beta[:, :, 0] = rng.uniform(1.0, 2.0, (P, 1))
    return H, beta


def in_float32(H, beta):
    """Return scores in float32, and their error bounds by row and by candidate."""
    P, m, L = beta.shape
    Z = (beta.reshape(-1, L).astype(np.float32) @ H.T.astype(np.float32)).reshape(P, m, -1)
    longest = np.linalg.norm(beta, axis=2).max(axis=1)
    reach = np.linalg.norm(H, axis=1).astype(np.float32)
    return Z, (reach, (2.1 * (L + 3) * UNIT * longest).astype(np.float32))


@pytest.mark.parametrize("m", [2, 3, 7])
@pytest.mark.parametrize("L", [2, 7, 8, 9, 40])
@WEIGHTED
def test_near_ties_are_decided_as_in_float64(rng, m, L, weighted):
    n, P = 200, 3
    H, beta = near_ties(rng, n, L, P, m)
    y, weight = labels(rng, n, m), weights(rng, n, weighted)
    Z, reach = in_float32(H, beta)
    exact = beta @ H.T
    counts, hasty = np.zeros((P, m, m)), np.zeros((P, m, m))
    checked = _native.count_checked(Z, y, weight, m, (H, beta), reach, counts)
    _native.count(Z.astype(float), y, weight, m, hasty)
    assert_allclose(counts, literal(exact, y, weight, m), rtol=1e-14)
    assert np.abs(hasty - counts).sum() > 0  # float32 alone would predict other classes
    ordered = np.sort(Z, axis=1)
    gaps = ordered[:, -1] - ordered[:, -2]
    bound = reach[0] * reach[1][:, np.newaxis]
    assert checked == (gaps <= bound).sum()
    assert P * n / 2 <= checked < P * n


@WEIGHTED
def test_one_column_is_decided_by_its_sign_in_float64(rng, weighted):
    n, L, P = 100, 5, 2
    H = rng.standard_normal((n, L))
    beta = rng.standard_normal((P, 1, L))
    half = H[::2]  # orthogonal to the first candidate, up to rounding and a little more
    half -= np.outer(half @ beta[0, 0] / (beta[0, 0] @ beta[0, 0]), beta[0, 0])
    half += np.outer(rng.choice([-1e-11, 1e-11], len(half)), beta[0, 0])
    y, weight = labels(rng, n, 2), weights(rng, n, weighted)
    Z, reach = in_float32(H, beta)
    counts = np.zeros((P, 2, 2))
    checked = _native.count_checked(Z, y, weight, 2, (H, beta), reach, counts)
    assert_allclose(counts, literal(beta @ H.T, y, weight, 2), rtol=1e-14)
    assert (decided(Z) != decided(beta @ H.T)).any()
    assert len(half) <= checked < P * n


def test_exact_ties_go_to_the_first_and_are_all_checked(rng):
    H, beta = rng.standard_normal((30, 6)), rng.standard_normal((1, 3, 6))
    beta[0, 2] = beta[0, 1] = beta[0, 0]
    Z, reach = in_float32(H, beta)
    counts = np.zeros((1, 3, 3))
    y = labels(rng, 30, 3)
    assert _native.count_checked(Z, y, None, 3, (H, beta), reach, counts) == 30
    assert_array_equal(counts[0, :, 0], np.bincount(y, minlength=3))


def test_clear_decisions_are_not_scored_again(rng):
    y = labels(rng, 60, 3)
    H, beta = np.eye(3)[y], np.eye(3)[np.newaxis]
    Z, reach = in_float32(H, beta)
    counts, nowhere = np.zeros((1, 3, 3)), (np.full((60, 3), np.nan), np.full((1, 3, 3), np.nan))
    assert _native.count_checked(Z, y, None, 3, nowhere, reach, counts) == 0
    assert_array_equal(counts[0], np.diag(np.bincount(y, minlength=3)))


def test_scores_that_overflowed_are_computed_again(rng):
    H, beta = rng.standard_normal((40, 4)), rng.standard_normal((2, 3, 4))
    Z = np.full((2, 3, 40), np.nan, dtype=np.float32)
    Z[1, 0] = np.inf
    y, counts = labels(rng, 40, 3), np.zeros((2, 3, 3))
    reach = np.full(40, np.inf, dtype=np.float32), np.ones(2, dtype=np.float32)
    assert _native.count_checked(Z, y, None, 3, (H, beta), reach, counts) == 80
    assert_allclose(counts, literal(beta @ H.T, y, None, 3), rtol=1e-14)
