"""Kernels (6) against scikit-learn's, and their widths against its support vector machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.svm import SVC

from ecselm.layers import KERNELS, KernelMap, resolve_gamma

GAMMA, DEGREE, COEF0 = 0.3, 2.0, 0.7
TWINS = {
    "rbf": lambda X, Y: rbf_kernel(X, Y, gamma=GAMMA),
    "linear": linear_kernel,
    "polynomial": lambda X, Y: polynomial_kernel(X, Y, DEGREE, GAMMA, COEF0),
    "laplacian": lambda X, Y: laplacian_kernel(X, Y, gamma=GAMMA),
    "cosine": cosine_similarity,
}
EACH = pytest.mark.parametrize("kernel", sorted(TWINS))
SHAPES = pytest.mark.parametrize(("M", "N"), [(7, 12), (12, 7), (900, 700)])


def rows(rng, N, n=4):
    X = np.where(rng.random((N, n)) < 0.6, rng.normal(size=(N, n)), 0.0)
    X[0] = 0.0
    return X


def kernel_map(kernel, X, dtype=np.float64):
    return KernelMap(kernel, X, GAMMA, DEGREE, COEF0, np.dtype(dtype))


def test_every_kernel_has_a_twin_here():
    assert {*TWINS, "precomputed"} == set(KERNELS)


@EACH
def test_kernel_is_its_formula(rng, kernel):
    X, Y = rng.normal(size=(4, 5)), rng.normal(size=(3, 5))
    printed = {
        "rbf": lambda x, y: np.exp(-GAMMA * sum((x - y) ** 2)),
        "linear": lambda x, y: sum(x * y),
        "polynomial": lambda x, y: (GAMMA * sum(x * y) + COEF0) ** DEGREE,
        "laplacian": lambda x, y: np.exp(-GAMMA * sum(abs(x - y))),
        "cosine": lambda x, y: sum(x * y) / np.sqrt(sum(x * x) * sum(y * y)),
    }[kernel]
    expected = [[printed(x, y) for y in Y] for x in X]
    assert_allclose(kernel_map(kernel, Y)(X), expected, rtol=1e-10, atol=1e-12)


@EACH
@SHAPES
def test_kernel_equals_that_of_scikit_learn(rng, kernel, M, N):
    X, Y = rows(rng, M), rows(rng, N)
    layer = kernel_map(kernel, Y)
    assert layer.n_hidden == N
    assert_allclose(layer(X), TWINS[kernel](X, Y), rtol=1e-10, atol=1e-12)


@EACH
@SHAPES
@pytest.mark.parametrize("sparse_as", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_equal_dense_rows(rng, kernel, M, N, sparse_as):
    X, Y = rows(rng, M), rows(rng, N)
    expected = TWINS[kernel](X, Y)
    for new, known in ((sparse_as(X), sparse_as(Y)), (X, sparse_as(Y)), (sparse_as(X), Y)):
        K = kernel_map(kernel, known)(new)
        assert isinstance(K, np.ndarray)
        assert_allclose(K, expected, rtol=1e-10, atol=1e-12)


@EACH
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_float32_stays_float32_and_close_to_float64(rng, kernel, as_sparse):
    X, Y = (rows(rng, N).astype(np.float32) for N in (9, 6))
    form = sparse.csr_array if as_sparse else np.asarray
    K = kernel_map(kernel, form(Y), np.float32)(form(X))
    assert K.dtype == np.float32
    double = TWINS[kernel](X.astype(np.float64), Y.astype(np.float64))
    assert_allclose(K, double, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_float32_stays_close_far_from_zero(rng, kernel, as_sparse):
    X, Y = (np.float32(1e4) + rng.normal(size=(N, 4)).astype(np.float32) for N in (9, 6))
    form = sparse.csr_array if as_sparse else np.asarray
    double = TWINS[kernel](X.astype(np.float64), Y.astype(np.float64))
    assert_allclose(kernel_map(kernel, form(Y), np.float32)(form(X)), double, atol=1e-5)


@EACH
def test_kernel_matrix_of_the_training_rows_is_symmetric(rng, kernel):
    X = rows(rng, 30)
    K = kernel_map(kernel, X)(X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)


@EACH
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_rows_are_not_modified(rng, kernel, as_sparse):
    X, Y = rows(rng, 8), rows(rng, 5)
    given = [sparse.csr_array(Z) if as_sparse else Z.copy() for Z in (X, Y)]
    kernel_map(kernel, given[1])(given[0])
    for array, copy in zip(given, (X, Y), strict=True):
        assert_array_equal(array.toarray() if as_sparse else array, copy)


def test_precomputed_rows_are_taken_as_they_are_and_not_shared(rng):
    K = rng.random((3, 5))
    taken = kernel_map("precomputed", np.eye(5))(K)
    assert_array_equal(taken, K)
    assert not np.shares_memory(taken, K)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_callable_equals_the_kernel_it_computes(rng, dtype):
    X, Y = rows(rng, 8), rows(rng, 5)
    K = kernel_map(TWINS["rbf"], Y, dtype)(X)
    assert K.dtype == dtype
    assert K.flags.c_contiguous
    assert_allclose(K, kernel_map("rbf", Y)(X), rtol=1e-6)


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_gamma_scale_is_one_over_n_times_the_variance(rng, as_sparse):
    X = rows(rng, 50) + 1.0
    expected = 1.0 / (X.shape[1] * X.var())
    given = sparse.csr_array(X) if as_sparse else X
    assert_allclose(resolve_gamma("scale", given), expected, rtol=1e-10)
    assert resolve_gamma("auto", given) == 0.25


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_that_of_a_support_vector_machine(rng, gamma):
    X = rng.normal(2.0, 3.0, (60, 3))
    named, y = SVC(gamma=gamma), X[:, 0] > 2.0
    number = SVC(gamma=resolve_gamma(gamma, X))
    expected = named.fit(X, y).decision_function(X)
    assert_allclose(number.fit(X, y).decision_function(X), expected, rtol=1e-9)


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_weight_two_equals_row_repeated_twice_in_gamma(rng, as_sparse):
    X, repeats = rows(rng, 40), rng.integers(0, 4, 40)
    repeated = resolve_gamma("scale", np.repeat(X, repeats, axis=0))
    given = sparse.csr_array(X) if as_sparse else X
    assert_allclose(resolve_gamma("scale", given, repeats.astype(float)), repeated, rtol=1e-10)


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_gamma_of_float32_stays_close_to_float64_far_from_zero(rng, as_sparse):
    X = (1e3 + rng.normal(size=(5000, 4))).astype(np.float32)
    expected = 1.0 / (4 * X.astype(np.float64).var())
    given = sparse.csr_array(X) if as_sparse else X
    assert_allclose(resolve_gamma("scale", given), expected, rtol=1e-4)


def test_entries_stored_in_parts_are_added_up_and_left_as_they_were():
    data = np.array([1.0, 2.0, 4.0, 6.0])
    X = sparse.csr_array((data, [0, 0, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
    dense = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 6.0]])
    assert_allclose(resolve_gamma("scale", X), resolve_gamma("scale", dense), rtol=1e-12)
    for kernel, twin in TWINS.items():
        assert_allclose(kernel_map(kernel, X)(X), twin(dense, dense), rtol=1e-10, atol=1e-12)
    assert_array_equal(data, [1.0, 2.0, 4.0, 6.0])


def test_a_number_is_its_own_gamma(rng):
    assert resolve_gamma(0.25, rows(rng, 5)) == 0.25


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
def test_gamma_of_constant_inputs_is_one(as_sparse):
    X = np.full((4, 3), 2.0)
    assert resolve_gamma("scale", sparse.csr_array(X) if as_sparse else X) == 1.0


def test_polynomial_of_degree_one_without_a_constant_is_linear(rng):
    X, Y = rows(rng, 8), rows(rng, 5)
    assert_allclose(KernelMap("polynomial", Y, 1.0, 1.0, 0.0)(X), X @ Y.T, atol=1e-14)


def test_rows_of_zeros_have_the_cosine_zero(rng):
    X, Y = np.zeros((2, 4)), rows(rng, 5)
    assert_array_equal(kernel_map("cosine", Y)(X), np.zeros((2, 5)))


@pytest.mark.parametrize(
    ("kernel", "X", "came"),
    [
        ("precomputed", np.ones((3, 4)), r"\(3, 4\) from 'precomputed'"),
        (lambda X, Y: X @ Y.T[:, :-1], np.ones((3, 2)), r"\(3, 4\) from"),
        (lambda X, Y: (X @ Y.T).T, np.ones((3, 2)), r"\(5, 3\) from"),
        (lambda X, Y: X[:, 0], np.ones((3, 2)), r"\(3,\) from"),
        (lambda X, Y: 1.0, np.ones((3, 2)), r"\(1,\) from"),
    ],
)
def test_kernel_matrix_of_the_wrong_shape_is_refused(kernel, X, came):
    with pytest.raises(ValueError, match=rf"kernel must .*\(3, 5\), got {came}"):
        kernel_map(kernel, np.ones((5, 2)))(X)
