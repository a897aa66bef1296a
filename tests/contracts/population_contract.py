"""What everything that solves (15) for a whole population must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

SIZES = [(1, 1, 1, 1), (2, 3, 2, 5), (3, 4, 6, 4), (4, 1, 30, 9), (2, 2, 300, 7)]  # g, m, n, P


def sums_of(rng, g, m, n):
    """Return symmetric matrices (g, n, n) and right sides (g, m, n)."""
    H = rng.standard_normal((g, n + 2, n))
    return H.swapaxes(1, 2) @ H, rng.standard_normal((g, m, n))


class PopulationContract:
    """Subclass with a fixture ``make``: from matrices and right sides to a solver."""

    @pytest.mark.parametrize("size", SIZES, ids=str)
    @pytest.mark.parametrize("by_row", [False, True], ids=["one shift", "a shift by row"])
    def test_solutions_are_those_of_every_candidate_alone(self, rng, make, size, by_row):
        g, m, n, P = size
        matrices, right_sides = sums_of(rng, g, m, n)
        costs, shift = rng.uniform(0.1, 2.0, (P, g)), rng.uniform(0.5, 2.0, (P, n))
        shift = shift if by_row else shift[:, 0].copy()
        beta = make(matrices, right_sides).solve(costs, shift)
        assert beta.shape == (P, m, n)
        for i in range(P):
            A = np.tensordot(costs[i], matrices, 1)
            A[np.diag_indices(n)] += shift[i]
            expected = np.linalg.solve(A, np.tensordot(costs[i], right_sides, 1).T).T
            assert_allclose(beta[i], expected, rtol=1e-8, atol=1e-11)

    def test_what_is_singular_or_no_number_is_nan_and_harms_no_other(self, rng, make):
        matrices, right_sides = sums_of(rng, 2, 2, 6)
        h = rng.standard_normal((1, 6))
        matrices[1] = h.T @ h
        solver = make(matrices, right_sides)
        costs = np.array([[1.0, 1.0], [0.0, 1.0], [0.5, 2.0], [np.nan, 1.0], [-9.0, 1.0]])
        beta = solver.solve(costs, np.full(5, 1e-15))
        assert_array_equal(np.isnan(beta).all(axis=(1, 2)), [False, True, False, True, True])
        others = [0, 2]
        assert_allclose(beta[others], solver.solve(costs[others], np.full(2, 1e-15)), rtol=1e-12)

    def test_nothing_given_is_modified(self, rng, make):
        given = [*sums_of(rng, 3, 2, 7), rng.random((5, 3)), rng.uniform(1.0, 2.0, (5, 7))]
        kept = [array.copy() for array in given]
        solver = make(*given[:2])
        first = solver.solve(*given[2:])
        assert_array_equal(solver.solve(*given[2:]), first)
        for now, before in zip(given, kept, strict=True):
            assert_array_equal(now, before)

    def test_costs_and_shift_times_a_number_change_nothing(self, rng, make):
        solver = make(*sums_of(rng, 2, 1, 9))
        costs, shift = rng.random((3, 2)), np.array([0.3, 1.0, 4.0])
        assert_allclose(
            solver.solve(1e3 * costs, 1e3 * shift), solver.solve(costs, shift), rtol=1e-9
        )

    def test_nobody_is_solved_where_there_is_nobody(self, rng, make):
        solver = make(*sums_of(rng, 2, 3, 4))
        assert solver.solve(np.empty((0, 2)), np.empty(0)).shape == (0, 3, 4)
