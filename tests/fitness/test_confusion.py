"""Confusion matrices of a generation: counted as scikit-learn does, smoothed as written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix

from ecselm.fitness.confusion import (
    confusion_counts,
    decided_classes,
    smoothed_confusion,
    smoothed_decisions,
)

pytestmark = pytest.mark.usefixtures("either_path")

P, N = 3, 40
KS = pytest.mark.parametrize("k", [2, 4], ids=["two classes", "four classes"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


def scored(rng, k, weighted, shift=1.0):
    """Return scores of a generation with truth and weights."""
    y = rng.permutation(np.r_[np.arange(k), rng.choice(k, N - k)])
    Z = rng.standard_normal((P, N, 1 if k == 2 else k))
    Z += shift * (2.0 * y[:, np.newaxis] - 1.0 if k == 2 else np.eye(k)[y])
    return Z, y, rng.uniform(0.2, 3.0, N) if weighted else None


def literally_smoothed(Z, y, k, weight):
    """Return the smoothed matrix of one candidate, row by row."""
    w = np.ones(len(y)) if weight is None else weight
    M = np.zeros((k, k))
    for c in range(k):
        rows = [i for i in range(len(y)) if y[i] == c]
        if Z.shape[1] == 1:
            margins = {i: Z[i, 0] for i in rows}
        else:
            margins = {i: (Z[i, c] - max(Z[i, j] for j in range(k) if j != c)) / 2 for i in rows}
        n = sum(w[i] for i in rows)
        mean = sum(w[i] * margins[i] for i in rows) / n
        spread = np.sqrt(sum(w[i] * (margins[i] - mean) ** 2 for i in rows) / n)
        width = 1.06 * spread * n ** (-1 / 5)
        for i in rows:
            if Z.shape[1] == 1:
                second = 1.0 / (1.0 + np.exp(-1.702 * Z[i, 0] / width))
                shares = [1.0 - second, second]
            else:
                powers = [np.exp(Z[i, j] / (1.175 * width)) for j in range(k)]
                shares = [power / sum(powers) for power in powers]
            for j in range(k):
                M[c, j] += w[i] * shares[j]
    return M


@KS
@WEIGHTED
def test_counts_are_those_of_scikit_learn(rng, k, weighted):
    Z, y, weight = scored(rng, k, weighted)
    counts = confusion_counts(Z, y, k, weight)
    for scores, matrix in zip(Z, counts, strict=True):
        predicted = scores[:, 0] > 0 if k == 2 else scores.argmax(axis=1)
        expected = confusion_matrix(y, predicted, labels=range(k), sample_weight=weight)
        assert_allclose(matrix, expected, rtol=1e-13)


@KS
@WEIGHTED
def test_smoothed_matrices_are_as_written(rng, k, weighted):
    Z, y, weight = scored(rng, k, weighted)
    for scores, matrix in zip(Z, smoothed_confusion(Z, y, k, weight), strict=True):
        assert_allclose(matrix, literally_smoothed(scores, y, k, weight), rtol=1e-10)


@KS
@WEIGHTED
def test_smoothed_matrices_are_sums_of_smoothed_decisions(rng, k, weighted):
    Z, y, weight = scored(rng, k, weighted)
    shares = smoothed_decisions(Z, y, weight)
    assert shares.shape == (P, N, k)
    assert_allclose(shares.sum(axis=2), 1.0, rtol=1e-13)
    w = np.ones(N) if weight is None else weight
    sums = [(w[:, np.newaxis] * shares)[:, y == c].sum(axis=1) for c in range(k)]
    assert_allclose(smoothed_confusion(Z, y, k, weight), np.stack(sums, axis=1), rtol=1e-12)


@KS
@WEIGHTED
@pytest.mark.parametrize("matrices", [confusion_counts, smoothed_confusion])
def test_rows_of_the_matrix_sum_to_the_weight_of_their_class(rng, matrices, k, weighted):
    Z, y, weight = scored(rng, k, weighted)
    totals = np.bincount(y, weight, minlength=k)
    assert_allclose(matrices(Z, y, k, weight).sum(axis=2), [totals] * P, rtol=1e-12)


@KS
@pytest.mark.parametrize("matrices", [confusion_counts, smoothed_confusion])
def test_a_weight_of_two_is_a_row_twice(rng, matrices, k):
    Z, y, _ = scored(rng, k, False)
    twice = np.append(np.arange(N), [0, 3, 7])
    heavy = matrices(Z, y, k, np.bincount(twice).astype(float))
    assert_allclose(matrices(Z[:, twice], y[twice], k, None), heavy, rtol=1e-11)


@KS
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_unit_of_the_scores_does_not_matter(rng, k, scale):
    Z, y, weight = scored(rng, k, True)
    one = smoothed_confusion(Z, y, k, weight)
    assert_allclose(smoothed_confusion(scale * Z, y, k, weight), one, rtol=1e-9)


@KS
def test_far_from_the_boundary_smoothed_is_counted(rng, k):
    Z, y, _ = scored(rng, k, False, shift=60.0)
    wrong = rng.random(N) < 0.3
    Z[:, wrong] = -Z[:, wrong] if k == 2 else np.roll(Z[:, wrong], 1, axis=2)
    w = np.where(wrong, 1e-6, 1.0)  # outliers must not widen what is smoothed
    counted = confusion_counts(Z, y, k, w)
    assert (counted[:, range(k), range(k)] < counted.sum(axis=2)).any()
    assert_allclose(smoothed_confusion(Z, y, k, w), counted, atol=1e-5)


@KS
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_scores_all_alike_are_smoothed_to_their_decision(k, scale):
    y = np.arange(k).repeat(3)
    Z = scale * (2.0 * y[:, np.newaxis] - 1.0 if k == 2 else np.eye(k)[y])[np.newaxis]
    assert_allclose(smoothed_confusion(Z, y, k, None), [3.0 * np.eye(k)], atol=1e-12)


@KS
def test_scores_of_nothing_are_shared_out_evenly(k):
    y = np.arange(k).repeat(3)
    Z = np.zeros((1, len(y), 1 if k == 2 else k))
    assert_allclose(smoothed_confusion(Z, y, k, None), np.full((1, k, k), 3.0 / k), rtol=1e-12)


@KS
def test_moving_scores_towards_a_class_predicts_more_of_it_in_small_steps(rng, k):
    Z, y, weight = scored(rng, k, True)
    shifts = np.linspace(-3.0, 3.0, 121)
    moved = np.stack([Z[0] + s * (1.0 if k == 2 else np.eye(k)[1]) for s in shifts])
    predicted = smoothed_confusion(moved, y, k, weight)[:, 1, 1]
    steps = np.diff(predicted)
    assert (steps > 0).all()
    assert steps.max() < 0.1 * weight[y == 1].sum()
    counts = confusion_counts(moved, y, k, weight)[:, 1, 1]
    assert (np.diff(counts) == 0).any()


@KS
def test_smoothed_matrices_have_a_slope(rng, k):
    Z, y, weight = scored(rng, k, True)
    direction = rng.standard_normal(Z.shape)

    def slope(step):
        ahead, behind = (
            smoothed_confusion(Z + sign * step * direction, y, k, weight) for sign in (1.0, -1.0)
        )
        return (ahead - behind) / (2.0 * step)

    assert_allclose(slope(1e-5), slope(2e-5), rtol=1e-3, atol=1e-3)
    assert np.abs(slope(1e-5)).max() > 0.1


def test_two_columns_are_smoothed_like_one(rng):
    Z, y, weight = scored(rng, 2, True)
    both = smoothed_confusion(np.concatenate([-Z, Z], axis=2), y, 2, weight)
    assert_allclose(both, smoothed_confusion(Z, y, 2, weight), rtol=1e-3)
    assert_allclose(
        confusion_counts(np.concatenate([-Z, Z], axis=2), y, 2, weight),
        confusion_counts(Z, y, 2, weight),
        rtol=1e-12,
    )


@KS
@pytest.mark.parametrize("matrices", [confusion_counts, smoothed_confusion])
def test_a_class_without_rows_has_a_row_of_zeros(rng, matrices, k):
    Z, y, _ = scored(rng, k, False)
    kept = y != 1
    M = matrices(Z[:, kept], y[kept], k, None)
    assert M.shape == (P, k, k)
    assert_array_equal(M[:, 1], 0.0)


@KS
@pytest.mark.parametrize("matrices", [confusion_counts, smoothed_confusion])
def test_a_candidate_does_not_depend_on_its_company(rng, matrices, k):
    Z, y, weight = scored(rng, k, True)
    alone = matrices(Z[1:2], y, k, weight)
    assert_allclose(matrices(Z, y, k, weight)[1:2], alone, rtol=1e-13)


def test_ties_go_to_the_first_class():
    assert_array_equal(decided_classes(np.zeros((1, 2, 1))), [[0, 0]])
    assert_array_equal(decided_classes(np.array([[[1.0, 3.0, 3.0]]])), [[1]])
