import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from ecselm.paper.pairs._base import (
    Mahalanobis,
    best_threshold,
    cosines,
    cross_sum,
    outer_sum,
    positive_part,
    quadratic,
    rows_times,
    unit_rows,
)


def test_forms_are_those_of_every_row_alone(rng):
    D, M = rng.standard_normal((7, 3)), rng.standard_normal((3, 3))
    assert_allclose(quadratic(D, M), [row @ M @ row for row in D], rtol=1e-12)


def test_outer_sums_are_sums_of_outer_products(rng):
    D, w = rng.standard_normal((7, 3)), rng.standard_normal(7)
    expected = sum(a * np.outer(row, row) for a, row in zip(w, D, strict=True))
    assert_allclose(outer_sum(D, w), expected, rtol=1e-12)


@pytest.mark.parametrize("P", [3, 200, 5000])
def test_products_in_blocks_of_rows_are_the_plain_ones(rng, P):
    X, A = rng.standard_normal((P, 40)), rng.standard_normal((P, 7))
    w = rng.standard_normal(P) * (rng.random(P) < 0.5)
    M = rng.standard_normal((40, 40))
    assert_allclose(rows_times(X, M), X @ M, rtol=1e-10, atol=1e-11)
    assert_allclose(cross_sum(A, X), A.T @ X, rtol=1e-10, atol=1e-10)
    assert_allclose(quadratic(X, M), np.sum((X @ M) * X, axis=1), rtol=1e-10, atol=1e-10)
    total = outer_sum(X, w)
    assert_allclose(total, (X.T * w) @ X, rtol=1e-10, atol=1e-10)
    assert_array_equal(total, total.T)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_do_not_depend_on_the_number_of_threads(rng, n_threads):
    X, M = rng.standard_normal((5000, 40)), rng.standard_normal((40, 40))
    before = quadratic(X, M), outer_sum(X)
    with threadpool_limits(n_threads, user_api="blas"):
        assert_array_equal(quadratic(X, M), before[0])
        assert_array_equal(outer_sum(X), before[1])


def test_positive_part_is_the_nearest_semidefinite_matrix(rng):
    M = outer_sum(rng.standard_normal((3, 3))) - np.eye(3)
    nearest = positive_part(M)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-12
    for _ in range(200):
        other = outer_sum(rng.standard_normal((3, 3)))
        assert np.linalg.norm(M - nearest) <= np.linalg.norm(M - other)
    assert_allclose(positive_part(np.eye(3)), np.eye(3))


def test_cosines_beside_zeros_are_zero():
    pairs = np.array([[[1.0, 1.0], [2.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]])
    assert_allclose(cosines(pairs), [np.sqrt(0.5), 0.0], rtol=1e-12)
    assert_allclose(unit_rows(pairs)[1, 0], 0.0)


def test_distance_serves_neighbours(rng):
    from sklearn.neighbors import NearestNeighbors

    X = rng.standard_normal((20, 3))
    metric = Mahalanobis(np.diag([9.0, 1.0, 0.0]))
    found = NearestNeighbors(n_neighbors=1, metric=metric, algorithm="brute").fit(X)
    distance, _ = found.kneighbors(X[:2] + np.array([0.0, 0.0, 5.0]))
    assert_allclose(distance, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("same", "expected"),
    [([0, 0, 1, 1], 1.5), ([1, 1, 1, 1], -3.0 / 2), ([0, 0, 0, 0], 9.0 / 2), ([0, 1, 0, 1], 0.5)],
)
def test_threshold_lies_midway_or_beyond(same, expected):
    scores = np.arange(4.0)
    found = best_threshold(scores, np.array(same, dtype=bool))
    assert found == pytest.approx(expected)


def test_threshold_parts_as_many_as_any_other(rng):
    for _ in range(50):
        scores, same = rng.integers(0, 6, 12).astype(float), rng.random(12) < 0.5
        found = best_threshold(scores, same)
        most = max(((scores > cut) == same).sum() for cut in np.arange(-1.5, 7.0))
        assert ((scores > found) == same).sum() == most


def test_threshold_of_one_score_is_finite():
    assert best_threshold(np.zeros(3), np.array([True, True, False])) < 0.0
    assert best_threshold(np.zeros(3), np.array([False, True, False])) > 0.0
