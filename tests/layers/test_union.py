"""Layers side by side, and a layer times a number."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ecselm.layers import KernelMap, LandmarkLayer, LayerUnion, RandomLayer, ScaledLayer
from tests.contracts.layer_contract import LayerContract


def random_layer(rng, n=3, L=4):
    return RandomLayer(rng.standard_normal((n, L)), rng.standard_normal(L), "tanh")


def landmark_layer(rng, n=3, L=5):
    return LandmarkLayer.around(KernelMap("rbf", rng.standard_normal((L, n)), 0.2))


class TestUnion(LayerContract):
    @pytest.fixture
    def layer(self, rng):
        return LayerUnion((random_layer(rng), landmark_layer(rng)))


class TestWeighedLayer(LayerContract):
    @pytest.fixture
    def layer(self, rng):
        return ScaledLayer(random_layer(rng), 0.3)


def test_columns_are_those_of_the_parts_and_ones(rng):
    parts = random_layer(rng), landmark_layer(rng), ScaledLayer(random_layer(rng, L=2), 5.0)
    X = rng.standard_normal((8, 3))
    union = LayerUnion(parts)
    assert union.n_hidden == 12
    assert_array_equal(union(X), np.hstack([*(part(X) for part in parts), np.ones((8, 1))]))


def test_a_union_of_nothing_is_one_unit(rng):
    assert_array_equal(LayerUnion(())(rng.standard_normal((3, 2))), np.ones((3, 1)))


def test_weighed_layer_is_the_layer_times_a_number(rng):
    layer, X = random_layer(rng), rng.standard_normal((8, 3))
    assert_array_equal(ScaledLayer(layer, -2.5)(X), -2.5 * layer(X))
    assert_array_equal(ScaledLayer(layer, 1.0)(X), layer(X))


def test_sparse_and_float32_rows_are_taken(rng):
    union = LayerUnion((random_layer(rng), ScaledLayer(landmark_layer(rng), 2.0)))
    X = np.where(rng.random((9, 3)) < 0.5, rng.standard_normal((9, 3)), 0.0).astype(np.float32)
    H = union(X.astype(np.float64))
    assert_allclose(union(sparse.csr_array(X)), H, atol=1e-5)
    assert_allclose(union(X), H, atol=1e-5)


def test_threads_share_a_union_only_if_they_may_share_every_part(rng):
    alone = LandmarkLayer.around(KernelMap(lambda X, Y: X @ Y.T, rng.standard_normal((4, 3))))
    assert LayerUnion((random_layer(rng), landmark_layer(rng))).concurrent
    assert not LayerUnion((random_layer(rng), alone)).concurrent
    assert not ScaledLayer(alone, 2.0).concurrent
