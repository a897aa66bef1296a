import warnings

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from ecselm.paper.pairs import DMLEig
from ecselm.paper.pairs.dmleig import largest_least_form
from tests.contracts.pair_contract import pairs_of


def test_sum_over_like_pairs_is_one(rng):
    pairs, y = pairs_of(rng)
    M = DMLEig(reg=0.0, max_iter=5000).fit(pairs, y).get_metric().matrix
    D = (pairs[:, 0] - pairs[:, 1])[y == 1]
    assert np.trace(M @ D.T @ D) == pytest.approx(1.0)
    assert sum(delta @ M @ delta for delta in D) == pytest.approx(1.0)


def test_least_form_is_the_largest_of_all_matrices_of_trace_one(rng):
    U = rng.standard_normal((25, 2)) * [1.0, 2.0] + 1.0
    found = largest_least_form(U, 1e-2, 1e-9, 3000)
    least = np.einsum("ij,jk,ik->i", U, found.matrix, U).min()
    share, tilt = np.meshgrid(np.linspace(0, 1, 401), np.linspace(-1, 1, 401))
    off = tilt * np.sqrt(share * (1 - share))
    forms = share[..., None] * U[:, 0] ** 2 + (1 - share)[..., None] * U[:, 1] ** 2
    best = (forms + 2 * off[..., None] * U[:, 0] * U[:, 1]).min(axis=-1).max()
    assert np.trace(found.matrix) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(found.matrix)[0] > -1e-12
    assert least == pytest.approx(best, rel=0.02)


def test_smoothed_value_is_within_the_gap_of_every_other(rng):
    U, mu = rng.standard_normal((30, 3)), 0.05
    found = largest_least_form(U, mu, 1e-4, 1000)

    def smoothed(S):
        return -mu * np.log(np.exp(-np.einsum("ij,jk,ik->i", U, S, U) / mu).sum())

    assert smoothed(found.matrix) == pytest.approx(found.value, rel=1e-8)
    for _ in range(300):
        A = rng.standard_normal((3, 3))
        assert smoothed(A @ A.T / np.sum(A**2)) <= found.value + found.gap + 1e-12


def least_form(M, U):
    return cvxpy.minimum(*[cvxpy.trace(M @ np.outer(u, u)) for u in U])


def test_optimum_is_that_of_a_convex_solver(rng):
    pairs, y = pairs_of(rng, 60, 3)
    D = pairs[:, 0] - pairs[:, 1]
    M = cvxpy.Variable((3, 3), PSD=True)
    like = cvxpy.trace(M @ (D[y == 1].T @ D[y == 1])) <= 1
    best = cvxpy.Problem(cvxpy.Maximize(least_form(M, D[y == 0])), [like]).solve()
    model = DMLEig(1e-3, reg=0.0, tol=5e-3, max_iter=20_000).fit(pairs, y)
    least = -model.score_pairs(pairs[y == 0]).max()
    assert best * (1 - 1e-2) <= least <= best * (1 + 1e-5)


def test_smoothed_optimum_lies_between_value_and_gap(rng):
    U, mu = rng.standard_normal((20, 3)), 0.1
    found = largest_least_form(U, mu, 1e-3, 5000)
    S = cvxpy.Variable((3, 3), PSD=True)
    forms = cvxpy.hstack([cvxpy.trace(S @ np.outer(u, u)) for u in U])
    value = -mu * cvxpy.log_sum_exp(-forms / mu)
    best = cvxpy.Problem(cvxpy.Maximize(value), [cvxpy.trace(S) == 1]).solve()
    assert found.converged
    assert found.value - 1e-6 <= best <= found.value + found.gap + 1e-6


def test_one_step_leaves_the_main_direction(rng):
    U = rng.standard_normal((30, 3))
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        S = largest_least_form(U, 1e-8, 1e-2, 1).matrix
    v = np.linalg.eigh(U.T @ U)[1][:, -1]
    assert_allclose(S, np.outer(v, v), atol=1e-10)


def test_scale_of_the_features_does_not_matter(rng):
    pairs, y = pairs_of(rng)
    one, other, third = (DMLEig(max_iter=5000).fit(c * pairs, y) for c in (1.0, 1024.0, 1e3))
    assert_allclose(other.score_pairs(1024.0 * pairs), one.score_pairs(pairs), rtol=1e-6)
    # Multiples that round lead to other steps, but not to another optimum.
    assert third.solution_.least == pytest.approx(one.solution_.least, rel=0.05)


@pytest.mark.parametrize(("n", "d"), [(200, 3), (200, 8)])
def test_defaults_find_nine_tenths_of_the_optimum_where_a_wide_smoothing_finds_much_less(rng, n, d):
    pairs, y = pairs_of(rng, n, d, 0.3)
    D = pairs[:, 0] - pairs[:, 1]
    M = cvxpy.Variable((d, d), PSD=True)
    like = cvxpy.trace(M @ (D[y == 1].T @ D[y == 1])) <= 1
    forms = cvxpy.sum(cvxpy.multiply(D[y == 0] @ M, D[y == 0]), axis=1)
    best = cvxpy.Problem(cvxpy.Maximize(cvxpy.min(forms)), [like]).solve()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the wide one
        default, wide = (DMLEig(*given).fit(pairs, y) for given in ((), (1.0,)))
    least = [-model.score_pairs(pairs[y == 0]).max() for model in (default, wide)]
    assert 0.9 * best <= least[0] <= best * (1 + 1e-5)
    assert least[1] < 0.75 * best
    assert default.solution_.least + default.solution_.gap >= best * (1 - 1e-3)


def test_too_few_steps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        DMLEig(max_iter=1).fit(*pairs_of(rng))


def test_refuses_unlike_pairs_of_equal_vectors_only(rng):
    pairs, y = pairs_of(rng)
    pairs[y == 0, 1] = pairs[y == 0, 0]
    with pytest.raises(ValueError, match="pairs must differ where y says so"):
        DMLEig().fit(pairs, y)


def test_singular_scatter_asks_for_a_ridge(rng):
    pairs, y = pairs_of(rng)
    pairs[:, :, 3] = pairs[:, :, 2]
    pairs[y == 1, 1] = pairs[y == 1, 0]
    with pytest.raises(ValueError, match="reg must make"):
        DMLEig(reg=0.0).fit(pairs, y)
