"""Layers side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ecselm.layers import KernelMap, LayerUnion, RandomLayer
from tests.contracts.layer_contract import LayerContract

WITH_ONE = pytest.mark.parametrize("with_one", [False, True])


def random_layer(rng, n=3, L=4):
    return RandomLayer(rng.standard_normal((n, L)), rng.standard_normal(L), "tanh")


def kernel_layer(rng, n=3, L=5):
    return KernelMap("rbf", rng.standard_normal((L, n)), 0.2)


class TestUnion(LayerContract):
    @pytest.fixture(params=[False, True], ids=["plain", "with one"])
    def layer(self, request, rng):
        return LayerUnion((random_layer(rng), kernel_layer(rng)), with_one=request.param)


@WITH_ONE
def test_columns_are_those_of_the_parts_and_ones_if_wanted(with_one, rng):
    parts = random_layer(rng), kernel_layer(rng), random_layer(rng, L=2)
    X = rng.standard_normal((8, 3))
    union = LayerUnion(parts, with_one=with_one)
    assert union.n_hidden == 11 + with_one
    columns = np.hstack([*(part(X) for part in parts), np.ones((8, int(with_one)))])
    assert_array_equal(union(X), columns)


@WITH_ONE
def test_a_union_of_nothing_is_at_most_one_unit(with_one, rng):
    union = LayerUnion((), with_one=with_one)
    assert_array_equal(union(rng.standard_normal((3, 2))), np.ones((3, int(with_one))))


def test_sparse_and_float32_rows_are_taken(rng):
    union = LayerUnion((random_layer(rng), kernel_layer(rng)), with_one=True)
    X = np.where(rng.random((9, 3)) < 0.5, rng.standard_normal((9, 3)), 0.0).astype(np.float32)
    H = union(X.astype(np.float64))
    assert_allclose(union(sparse.csr_array(X)), H, atol=1e-5)
    assert_allclose(union(X), H, atol=1e-5)


def test_threads_share_a_union_only_if_they_may_share_every_part(rng):
    alone = KernelMap(lambda X, Y: X @ Y.T, rng.standard_normal((4, 3)))
    assert LayerUnion((random_layer(rng), kernel_layer(rng))).concurrent
    assert not LayerUnion((random_layer(rng), alone)).concurrent
