import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ecselm.paper.pairs import LMLML
from ecselm.paper.pairs.lmlml import MarginProblem, smooth_hinge, solve_margin
from tests.contracts.pair_contract import pairs_of


def problem_of(rng, K, P=40, d=2):
    pairs, y = pairs_of(rng, P, d)
    w = np.hstack([np.ones((P, 1)), rng.dirichlet(np.ones(K), P)]) if K else np.ones((P, 1))
    D = pairs[:, 0] - pairs[:, 1]
    return MarginProblem(D, np.where(y == 1, 1.0, -1.0), w, np.linspace(0.5, 2.0, K + 1), 0.5)


def printed(problem, M, b):
    """Return the objective as printed, pair by pair, with the rounded hinge."""
    total = sum(c * np.sum(part**2) for c, part in zip(problem.decay, M, strict=True))
    for delta, y, w in zip(problem.D, problem.y, problem.w, strict=True):
        blend = sum(share * part for share, part in zip(w, M, strict=True))
        t = 1.0 - y * (b - delta @ blend @ delta)
        total += 0.0 if t <= 0 else (t * t if t < 0.5 else t - 0.25)
    return total


def test_rounded_hinge_meets_the_hinge(rng):
    t = np.linspace(-2, 2, 41)
    value, slope = smooth_hinge(t, 1e-9)
    assert_allclose(value, np.maximum(t, 0.0), atol=1e-8)
    assert set(slope) <= {0.0, 1.0}


@pytest.mark.parametrize("K", [0, 2])
def test_value_is_the_printed_one(rng, K):
    problem = problem_of(rng, K)
    A = rng.standard_normal((K + 1, 2, 2))
    M = A @ A.transpose(0, 2, 1)
    assert problem.value(M, 1.3) == pytest.approx(printed(problem, M, 1.3))


@pytest.mark.parametrize("K", [0, 2])
def test_slopes_are_those_of_finite_differences(rng, K):
    problem, step = problem_of(rng, K), 1e-6
    A = rng.standard_normal((K + 1, 2, 2))
    M, b = A @ A.transpose(0, 2, 1), 1.7
    value, dM, db = problem.slopes(M, b)
    assert value == pytest.approx(problem.value(M, b))
    rise = problem.value(M, b + step) - problem.value(M, b - step)
    assert db == pytest.approx(rise / (2 * step), rel=1e-4)
    for k in range(K + 1):
        E = np.zeros_like(M)
        E[k] = [[0.3, 0.7], [0.7, -0.2]]
        rise = problem.value(M + step * E, b) - problem.value(M - step * E, b)
        assert np.vdot(dM, E) == pytest.approx(rise / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("K", [0, 2])
def test_optimum_is_that_of_a_general_solver(rng, K):
    problem = problem_of(rng, K)
    found = solve_margin(problem, 1e-12, 20_000)
    assert found.converged
    assert np.linalg.eigvalsh(found.matrices).min() > -1e-12

    def by_factors(theta):
        A = theta[:-1].reshape(-1, 2, 2)
        return problem.value(A @ A.transpose(0, 2, 1), theta[-1])

    starts = [np.append(s * rng.standard_normal(4 * K + 4), 1.5) for s in (0.3, 1.0, 1.0)]
    bounds = [(None, None)] * (4 * K + 4) + [(1.0, None)]
    best = min(minimize(by_factors, start, bounds=bounds).fun for start in starts)
    assert found.value == pytest.approx(best, rel=1e-4)


def test_no_regions_leave_one_global_metric(rng):
    pairs, y = pairs_of(rng)
    model = LMLML(0, max_iter=2000).fit(pairs, y)
    local = model.similarity_
    assert local.matrices.shape == (1, 4, 4)
    assert local.regions is None
    D = pairs[:, 0] - pairs[:, 1]
    expected = [local.offset - delta @ local.matrices[0] @ delta for delta in D]
    assert_allclose(model.score_pairs(pairs), expected, rtol=1e-9)


def test_huge_local_decay_is_the_global_metric(rng):
    pairs, y = pairs_of(rng)
    parameters = {"tol": 1e-8, "max_iter": 20_000, "random_state": 0}
    alone = LMLML(0, **parameters).fit(pairs, y).score_pairs(pairs)
    stiff = LMLML(2, local_decay=1e3, **parameters).fit(pairs, y).score_pairs(pairs)
    assert_allclose(stiff, alone, rtol=0.02, atol=0.02)


def test_one_region_beside_none_is_the_same_kind_of_metric(rng):
    pairs, y = pairs_of(rng)
    local = LMLML(1, random_state=0, max_iter=5000).fit(pairs, y).similarity_
    D = pairs[:, 0] - pairs[:, 1]
    total = local.matrices.sum(axis=0)
    expected = [local.offset - delta @ total @ delta for delta in D]
    assert_allclose(local(pairs), expected, rtol=1e-9)


def test_units_of_the_features_do_not_matter_without_regions(rng):
    pairs, y = pairs_of(rng)
    one, other = (LMLML(0, max_iter=2000).fit(c * pairs, y) for c in (1.0, 64.0))
    assert_allclose(other.score_pairs(64.0 * pairs), one.score_pairs(pairs), rtol=1e-9)


def test_too_few_steps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        LMLML(0, max_iter=1).fit(*pairs_of(rng))


def test_refuses_more_regions_than_vectors(rng):
    with pytest.raises(ValueError, match="n_regions must be at most"):
        LMLML(500).fit(*pairs_of(rng))
