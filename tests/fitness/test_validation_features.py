"""Counts and squared errors without scores are those of the scores, to the last row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.fitness import engines as module
from ecselm.fitness.engines import Solved, ValidationFeatures

pytestmark = pytest.mark.usefixtures("either_path")

N, L = 150, 6
KS = pytest.mark.parametrize("k", [2, 3, 5])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
HALVED = pytest.mark.parametrize("halved", [False, True], ids=["float64", "float32"])


def made(rng, k, weighted=False, halved=True, n=N):
    """Return rows to judge by, with their classes."""
    m = 1 if k == 2 else k
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None
    H, T = rng.standard_normal((n, L)), rng.standard_normal((n, m))
    return ValidationFeatures(H, T, weight, halved), rng.permutation(np.arange(n) % k)


def exact_counts(judged, beta, y, k, weight):
    """Return the confusion matrices (P, k, k), decided in float64 row by row."""
    counts = np.zeros((len(beta), k, k))
    w = np.ones(len(y)) if weight is None else weight
    for p in range(len(beta)):
        Z = judged.H @ beta[p].T
        decided = (Z[:, 0] > 0).astype(int) if k == 2 else Z.argmax(axis=1)
        np.add.at(counts[p], (y, decided), w)
    return counts


def near_ties(rng, judged, P, m):
    """Return beta (P, m, L) whose classes differ by less than float32 can tell, for most rows."""
    beta = rng.standard_normal((P, 1, L)) + 1e-9 * rng.standard_normal((P, m, L))
    if m > 1:
        return beta
    # One column: nearly orthogonal to most rows, which lie in a plane.
    judged.H[::2, 3:] = 0.0
    beta[:, 0, :3] = 0.0
    return beta + 1e-12 * rng.standard_normal(beta.shape)


@KS
@WEIGHTED
@HALVED
@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25, 1e35])
def test_counts_are_those_of_float64(rng, k, weighted, halved, scale):
    judged, y = made(rng, k, weighted, halved)
    beta = scale * rng.standard_normal((7, judged.T.shape[1], L))
    counts = judged.confusions(beta, y, k, judged.weight)
    assert_allclose(counts, exact_counts(judged, beta, y, k, judged.weight), rtol=1e-13)


@KS
@WEIGHTED
@HALVED
def test_near_ties_are_counted_as_float64_decides_them(rng, k, weighted, halved):
    judged, y = made(rng, k, weighted, halved)
    beta = near_ties(rng, judged, 5, judged.T.shape[1])
    counts = judged.confusions(beta, y, k, judged.weight)
    assert_allclose(counts, exact_counts(judged, beta, y, k, judged.weight), rtol=1e-13)


@KS
@WEIGHTED
def test_rows_may_be_counted_in_blocks(rng, monkeypatch, k, weighted):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 1)  # 256 rows at a time
    judged, y = made(rng, k, weighted, n=700)
    m = judged.T.shape[1]
    for beta in (rng.standard_normal((3, m, L)), near_ties(rng, judged, 3, m)):
        counts = judged.confusions(beta, y, k, judged.weight)
        assert_allclose(counts, exact_counts(judged, beta, y, k, judged.weight), rtol=1e-13)


def test_equal_scores_go_to_the_first_class(rng):
    judged, y = made(rng, 3)
    beta = np.repeat(rng.standard_normal((2, 1, L)), 3, axis=1)
    counts = judged.confusions(beta, y, 3, None)
    assert_array_equal(counts[:, :, 0], np.tile(np.bincount(y), (2, 1)))


@KS
@WEIGHTED
def test_splits_are_counted_with_their_own_beta(rng, k, weighted):
    parts = [made(rng, k, weighted, n=n) for n in (40, 70, 1)]
    judged, ys = [part[0] for part in parts], [part[1] for part in parts]
    m = judged[0].T.shape[1]
    betas = [rng.standard_normal((4, m, L)) for _ in parts]
    weight = np.concatenate([part.weight for part in judged]) if weighted else None
    counts = Solved(judged, betas).confusions(np.concatenate(ys), k, weight)
    expected = sum(
        exact_counts(rows, beta, y, k, rows.weight)
        for rows, beta, y in zip(judged, betas, ys, strict=True)
    )
    assert_allclose(counts, expected, rtol=1e-13)


def test_candidates_without_a_solution_are_nan_and_harm_no_other(rng):
    judged, y = made(rng, 3)
    beta = rng.standard_normal((4, 3, L))
    expected = exact_counts(judged, beta, y, 3, None)
    other = beta.copy()
    beta[2] = np.nan
    solved = Solved([judged, judged], [other, beta])
    counts = solved.confusions(np.tile(y, 2), 3, None)
    assert_array_equal(np.isnan(counts).all(axis=(1, 2)), np.arange(4) == 2)
    assert_allclose(counts[[0, 1, 3]], 2 * expected[[0, 1, 3]], rtol=1e-13)
    assert_array_equal(np.isnan(solved.squares()), np.arange(4) == 2)


def by_row(judged, beta):
    """Return the squared errors (P,), row by row."""
    w = np.ones(len(judged.H)) if judged.weight is None else judged.weight
    return np.array([(w[:, np.newaxis] * (judged.T - judged.H @ b.T) ** 2).sum() for b in beta])


@WEIGHTED
@pytest.mark.parametrize("k", [2, 4], ids=["one output", "four outputs"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_squares_are_those_summed_by_row(rng, weighted, k, scale):
    judged, _ = made(rng, k, weighted)
    beta = scale * rng.standard_normal((5, judged.T.shape[1], L))
    assert_allclose(judged.squares(beta), by_row(judged, beta), rtol=1e-9)


@WEIGHTED
@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-6, 1e-9, 1e-12])
def test_squares_next_to_nothing_are_not_lost_in_rounding(rng, weighted, size):
    judged, _ = made(rng, 2, weighted)
    true = rng.standard_normal((1, 1, L))
    noise = size * rng.standard_normal((N, 1))
    judged.T[:] = judged.H @ true[0].T + noise
    beta = np.concatenate([true, true + size, rng.standard_normal((2, 1, L))])
    expected = by_row(judged, beta)
    assert expected[0] < 1e3 * N * size**2
    # A residual is known to the rounding of the targets, and no better.
    assert_allclose(judged.squares(beta), expected, rtol=max(1e-8, 4e-15 / size))


def test_nothing_left_over_is_nothing(rng):
    H = np.eye(L)
    judged = ValidationFeatures(H, H[:, :2].copy(), None)
    beta = np.zeros((1, 2, L))
    beta[0, [0, 1], [0, 1]] = 1.0
    assert judged.squares(beta)[0] == 0.0


def test_squares_of_all_splits_are_summed(rng):
    parts = [made(rng, 4, True, n=n)[0] for n in (30, 50)]
    betas = [rng.standard_normal((3, 4, L)) for _ in parts]
    expected = sum(by_row(rows, beta) for rows, beta in zip(parts, betas, strict=True))
    assert_allclose(Solved(parts, betas).squares(), expected, rtol=1e-10)


def test_scores_follow_the_splits(rng):
    parts = [made(rng, 3, n=n)[0] for n in (30, 50)]
    betas = [rng.standard_normal((3, 3, L)) for _ in parts]
    Z = Solved(parts, betas).scores()
    assert Z.shape == (3, 80, 3)
    for p in range(3):
        expected = [rows.H @ beta[p].T for rows, beta in zip(parts, betas, strict=True)]
        assert_allclose(Z[p], np.concatenate(expected), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_layout_are_counted(rng, either_path, order):
    judged, y = made(rng, 3)
    judged = ValidationFeatures(np.array(judged.H, order=order), judged.T, None)
    beta = near_ties(rng, judged, 5, 3)
    counts = judged.confusions(beta, y, 3, None)
    assert_array_equal(counts, exact_counts(judged, beta, y, 3, None))


@pytest.mark.parametrize(("units", "weights"), [(1e12, 1e28), (1e25, 1e14), (1.0, 1e-44)])
def test_products_beyond_the_range_of_float32_are_counted(rng, either_path, units, weights):
    judged, y = made(rng, 3)
    judged.H[:] *= units
    beta = weights * rng.standard_normal((7, 3, L))
    with np.errstate(over="ignore", invalid="ignore"):
        counts = judged.confusions(beta, y, 3, None)
    assert_array_equal(counts, exact_counts(judged, beta, y, 3, None))
