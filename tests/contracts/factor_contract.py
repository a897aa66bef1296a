"""What every factor of a symmetric matrix must do."""

import numpy as np
from numpy.testing import assert_allclose


class FactorContract:
    """Subclass with a fixture ``case`` that returns a factor and its dense matrix."""

    def test_solves_for_many_right_hand_sides(self, case, rng):
        factor, A = case
        Y = rng.standard_normal((len(A), 3))
        assert_allclose(A @ factor.solve(Y), Y, atol=1e-9)

    def test_diagonal_of_the_inverse_is_exact(self, case):
        factor, A = case
        assert_allclose(factor.inverse_diagonal(), np.linalg.inv(A).diagonal(), rtol=1e-9)

    def test_leverages_are_exact(self, case):
        factor, A = case
        F = np.random.default_rng(5).standard_normal((7, len(A)))
        expected = (F @ np.linalg.inv(A) @ F.T).diagonal()
        assert_allclose(factor.leverages(F), expected, rtol=1e-8, atol=1e-12)

    def test_rank_is_that_of_the_matrix(self, case):
        factor, A = case
        assert factor.rank == len(A)

    def test_path_is_a_word(self, case):
        factor, _ = case
        assert factor.path in {"cholesky", "spectral", "indefinite"}
