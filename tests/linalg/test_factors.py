"""Every kind of factor keeps the contract; each is chosen where it belongs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh

from ecselm.linalg import factor_shifted
from ecselm.linalg.factors import SpectralFactor, factor_indefinite
from tests.contracts.factor_contract import FactorContract


@pytest.fixture
def gram(rng):
    H = rng.standard_normal((30, 12))
    return H.T @ H


class TestCholesky(FactorContract):
    @pytest.fixture
    def case(self, gram):
        factor = factor_shifted(gram, 0.5)
        assert factor.path == "cholesky"
        return factor, gram + 0.5 * np.eye(12)


class TestSpectral(FactorContract):
    @pytest.fixture
    def case(self, gram):
        values, vectors = eigh(gram)
        return SpectralFactor(values + 0.5, vectors), gram + 0.5 * np.eye(12)


class TestIndefinite(FactorContract):
    @pytest.fixture
    def case(self, gram, rng):
        signs = rng.choice([-40.0, 0.5], 12)
        return factor_indefinite(gram, signs), gram + np.diag(signs)


def test_only_the_lower_triangle_is_read_and_nothing_is_written(gram):
    lower = np.tril(gram)
    copy = lower.copy()
    assert_allclose(
        factor_shifted(lower, 0.5).inverse_diagonal(), factor_shifted(gram, 0.5).inverse_diagonal()
    )
    factor_indefinite(lower, 0.5)
    assert_array_equal(lower, copy)


def test_directions_that_are_noise_are_left_out():
    direction = np.array([[3.0], [4.0]]) / 5.0
    factor = factor_shifted(direction @ direction.T, 1e-30)
    assert (factor.path, factor.rank) == ("spectral", 1)
    assert_allclose(factor.solve(direction), direction, rtol=1e-12)
