"""Differential evolution with the norm rule, against the published loop."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ecselm.search.norm_selection import Evaluated, NormRule, Variation, evolve

STRATEGY = pytest.mark.parametrize("strategy", ["rand1bin", "randtobest1exp"])
TIE_BREAK = pytest.mark.parametrize("tie_break", ["selection", "best_only"])


def errors_and_norms(P):
    """Return errors that often tie, and norms that never do."""
    return np.ceil(4 * np.abs(P).sum(axis=1)) / 4, np.exp(P).sum(axis=1)


def judge(P):
    return Evaluated(P, *errors_and_norms(P))


def preferred(f_new, norm_new, f_old, norm_old, tolerance, floor):
    """Return the rule as the article has it."""
    margin = tolerance * max(f_old, floor)
    if f_old - f_new > margin:
        return True
    return abs(f_old - f_new) <= margin and norm_new < norm_old


def literal_trial(P, i, best, strategy, F, CR, keys, chances, start):
    """Return one trial, coordinate by coordinate."""
    NP, D = P.shape
    others = [j for j in range(NP) if j != i]
    r1, r2, r3 = [others[place] for place in sorted(range(NP - 1), key=lambda p: keys[i, p])][:3]
    trial = P[i].copy()
    if strategy == "rand1bin":
        for j in range(D):
            if chances[i, j] < CR or j == start[i]:
                trial[j] = P[r1, j] + F * (P[r2, j] - P[r3, j])
        return trial
    for step in range(max(1, sum(chances[i, j] < CR for j in range(D)))):
        j = (start[i] + step) % D
        trial[j] = P[i, j] + F * (best[j] - P[i, j]) + F * (P[r1, j] - P[r2, j])
    return trial


def literal_evolution(judge_one, NP, D, strategy, tie_break, tolerance, floor, G, rng):
    """Return the best point, its error and norm, with the same random numbers."""
    P = rng.uniform(-1, 1, (NP, D))
    found = [judge_one(theta) for theta in P]
    best = min(range(NP), key=lambda i: found[i])
    best, best_found = P[best].copy(), found[best]
    for _ in range(G):
        keys, chances = rng.random((NP, NP - 1)), rng.random((NP, D))
        start, parents, target = rng.integers(D, size=NP), P.copy(), best.copy()
        for i in range(NP):
            u = literal_trial(parents, i, target, strategy, 1.0, 0.8, keys, chances, start)
            u = np.clip(u, -1, 1)
            f_u, norm_u = judge_one(u)
            if tie_break == "selection":
                wins = preferred(f_u, norm_u, *found[i], tolerance, floor)
            else:
                wins = f_u <= found[i][0]
            if wins:
                P[i], found[i] = u, (f_u, norm_u)
                if preferred(f_u, norm_u, *best_found, tolerance, floor):
                    best, best_found = u, (f_u, norm_u)
    return best, best_found


@STRATEGY
@TIE_BREAK
@pytest.mark.parametrize("D", [1, 7])
def test_evolution_equals_the_published_loop_draw_by_draw(strategy, tie_break, D):
    found = evolve(
        judge,
        (9, D),
        Variation(strategy, amplitude=1.0, crossover=0.8, clip=True),
        NormRule(tie_break, tolerance=0.1, floor=0.5),
        max_epochs=30,
        rng=np.random.default_rng(3),
    )
    best, (error, norm) = literal_evolution(
        lambda theta: tuple(values[0] for values in errors_and_norms(theta[np.newaxis])),
        9, D, strategy, tie_break, 0.1, 0.5, 30, np.random.default_rng(3),
    )  # fmt: skip
    assert_array_equal(found.best.points, best)
    assert (found.best.errors, found.best.norms) == (error, norm)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ((0.40, 9.0), (0.50, 1.0), True),
        ((0.49, 9.0), (0.50, 1.0), True),
        ((0.495, 0.9), (0.50, 1.0), True),
        ((0.505, 0.9), (0.50, 1.0), True),
        ((0.505, 1.0), (0.50, 1.0), False),
        ((0.52, 0.1), (0.50, 1.0), False),
        ((0.001, 0.9), (0.0, 1.0), True),
        ((0.003, 0.9), (0.0, 1.0), False),
        ((np.inf, 0.0), (0.5, 1.0), False),
        ((np.nan, 0.0), (0.5, 1.0), False),
        ((0.5, 1.0), (np.inf, 0.0), True),
        ((np.inf, 0.0), (np.inf, 1.0), False),
    ],
)
def test_a_tie_goes_to_the_smaller_norm(new, old, expected):
    rule = NormRule("selection", tolerance=0.0101, floor=0.2)
    new, old = (Evaluated(np.zeros((1, 1)), *np.array([pair]).T) for pair in (new, old))
    assert rule.prefers(new, old).tolist() == [expected]
    assert rule.wins(new, old).tolist() == [expected]


def test_norms_decide_over_parents_only_under_selection():
    old = Evaluated(np.zeros((2, 1)), np.array([0.5, 0.5]), np.array([1.0, 1.0]))
    new = Evaluated(np.ones((2, 1)), np.array([0.5, 0.5]), np.array([2.0, 0.5]))
    assert NormRule("selection", 0.02, 0.0).wins(new, old).tolist() == [False, True]
    assert NormRule("best_only", 0.02, 0.0).wins(new, old).tolist() == [True, True]


def test_first_best_has_the_smaller_norm_among_equals():
    points = Evaluated(
        np.arange(3.0)[:, np.newaxis], np.array([0.2, 0.1, 0.1]), np.array([1, 3, 2.0])
    )
    assert points.first().points == 2.0


@STRATEGY
@pytest.mark.parametrize("clip", [False, True])
def test_clipping_keeps_the_bounds(strategy, clip):
    seen = []

    def recording(P):
        seen.append(P)
        return judge(P - 3.0)  # the least error lies outside

    evolve(
        recording,
        (12, 5),
        Variation(strategy, amplitude=1.0, crossover=0.8, clip=clip),
        NormRule("selection", 0.02, 0.0),
        max_epochs=20,
        rng=np.random.default_rng(0),
    )
    assert len(seen) == 21
    assert (np.abs(seen[0]) <= 1.0).all()
    assert (np.abs(seen).max() <= 1.0) == clip


@STRATEGY
def test_a_trial_differs_from_its_parent_even_without_crossover(strategy, rng):
    P = rng.standard_normal((6, 4))
    trials = Variation(strategy, amplitude=1.0, crossover=0.0, clip=False).trials(P, P[0], rng)
    assert_array_equal((trials != P).sum(axis=1), np.ones(6))


@TIE_BREAK
def test_an_error_that_is_not_finite_never_wins(tie_break):
    def broken(P):
        errors, norms = errors_and_norms(P)
        return Evaluated(P, np.where(P[:, 0] > -0.5, [np.nan, np.inf] * 10, errors), 0.0 * norms)

    found = evolve(
        broken,
        (20, 2),
        Variation("rand1bin", amplitude=1.0, crossover=0.8, clip=True),
        NormRule(tie_break, 0.02, 0.1),
        max_epochs=10,
        rng=np.random.default_rng(0),
    )
    assert np.isfinite(found.best.errors)
    assert found.best.points[0] <= -0.5
    assert np.isfinite([generation.best for generation in found.history.generations]).all()


def test_few_individuals_cannot_evolve():
    variation = Variation("rand1bin", amplitude=1.0, crossover=0.8, clip=True)
    rule, rng = NormRule("selection", 0.02, 0.0), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"population_size must be at least 4 .* got 3"):
        evolve(judge, (3, 2), variation, rule, max_epochs=1, rng=rng)
    assert evolve(judge, (1, 2), variation, rule, max_epochs=0, rng=rng).history.evaluations == 1
