"""Solutions along C and their leave-one-out scores against systems solved one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ecselm.linalg import LooRows, RidgePath

N = 24
PENALTIES = pytest.mark.parametrize("C", [0.02, 1.0, 300.0])
OUTPUTS = pytest.mark.parametrize("m", [1, 3])
FORM = pytest.mark.parametrize("form", ["dual", "sums of all centres", "sums of few centres"])


def kernel(X, Y):
    return np.exp(-0.4 * np.square(X[:, np.newaxis] - Y).sum(axis=2))


def literal_beta(K, H, T, B, C):
    """Return beta = (H'diag(B)H + K/C)^-1 H'diag(B)T."""
    return np.linalg.solve(H.T @ np.diag(B) @ H + K / C, H.T @ np.diag(B) @ T)


class Problem:
    """Rows with weights, and centres: all of the rows or the first few."""

    def __init__(self, form, m, rng, *, weighted=True):
        self.form = form
        self.X, self.T = rng.standard_normal((N, 3)), rng.standard_normal((N, m))
        self.B = rng.uniform(0.3, 3.0, N) if weighted else np.ones(N)
        self.centres = self.X[:7] if "few" in form else self.X
        self.K, self.H = kernel(self.centres, self.centres), kernel(self.X, self.centres)

    def path(self, some=slice(None), **given):
        """Return the path that leaves out some of the rows."""
        if self.form == "dual":
            return RidgePath.of_kernel(self.K, LooRows(self.T, self.B, **given))
        gram = self.H.T @ np.diag(self.B) @ self.H
        moments = self.H.T @ np.diag(self.B) @ self.T
        rows = LooRows(self.T[some], self.B[some], **given)
        return RidgePath.of_sums(self.K, gram, moments, self.H[some], rows)

    def without(self, left_out, C, share=1.0):
        """Return the scores of rows in a model that a share of their weight is missing from."""
        B = self.B.copy()
        B[left_out] *= 1.0 - share
        return self.H[left_out] @ literal_beta(self.K, self.H, self.T, B, C)


@FORM
@OUTPUTS
@PENALTIES
def test_beta_solves_the_system(form, m, C, rng):
    problem = Problem(form, m, rng)
    expected = problem.H @ literal_beta(problem.K, problem.H, problem.T, problem.B, C)
    assert_allclose(problem.H @ problem.path().beta(C), expected, rtol=1e-6, atol=1e-8)


@PENALTIES
def test_beta_of_all_centres_is_that_of_the_kernel_machine(C, rng):
    """(7): the scores are ``K (I/C + diag(B)K)^-1 diag(B)T``."""
    problem = Problem("dual", 2, rng)
    K, B = problem.K, np.diag(problem.B)
    expected = np.linalg.solve(np.eye(N) / C + B @ K, B @ problem.T)
    assert_allclose(problem.path().beta(C), expected, rtol=1e-8, atol=1e-10)


@FORM
@OUTPUTS
@PENALTIES
def test_left_out_scores_are_those_of_a_model_without_the_row(form, m, C, rng):
    problem = Problem(form, m, rng)
    found = problem.path().loo_scores(C)
    for i in range(N):
        assert_allclose(found[i], problem.without(i, C), rtol=1e-5, atol=1e-7)


@PENALTIES
def test_some_of_the_rows_may_be_left_out(C, rng):
    problem, some = Problem("sums of few centres", 2, rng), np.array([3, 20, 11])
    found = problem.path(some).loo_scores(C)
    expected = [problem.without(i, C) for i in some]
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@FORM
@PENALTIES
def test_groups_are_left_out_together(form, C, rng):
    problem = Problem(form, 2, rng)
    groups = [np.array([0, 5, 9]), np.array([1, 2]), np.array([4, 23, 12, 7])]
    found = problem.path(groups=groups).loo_scores(C)
    for group in groups:
        assert_allclose(found[group], problem.without(group, C), rtol=1e-5, atol=1e-6)
    alone = np.setdiff1d(np.arange(N), np.concatenate(groups))
    assert_allclose(found[alone], problem.path().loo_scores(C)[alone], rtol=1e-12)


@FORM
@PENALTIES
def test_one_of_the_rows_a_weight_stands_for_is_left_out(form, C, rng):
    problem, weight = Problem(form, 1, rng, weighted=False), rng.integers(1, 4, N).astype(float)
    problem.B = weight * rng.uniform(0.5, 2.0, N)
    found = problem.path(counts=weight).loo_scores(C)
    for i in range(N):
        expected = problem.without(i, C, share=1.0 / weight[i])
        assert_allclose(found[i], expected, rtol=1e-5, atol=1e-7)


@FORM
@PENALTIES
def test_weight_two_equals_row_repeated_twice(form, C, rng):
    problem, weight = Problem(form, 2, rng), np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    cost, times = problem.B, weight.astype(int)
    problem.B = cost * weight
    found = problem.path(counts=weight).loo_scores(C)
    X, T, B = (np.repeat(part, times, axis=0) for part in (problem.X, problem.T, cost))
    if form == "dual":
        repeated = RidgePath.of_kernel(kernel(X, X), LooRows(T, B))
    else:
        H = kernel(X, problem.centres)
        G, moments = H.T @ np.diag(B) @ H, H.T @ np.diag(B) @ T
        repeated = RidgePath.of_sums(problem.K, G, moments, H, LooRows(T, B))
    expected = np.repeat(found, times, axis=0)
    assert_allclose(repeated.loo_scores(C), expected, rtol=1e-6, atol=1e-8)


def test_weights_below_one_are_left_out_whole(rng):
    problem = Problem("dual", 1, rng)
    problem.B = weight = np.full(N, 0.25)
    found = problem.path(counts=weight).loo_scores(2.0)
    assert_allclose(found[3], problem.without(3, 2.0), rtol=1e-6)


@FORM
def test_a_small_penalty_gives_scores_near_nothing(form, rng):
    path = Problem(form, 2, rng).path()
    assert_allclose(path.loo_scores(1e-9), 0.0, atol=1e-6)
    assert_allclose(path.beta(1e-9), 0.0, atol=1e-6)


def test_a_large_penalty_interpolates_and_leaves_finite_scores(rng):
    """Without a ridge the residual of a row left out is ``alpha_i / (K^-1)_ii``."""
    problem = Problem("dual", 2, rng)
    path = problem.path()
    assert_allclose(problem.K @ path.beta(1e10), problem.T, atol=1e-5)
    alpha = np.linalg.solve(problem.K, problem.T)
    diagonal = np.diag(np.linalg.inv(problem.K))[:, np.newaxis]
    assert_allclose(path.loo_scores(1e12), problem.T - alpha / diagonal, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", ["dual", "sums"])
def test_equal_centres_are_borne(form, rng):
    """Kernel values between them are singular."""
    X = np.repeat(rng.standard_normal((6, 2)), 2, axis=0)
    K, rows = kernel(X, X), LooRows(rng.standard_normal((12, 1)), np.ones(12))
    if form == "dual":
        path = RidgePath.of_kernel(K, rows)
    else:
        path = RidgePath.of_sums(K, K @ K, K @ rows.T, K, rows)
    scores = K @ np.linalg.solve(np.eye(12) / 4.0 + K, rows.T)
    assert_allclose(K @ path.beta(4.0), scores, atol=1e-5)
    left_out = [
        K[i] @ np.linalg.solve(np.eye(12) / 4.0 + np.diag(np.arange(12) != i) @ K, rows.T * kept)
        for i, kept in enumerate((np.arange(12) != np.arange(12)[:, np.newaxis])[:, :, np.newaxis])
    ]
    assert_allclose(path.loo_scores(4.0), left_out, atol=1e-5)


def test_all_equal_rows_have_the_mean_of_the_others(rng):
    """For large C a row is predicted by the mean of the rest, as there is nothing else."""
    T = rng.standard_normal((8, 1))
    found = RidgePath.of_kernel(np.ones((8, 8)), LooRows(T, np.ones(8))).loo_scores(1e8)
    assert_allclose(found, (T.sum() - T) / 7, rtol=1e-5)
