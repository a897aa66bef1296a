import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from ecselm.paper.pairs import SubSML
from ecselm.paper.pairs._base import best_threshold, cosines
from ecselm.paper.pairs.subsml import PairForms
from tests.contracts.pair_contract import pairs_of


def intra_personal(pairs, y):
    """Return the pairs in the intra-personal space, literally."""
    delta = (pairs[:, 0] - pairs[:, 1])[y == 1]
    L = np.linalg.cholesky(sum(np.outer(r, r) for r in delta) + 1e-6 * np.eye(pairs.shape[2]))
    mapped = np.array([[np.linalg.inv(L) @ v for v in pair] for pair in pairs])
    return mapped / np.linalg.norm(mapped, axis=2, keepdims=True)


def objective(M, G, X, sign, gamma, beta):
    """Return the primal value as printed."""
    identity = np.eye(len(M))
    f = np.array([x @ G @ z - (x - z) @ M @ (x - z) for x, z in X])
    penalty = gamma / 2 * np.sum((M - identity) ** 2) + beta / 2 * np.sum((G - identity) ** 2)
    return np.maximum(1.0 - sign * f, 0.0).sum() + penalty


@pytest.mark.parametrize(("gamma", "beta"), [(10.0, 10.0), (0.5, 3.0), (np.inf, 2.0)])
def test_primal_and_dual_values_meet(rng, gamma, beta):
    pairs, y = pairs_of(rng)
    model = SubSML(gamma, beta, tol=1e-6, max_iter=50_000).fit(pairs, y)
    solution = model.solution_
    assert solution.gap >= -1e-9
    assert solution.gap <= 1e-6 * solution.primal
    assert solution.multipliers.min() >= 0.0
    assert solution.multipliers.max() <= 1.0


@pytest.mark.parametrize(("gamma", "beta"), [(10.0, 10.0), (0.5, 3.0)])
def test_primal_value_is_the_printed_one_and_no_neighbour_is_better(rng, gamma, beta):
    pairs, y = pairs_of(rng, 60, 3)
    model = SubSML(gamma, beta, tol=1e-9, max_iter=100_000).fit(pairs, y)
    X, sign = intra_personal(pairs, y), np.where(y == 1, 1.0, -1.0)
    M, G = model.similarity_.distance, model.similarity_.bilinear
    best = objective(M, G, X, sign, gamma, beta)
    assert best == pytest.approx(model.solution_.primal, rel=1e-8)
    for scale in (1e-3, 1e-2, 0.1):
        for _ in range(30):
            dM, dG = (scale * (E + E.T) for E in rng.standard_normal((2, 3, 3)))
            assert objective(M + dM, G + dG, X, sign, gamma, beta) >= best - 1e-6


@pytest.mark.parametrize(("gamma", "beta"), [(10.0, 10.0), (2.0, 3.0)])
def test_optimum_is_that_of_a_convex_solver(rng, gamma, beta):
    pairs, y = pairs_of(rng, 40, 3)
    model = SubSML(gamma, beta, tol=1e-8, max_iter=100_000).fit(pairs, y)
    X, sign = intra_personal(pairs, y), np.where(y == 1, 1.0, -1.0)
    M, G = (cvxpy.Variable((3, 3), symmetric=True) for _ in range(2))
    f = [cvxpy.trace(G @ np.outer(z, x)) - cvxpy.trace(M @ np.outer(x - z, x - z)) for x, z in X]
    loss = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(sign, cvxpy.hstack(f))))
    away = gamma / 2 * cvxpy.sum_squares(M - np.eye(3))
    away += beta / 2 * cvxpy.sum_squares(G - np.eye(3))
    best = cvxpy.Problem(cvxpy.Minimize(loss + away)).solve(solver=cvxpy.CLARABEL)
    assert model.solution_.primal == pytest.approx(best, rel=1e-6)
    assert_allclose(model.similarity_.distance, M.value, atol=1e-3)
    assert_allclose(model.similarity_.bilinear, G.value, atol=1e-3)


