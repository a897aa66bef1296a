"""Training rows, solved for any costs, against (15) as printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.fitness import CostedRows, TrainingKernel, systems
from ecselm.fitness.systems import BlockSystem, KernelSystem, RowSystem, layer_system
from ecselm.layers import KernelMap, measure_scale
from tests.contracts.system_contract import SystemContract

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


def hidden(X, L):
    """Return rows of H behind weights that depend on nothing else."""
    W = np.random.default_rng(L).standard_normal((X.shape[1], L))
    return np.tanh(X @ W + np.linspace(-1, 1, L))


def distances(X):
    return ((X[:, np.newaxis] - X) ** 2).sum(axis=2)


class LayerContract(SystemContract):
    L = 6

    def features(self, X):
        return hidden(X, self.L)

    def gram(self, H):
        return H @ H.T

    def literal(self, H, T, B, C):
        if len(H) < H.shape[1]:
            return H.T @ np.linalg.inv(np.eye(len(H)) / C + np.diag(B) @ H @ H.T) @ np.diag(B) @ T
        HB = H.T @ np.diag(B)
        return np.linalg.inv(np.eye(H.shape[1]) / C + HB @ H) @ HB @ T


class TestBlockSystem(LayerContract):
    def make(self, H, rows):
        return BlockSystem.from_rows(H, rows)


class TestTallRowSystem(LayerContract):
    def make(self, H, rows):
        return RowSystem(H, rows)


class TestWideRowSystem(TestTallRowSystem):
    L = 40


class TestKernelSystem(SystemContract):
    def features(self, X):
        return np.exp(-0.5 * distances(X))

    def make(self, K, rows):
        return KernelSystem(K, rows)

    def literal(self, K, T, B, C):
        return np.linalg.inv(np.eye(len(K)) / C + np.diag(B) @ K) @ np.diag(B) @ T

    def gram(self, K):
        return K


@WEIGHTED
def test_rows_cost_what_their_group_does_times_their_weight(weighted):
    groups, weight = np.array([2, 0, 2, 3]), np.array([1.0, 0.5, 3.0, 2.0])
    rows = CostedRows(np.zeros((4, 1)), groups, 4, weight if weighted else None)
    costs = np.array([5.0, 7.0, -1.0, 0.5])
    B = [-1.0, 2.5, -3.0, 1.0] if weighted else [-1.0, 5.0, -1.0, 0.5]
    assert_array_equal(rows.vector(costs), B)
    assert_array_equal(rows.masses(), [0.5, 0.0, 4.0, 2.0] if weighted else [1.0, 0.0, 2.0, 1.0])
    assert rows.masses().dtype == np.float64


@WEIGHTED
def test_rows_taken_keep_target_group_and_weight(rng, weighted):
    T, groups, weight = rng.standard_normal((5, 2)), np.array([0, 1, 1, 0, 2]), np.arange(1.0, 6)
    some = CostedRows(T, groups, 3, weight if weighted else None).taken(np.array([4, 1]))
    assert len(some) == 2
    assert some.n_groups == 3
    assert_array_equal(some.T, T[[4, 1]])
    assert_array_equal(some.groups, [2, 1])
    assert some.weight is None if not weighted else some.weight.tolist() == [5.0, 2.0]


@pytest.mark.parametrize(
    ("N", "L", "g", "kind"),
    [
        (30, 6, 2, BlockSystem),
        (30, 30, 2, BlockSystem),
        (30, 31, 2, RowSystem),
        (30, 6, 30, RowSystem),
    ],
    ids=["tall", "square", "wide", "a group per row"],
)
def test_blocks_are_used_where_rows_are_many_and_groups_are_few(rng, N, L, g, kind):
    rows = CostedRows(rng.standard_normal((N, 1)), np.arange(N) % g, g)
    assert isinstance(layer_system(rng.standard_normal((N, L)), rows), kind)


def test_blocks_that_would_not_fit_are_not_made(rng, monkeypatch):
    H, costs = rng.standard_normal((30, 6)), np.array([1.0, 4.0])
    rows = CostedRows(rng.standard_normal((30, 2)), np.arange(30) % 2, 2)
    blocks = layer_system(H, rows)
    monkeypatch.setattr(systems, "BLOCK_ENTRIES", 2 * 6 * 6 - 1)
    sums = layer_system(H, rows)
    assert isinstance(sums, RowSystem)
    one, other = (system.solution(costs, 2.0).beta for system in (blocks, sums))
    assert_allclose(other, one, rtol=1e-10)


def test_a_group_without_rows_breaks_nothing(rng):
    H, T = rng.standard_normal((20, 5)), rng.standard_normal((20, 2))
    with_gap = BlockSystem.from_rows(H, CostedRows(T, 2 * (np.arange(20) % 2), 3))
    without = BlockSystem.from_rows(H, CostedRows(T, np.arange(20) % 2, 2))
    for strange in (0.0, 9.0, -9.0):
        beta = with_gap.solution(np.array([1.0, strange, 3.0]), 2.0).beta
        assert_allclose(beta, without.solution(np.array([1.0, 3.0]), 2.0).beta, rtol=1e-9)


def test_training_kernel_is_the_kernel_between_the_rows(rng):
    X = rng.standard_normal((9, 3))
    kernel = TrainingKernel.from_map(KernelMap("rbf", X, gamma=0.7))
    for gamma in (None, 0.7, 0.2, 3.0):
        literal = np.exp(-(0.7 if gamma is None else gamma) * distances(X))
        assert_allclose(kernel(gamma), literal, rtol=1e-12)
    assert kernel(None) is kernel(0.7) is kernel.K


def test_training_kernel_scales_no_row_twice(rng):
    X = rng.uniform(50.0, 90.0, (9, 3))
    scale = measure_scale(X, "standard")
    kernel = TrainingKernel.from_map(KernelMap("rbf", scale(X), gamma=0.7, scale=scale))
    assert_allclose(kernel.K, kernel.map(X), rtol=1e-12)
    assert_allclose(kernel(0.2), np.exp(-0.2 * distances(scale(X))), rtol=1e-12)


def test_training_kernel_is_in_float64(rng):
    X = rng.standard_normal((9, 3)).astype(np.float32)
    kernel = TrainingKernel.from_map(KernelMap("rbf", X, dtype=np.dtype(np.float32)))
    assert kernel.K.dtype == kernel(0.3).dtype == np.float64
