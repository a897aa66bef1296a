"""Layers and kernels on arrays of other namespaces have the values of NumPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.layers import ACTIVATIONS, KERNELS, KernelMap, RandomLayer, measure_scale
from ecselm.layers import namespaces as elsewhere

xp = pytest.importorskip("array_api_strict", reason="needs arrays that are not NumPy's")


def moved(values):
    return xp.asarray(np.array(values))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("center", [None, np.arange(3.0)])
def test_every_activation_has_the_values_of_numpy(rng, activation, center):
    layer = RandomLayer(rng.standard_normal((3, 5)), rng.standard_normal(5), activation, center)
    X = 3.0 * rng.standard_normal((50, 3))
    H = elsewhere.layer_values(elsewhere.moved_layer(layer, moved), moved(X), xp, xp.float64)
    assert_allclose(np.asarray(H), layer(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [None, "standard"])
def test_every_kernel_has_the_values_of_numpy(rng, kernel, kind):
    rows, X = rng.standard_normal((7, 7)), rng.standard_normal((50, 7))
    rows[2] = X[3] = 0.0
    scale = None if kind is None else measure_scale(rows, kind)
    known = KernelMap(kernel, rows, gamma=0.3, degree=3, coef0=0.7, scale=scale)
    found = elsewhere.moved_layer(known, moved)
    K = elsewhere.layer_values(found, moved(X), xp, xp.float64)
    assert_allclose(np.asarray(K), known(X), rtol=1e-12, atol=1e-14)


def test_extreme_projections_do_not_overflow():
    layer = RandomLayer(np.ones((1, 1)), np.zeros(1), "sigmoid")
    X = moved([[-1000.0], [1000.0]])
    H = elsewhere.layer_values(elsewhere.moved_layer(layer, moved), X, xp, xp.float64)
    assert np.asarray(H).ravel().tolist() == [0.0, 1.0]


def test_a_kernel_matrix_of_other_rows_is_refused():
    layer = elsewhere.moved_layer(KernelMap("precomputed", np.eye(3)), moved)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), got \(2, 2\)"):
        elsewhere.layer_values(layer, moved(np.eye(2)), xp, xp.float64)


def test_moments_keep_their_digits_far_from_zero(rng, monkeypatch):
    monkeypatch.setattr(elsewhere, "BLOCK_ENTRIES", 100)  # several blocks
    X = 1e6 + rng.standard_normal((300, 4))
    X[:, 2] = 0.1
    share = rng.uniform(0.0, 1.0, 300)
    share /= share.sum()
    mean, variance = elsewhere.moments(moved(X), moved(share), xp)
    assert_allclose(np.asarray(mean), share @ X, rtol=1e-12)
    assert_allclose(np.asarray(variance), share @ (X - share @ X) ** 2, rtol=1e-9, atol=1e-30)
    assert np.asarray(variance)[2] == 0.0
