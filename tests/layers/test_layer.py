"""The random layer against (16) written out, unit by unit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ecselm.layers import (
    ACTIVATIONS,
    SCALES,
    InputScale,
    RandomLayer,
    SaturationWarning,
    draw_weights,
    measure_scale,
)

N = 20
SHAPES = pytest.mark.parametrize(("n", "L"), [(3, 8), (9, 40)], ids=["tall", "wide"])
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def layer_of(rng, n, L, activation="radbas", *, dtype=np.float64, draw="normal"):
    drawn = draw_weights(draw, n, L, rng)
    return RandomLayer.from_draw(drawn, activation, InputScale.identity(n), np.dtype(dtype))


def warnings_of(layer, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layer.warn_if_saturated(X)
    return [str(warning.message) for warning in caught]


@SHAPES
def test_hidden_rows_are_equations_16_and_17(rng, n, L):
    X, layer = rng.normal(size=(N, n)), layer_of(rng, n, L)
    H = np.empty((N, L))
    for i in range(N):
        for node in range(L):
            a = sum(layer.weights[f, node] * X[i, f] for f in range(n)) + layer.biases[node]
            H[i, node] = np.exp(-(a**2))
    assert_allclose(layer(X), H, rtol=1e-12)
    assert layer.n_hidden == L


@SHAPES
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_layer_applies_its_activation_to_the_projections(rng, n, L, activation):
    X, layer = rng.normal(size=(N, n)), layer_of(rng, n, L, activation)
    expected = ACTIVATIONS[activation](X @ layer.weights + layer.biases)
    assert_allclose(layer(X), expected, rtol=1e-12, atol=1e-14)


@SHAPES
@pytest.mark.parametrize("kind", [*SCALES, None])
def test_folding_a_scale_equals_scaling_the_inputs_first(rng, n, L, kind):
    X = rng.normal(3.0, 2.0, (N, n)) * np.logspace(-2, 2, n)
    X[:, 0] = 4.0
    drawn, scale = draw_weights("normal", n, L, rng), measure_scale(X, kind)
    folded = RandomLayer.from_draw(drawn, "sigmoid", scale, np.dtype(np.float64))
    plain = RandomLayer(drawn.weights, drawn.biases, "sigmoid")
    assert_allclose(folded(X), plain((X - scale.center) / scale.width), rtol=1e-9)


@SHAPES
@DTYPES
@pytest.mark.parametrize("sparse_as", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_equal_dense_rows(rng, n, L, dtype, sparse_as):
    X = np.where(rng.random((N, n)) < 0.4, rng.normal(size=(N, n)), 0.0).astype(dtype)
    layer = layer_of(rng, n, L, dtype=dtype)
    H = layer(sparse_as(X))
    assert isinstance(H, np.ndarray)
    assert H.dtype == dtype
    assert_allclose(H, layer(X), rtol=1e-5 if dtype == np.float32 else 1e-12)


@SHAPES
def test_rows_are_mapped_one_by_one(rng, n, L):
    X, layer = rng.normal(size=(N, n)), layer_of(rng, n, L)
    order = rng.permutation(N)
    assert_allclose(layer(X[order]), layer(X)[order], rtol=1e-12)


@DTYPES
@pytest.mark.parametrize("activation", [*sorted(ACTIVATIONS), np.cos])
def test_precision_is_that_of_the_layer(rng, dtype, activation):
    layer = layer_of(rng, 3, 8, activation, dtype=dtype)
    assert layer.weights.dtype == layer.biases.dtype == dtype
    for rows in (np.float32, np.float64):
        assert layer(rng.normal(size=(5, 3)).astype(rows)).dtype == dtype


@pytest.mark.parametrize("activation", ["radbas", np.cos])
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_out_is_filled_and_returned(rng, activation, as_sparse):
    X, layer = rng.normal(size=(6, 3)), layer_of(rng, 3, 8, activation)
    place = np.full((10, 8), np.nan)
    out = place[2:8]
    H = layer(sparse.csr_array(X) if as_sparse else X, out=out)
    assert H is out
    assert_allclose(out, layer(X), rtol=1e-12)
    assert np.isnan(place[:2]).all()
    assert np.isnan(place[8:]).all()


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_arguments_are_never_modified(rng, as_sparse):
    X = rng.normal(size=(6, 8))
    X[0, 0] = 0.0
    copy, drawn = X.copy(), draw_weights("normal", 8, 8, rng)
    weights, biases = drawn.weights.copy(), drawn.biases.copy()
    given = sparse.csr_array(X) if as_sparse else X
    scale = measure_scale(X, "standard")
    RandomLayer.from_draw(drawn, "radbas", scale, np.dtype(np.float64))(given)
    assert_array_equal(given.toarray() if as_sparse else given, copy)
    assert_array_equal(drawn.weights, weights)
    assert_array_equal(drawn.biases, biases)


@pytest.mark.parametrize(
    "activation",
    [
        lambda A: A**3,
        lambda A: np.power(A, 3, out=A),
        lambda A: (A**3).tolist(),
        lambda A: (A**3).astype(np.float32),
    ],
    ids=["copy", "in place", "list", "float32"],
)
def test_callable_takes_the_projections_and_gives_the_units(rng, activation):
    X, layer = rng.normal(size=(6, 3)), layer_of(rng, 3, 8, activation)
    assert_allclose(layer(X), (X @ layer.weights + layer.biases) ** 3, rtol=1e-5)


def test_callable_may_keep_what_it_was_given(rng):
    kept = []
    layer = layer_of(rng, 3, 8, lambda A: kept.append(A) or np.zeros(A.shape))
    X = rng.normal(size=(6, 3))
    assert_array_equal(layer(X), 0.0)
    assert_allclose(kept[0], X @ layer.weights + layer.biases, rtol=1e-12)


def test_no_rows_give_no_hidden_rows(rng):
    assert layer_of(rng, 3, 8)(np.empty((0, 3))).shape == (0, 8)


@pytest.mark.parametrize("n", [2, 10])
def test_uniform_radbas_warns_at_fifty_and_not_at_one(rng, n):
    X, layer = rng.uniform(-1.0, 1.0, (2000, n)), layer_of(rng, n, 100, draw="uniform")
    assert warnings_of(layer, X) == []
    with pytest.warns(SaturationWarning, match=r"9\d% .*activation='radbas'.*scale='standard'"):
        layer.warn_if_saturated(50.0 * X)


@pytest.mark.parametrize("kind", SCALES)
def test_scaled_inputs_of_fifty_do_not_warn(rng, kind):
    X = rng.uniform(-50.0, 50.0, (300, 10))
    drawn = draw_weights("orthogonal", 10, 100, rng)
    layer = RandomLayer.from_draw(drawn, "radbas", measure_scale(X, kind), X.dtype)
    assert warnings_of(layer, X) == []


@pytest.mark.parametrize(
    ("activation", "speaks"),
    [
        ("sigmoid", True),
        ("tanh", True),
        ("tribas", True),
        ("laplacian", True),
        ("relu", False),
        ("sine", False),
        ("polynomial", False),
        ("hardlim", False),
        (np.tanh, False),
    ],
)
def test_only_activations_with_a_flat_end_warn_at_fifty(rng, activation, speaks):
    X = rng.uniform(-50.0, 50.0, (300, 10))
    layer = layer_of(rng, 10, 100, activation, draw="uniform")
    assert (len(warnings_of(layer, X)) > 0) is speaks


def test_relu_warns_when_most_units_are_silent():
    layer = RandomLayer(np.ones((1, 4)), np.array([-9.0, -9.0, -9.0, 9.0]), "relu")
    assert "75%" in warnings_of(layer, np.linspace(-1.0, 1.0, 20)[:, np.newaxis])[0]


def test_sparse_inputs_warn_too(rng):
    layer = layer_of(rng, 10, 100, draw="uniform")
    X = sparse.csr_array(rng.uniform(-50.0, 50.0, (2000, 10)))
    assert len(warnings_of(layer, X)) == 1


@pytest.mark.parametrize(
    ("activation", "came"),
    [
        (lambda A: A[:, :-1], r"\(6, 7\)"),
        (lambda A: A.T, r"\(8, 6\)"),
        (lambda A: A.sum(axis=1), r"\(6,\)"),
        (lambda A: 1.0, r"\(\)"),
        (lambda A: None, r"\(\)"),
    ],
)
def test_callable_that_changes_the_shape_is_refused(rng, activation, came):
    layer = layer_of(rng, 3, 8, activation)
    with pytest.raises(ValueError, match=rf"activation must .*\(6, 8\), got {came} from"):
        layer(rng.normal(size=(6, 3)))
