"""Both ways to solve for a population keep the contract, and agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import _native as compiled
from ecselm._native.calls import LANES
from ecselm.linalg import GramBlocks, blocks_solver, kernel_solver
from ecselm.linalg import batched as module
from ecselm.linalg.batched import LaneSolver, LapackSolver, population_solver
from tests.contracts.population_contract import PopulationContract, sums_of

needs_library = pytest.mark.skipif(
    not compiled.is_available(), reason="the compiled library was not built"
)


@needs_library
class TestLaneSolver(PopulationContract):
    @pytest.fixture
    def make(self):
        return LaneSolver.from_sums


class TestLapackSolver(PopulationContract):
    @pytest.fixture
    def make(self):
        return LapackSolver


class TestLapackSolverInSeveralSteps(PopulationContract):
    @pytest.fixture
    def make(self, monkeypatch):
        monkeypatch.setattr(module, "BATCH_ENTRIES", 1 << 7)  # two matrices of order 8 at a time
        return LapackSolver


@needs_library
@pytest.mark.parametrize("n", [3, 40])
def test_both_paths_agree(rng, n):
    sums = sums_of(rng, 3, 2, n)
    costs, shift = rng.random((10, 3)), rng.uniform(0.1, 9.0, 10)
    fast, slow = LaneSolver.from_sums(*sums), LapackSolver(*sums)
    assert_allclose(fast.solve(costs, shift), slow.solve(costs, shift), rtol=1e-9, atol=1e-12)


@needs_library
def test_nearly_singular_matrices_are_trusted_by_both_paths_or_by_none(rng):
    H = rng.standard_normal((1, 30, 8))
    H[..., 7] = H[..., :7].sum(axis=2)
    sums = H.swapaxes(1, 2) @ H, rng.standard_normal((1, 1, 8))
    shift = np.array([1e-20, 1e-16, 1e-9, 1e-3])  # far from the threshold on either side
    for solver in (LaneSolver.from_sums(*sums), LapackSolver(*sums)):
        known = ~np.isnan(solver.solve(np.ones((4, 1)), shift)).any(axis=(1, 2))
        assert known.tolist() == [False, False, True, True]


@needs_library
def test_lanes_are_used_where_they_are_filled(rng):
    sums = sums_of(rng, 1, 1, 4)
    assert isinstance(population_solver(*sums), LaneSolver)
    assert isinstance(population_solver(*sums, LANES), LaneSolver)
    assert isinstance(population_solver(*sums, 1), LapackSolver)
    with compiled.disabled():
        assert isinstance(population_solver(*sums), LapackSolver)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("m", [1, 3])
def test_blocks_by_group_are_solved_as_they_are_one_by_one(rng, m):
    H, T, groups = rng.standard_normal((60, 5)), rng.standard_normal((60, m)), np.arange(60) % 3
    blocks = GramBlocks.from_groups(H, T, groups)
    costs, C = rng.uniform(0.1, 3.0, (6, 3)), rng.uniform(0.1, 50.0, 6)
    beta = blocks_solver(blocks).solve(costs, 1.0 / C)
    for i in range(6):
        assert_allclose(beta[i].T, blocks.solve(costs[i], float(C[i])), rtol=1e-10)


def coded(y, k):
    """Return targets (n, k) that are 1 for the class of a row, else -1."""
    return 2.0 * (y[:, np.newaxis] == np.arange(k)) - 1.0


def kernel(rng, n):
    X = rng.standard_normal((n, 3))
    return np.exp(-0.3 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))


def targets_of(rng, kind, n):
    if kind == "real":
        return rng.standard_normal((n, 4))
    if kind == "one column":
        return rng.choice([-1.0, 1.0], (n, 1))
    if kind == "several at once":  # signs, but no classes
        return rng.choice([-1.0, 1.0], (n, 4))
    k = {"two classes": 2, "three": 3, "seven": 7, "absent": 5, "sorted": 4}[kind]
    y = rng.integers(0, k, n)
    if kind == "absent":
        y = rng.choice([1, 3], n)
    return coded(np.sort(y) if kind == "sorted" else y, k)


KINDS = ["real", "one column", "several at once", "two classes", "three", "seven", "absent"]


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("kind", [*KINDS, "sorted"])
@pytest.mark.parametrize("n", [1, 2, 5, 24, 50, 100, 150])
def test_kernels_are_solved_for_targets_of_every_kind(rng, kind, n):
    K, T, P = kernel(rng, n), targets_of(rng, kind, n), 6
    for shift in (rng.uniform(0.01, 2.0, (P, n)), rng.uniform(0.01, 2.0, P)):
        alpha = kernel_solver(K, T).solve(np.ones((P, 1)), shift)
        for i in range(P):
            A = K + np.diag(np.broadcast_to(shift[i], n))
            assert_allclose(alpha[i].T, np.linalg.solve(A, T), rtol=1e-8, atol=1e-9)


@pytest.mark.usefixtures("either_path")
def test_a_kernel_that_is_not_positive_definite_for_one_harms_no_other(rng):
    K, T = kernel(rng, 30), coded(np.arange(30) % 4, 4)
    shift = np.full((5, 30), 0.1)
    expected = kernel_solver(K, T).solve(np.ones((5, 1)), shift)
    shift[2, 7] = -5.0
    alpha = kernel_solver(K, T).solve(np.ones((5, 1)), shift)
    assert_array_equal(np.isnan(alpha).all(axis=(1, 2)), np.arange(5) == 2)
    assert_array_equal(alpha[[0, 1, 3, 4]], expected[[0, 1, 3, 4]])
