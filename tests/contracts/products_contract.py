"""What everything that sums outer products of rows for (15) must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.linalg import RowChange

SIZES = [(1, 1, 1), (10, 3, 1), (40, 4, 2), (50, 7, 4), (300, 12, 1), (140, 25, 5)]  # N, L, m
SIZE = pytest.mark.parametrize("size", SIZES, ids=str)


def fresh(products, d):
    """Return the sums of weights d (P, N), made at once."""
    sums = products.zeros(len(d))
    products.add(d, sums)
    return sums


def equations(products, sums):
    """Return the lower triangles of all matrices, and all right sides."""
    A, Y = zip(*(products.equations(some) for some in sums), strict=True)
    return np.tril(np.stack(A)), np.stack(Y)


def assert_same_sums(products, sums, others, tolerance):
    """Compare what the equations are made of, in units of the largest entry."""
    for now, then in zip(equations(products, sums), equations(products, others), strict=True):
        assert_allclose(now, then, rtol=0.0, atol=tolerance * np.abs(then).max())


class ProductsContract:
    """Subclass with a fixture ``make``: from H and T to products."""

    @pytest.fixture(params=SIZES, ids=str)
    def rows(self, request, rng):
        N, L, m = request.param
        return rng.standard_normal((N, L)), rng.standard_normal((N, m))

    @pytest.mark.parametrize("P", [1, 3, 4, 6])
    def test_equations_are_sums_over_the_rows(self, rng, make, rows, P):
        H, T = rows
        products, d = make(H, T), rng.standard_normal((P, len(H)))
        d[:, ::3] = 0.0
        A, Y = equations(products, fresh(products, d))
        for i in range(P):
            weighted = d[i][:, np.newaxis] * H
            assert_allclose(A[i], np.tril(H.T @ weighted), rtol=1e-10, atol=1e-10)
            assert_allclose(Y[i], weighted.T @ T, rtol=1e-10, atol=1e-10)

    @pytest.mark.parametrize("P", [1, 3, 4, 6])
    def test_solutions_are_those_of_every_candidate_alone(self, rng, make, rows, P):
        H, T = rows
        products, d, shift = make(H, T), rng.random((P, len(H))), rng.uniform(0.1, 2.0, P)
        beta = products.solve(fresh(products, d), shift)
        assert beta.shape == (P, T.shape[1], H.shape[1])
        for i in range(P):
            weighted = d[i][:, np.newaxis] * H
            A = H.T @ weighted + shift[i] * np.eye(H.shape[1])
            assert_allclose(beta[i].T, np.linalg.solve(A, weighted.T @ T), rtol=1e-8, atol=1e-10)

    def test_a_chain_of_changes_is_as_good_as_fresh_sums(self, rng, make, rows):
        H, T = rows
        products, N, P = make(H, T), len(H), 5
        d = rng.random((P, N))
        sums = fresh(products, d)
        for step in range(30):
            if step % 3 == 2:
                row, new = rng.integers(0, N, P), rng.random(P)
                change = RowChange(row, new - d[np.arange(P), row])
                d[np.arange(P), row] = new
                products.add_one(change, sums)
            else:
                new = np.where(rng.random((P, N)) < 0.5, rng.random((P, N)), d)
                products.add(new - d, sums)
                d = new
        assert_same_sums(products, sums, fresh(products, d), 1e-10)

    @pytest.mark.parametrize("P", [1, 3, 4, 6])
    def test_what_sums_lack_is_made_up_for_without_writing_to_them(self, rng, make, rows, P):
        H, T = rows
        products, d = make(H, T), rng.uniform(0.5, 1.0, (P, len(H)))
        sums, shift = fresh(products, d), rng.uniform(0.1, 2.0, P)
        row, new = rng.integers(0, len(H), P), rng.uniform(0.0, 2.0, P)
        new[0] = d[0, row[0]]
        change = RowChange(row, new - d[np.arange(P), row])
        kept = sums.copy()
        beta = products.solve(sums, shift, change)
        assert_array_equal(sums, kept)
        d[np.arange(P), row] = new
        expected = products.solve(fresh(products, d), shift)
        assert_allclose(beta, expected, rtol=1e-8, atol=1e-10)

    def test_a_change_of_nothing_is_no_change(self, rng, make, rows):
        products, d = make(*rows), rng.random((3, len(rows[0])))
        sums = fresh(products, d)
        kept = sums.copy()
        nothing = RowChange(np.zeros(3, dtype=int), np.zeros(3))
        products.add_one(nothing, sums)
        products.add(np.zeros_like(d), sums)
        assert_array_equal(sums, kept)
        shift = np.ones(3)
        assert_allclose(products.solve(sums, shift, nothing), products.solve(sums, shift))

    def test_what_is_not_positive_definite_is_nan_and_harms_no_other(self, rng, make):
        H, T = rng.standard_normal((40, 4)), rng.standard_normal((40, 2))
        products = make(H, T)
        d = np.stack([np.ones(40), -np.ones(40), np.zeros(40), np.full(40, 0.5), np.ones(40)])
        shift = np.array([0.0, 0.1, 0.0, 1.0, 1.0])
        beta = products.solve(fresh(products, d), shift)
        assert_array_equal(np.isnan(beta).all(axis=(1, 2)), [False, True, True, False, False])
        good = [0, 3, 4]
        alone = products.solve(fresh(products, d[good]), shift[good])
        assert_allclose(beta[good], alone, rtol=1e-12)

    def test_candidates_keep_to_their_own_sums(self, rng, make):
        products = make(rng.standard_normal((30, 3)), rng.standard_normal((30, 1)))
        sums = fresh(products, rng.random((4, 30)))
        kept, d = sums.copy(), np.zeros((4, 30))
        d[2, 7] = 1.0
        products.add(d, sums)
        assert_array_equal(sums[[0, 1, 3]], kept[[0, 1, 3]])
        assert (sums[2] != kept[2]).any()

    def test_arguments_are_never_modified(self, rng, make):
        H, T, d = rng.standard_normal((9, 3)), rng.standard_normal((9, 1)), rng.random((2, 9))
        kept = H.copy(), T.copy(), d.copy()
        products = make(H, T)
        products.solve(fresh(products, d), np.ones(2))
        for now, before in zip((H, T, d), kept, strict=True):
            assert_array_equal(now, before)
