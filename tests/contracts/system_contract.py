"""What every system of training rows must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgError

from ecselm.fitness import CostedRows

N, G = 24, 3
C = 4.0


def costed(rng, m, weighted):
    """Return rows of unequal groups, every one of them there."""
    groups = rng.permutation(np.r_[np.arange(G), rng.choice(G, N - G, p=[0.6, 0.3, 0.1])])
    weight = rng.uniform(0.2, 3.0, N) if weighted else None
    return CostedRows(rng.standard_normal((N, m)), groups, G, weight)


class SystemContract:
    """Subclass with ``features(X)``, ``gram(F)``, ``make(F, rows)`` and ``literal(F, T, B, C)``.

    ``gram`` is the matrix (N, N) in the samples and ``literal`` is (15) as printed.
    """

    @pytest.fixture(params=[1, 4], ids=["one output", "four outputs"])
    def m(self, request):
        return request.param

    @pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
    def case(self, request, rng, m):
        """Return inputs and rows."""
        return rng.standard_normal((N, 2)), costed(rng, m, request.param)

    @staticmethod
    def vector(rows, costs):
        """Return what each row costs, one by one."""
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        return np.array([costs[g] * w for g, w in zip(rows.groups, weight, strict=True)])

    @pytest.mark.parametrize("costs", [[1, 1, 1], [0.2, 1, 7], [0, 3, 1]], ids=str)
    @pytest.mark.parametrize("C", [0.01, 4.0, 1e3])
    def test_solves_equation_15(self, case, costs, C):
        X, rows = case
        F, costs = self.features(X), np.array(costs, dtype=float)
        expected = self.literal(F, rows.T, self.vector(rows, costs), C)
        beta = self.make(F, rows).solution(costs, C).beta
        assert_allclose(beta, expected, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("costs", [[1, -0.5, 1], [-0.3, 1, -2], [-1, -1, 0]], ids=str)
    def test_solves_equation_15_for_negative_costs(self, case, costs):
        X, rows = case
        F, costs = self.features(X), np.array(costs, dtype=float)
        expected = self.literal(F, rows.T, self.vector(rows, costs), C)
        solution = self.make(F, rows).solution(costs, C)
        assert_allclose(solution.beta, expected, rtol=1e-6, atol=1e-8)
        assert solution.path.endswith("indefinite")

    def test_one_system_solves_for_any_costs_in_any_sequence(self, case):
        X, rows = case
        system = self.make(self.features(X), rows)
        first = system.solution(np.array([1.0, 2.0, 3.0]), C).beta
        system.solution(np.array([9.0, -1.0, 0.0]), 1.0)
        assert_array_equal(system.solution(np.array([1.0, 2.0, 3.0]), C).beta, first)

    def test_costs_times_a_number_are_c_times_it(self, case):
        X, rows = case
        system, costs = self.make(self.features(X), rows), np.array([1.0, 2.0, 0.5])
        one, other = system.solution(8.0 * costs, C).beta, system.solution(costs, 8.0 * C).beta
        assert_allclose(other, one, rtol=1e-9, atol=1e-12)

    def test_rows_that_cost_nothing_might_as_well_be_absent(self, case):
        X, rows = case
        kept = np.flatnonzero(rows.groups != 1)
        costs = np.array([2.0, 0.0, 0.5])
        F = self.features(X)
        fitted = (F @ self.make(F, rows).solution(costs, C).beta)[kept]
        F, rows = self.features(X[kept]), rows.taken(kept)
        without = F @ self.make(F, rows).solution(costs, C).beta
        assert_allclose(fitted, without, rtol=1e-9, atol=1e-9)

    def test_a_weight_of_two_is_a_row_twice(self, rng, m):
        X, rows = rng.standard_normal((N, 2)), costed(rng, m, False)
        costs, twice = np.array([2.0, 0.3, 0.5]), np.append(np.arange(N), [0, 1, 5])
        weight = np.bincount(twice).astype(float)
        F = self.features(X)
        heavy = CostedRows(rows.T, rows.groups, G, weight)
        fitted = F @ self.make(F, heavy).solution(costs, C).beta
        F = self.features(X[twice])
        repeated = F @ self.make(F, rows.taken(twice)).solution(costs, C).beta
        assert_allclose(repeated[:N], fitted, rtol=1e-9, atol=1e-9)

    def test_a_singular_system_is_refused(self, case):
        X, rows = case
        F, costs = self.features(X), -np.ones(G)
        s = np.sqrt(-self.vector(rows, costs))
        largest = np.linalg.eigvalsh(np.diag(s) @ self.gram(F) @ np.diag(s))[-1]
        with pytest.raises(LinAlgError, match="singular"):
            self.make(F, rows).solution(costs, 1.0 / largest)

    def test_leaves_its_arguments_alone(self, case):
        X, rows = case
        F, costs = self.features(X), np.array([1.0, -2.0, 3.0])
        kept = F.copy(), rows.T.copy(), rows.groups.copy()
        self.make(F, rows).solution(costs, C)
        for now, before in zip((F, rows.T, rows.groups), kept, strict=True):
            assert_array_equal(now, before)
        assert_array_equal(costs, [1.0, -2.0, 3.0])
