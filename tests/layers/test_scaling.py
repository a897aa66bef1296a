"""Scales of the inputs against scikit-learn's scalers and against repeated rows."""

import functools
import itertools
import operator

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ecselm.layers import SCALES, InputScale, ScaleSum, measure_scale, resolve_gamma

KINDS = pytest.mark.parametrize("kind", SCALES)
FORMATS = pytest.mark.parametrize(
    "sparse_as", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array]
)


def rows(rng, N=200, n=6):
    return rng.normal(5.0, 3.0, (N, n)) * np.logspace(-3, 3, n)


def holed(rng, N=80, n=5):
    """Return rows of which most entries are 0."""
    return np.where(rng.random((N, n)) < 0.3, rng.normal(2.0, 1.0, (N, n)), 0.0)


def scaled(X, scale):
    return (X - scale.center) / scale.width


def assert_same(scale, other, rtol=1e-10):
    assert_allclose(scale.center, other.center, rtol=rtol, atol=1e-12)
    assert_allclose(scale.width, other.width, rtol=rtol)


@pytest.mark.parametrize("N", [2, 200, 60_000], ids=["two rows", "one block", "many blocks"])
def test_standard_scale_is_that_of_standard_scaler(rng, N):
    X = rows(rng, N)
    scale, scaler = measure_scale(X, "standard"), StandardScaler().fit(X)
    assert_allclose(scale.center, scaler.mean_, rtol=1e-11)
    assert_allclose(scale.width, scaler.scale_, rtol=1e-11)


def test_minmax_scale_is_that_of_min_max_scaler(rng):
    X = rows(rng)
    expected = MinMaxScaler((-1, 1)).fit_transform(X)
    assert_allclose(scaled(X, measure_scale(X, "minmax")), expected, atol=1e-12)


def test_weighted_standard_scale_is_that_of_standard_scaler(rng):
    X, w = rows(rng), rng.uniform(0.1, 3.0, 200)
    scale, scaler = measure_scale(X, "standard", w), StandardScaler().fit(X, sample_weight=w)
    assert_allclose(scale.center, scaler.mean_, rtol=1e-10)
    assert_allclose(scale.width, scaler.scale_, rtol=1e-10)


@KINDS
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_weight_two_equals_row_repeated_twice_and_weight_zero_a_row_left_out(rng, kind, as_sparse):
    X, repeats = holed(rng), rng.integers(0, 4, 80)
    repeated = np.repeat(X, repeats, axis=0)
    if as_sparse:
        X = sparse.csr_array(X)
    assert_same(measure_scale(X, kind, repeats.astype(float)), measure_scale(repeated, kind))


@KINDS
@FORMATS
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(rng, kind, sparse_as, weighted):
    X = holed(rng)
    w = rng.uniform(0.0, 2.0, 80) if weighted else None
    assert_same(measure_scale(sparse_as(X), kind, w), measure_scale(X, kind, w))


@KINDS
def test_stored_zeros_count_as_zeros(rng, kind):
    stored = sparse.csr_array(np.abs(holed(rng)) + 1.0)
    stored.data[::2] = 0.0
    assert stored.nnz == stored.shape[0] * stored.shape[1]
    assert_same(measure_scale(stored, kind), measure_scale(stored.toarray(), kind))


@KINDS
def test_entries_stored_in_parts_are_added_up_and_left_as_they_were(kind):
    data = np.array([1.0, 2.0, 4.0, 6.0])
    X = sparse.csr_array((data, [0, 0, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
    dense = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 6.0]])
    assert_same(measure_scale(X, kind), measure_scale(dense, kind))
    assert_array_equal(data, [1.0, 2.0, 4.0, 6.0])


@KINDS
def test_rows_are_not_modified(rng, kind):
    X, w = rows(rng), rng.random(200)
    copies = X.copy(), w.copy()
    measure_scale(X, kind, w)
    assert_array_equal(X, copies[0])
    assert_array_equal(w, copies[1])


@KINDS
def test_float32_stays_close_to_float64(rng, kind):
    X = rows(rng, 20_000).astype(np.float32)
    assert_same(measure_scale(X, kind), measure_scale(X.astype(np.float64), kind), rtol=1e-4)


def test_float32_keeps_the_std_of_many_rows_far_from_zero(rng):
    X = (1e6 + 10.0 * rng.standard_normal((200_000, 1))).astype(np.float32)
    assert_allclose(measure_scale(X, "standard").width, X.astype(np.float64).std(), rtol=0.01)


def test_no_scale_changes_nothing(rng):
    scale = measure_scale(rows(rng), None)
    assert_array_equal(scale.center, np.zeros(6))
    assert_array_equal(scale.width, np.ones(6))
    assert_same(scale, InputScale.identity(6))


@KINDS
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.77, 123456.789])
def test_constant_column_has_the_width_one(kind, as_sparse, weighted, dtype, value):
    for N in (1, 2, 6, 9, 10, 33, 1000, 20_001):
        X = np.full((N, 2), value, dtype)
        w = 0.1 + np.arange(N, dtype=dtype) % 7 if weighted else None
        scale = measure_scale(sparse.csr_array(X) if as_sparse else X, kind, w)
        assert_array_equal(scale.width, [1.0, 1.0], err_msg=f"{N} rows")
        assert_allclose(scale.center, [value, value], rtol=1e-4)


@KINDS
def test_column_constant_on_the_rows_that_count_has_the_width_one(kind):
    X = np.array([[3.0, 1.0], [3.0, 2.0], [9.0, 4.0]])
    scale = measure_scale(X, kind, np.array([1.0, 1.0, 0.0]))
    assert_array_equal(scale.width, [1.0, 0.5])
    assert_array_equal(scale.center, [3.0, 1.5])


@pytest.mark.parametrize("kind", ["standard", "minmax", None])
@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("sizes", [[300], [1] * 300, [7, 193, 100]], ids=["whole", "ones", "some"])
def test_any_cut_has_the_scale_of_all_rows(rng, kind, thin, sizes):
    X = rng.standard_normal((300, 4)) * [1, 1e-3, 0, 1e3] + [0, 1e3, 7, -5]
    X[:, 0] = np.maximum(X[:, 0], 0)
    w = rng.uniform(0.1, 2.0, 300)
    w[200:] = rng.integers(0, 2, 100)
    rows = sparse.csr_array(X) if thin else X
    cuts = np.append(0, np.cumsum(sizes))
    parts = [ScaleSum.of(rows[a:b], w[a:b]) for a, b in itertools.pairwise(cuts)]
    scale = functools.reduce(operator.add, parts).scale(kind)
    whole = measure_scale(rows, kind, w)
    assert_allclose(scale.center, whole.center, rtol=1e-12, atol=1e-12)
    assert_allclose(scale.width, whole.width, rtol=1e-9)


@pytest.mark.parametrize("kind", ["standard", "minmax", None])
def test_sums_know_the_width_of_a_kernel(rng, kind):
    X = rng.standard_normal((500, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e6, 0.0, 5.0]
    w = rng.integers(0, 3, 500).astype(float)
    total = ScaleSum.of(X[:0], w[:0]) + ScaleSum.of(X[:120], w[:120])
    total = total + ScaleSum.of(X[120:130], np.zeros(10)) + ScaleSum.of(X[120:], w[120:])
    gamma = resolve_gamma("scale", measure_scale(X, kind, w)(X), w)
    assert total.gamma(total.scale(kind)) == pytest.approx(gamma, rel=1e-8)
