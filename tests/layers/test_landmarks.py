"""Landmark layers against the kernel and against Nystroem's formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import pinvh

from ecselm.layers import KernelMap, LandmarkLayer, measure_scale
from tests.contracts.layer_contract import LayerContract

KERNEL = pytest.mark.parametrize("kernel", ["rbf", "laplacian"])


class TestContract(LayerContract):
    @pytest.fixture(params=["rbf", "laplacian"])
    def layer(self, request, rng):
        return LandmarkLayer.around(KernelMap(request.param, rng.standard_normal((6, 3)), 0.3))


def around(kernel, rows, gamma=0.5, **given):
    return LandmarkLayer.around(KernelMap(kernel, rows, gamma, **given))


@KERNEL
def test_products_equal_the_kernel_between_landmarks_and_any_row(rng, kernel):
    rows, X = rng.standard_normal((9, 3)), rng.standard_normal((20, 3))
    layer = around(kernel, rows)
    assert_allclose(layer(X) @ layer(rows).T, KernelMap(kernel, rows, 0.5)(X), atol=1e-10)


@KERNEL
def test_products_are_those_of_nystroem(rng, kernel):
    rows, X = rng.standard_normal((9, 3)), rng.standard_normal((20, 3))
    K = KernelMap(kernel, rows, 0.5)
    expected = K(X) @ pinvh(K(rows)) @ K(X).T
    H = around(kernel, rows)(X)
    assert_allclose(H @ H.T, expected, atol=1e-10)


@KERNEL
def test_with_every_row_for_a_landmark_it_is_the_kernel(rng, kernel):
    X = rng.standard_normal((25, 4))
    H = around(kernel, X)(X)
    assert_allclose(H @ H.T, KernelMap(kernel, X, 0.5)(X), atol=1e-9)


@KERNEL
def test_a_landmark_twice_adds_no_unit(rng, kernel):
    rows, X = rng.standard_normal((7, 3)), rng.standard_normal((20, 3))
    once, twice = around(kernel, rows), around(kernel, np.vstack([rows, rows[2:5]]))
    assert (once.n_hidden, twice.n_hidden) == (7, 7)
    assert_allclose(twice(X) @ twice(X).T, once(X) @ once(X).T, atol=1e-9)


def test_directions_that_are_rounding_are_left_out(rng):
    """So wide a kernel tells nine rows on a line apart by less than rounding."""
    rows = rng.standard_normal((9, 1))
    layer = around("rbf", rows, gamma=1e-3)
    assert layer.n_hidden < 9
    assert np.abs(layer.root).max() < 1e6
    H = layer(rows)
    assert_allclose(H @ H.T, KernelMap("rbf", rows, 1e-3)(rows), atol=1e-9)


@KERNEL
def test_rows_are_scaled_and_landmarks_are_scaled_already(rng, kernel):
    X = rng.normal(5.0, [1.0, 30.0], (40, 2))
    scale = measure_scale(X, "standard")
    layer = around(kernel, scale(X[:8]), scale=scale)
    assert_allclose(layer(X), around(kernel, scale(X[:8]))(scale(X)), atol=1e-12)


@KERNEL
def test_sparse_rows_are_as_good_as_dense_ones(rng, kernel):
    X = np.where(rng.random((30, 4)) < 0.4, rng.standard_normal((30, 4)), 0.0)
    dense, thin = around(kernel, X[:9]), around(kernel, sparse.csr_array(X[:9]))
    Z, H = dense(X), thin(sparse.csr_array(X))
    assert_allclose(H @ H.T, Z @ Z.T, atol=1e-9)


@KERNEL
def test_float32_rows_give_units_in_float64(rng, kernel):
    X = rng.standard_normal((30, 4)).astype(np.float32)
    H = around(kernel, X[:9])(X)
    assert H.dtype == np.float64
    expected = around(kernel, X[:9].astype(np.float64))(X.astype(np.float64))
    assert_allclose(H @ H.T, expected @ expected.T, atol=1e-9)


def test_threads_share_it_if_they_may_share_the_kernel(rng):
    rows = rng.standard_normal((4, 2))
    assert around("rbf", rows).concurrent
    assert not around(lambda X, Y: X @ Y.T, rows).concurrent