def test_gradient_of_the_dual_is_one_less_signed_scores(rng):
    pairs, y = pairs_of(rng, 12, 3)
    forms, sign = PairForms.from_pairs(pairs, 2.0, 5.0), np.where(y == 1, 1.0, -1.0)

    def dual(alpha):
        v = alpha * sign
        return alpha.sum() - v @ forms.offsets() - 0.5 * v @ forms.kernel(v)

    alpha, step = rng.random(12), 1e-5
    slope = [(dual(alpha + step * e) - dual(alpha - step * e)) / (2 * step) for e in np.eye(12)]
    M, G = forms.matrices(alpha * sign)
    f = np.array([x @ G @ z - (x - z) @ M @ (x - z) for x, z in pairs])
    assert_allclose(slope, 1.0 - sign * f, rtol=1e-6, atol=1e-6)


def test_infinite_regularisation_is_intra_personal_pca(rng):
    pairs, y = pairs_of(rng)
    model = SubSML(np.inf, np.inf).fit(pairs, y)
    X = intra_personal(pairs, y)
    expected = [x @ z - (x - z) @ (x - z) for x, z in X]
    assert_allclose(model.score_pairs(pairs), expected, rtol=1e-8, atol=1e-10)
    assert_allclose(SubSML(1e9, 1e9).fit(pairs, y).score_pairs(pairs), expected, atol=1e-5)


def test_scale_of_the_features_does_not_matter(rng):
    pairs, y = pairs_of(rng)
    scores = SubSML(reg=0.0).fit(pairs, y).score_pairs(pairs)
    assert_allclose(SubSML(reg=0.0).fit(7 * pairs, y).score_pairs(7 * pairs), scores, atol=1e-8)


def test_too_few_steps_warn(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        SubSML(0.1, 0.1, max_iter=1).fit(*pairs_of(rng))


def test_multipliers_are_in_the_order_of_the_pairs(rng):
    pairs, y = pairs_of(rng, 60, 3)
    model = SubSML(2.0, 5.0).fit(pairs, y)
    sign = np.where(y == 1, 1.0, -1.0)
    forms = PairForms.from_pairs(intra_personal(pairs, y), 2.0, 5.0)
    M, G = forms.matrices(model.solution_.multipliers * sign)
    assert_allclose(model.similarity_.distance, M, atol=1e-8)
    assert_allclose(model.similarity_.bilinear, G, atol=1e-8)
    order = rng.permutation(60)
    moved = SubSML(2.0, 5.0).fit(pairs[order], y[order])
    assert_array_equal(moved.solution_.multipliers, model.solution_.multipliers[order])


def few_pairs(rng, n, d=60):
    """Return pairs of 20 persons of d features, most of which change from picture to picture."""
    persons = rng.standard_normal((20, d))
    first = rng.integers(20, size=n)
    second = np.where(np.arange(n) % 2, first, (first + rng.integers(1, 20, size=n)) % 20)
    pairs = np.stack([persons[first], persons[second]], axis=1)
    return pairs + 1.2 * rng.standard_normal(pairs.shape), np.arange(n) % 2


def test_fewer_pairs_than_features_are_no_worse_than_a_cosine(rng):
    (pairs, y), (new, same) = few_pairs(rng, 40), few_pairs(rng, 1000)
    model = SubSML().fit(pairs, y)
    threshold = best_threshold(cosines(pairs), y == 1)
    plain = np.mean((cosines(new) > threshold) == same)
    assert model.score(new, same) >= plain - 0.02
    assert model.score(new, same) > SubSML(reg=1e-6).fit(pairs, y).score(new, same) + 0.05


def test_ridge_is_that_of_the_authors_with_as_many_pairs_as_features(rng):
    pairs, y = pairs_of(rng)
    by_default, stated = (SubSML(**given).fit(pairs, y) for given in ({}, {"reg": 1e-6}))
    assert_array_equal(by_default.score_pairs(pairs), stated.score_pairs(pairs))


def test_like_pairs_of_equal_vectors_only_have_no_scatter(rng):
    pairs, y = pairs_of(rng, 6, 8)
    pairs[y == 1, 1] = pairs[y == 1, 0]
    assert np.isfinite(SubSML().fit(pairs, y).score_pairs(pairs)).all()
